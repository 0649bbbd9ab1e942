//go:build linux

package integration

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/ucma"
)

// A racedID is an ID that is destroyed at a random moment. Its number goes to
// the peer and back, so that an event that belongs to another ID shows.
type racedID struct {
	id       *cm.ID
	number   uint32
	passive  bool
	uid      atomic.Uint64
	closedAt atomic.Int64  // on the race's clock; 0 while open
	moves    chan struct{} // has an entry for each step that began
}

// raceMoves is how many steps of connecting there are.
const raceMoves = 4

// A destroyRace destroys IDs while their events are on the way.
type destroyRace struct {
	*watchdog
	t         *testing.T
	dst       ucma.Sockaddr
	ids       sync.Map     // *cm.ID to *racedID, of channels in raw mode
	clock     atomic.Int64 // one tick for each destroyed ID
	events    atomic.Int64
	connected atomic.Int64
}

// TestRaceDestroy destroys 10,000 IDs in all states of connecting, while their
// events arrive: half of them wait in a step, the others' events go to one
// goroutine. Handles are reused at once, but no event reaches another ID, and
// none comes after the destruction (parity scenario 59).
func TestRaceDestroy(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	n := int64(raceCount(t, 10_000))
	l, dst := idsListen(t, nil)
	r := &destroyRace{t: t, watchdog: &watchdog{tb: t}, dst: dst}
	ctx, stop := context.WithCancel(context.Background())
	var servers, readers, workers sync.WaitGroup
	for range 4 {
		servers.Go(func() { r.serve(ctx, l) })
	}
	start := time.Now()
	for i := range 6 {
		var raw *cm.EventChannel
		if i%2 == 1 {
			raw = idsRawChannel(t)
			readers.Go(func() { r.read(ctx, raw) })
		}
		workers.Go(func() {
			for r.more(n) && !t.Failed() {
				r.one(raw)
			}
		})
	}
	workers.Wait()
	stop()
	readers.Wait()
	servers.Wait()
	t.Logf("%d IDs destroyed in %v, with %d events; %d were connected",
		r.clock.Load(), time.Since(start).Round(time.Millisecond), r.events.Load(), r.connected.Load())
	if r.events.Load() < n/10 || r.connected.Load() == 0 {
		t.Error("not much of a race")
	}
}

// more reports whether n IDs are not enough yet: on a slow machine all of them may
// have been destroyed before they were connected, and then there are more.
func (r *destroyRace) more(n int64) bool {
	done := r.clock.Load()
	return done < n || done < 4*n && r.connected.Load() == 0
}

var racedNumber atomic.Uint32

// one makes an ID, connects with it, and destroys it meanwhile.
func (r *destroyRace) one(raw *cm.EventChannel) {
	id, err := cm.NewID(&cm.IDOptions{Channel: raw})
	if err != nil {
		r.t.Error(err)
		return
	}
	x := &racedID{id: id, number: racedNumber.Add(1), moves: make(chan struct{}, raceMoves)}
	if raw == nil {
		r.drain(x) // a new ID has no events: its handle may be used, its number is not
		if x.uid.Load() != 0 {
			r.t.Error("a new ID has events")
		}
	}
	r.ids.Store(id, x)
	defer r.ids.Delete(id)
	ended := make(chan struct{})
	if raw == nil {
		go func() {
			defer close(ended)
			r.connect(x)
			for range raceMoves {
				x.moved() // perhaps it ended early
			}
		}()
	} else { // the reader goes on
		r.check(x, "resolve address", id.StartResolveAddr(ucma.Sockaddr{}, r.dst, time.Second))
		x.moved()
		close(ended)
	}
	x.await()
	r.destroy(x)
	<-ended
}

// moved notes that a step has begun.
func (x *racedID) moved() {
	select {
	case x.moves <- struct{}{}:
	default:
	}
}

// raceTargets are the steps to destroy IDs in: the first ones are quicker.
var raceTargets = [...]int{0, 1, 1, 2, 3, 1, 0, 2, 1, raceMoves}

// await returns at a random moment of a step.
func (x *racedID) await() {
	target, patience := raceTargets[int(x.number)%len(raceTargets)], 300*time.Millisecond // refused, or never answered
	if target == raceMoves {
		patience = 5 * time.Second // also a busy machine connects some
	}
	stuck := time.After(patience)
	for range target {
		select {
		case <-x.moves:
		case <-stuck:
			return
		}
	}
	racePause()
}

// racePause lets as much time pass as a step takes, or less.
func racePause() {
	if rand.N(2) == 0 {
		time.Sleep(rand.N(4 * time.Millisecond))
		return
	}
	for end := time.Now().Add(rand.N(100 * time.Microsecond)); time.Now().Before(end); {
	}
}

func (r *destroyRace) destroy(x *racedID) {
	if x.passive || x.number%8 == 0 {
		r.check(x, "close", r.closeTwice("ID", x.id))
	} else {
		r.check(x, "close", r.do("close", x.id.Close))
	}
	x.closedAt.Store(r.clock.Add(1))
}

