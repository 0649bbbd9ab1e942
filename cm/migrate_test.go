package cm

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/ucma"
)

// TestMigrate moves an ID with events between all kinds of channels (parity
// scenario 17).
func TestMigrate(t *testing.T) {
	r := newRig(t)
	a, b, raw := r.channel(NewEventChannel), r.channel(NewEventChannel), r.channel(NewRawEventChannel)
	id := r.idOn(a, 0)
	sent, got := int32(0), int32(0)
	send := func() {
		sent++
		r.cm.InjectType(id.handle, abi.RDMA_CM_EVENT_TIMEWAIT_EXIT, sent)
	}
	for round, to := range []*EventChannel{b, raw, a, a, nil, raw, nil, b} {
		for range 3 {
			send()
		}
		if err := id.Migrate(to); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		send()
		for got < sent {
			var ev ucma.Event
			if id.Channel() == raw {
				ev = nextAny(t, raw)
			} else {
				var err error
				if ev, err = id.NextEvent(testContext(t)); err != nil {
					t.Fatalf("round %d: %v", round, err)
				}
			}
			if got++; ev.Status != got {
				t.Fatalf("round %d: event %d, want %d", round, ev.Status, got)
			}
		}
	}
	for _, ch := range []*EventChannel{a, b, raw} {
		if n := ch.Dropped(); n != 0 {
			t.Errorf("%d events dropped", n)
		}
	}
	if err := id.Close(); err != nil {
		t.Fatal(err)
	}
	wants(t, id.Migrate(a), net.ErrClosed)
}

// TestMigrateRace migrates while events come and others wait for them.
func TestMigrateRace(t *testing.T) {
	r := newRig(t)
	a, b := r.channel(NewEventChannel), r.channel(NewEventChannel)
	var wg sync.WaitGroup
	for i := range 4 {
		id := r.idOn(a, 0)
		const n = 300
		wg.Go(func() {
			for s := range int32(n) {
				r.cm.InjectType(id.handle, abi.RDMA_CM_EVENT_TIMEWAIT_EXIT, s)
			}
		})
		wg.Go(func() {
			for s := range int32(n) {
				if ev, err := id.NextEvent(testContext(t)); err != nil || ev.Status != s {
					t.Errorf("event %d, want %d: %v", ev.Status, s, err)
					return
				}
			}
		})
		wg.Go(func() {
			for j := range 40 {
				if err := id.Migrate([]*EventChannel{a, b}[(i+j)%2]); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if n := a.Dropped() + b.Dropped(); n != 0 {
		t.Errorf("%d events dropped", n)
	}
}

// TestMigrateCloseRace closes channels while IDs move to them.
func TestMigrateCloseRace(t *testing.T) {
	r := newRig(t)
	for range 50 {
		from, to := r.channel(NewEventChannel), r.channel(NewEventChannel)
		id := r.idOn(from, 0)
		moved := async(func() (int, error) { return 0, id.Migrate(to) })
		if err := errors.Join(to.Close(), from.Close()); err != nil {
			t.Fatal(err)
		}
		if _, err := get(t, moved); err != nil {
			wants(t, err, net.ErrClosed)
		}
		if _, err := id.NextEvent(testContext(t)); !errors.Is(err, net.ErrClosed) {
			t.Fatal(err)
		}
	}
}

// TestMigrateFails leaves the ID where it was.
func TestMigrateFails(t *testing.T) {
	r := newRig(t)
	gone := r.channel(NewEventChannel)
	if err := gone.Close(); err != nil {
		t.Fatal(err)
	}
	id := r.newID()
	was := id.Channel()
	wants(t, id.Migrate(gone), net.ErrClosed)
	if id.Channel() != was {
		t.Error("it moved")
	}
	r.cm.InjectType(id.handle, abi.RDMA_CM_EVENT_TIMEWAIT_EXIT, 1)
	if _, err := id.NextEvent(testContext(t)); err != nil {
		t.Error(err)
	}
}

// TestMigrateListener: requests that wait in the kernel or here come along and
// can be answered.
func TestMigrateListener(t *testing.T) {
	r := newRig(t)
	ctx := testContext(t)
	a, b := r.channel(NewEventChannel), r.channel(NewEventChannel)
	l := r.idOn(a, 0)
	if err := errors.Join(l.Bind(sockaddr(t, serverAddr.String())), l.Listen(0)); err != nil {
		t.Fatal(err)
	}
	dial := func() <-chan result[*ucma.ConnParam] {
		id := r.resolved()
		return async(func() (*ucma.ConnParam, error) { return id.Connect(ctx, plainParam, ucma.ECE{}) })
	}
	first := dial()
	waitFor(t, func() bool { l.mu.Lock(); defer l.mu.Unlock(); return len(l.events) == 1 })
	// The second one stays in the kernel until after the move.
	a.fetch.Lock()
	second := dial()
	waitFor(t, func() bool { _, requests := r.cm.Handles(); return len(requests) == 2 })
	a.fetch.Unlock()
	if err := l.Migrate(b); err != nil {
		t.Fatal(err)
	}
	for _, c := range []<-chan result[*ucma.ConnParam]{first, second} {
		req, _, err := l.NextRequest(ctx)
		if err != nil {
			t.Fatal(err)
		}
		defer req.Close()
		if err := req.Accept(&ucma.ConnParam{QPNum: 5}, ucma.ECE{}); err != nil {
			t.Errorf("accept: %v", err)
		}
		_ = c
	}
	for _, c := range []<-chan result[*ucma.ConnParam]{first, second} {
		if p, err := get(t, c); err != nil || p.QPNum != 5 {
			t.Errorf("connect: %v", err)
		}
	}
}

// TestMigrateWaiter: a step that waits sees the event that comes through the
// new channel; one that moves to a raw channel says so.
func TestMigrateWaiter(t *testing.T) {
	r := newRig(t)
	id, to, raw := r.newID(), r.channel(NewEventChannel), r.channel(NewRawEventChannel)
	waiting := async(func() (ucma.Event, error) { return id.NextEvent(context.Background()) })
	time.Sleep(time.Millisecond)
	if err := id.Migrate(to); err != nil {
		t.Fatal(err)
	}
	r.cm.InjectType(id.handle, abi.RDMA_CM_EVENT_TIMEWAIT_EXIT, 1)
	if _, err := get(t, waiting); err != nil {
		t.Error(err)
	}
	waiting = async(func() (ucma.Event, error) { return id.NextEvent(context.Background()) })
	if err := id.Migrate(raw); err != nil {
		t.Fatal(err)
	}
	_, err := get(t, waiting)
	wants(t, err, errRawChannel)
}
