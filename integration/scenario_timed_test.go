//go:build linux

package integration

import (
	"errors"
	"testing"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/ucma"
)

// mimicQP is how long making a queue pair takes in this simulation.
const mimicQP = 200 * time.Microsecond

// A simulation makes connections whose queue pairs are numbers and a delay, as
// cmtime -q and -m do, some at a time, all on one channel.
type simulation struct {
	t       *testing.T
	ch      *cm.EventChannel
	dst     ucma.Sockaddr
	qpn     uint32
	started int
	ended   map[*cm.ID]bool // DISCONNECTED has come
	seen    map[abi.RDMACMEventType]int
	results chan error // of what goroutines did
}

// TestScenarioSimulatedQPs makes and ends 2000 connections with simulated queue
// pairs: each event comes once, and no ID is left (parity scenario 30; cmtime's
// options -q and -m).
func TestScenarioSimulatedQPs(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	n, atOnce := raceCount(t, 2000), 100
	if !kernelAtLeast(t, 6, 1) {
		atOnce = 24 // of 100 address handles
	}
	s := &simulation{
		t: t, ch: idsRawChannel(t), qpn: 0x100000,
		ended: map[*cm.ID]bool{}, seen: map[abi.RDMACMEventType]int{}, results: make(chan error, 2*n),
	}
	_, s.dst = idsListen(t, &cm.IDOptions{Channel: s.ch})
	start := time.Now()
	for len(s.ended) < 2*n {
		for s.started < n && 2*s.started-len(s.ended) < 2*atOnce {
			s.begin()
		}
		s.next()
	}
	t.Logf("%d connections in %v: %v", n, time.Since(start).Round(time.Millisecond), s.seen)
	for _, typ := range []abi.RDMACMEventType{
		abi.RDMA_CM_EVENT_ADDR_RESOLVED, abi.RDMA_CM_EVENT_ROUTE_RESOLVED, abi.RDMA_CM_EVENT_CONNECT_REQUEST,
		abi.RDMA_CM_EVENT_CONNECT_RESPONSE, abi.RDMA_CM_EVENT_ESTABLISHED,
	} {
		if s.seen[typ] != n {
			t.Errorf("%v: %d times", typ, s.seen[typ])
		}
	}
}

func (s *simulation) begin() {
	s.t.Helper()
	id, err := cm.NewID(&cm.IDOptions{Channel: s.ch})
	if err == nil {
		err = id.StartResolveAddr(ucma.Sockaddr{}, s.dst, 5*time.Second)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.started++
}

// next takes one event and does what follows from it.
func (s *simulation) next() {
	s.t.Helper()
	id, ev, err := s.ch.NextEvent(testContext(s.t))
	if err != nil {
		s.t.Fatalf("%v; so far %v", err, s.seen)
	}
	s.seen[ev.Type]++
	switch ev.Type {
	case abi.RDMA_CM_EVENT_ADDR_RESOLVED:
		err = id.StartResolveRoute(5 * time.Second)
	case abi.RDMA_CM_EVENT_ROUTE_RESOLVED:
		s.withQP(func(p *ucma.ConnParam) error { return id.StartConnect(p, ucma.ECE{}) })
	case abi.RDMA_CM_EVENT_CONNECT_REQUEST:
		s.withQP(func(p *ucma.ConnParam) error { return ev.Request.Accept(p, ucma.ECE{}) })
	case abi.RDMA_CM_EVENT_CONNECT_RESPONSE:
		err = id.Establish()
	case abi.RDMA_CM_EVENT_ESTABLISHED:
		err = id.Disconnect()
	case abi.RDMA_CM_EVENT_DISCONNECTED:
		s.ended[id] = true
		err = errors.Join(id.Disconnect(), id.Close())
	case abi.RDMA_CM_EVENT_TIMEWAIT_EXIT:
	default:
		err = ev.Err()
	}
	for {
		select {
		case later := <-s.results:
			err = errors.Join(err, later)
			continue
		default:
		}
		break
	}
	if err != nil {
		s.t.Fatalf("%v: %v; so far %v", ev.Type, err, s.seen)
	}
}

// withQP goes on in a goroutine, after the time that a queue pair takes.
func (s *simulation) withQP(then func(*ucma.ConnParam) error) {
	s.qpn++
	p := idsParam(s.qpn)
	go func() {
		time.Sleep(mimicQP)
		s.results <- then(p)
	}()
}
