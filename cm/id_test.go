package cm

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/fakecm"
	"github.com/purerdma/rdma/ucma"
)

func (r *rig) newID() *ID {
	r.t.Helper()
	id, err := NewID(nil)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		if err := id.Close(); err != nil {
			r.t.Error(err)
		}
	})
	return id
}

func sockaddr(t testing.TB, s string) ucma.Sockaddr {
	t.Helper()
	sa, err := ucma.SockaddrFrom(netip.MustParseAddrPort(s))
	if err != nil {
		t.Fatal(err)
	}
	return sa
}

// resolved takes an ID to the point where it can connect.
func (r *rig) resolved() *ID {
	r.t.Helper()
	id, ctx := r.newID(), testContext(r.t)
	if err := id.ResolveAddr(ctx, ucma.Sockaddr{}, sockaddr(r.t, serverAddr.String())); err != nil {
		r.t.Fatal(err)
	}
	if err := id.ResolveRoute(ctx); err != nil {
		r.t.Fatal(err)
	}
	return id
}

var plainParam = &ucma.ConnParam{QPNum: 0x11, RetryCount: 7, RNRRetryCount: 7}

// TestIDHandshake goes through all steps of both sides at the ID level.
func TestIDHandshake(t *testing.T) {
	r := newRig(t)
	ctx := testContext(t)
	l := r.newID()
	if err := l.Bind(sockaddr(t, serverAddr.String())); err != nil {
		t.Fatal(err)
	}
	if err := l.Listen(0); err != nil {
		t.Fatal(err)
	}
	a := r.resolved()
	answered := async(func() (*ucma.ConnParam, error) { return a.Connect(ctx, plainParam, ucma.ECE{}) })
	b, ev, err := l.NextRequest(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	if got := ev.Conn().QPNum; got != 0x11 {
		t.Errorf("queue pair %#x", got)
	}
	for _, s := range []abi.IBQPState{abi.IB_QPS_INIT, abi.IB_QPS_RTR, abi.IB_QPS_RTS} {
		if attr, err := b.InitQPAttr(s); err != nil || attr.QPState != uint32(s) {
			t.Errorf("attributes for %v: %v", s, err)
		}
	}
	if err := b.Accept(&ucma.ConnParam{QPNum: 0x22}, ucma.ECE{}); err != nil {
		t.Fatal(err)
	}
	if peer, err := get(t, answered); err != nil || peer.QPNum != 0x22 {
		t.Fatalf("answer %+v, %v", peer, err)
	}
	if err := a.Establish(); err != nil {
		t.Fatal(err)
	}
	if err := b.WaitEstablished(ctx); err != nil {
		t.Fatal(err)
	}
	if err := b.Notify(uint32(abi.IB_EVENT_COMM_EST)); err != nil {
		t.Errorf("notify when established: %v", err)
	}
	if err := a.Disconnect(); err != nil {
		t.Fatal(err)
	}
	if err := b.WaitDisconnected(ctx); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(b.Disconnect(), a.WaitDisconnected(ctx)); err != nil {
		t.Fatal(err)
	}
}

// TestCancelEachStep cancels each wait, closes the ID, and finds nothing left.
func TestCancelEachStep(t *testing.T) {
	dst := serverAddr.String()
	for _, tc := range []struct {
		name string
		mute uint32
		step func(r *rig) func(ctx context.Context) error
	}{
		{"resolve address", abi.RDMA_USER_CM_CMD_RESOLVE_ADDR, func(r *rig) func(context.Context) error {
			id := r.newID()
			return func(ctx context.Context) error { return id.ResolveAddr(ctx, ucma.Sockaddr{}, sockaddr(r.t, dst)) }
		}},
		{"resolve route", abi.RDMA_USER_CM_CMD_RESOLVE_ROUTE, func(r *rig) func(context.Context) error {
			id := r.newID()
			if err := id.ResolveAddr(testContext(r.t), ucma.Sockaddr{}, sockaddr(r.t, dst)); err != nil {
				r.t.Fatal(err)
			}
			return id.ResolveRoute
		}},
		{"connect", abi.RDMA_USER_CM_CMD_CONNECT, func(r *rig) func(context.Context) error {
			id := r.resolved()
			return func(ctx context.Context) error {
				_, err := id.Connect(ctx, plainParam, ucma.ECE{})
				return err
			}
		}},
		{"established", 0, func(r *rig) func(context.Context) error { return r.newID().WaitEstablished }},
		{"disconnected", 0, func(r *rig) func(context.Context) error { return r.newID().WaitDisconnected }},
		{"request", 0, func(r *rig) func(context.Context) error {
			id := r.newID()
			return func(ctx context.Context) error { _, _, err := id.NextRequest(ctx); return err }
		}},
		{"event", 0, func(r *rig) func(context.Context) error {
			id := r.newID()
			return func(ctx context.Context) error { _, err := id.NextEvent(ctx); return err }
		}},
	} {
		for _, how := range []string{"before", "during", "deadline"} {
			t.Run(tc.name+" "+how, func(t *testing.T) {
				r := newRig(t)
				var asked atomic.Int32 // commands of the step
				var onAsked atomic.Pointer[func()]
				r.cm.After = func(c fakecm.Call) {
					if c.Cmd == tc.mute && tc.mute != 0 {
						asked.Add(1)
						if f := onAsked.Load(); f != nil {
							(*f)()
						}
					}
				}
				r.cm.Mute(tc.mute)
				step := tc.step(r)
				ctx, cancel := context.WithCancel(t.Context())
				want := context.Canceled
				switch how {
				case "before":
					cancel()
				case "during":
					// The command has run when the context ends.
					f := func() { cancel() }
					onAsked.Store(&f)
					if tc.mute == 0 {
						time.AfterFunc(time.Millisecond, cancel)
					}
				case "deadline":
					cancel()
					ctx, cancel = context.WithTimeout(t.Context(), 2*time.Millisecond)
					want = context.DeadlineExceeded
				}
				defer cancel()
				_, err := get(t, async(func() (int, error) { return 0, step(ctx) }))
				wants(t, err, want)
				if how == "before" && asked.Load() != 0 {
					t.Error("the kernel was asked although the context had ended")
				}
			})
		}
	}
}

func TestCloseWakesWaiters(t *testing.T) {
	r := newRig(t)
	id := r.newID()
	const n = 4
	var waits []<-chan result[ucma.Event]
	for range n {
		waits = append(waits, async(func() (ucma.Event, error) { return id.NextEvent(context.Background()) }))
	}
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			if err := id.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, w := range waits {
		_, err := get(t, w)
		wants(t, err, net.ErrClosed)
	}
}

// TestUseAfterClose: no command reaches the kernel, where the handle may be
// somebody else's by now.
func TestUseAfterClose(t *testing.T) {
	r := newRig(t)
	keep := r.newID() // keeps the channel open
	id := r.newID()
	if err := id.Close(); err != nil {
		t.Fatal(err)
	}
	successor := r.newID()
	if successor.handle != id.handle || successor.uid == id.uid {
		t.Fatalf("handle %d and uid %d, before %d and %d: the fake does not reuse handles",
			successor.handle, successor.uid, id.handle, id.uid)
	}
	before := r.cm.Calls()
	ctx := testContext(t)
	sa := sockaddr(t, serverAddr.String())
	for name, call := range map[string]func() error{
		"bind": func() error { return id.Bind(sa) }, "listen": func() error { return id.Listen(1) },
		"resolve": func() error { return id.ResolveAddr(ctx, sa, sa) }, "route": func() error { return id.ResolveRoute(ctx) },
		"query": func() error { return second(id.Route()) }, "attributes": func() error { return second(id.InitQPAttr(1)) },
		"connect": func() error { return second(id.Connect(ctx, plainParam, ucma.ECE{})) }, "establish": id.Establish,
		"accept": func() error { return id.Accept(plainParam, ucma.ECE{}) }, "reject": func() error { return id.Reject(nil) },
		"disconnect": id.Disconnect, "notify": func() error { return id.Notify(4) }, "tos": func() error { return id.SetTOS(1) },
		"reuse": func() error { return id.SetReuseAddr(true) }, "family": func() error { return id.SetAFOnly(true) },
		"timeout": func() error { return id.SetACKTimeout(1) }, "close": id.Close,
		"established": func() error { return id.WaitEstablished(ctx) }, "disconnected": func() error { return id.WaitDisconnected(ctx) },
		"event":   func() error { return second(id.NextEvent(ctx)) },
		"request": func() error { _, _, err := id.NextRequest(ctx); return err },
	} {
		if err := call(); !errors.Is(err, net.ErrClosed) && !(name == "close" && err == nil) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := r.cm.Calls(); got != before {
		t.Errorf("%d calls reached the kernel", got-before)
	}
	_ = keep
}

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
	child.gate.Lock() // it is gone already
	child.closed = true
	child.gate.Unlock()
	child.forget()
}

func waitFor(t testing.TB, cond func() bool) {
	t.Helper()
	for deadline := time.Now().Add(4 * time.Second); !cond(); time.Sleep(100 * time.Microsecond) {
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

func TestNewIDErrors(t *testing.T) {
	r := newRig(t)
	_, err := NewID(&IDOptions{PortSpace: 99})
	wants(t, err, syscall.EINVAL)
	r.cm.Before = func(c fakecm.Call) error {
		if c.Op == "open" {
			return syscall.ENOENT
		}
		return nil
	}
	_, err = NewID(nil)
	wants(t, err, os.ErrNotExist)
	wantsText(t, err, "modprobe rdma_ucm")
	_, err = Dial(testContext(t), "10.0.0.1:1")
	wants(t, err, os.ErrNotExist)
	_, err = Listen(testContext(t), ":0", nil)
	wants(t, err, os.ErrNotExist)
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
		id.setHandler(func(ev ucma.Event) bool {
			mu.Lock()
			defer mu.Unlock()
			if seen = append(seen, ev.Status); len(seen) == n {
				close(done)
			}
			return ev.Status%2 == 0 // the others go on to the ID
		})
		select {
		case <-done:
		case <-time.After(4 * time.Second):
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
