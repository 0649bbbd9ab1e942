package bench

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/purerdma/rdma/cm"
)

// TestGuard: a server that only waits notices, whatever its mode, that a client answers no
// more, and leaves alone one that does.
func TestGuard(t *testing.T) {
	for _, mode := range []Mode{Poll, Event, Adaptive} {
		for _, test := range []Test{Latency, Bandwidth} {
			r := request{Test: test, Op: Read, Mode: mode, Size: 64, RecvDepth: 4, QPs: 1}
			if test == Bandwidth {
				r.Op, r.QPs = Write, 3
			}
			k := useFake(t)
			s := smallSide(t, r)
			for range 10 { // more than the send queue holds at a time
				if err := s.ask(time.Minute); err != nil {
					t.Fatalf("%v: a client that answers: %v", mode, err)
				}
			}
			qpn := s.conns[r.QPs-1].qp.Number()
			k.HoldSends(qpn) // the client's device is silent
			err := s.guard(time.Millisecond, 10*time.Millisecond)
			if !errors.Is(err, cm.ErrPeerDead) {
				t.Errorf("%v: a silent client: %v", mode, err)
			}
			k.BreakQP(qpn) // what the own device does when it gives up
			if err := s.guard(time.Millisecond, time.Minute); err == nil || errors.Is(err, errStopped) {
				t.Errorf("%v: a client that was given up: %v", mode, err)
			}
			s.stop(nil)
			if err := s.guard(time.Hour, time.Hour); !errors.Is(err, errStopped) {
				t.Errorf("%v: a stopped side: %v", mode, err)
			}
		}
	}
}

// TestDeadClientLeaves: what a dead client had is given back.
func TestDeadClientLeaves(t *testing.T) {
	useFake(t)
	srv, _ := startFake()
	defer srv.close()
	id := newFakeID("10.0.0.2:4000")
	srv.take(t.Context(), id, ask(wish(1)))
	waitFor(t, "the test to begin", func() bool { return srv.began(1) })
	srv.mu.Lock()
	for _, tt := range srv.tests {
		tt.side.stop(cm.ErrPeerDead) // as after guard
	}
	srv.mu.Unlock()
	waitFor(t, "all to be given back", func() bool {
		tests, memory := srv.taken()
		_, _, closed := id.answer()
		return tests == 0 && memory == 0 && closed
	})
}

// TestWriteFails: a client that waits for the answer to its write ends with what happened to
// the write.
func TestWriteFails(t *testing.T) {
	k := useFake(t)
	s := smallSide(t, request{Test: Latency, Op: Write, Mode: Event, Size: 64, RecvDepth: 4, QPs: 1})
	c := s.conns[0]
	k.HoldSends(c.qp.Number())
	p := &Params{Test: Latency, Op: Write, Size: 64, Messages: 1}
	ended := make(chan error, 1)
	go func() { ended <- c.ping(p, newMeter(p)) }()
	waitFor(t, "the write", func() bool { return k.Queued(c.qp.Number()) == 1 })
	k.BreakQP(c.qp.Number())
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	select {
	case err := <-ended:
		if err == nil || errors.Is(err, errStopped) {
			t.Errorf("error %v", err)
		}
	case <-ctx.Done():
		t.Error("it waits for an answer that never comes")
		s.stop(errStopped)
		<-ended
	}
}
