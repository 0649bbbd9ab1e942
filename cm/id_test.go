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

// TestResolveState: a step that the kernel would refuse, damaging the ID, does
// not reach it; one that failed may be tried again.
func TestResolveState(t *testing.T) {
	r := newRig(t)
	ctx := testContext(t)
	dst := sockaddr(t, serverAddr.String())
	l := r.newID()
	if err := errors.Join(l.Bind(dst), l.Listen(0)); err != nil {
		t.Fatal(err)
	}
	a := r.newID()
	for range 2 {
		wants(t, a.ResolveAddr(ctx, ucma.Sockaddr{}, sockaddr(t, "10.9.9.9:1")), syscall.ENETUNREACH)
	}
	if err := a.ResolveAddr(ctx, ucma.Sockaddr{}, dst); err != nil {
		t.Fatal(err)
	}
	b := r.newID()
	b.note(&ucma.Event{Type: abi.RDMA_CM_EVENT_ADDR_ERROR})
	calls := r.cm.Calls()
	for _, id := range []*ID{a, l} {
		wants(t, id.ResolveAddr(ctx, ucma.Sockaddr{}, dst), errSettled, syscall.EINVAL)
		wants(t, id.StartResolveAddr(ucma.Sockaddr{}, dst, 0), errSettled)
	}
	if n := r.cm.Calls() - calls; n != 0 {
		t.Errorf("%d calls", n)
	}
}

// TestWaitDisconnected tells an answer from a peer that stays silent.
func TestWaitDisconnected(t *testing.T) {
	r := newRig(t)
	for _, tc := range []struct {
		typ    abi.RDMACMEventType
		status int32
		want   error
	}{
		{abi.RDMA_CM_EVENT_DISCONNECTED, 0, nil},
		{abi.RDMA_CM_EVENT_DISCONNECTED, -int32(syscall.ETIMEDOUT), syscall.ETIMEDOUT},
		{abi.RDMA_CM_EVENT_DEVICE_REMOVAL, 0, ErrDeviceRemoved},
	} {
		id := r.newID()
		r.cm.InjectType(id.handle, tc.typ, tc.status)
		if err := id.WaitDisconnected(testContext(t)); !errors.Is(err, tc.want) || (err == nil) != (tc.want == nil) {
			t.Errorf("%v, status %d: %v", tc.typ, tc.status, err)
		}
	}
}
