package cm

import (
	"context"
	"errors"
	"io"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/ucma"
)

func (r *rig) channel(open func(*ucma.Options) (*EventChannel, error)) *EventChannel {
	r.t.Helper()
	ch, err := open(&ucma.Options{Kernel: r.cm})
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		if err := ch.Close(); err != nil {
			r.t.Error(err)
		}
	})
	return ch
}

func (r *rig) idOn(ch *EventChannel, ps abi.RDMAUCMPortSpace) *ID {
	r.t.Helper()
	id, err := NewID(&IDOptions{Channel: ch, PortSpace: ps})
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

// nextRaw fetches from a channel in raw mode and checks ID and type.
func nextRaw(t *testing.T, ch *EventChannel, id *ID, want abi.RDMACMEventType) Event {
	t.Helper()
	got, ev, err := ch.NextEvent(testContext(t))
	if err != nil {
		t.Fatal(err)
	}
	if ev.Type != want || id != nil && got != id {
		t.Fatalf("event %v, status %d; want %v (right ID: %v)", ev.Type, ev.Status, want, got == id)
	}
	return ev
}

// TestRawChannel makes a connection with one goroutine for both sides.
func TestRawChannel(t *testing.T) {
	r := newRig(t)
	ch := r.channel(NewRawEventChannel)
	l, a := r.idOn(ch, 0), r.idOn(ch, 0)
	if err := errors.Join(l.Bind(sockaddr(t, serverAddr.String())), l.Listen(0)); err != nil {
		t.Fatal(err)
	}
	if err := a.StartResolveAddr(ucma.Sockaddr{}, sockaddr(t, serverAddr.String()), time.Second); err != nil {
		t.Fatal(err)
	}
	nextRaw(t, ch, a, abi.RDMA_CM_EVENT_ADDR_RESOLVED)
	if err := a.StartResolveRoute(time.Second); err != nil {
		t.Fatal(err)
	}
	nextRaw(t, ch, a, abi.RDMA_CM_EVENT_ROUTE_RESOLVED)
	if err := a.StartConnect(plainParam, ucma.ECE{VendorID: 7, AttrMod: 1}); err != nil {
		t.Fatal(err)
	}
	req := nextRaw(t, ch, l, abi.RDMA_CM_EVENT_CONNECT_REQUEST)
	b := req.Request
	if b == nil || b.Channel() != ch || b.RemoteECE().VendorID != 7 {
		t.Fatalf("request %+v", req)
	}
	if err := b.Accept(&ucma.ConnParam{QPNum: 0x22}, ucma.ECE{VendorID: 8}); err != nil {
		t.Fatal(err)
	}
	nextRaw(t, ch, a, abi.RDMA_CM_EVENT_CONNECT_RESPONSE)
	if a.RemoteECE().VendorID != 8 {
		t.Errorf("peer's option %+v", a.RemoteECE())
	}
	if err := a.Establish(); err != nil {
		t.Fatal(err)
	}
	nextRaw(t, ch, b, abi.RDMA_CM_EVENT_ESTABLISHED)
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	end := nextRaw(t, ch, b, abi.RDMA_CM_EVENT_DISCONNECTED)
	wants(t, end.Err(), ErrPeerClosed, io.EOF)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestRawChannelRules: what waits is refused at once; ends and contexts end
// NextEvent; an ID that is closed is heard of no more.
func TestRawChannelRules(t *testing.T) {
	r := newRig(t)
	raw, plain := r.channel(NewRawEventChannel), r.channel(NewEventChannel)
	id, ctx := r.idOn(raw, 0), testContext(t)
	sa := sockaddr(t, serverAddr.String())
	for name, call := range map[string]func() error{
		"resolve": func() error { return id.ResolveAddr(ctx, sa, sa) }, "route": func() error { return id.ResolveRoute(ctx) },
		"connect": func() error { return second(id.Connect(ctx, plainParam, ucma.ECE{})) },
		"event":   func() error { return second(id.NextEvent(ctx)) },
		"join":    func() error { return second(id.JoinMulticast(ctx, sa, nil)) },
	} {
		if err := call(); !errors.Is(err, errRawChannel) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, _, err := plain.NextEvent(ctx)
	wants(t, err, syscall.EINVAL)
	short, cancel := context.WithTimeout(ctx, time.Millisecond)
	defer cancel()
	_, _, err = raw.NextEvent(short)
	wants(t, err, context.DeadlineExceeded)
	other := r.idOn(raw, 0)
	r.cm.InjectType(id.handle, abi.RDMA_CM_EVENT_TIMEWAIT_EXIT, 0)
	r.cm.InjectType(other.handle, abi.RDMA_CM_EVENT_TIMEWAIT_EXIT, 0)
	waitFor(t, func() bool { raw.raw.mu.Lock(); defer raw.raw.mu.Unlock(); return len(raw.raw.events) == 2 })
	if err := id.Close(); err != nil {
		t.Fatal(err)
	}
	nextRaw(t, raw, other, abi.RDMA_CM_EVENT_TIMEWAIT_EXIT)
	ended := async(func() (Event, error) { _, ev, err := raw.NextEvent(context.Background()); return ev, err })
	if err := raw.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = get(t, ended)
	wants(t, err, net.ErrClosed)
}

// TestUserEvent ends blocked waits on every kernel (parity scenario 60).
func TestUserEvent(t *testing.T) {
	r := newRig(t)
	r.cm.Old = true
	id := r.newID()
	sign := newWaitSign(testContext(t))
	waiting := async(func() (ucma.Event, error) { return id.NextEvent(sign) })
	<-sign.waits
	if err := id.WriteEvent(-5, 0x0123456789abcdef); err != nil {
		t.Fatal(err)
	}
	ev, err := get(t, waiting)
	if err != nil || ev.Type != abi.RDMA_CM_EVENT_USER || ev.Status != -5 || ev.Arg() != 0x0123456789abcdef || ev.ID != id.handle {
		t.Errorf("event %+v, argument %#x, %v", ev, ev.Arg(), err)
	}
	raw := r.channel(NewRawEventChannel)
	rid := r.idOn(raw, 0)
	if err := rid.WriteEvent(1, 2); err != nil {
		t.Fatal(err)
	}
	nextRaw(t, raw, rid, abi.RDMA_CM_EVENT_USER)
	for _, full := range []*ID{id, rid} {
		for range maxUser {
			if err := full.WriteEvent(0, 0); err != nil {
				t.Fatal(err)
			}
		}
		wants(t, full.WriteEvent(0, 0), syscall.ENOBUFS)
		if err := full.Close(); err != nil {
			t.Fatal(err)
		}
		wants(t, full.WriteEvent(0, 0), net.ErrClosed)
	}
}

// TestQueueBounds: a flapping neighbour fills no memory, and hides nothing else.
func TestQueueBounds(t *testing.T) {
	r := newRig(t)
	raw := r.channel(NewRawEventChannel)
	for _, id := range []*ID{r.newID(), r.idOn(raw, 0)} {
		r.cm.InjectType(id.handle, abi.RDMA_CM_EVENT_DISCONNECTED, 0)
		const n = 100
		for i := range int32(n) {
			r.cm.InjectType(id.handle, abi.RDMA_CM_EVENT_UNREACHABLE, -i)
		}
		waitFor(t, func() bool { return id.Dropped() == n-maxRepeated })
		next := func() ucma.Event {
			if id.Channel() == raw {
				return nextAny(t, raw)
			}
			ev, err := id.NextEvent(testContext(t))
			if err != nil {
				t.Fatal(err)
			}
			return ev
		}
		if ev := next(); ev.Type != abi.RDMA_CM_EVENT_DISCONNECTED {
			t.Errorf("first %v", ev.Type)
		}
		for i := int32(n - maxRepeated); i < n; i++ {
			if ev := next(); ev.Status != -i {
				t.Errorf("status %d, want %d", ev.Status, -i)
			}
		}
	}
}

func nextAny(t *testing.T, ch *EventChannel) ucma.Event {
	t.Helper()
	_, ev, err := ch.NextEvent(testContext(t))
	if err != nil {
		t.Fatal(err)
	}
	return ev.Event
}

// TestTooManyRequests: beyond the bound they are refused, not kept.
func TestTooManyRequests(t *testing.T) {
	var q queue
	l := &ID{}
	for range maxRequests {
		if ok, _ := q.push(&entry{id: l, Event: &ucma.Event{Type: abi.RDMA_CM_EVENT_CONNECT_REQUEST}}); !ok {
			t.Fatal("refused early")
		}
	}
	if ok, _ := q.push(&entry{id: l, Event: &ucma.Event{Type: abi.RDMA_CM_EVENT_CONNECT_REQUEST}}); ok {
		t.Error("kept")
	}
	if ok, _ := q.push(&entry{id: &ID{}, Event: &ucma.Event{Type: abi.RDMA_CM_EVENT_CONNECT_REQUEST}}); !ok {
		t.Error("another listener pays for it")
	}
}

// TestRequestTooMany: the kernel's ID of a request that is not kept is destroyed, which
// refuses the peer.
func TestRequestTooMany(t *testing.T) {
	r := newRig(t)
	l := r.newID()
	if err := errors.Join(l.Bind(sockaddr(t, serverAddr.String())), l.Listen(0)); err != nil {
		t.Fatal(err)
	}
	l.mu.Lock()
	for range maxRequests { // that nobody took
		l.events = append(l.events, &entry{id: l, Event: &ucma.Event{Type: abi.RDMA_CM_EVENT_CONNECT_REQUEST}})
	}
	l.mu.Unlock()
	_, err := (&Dialer{Config: quick}).DialAddr(testContext(t), serverAddr)
	wants(t, err, ErrBusy, ErrRejected)
	if n := l.Dropped(); n != 1 {
		t.Errorf("%d events dropped", n)
	}
}

// TestStaleUnreachable: a neighbour that changed before the connect is not its
// outcome.
func TestStaleUnreachable(t *testing.T) {
	r := newRig(t)
	l := r.newID()
	if err := errors.Join(l.Bind(sockaddr(t, serverAddr.String())), l.Listen(0)); err != nil {
		t.Fatal(err)
	}
	a := r.resolved()
	r.cm.InjectType(a.handle, abi.RDMA_CM_EVENT_UNREACHABLE, -int32(syscall.ETIMEDOUT))
	waitFor(t, func() bool { a.mu.Lock(); defer a.mu.Unlock(); return len(a.events) == 1 })
	answered := async(func() (*ucma.ConnParam, error) { return a.Connect(testContext(t), plainParam, ucma.ECE{}) })
	b, _, err := l.NextRequest(testContext(t))
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if err := b.Accept(&ucma.ConnParam{QPNum: 0x22}, ucma.ECE{}); err != nil {
		t.Fatal(err)
	}
	if _, err := get(t, answered); err != nil {
		t.Error(err)
	}
}

// TestEventErr: each kind of bad news has its type.
func TestEventErr(t *testing.T) {
	for _, tc := range []struct {
		typ    abi.RDMACMEventType
		status int32
		want   error
	}{
		{abi.RDMA_CM_EVENT_ADDR_RESOLVED, 0, nil}, {abi.RDMA_CM_EVENT_TIMEWAIT_EXIT, 0, nil},
		{abi.RDMA_CM_EVENT_USER, -1, nil}, {99, -1, nil},
		{abi.RDMA_CM_EVENT_ADDR_ERROR, -int32(syscall.ETIMEDOUT), syscall.ETIMEDOUT},
		{abi.RDMA_CM_EVENT_UNREACHABLE, 1, ErrNoListener}, {abi.RDMA_CM_EVENT_UNREACHABLE, 2, ErrRejected},
		{abi.RDMA_CM_EVENT_UNREACHABLE, 3, syscall.ECONNREFUSED}, {abi.RDMA_CM_EVENT_UNREACHABLE, -110, syscall.ETIMEDOUT},
		{abi.RDMA_CM_EVENT_REJECTED, 8, ErrNoListener}, {abi.RDMA_CM_EVENT_REJECTED, 28, ErrRejected},
		{abi.RDMA_CM_EVENT_DEVICE_REMOVAL, 0, ErrDeviceRemoved}, {abi.RDMA_CM_EVENT_DISCONNECTED, 0, ErrPeerClosed},
		{abi.RDMA_CM_EVENT_MULTICAST_ERROR, -int32(syscall.EPERM), syscall.EPERM},
	} {
		ev := Event{Event: ucma.Event{Type: tc.typ, Status: tc.status}}
		if got := ev.Err(); !errors.Is(got, tc.want) || (got == nil) != (tc.want == nil) {
			t.Errorf("%v, status %d: %v", tc.typ, tc.status, got)
		}
	}
}