// connect goes through the steps that wait.
func (r *destroyRace) connect(x *racedID) {
	ctx, cancel := context.WithTimeout(context.Background(), raceDeadline)
	defer cancel()
	x.moved()
	err := x.id.ResolveAddr(ctx, ucma.Sockaddr{}, r.dst)
	if err == nil {
		x.moved()
		err = x.id.ResolveRoute(ctx)
	}
	if err == nil {
		x.moved()
		var peer *ucma.ConnParam
		if peer, err = x.id.Connect(ctx, r.param(x), ucma.ECE{}); err == nil {
			r.wantNumber(x, "answer", peer.PrivateData)
			r.connected.Add(1)
			x.moved()
			err = x.id.Establish()
		}
	}
	r.check(x, "connect", err)
	r.drain(x)
}

func (r *destroyRace) param(x *racedID) *ucma.ConnParam {
	return &ucma.ConnParam{
		QPNum: 0x10000 + x.number, RetryCount: 7, RNRRetryCount: 7,
		PrivateData: binary.BigEndian.AppendUint32(nil, x.number),
	}
}

// drain looks at the events that wait at an ID.
func (r *destroyRace) drain(x *racedID) {
	over, cancel := context.WithCancel(context.Background())
	cancel()
	for {
		ev, err := x.id.NextEvent(over)
		if err != nil {
			return
		}
		r.see(x, &ev)
	}
}

// read is the one goroutine of a channel in raw mode: it takes its IDs from
// step to step.
func (r *destroyRace) read(ctx context.Context, raw *cm.EventChannel) {
	for {
		before := r.clock.Load()
		id, ev, err := raw.NextEvent(ctx)
		if err != nil {
			if ctx.Err() == nil {
				r.t.Error(err)
			}
			return
		}
		v, ok := r.ids.Load(id)
		if !ok {
			continue // destroyed since
		}
		x := v.(*racedID)
		if at := x.closedAt.Load(); at != 0 && at <= before {
			r.t.Errorf("%v came after the destruction of its ID", ev.Type)
		}
		r.see(x, &ev.Event)
		switch ev.Type {
		case abi.RDMA_CM_EVENT_ADDR_RESOLVED:
			err = id.StartResolveRoute(time.Second)
		case abi.RDMA_CM_EVENT_ROUTE_RESOLVED:
			err = id.StartConnect(r.param(x), ucma.ECE{})
		case abi.RDMA_CM_EVENT_CONNECT_RESPONSE:
			r.connected.Add(1)
			err = id.Establish()
		}
		x.moved()
		r.check(x, "after "+ev.Type.String(), err)
	}
}

// serve accepts, refuses or drops requests.
func (r *destroyRace) serve(ctx context.Context, l *cm.ID) {
	for {
		id, ev, err := l.NextRequest(ctx)
		if err != nil {
			return
		}
		x := &racedID{id: id, passive: true, number: binary.BigEndian.Uint32(ev.Conn().PrivateData)}
		switch x.number % 5 {
		case 0:
		case 1:
			r.check(x, "reject", id.Reject(binary.BigEndian.AppendUint32(nil, x.number)))
		default:
			r.check(x, "accept", id.Accept(r.param(x), ucma.ECE{}))
			racePause()
		}
		r.drain(x)
		r.destroy(x)
	}
}

// see checks that an event can be the ID's own.
func (r *destroyRace) see(x *racedID, ev *ucma.Event) {
	r.events.Add(1)
	if !x.uid.CompareAndSwap(0, ev.UID) && x.uid.Load() != ev.UID {
		r.t.Errorf("%v of ID %d reached ID %d", ev.Type, ev.UID, x.uid.Load())
	}
	switch ev.Type {
	case abi.RDMA_CM_EVENT_CONNECT_RESPONSE:
		r.wantNumber(x, ev.Type.String(), ev.Conn().PrivateData)
	case abi.RDMA_CM_EVENT_REJECTED:
		r.wantOwnRefusal(x, ev.Type.String(), ev.Conn().PrivateData)
	case abi.RDMA_CM_EVENT_ADDR_RESOLVED, abi.RDMA_CM_EVENT_ROUTE_RESOLVED:
		if x.passive {
			r.t.Errorf("%v at the passive end", ev.Type)
		}
	}
}

// wantOwnRefusal looks at what a refusal brought: a number, or the text of an ID that was
// closed without an answer, which is longer, or nothing.
func (r *destroyRace) wantOwnRefusal(x *racedID, what string, data []byte) {
	if text := bytes.TrimRight(data, "\x00"); len(text) > 0 && len(text) <= 4 {
		r.wantNumber(x, what, data)
	}
}

func (r *destroyRace) wantNumber(x *racedID, what string, data []byte) {
	if got := binary.BigEndian.Uint32(data); got != x.number {
		r.t.Errorf("%s of connection %d reached connection %d", what, got, x.number)
	}
}

// check lets errors pass that the race explains: the ID is closed, or the other
// end has gone, which the kernel calls EINVAL when its event is not here yet.
func (r *destroyRace) check(x *racedID, what string, err error) {
	var rej *cm.RejectError
	switch {
	case err == nil, errors.Is(err, net.ErrClosed), cutShort(err) && !errors.Is(err, context.DeadlineExceeded):
		if errors.As(err, &rej) {
			r.wantOwnRefusal(x, "reject", rej.PrivateData)
		}
	case errors.Is(err, syscall.EINVAL) && (what == "connect" || what == "reject" || what == "after "+abi.RDMA_CM_EVENT_CONNECT_RESPONSE.String()):
	default:
		r.t.Errorf("%s: %v", what, err)
	}
}
