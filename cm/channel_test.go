package cm

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/fakecm"
	"github.com/purerdma/rdma/ucma"
)

// TestStaleEvents: an event that was on its way when its ID was destroyed
// reaches nobody, although the handle has a new owner.
func TestStaleEvents(t *testing.T) {
	r := newRig(t)
	keep := r.newID()
	old := r.newID()
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	id := r.newID()
	r.cm.Inject(id.handle, abi.RDMAUCMEventResp{UID: old.uid, ID: id.handle, Event: uint32(abi.RDMA_CM_EVENT_DISCONNECTED)})
	r.cm.Inject(id.handle, abi.RDMAUCMEventResp{UID: 1 << 60, ID: id.handle, Event: uint32(abi.RDMA_CM_EVENT_DISCONNECTED)})
	r.cm.InjectType(id.handle, abi.RDMA_CM_EVENT_ADDR_CHANGE, 0)
	ev, err := id.NextEvent(testContext(t))
	if err != nil || ev.Type != abi.RDMA_CM_EVENT_ADDR_CHANGE {
		t.Errorf("got %+v, %v", ev, err)
	}
	if got := keep.channel.Dropped(); got != 2 {
		t.Errorf("%d events dropped", got)
	}
}

// TestOrphanRequest: a request for a listener that is gone is destroyed, which
// rejects the peer.
func TestOrphanRequest(t *testing.T) {
	r := newRig(t)
	keep := r.newID()
	child := r.newID() // stands for the ID that the request brought
	r.cm.Inject(keep.handle, abi.RDMAUCMEventResp{UID: 1 << 60, ID: child.handle, Event: uint32(abi.RDMA_CM_EVENT_CONNECT_REQUEST)})
	waitFor(t, func() bool { owned, _ := r.cm.Handles(); return len(owned) == 1 })
	wants(t, child.Disconnect(), syscall.ENOENT)
	child.closed.Store(true) // it is gone already
	child.forget(time.Time{})
	child.giveBack()
}

func waitFor(t testing.TB, cond func() bool) {
	t.Helper()
	for deadline := time.Now().Add(testTime); !cond(); time.Sleep(100 * time.Microsecond) {
		if time.Now().After(deadline) {
			t.Fatal("it does not happen")
		}
	}
}

// TestUntakenRequests: requests that wait at the ID level are destroyed with
// the listening ID.
func TestUntakenRequests(t *testing.T) {
	r := newRig(t)
	l := r.newID()
	if err := errors.Join(l.Bind(sockaddr(t, serverAddr.String())), l.Listen(0)); err != nil {
		t.Fatal(err)
	}
	a := r.resolved()
	answered := async(func() (*ucma.ConnParam, error) { return a.Connect(testContext(t), plainParam, ucma.ECE{}) })
	waitFor(t, func() bool { l.mu.Lock(); defer l.mu.Unlock(); return len(l.events) == 1 })
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := get(t, answered)
	wants(t, err, ErrRejected)
}

// TestSharedChannel opens with the first ID and closes with the last.
func TestSharedChannel(t *testing.T) {
	r := newRig(t)
	for round := range 3 {
		a, b := r.newID(), r.newID()
		if left := r.cm.Left(); left.Files != 1 || left.Opened != round+1 {
			t.Errorf("with two IDs: %+v", left)
		}
		if err := errors.Join(a.Close(), a.Close()); err != nil {
			t.Fatal(err)
		}
		if left := r.cm.Left(); left.Files != 1 {
			t.Errorf("with one ID: %+v", left)
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		if left := r.cm.Left(); left.Files != 0 || left.IDs != 0 {
			t.Errorf("without ID: %+v", left)
		}
	}
}

// TestSharedChannelChurn opens and closes it from many goroutines, with
// requests arriving meanwhile.
func TestSharedChannelChurn(t *testing.T) {
	r := newRig(t)
	ctx := testContext(t)
	var wg sync.WaitGroup
	var port atomic.Uint32
	port.Store(20000)
	for range 4 {
		wg.Go(func() {
			for range 30 {
				addr := netip.AddrPortFrom(serverAddr.Addr(), uint16(port.Add(1)))
				l, err := ListenAddr(addr, nil)
				if err != nil {
					t.Error(err)
					return
				}
				dialed := async(func() (*Conn, error) { return (&Dialer{Config: quick}).DialAddr(ctx, addr) })
				if port.Load()%2 == 0 {
					_ = l.ID().Close()
				}
				if err := l.Close(); err != nil {
					t.Error(err)
				}
				if _, err := get(t, dialed); err == nil {
					t.Error("a dial to a closing listener succeeded")
				}
			}
		})
	}
	wg.Wait()
	_ = r
}

// TestBrokenChannel: when the reader cannot go on, waits end with its error,
// and new IDs get a new channel.
func TestBrokenChannel(t *testing.T) {
	r := newRig(t)
	var broken atomic.Bool
	r.cm.Before = func(c fakecm.Call) error {
		if c.Cmd == abi.RDMA_USER_CM_CMD_GET_EVENT && broken.CompareAndSwap(true, false) {
			return syscall.EACCES
		}
		return nil
	}
	l := r.listen(nil)
	client, _ := r.pair(l, &Dialer{Config: quick})
	id := r.newID()
	waiting := async(func() (ucma.Event, error) { return id.NextEvent(context.Background()) })
	accepting := async(func() (*Request, error) { return l.Accept(context.Background()) })
	receiving := async(func() (*Message, error) { return client.Recv(context.Background()) })
	broken.Store(true)
	r.cm.InjectType(id.handle, abi.RDMA_CM_EVENT_ADDR_CHANGE, 0)
	_, err := get(t, waiting)
	wants(t, err, syscall.EACCES)
	_, err = get(t, accepting)
	wants(t, err, syscall.EACCES)
	_, err = get(t, receiving)
	wants(t, err, syscall.EACCES)
	next := r.newID()
	if next.channel == id.channel {
		t.Error("a new ID got the broken channel")
	}
	if err := next.ResolveAddr(testContext(t), ucma.Sockaddr{}, sockaddr(t, serverAddr.String())); err != nil {
		t.Error(err)
	}
}

// TestOwnChannel belongs to its maker, and takes its IDs along.
func TestOwnChannel(t *testing.T) {
	r := newRig(t)
	ch, err := NewEventChannel(&ucma.Options{Kernel: r.cm})
	if err != nil {
		t.Fatal(err)
	}
	ctx := testContext(t)
	l, err := ListenAddr(serverAddr, &ListenConfig{Channel: ch, Config: quick})
	if err != nil {
		t.Fatal(err)
	}
	client, server := r.pair(l, &Dialer{Channel: ch, Config: quick})
	if left := r.cm.Left(); left.Opened != 1 {
		t.Errorf("%d channels were opened", left.Opened)
	}
	accepting := async(func() (*Request, error) { return l.Accept(context.Background()) })
	receiving := async(func() (*Message, error) { return client.Recv(context.Background()) })
	for range 2 {
		if err := ch.Close(); err != nil {
			t.Error(err)
		}
	}
	_, err = get(t, accepting)
	wants(t, err, net.ErrClosed)
	_, err = get(t, receiving)
	if !errors.Is(err, net.ErrClosed) && !errors.Is(err, ErrPeerClosed) { // the other end may have been first
		t.Errorf("receive: %v", err)
	}
	wants(t, server.SendCopy(ctx, nil), server.Err())
	_, err = NewID(&IDOptions{Channel: ch})
	wants(t, err, net.ErrClosed)
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// TestChannelCloseRace closes a channel while IDs are being made on it.
func TestChannelCloseRace(t *testing.T) {
	r := newRig(t)
	for range 50 {
		ch, err := NewEventChannel(&ucma.Options{Kernel: r.cm})
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				for {
					id, err := NewID(&IDOptions{Channel: ch})
					if err != nil {
						return
					}
					if err := id.Close(); err != nil {
						t.Error(err)
					}
				}
			})
		}
		if err := ch.Close(); err != nil {
			t.Error(err)
		}
		wg.Wait()
	}
}

// TestSetHandler sees each event once, in order, whenever it is installed.
func TestSetHandler(t *testing.T) {
	r := newRig(t)
	for range 100 {
		id := r.newID()
		const n = 20
		go func() {
			for i := range int32(n) {
				r.cm.InjectType(id.handle, abi.RDMA_CM_EVENT_USER, i)
			}
		}()
		var mu sync.Mutex
		var seen []int32
		done := make(chan struct{})
		id.setHandler(func(ev *ucma.Event) bool {
			mu.Lock()
			defer mu.Unlock()
			if seen = append(seen, ev.Status); len(seen) == n {
				close(done)
			}
			return ev.Status%2 == 0 // the others go on to the ID
		})
		select {
		case <-done:
		case <-time.After(testTime):
			t.Fatalf("%d events of %d", len(seen), n)
		}
		for i, s := range seen {
			if s != int32(i) {
				t.Fatalf("order %v", seen)
			}
		}
		for i := int32(1); i < n; i += 2 {
			if ev, err := id.NextEvent(testContext(t)); err != nil || ev.Status != i {
				t.Fatalf("event %d: %+v, %v", i, ev, err)
			}
		}
		if err := id.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLost: the owner learns of the end also when it asks late.
func TestLost(t *testing.T) {
	r := newRig(t)
	id := r.newID()
	if err := id.Close(); err != nil {
		t.Fatal(err)
	}
	var got error
	id.setOnLost(func(err error) { got = err })
	wants(t, got, net.ErrClosed)
}
