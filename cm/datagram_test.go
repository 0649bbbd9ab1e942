package cm

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/ucma"
	"github.com/purerdma/rdma/uverbs"
)

func (r *rig) udListener() *ID {
	r.t.Helper()
	l := r.idOn(nil, abi.RDMA_PS_UDP)
	if err := errors.Join(l.Bind(sockaddr(r.t, serverAddr.String())), l.Listen(0)); err != nil {
		r.t.Fatal(err)
	}
	return l
}

func (r *rig) udResolved() *ID {
	r.t.Helper()
	id, ctx := r.idOn(nil, abi.RDMA_PS_UDP), testContext(r.t)
	if err := id.ResolveAddr(ctx, ucma.Sockaddr{}, sockaddr(r.t, serverAddr.String())); err != nil {
		r.t.Fatal(err)
	}
	if err := id.ResolveRoute(ctx); err != nil {
		r.t.Fatal(err)
	}
	return id
}

// TestDatagramService looks a service up (parity scenario 8, without traffic).
func TestDatagramService(t *testing.T) {
	r := newRig(t)
	ctx := testContext(t)
	l, a := r.udListener(), r.udResolved()
	hello := []byte(strings.Repeat("h", 180))
	found := async(func() (*ucma.UDParam, error) { return a.ConnectDatagram(ctx, hello) })
	b, ev, err := l.NextRequest(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if got := ev.UD(); string(got.PrivateData) != string(hello) {
		t.Errorf("%d bytes in the request", len(got.PrivateData))
	}
	if !b.datagram() || b.PortSpace() != abi.RDMA_PS_UDP {
		t.Errorf("request of port space %v", b.PortSpace())
	}
	wants(t, b.AcceptDatagram(&DatagramReply{QPNum: 9, QKey: 5}), syscall.EINVAL) // ignored by the kernel
	wants(t, b.AcceptDatagram(&DatagramReply{QPNum: 9, PrivateData: make([]byte, 137)}), syscall.EINVAL)
	if err := b.AcceptDatagram(&DatagramReply{QPNum: 9, PrivateData: []byte("here")}); err != nil {
		t.Fatal(err)
	}
	p, err := get(t, found)
	if err != nil {
		t.Fatal(err)
	}
	ah := uverbs.AHAttrFromCM(&p.AHAttr)
	if p.QPNum != 9 || p.QKey != DatagramQKey || len(p.PrivateData) != 136 || ah.DGID.Addr().Unmap() != serverAddr.Addr() {
		t.Errorf("answer %+v to %v", p, ah)
	}
}

func TestDatagramErrors(t *testing.T) {
	r := newRig(t)
	ctx := testContext(t)
	_, err := r.udResolved().ConnectDatagram(ctx, nil)
	wants(t, err, ErrNoListener, ErrRejected, syscall.ECONNREFUSED)
	wantsText(t, err, "look up service", "no listener", "SIDR status 1")
	l := r.udListener()
	a := r.udResolved()
	_, err = a.ConnectDatagram(ctx, make([]byte, 181))
	wants(t, err, syscall.EINVAL)
	_, err = a.Connect(ctx, plainParam, ucma.ECE{})
	wants(t, err, errDatagram)
	refused := async(func() (*ucma.UDParam, error) { return a.ConnectDatagram(ctx, nil) })
	b, _, err := l.NextRequest(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	wants(t, b.Reject(make([]byte, 137)), syscall.EINVAL)
	if err := b.Reject([]byte("not now")); err != nil {
		t.Fatal(err)
	}
	_, err = get(t, refused)
	wants(t, err, ErrRejected)
	var se *SIDRError
	if !errors.As(err, &se) || se.Status != abi.IB_SIDR_REJECT || !strings.HasPrefix(string(se.PrivateData), "not now") {
		t.Errorf("error %#v", err)
	}
	wants(t, r.newID().AcceptDatagram(&DatagramReply{}), errNotDatagram)
}

// TestGroup joins, leaves and loses groups (parity scenarios 4 to 6, without
// traffic).
func TestGroup(t *testing.T) {
	r := newRig(t)
	ctx := testContext(t)
	id := r.idOn(nil, abi.RDMA_PS_UDP)
	addr := sockaddr(t, "239.1.2.3:0")
	_, err := id.JoinMulticast(ctx, addr, nil)
	wants(t, err, syscall.EINVAL) // not bound
	if err := id.Bind(sockaddr(t, serverAddr.String())); err != nil {
		t.Fatal(err)
	}
	g, err := id.JoinMulticast(ctx, addr, nil)
	if err != nil {
		t.Fatal(err)
	}
	if p := g.Param(); p.QPNum != 0xffffff || p.QKey != DatagramQKey || g.MGID().Addr().Unmap() != netip.MustParseAddr("239.1.2.3") {
		t.Errorf("group %+v, %v", p, g.MGID())
	}
	again, err := id.JoinMulticast(ctx, addr, &JoinOptions{SendOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(again.Leave(), again.Leave()); err != nil {
		t.Fatal(err)
	}
	wants(t, again.Err(), net.ErrClosed)
	if g.Err() != nil {
		t.Errorf("the other membership: %v", g.Err())
	}
	_, err = id.JoinMulticast(ctx, sockaddr(t, "[ff02::1:2]:0"), nil)
	wants(t, err, errors.ErrUnsupported)

	r.cm.LoseGroups(id.handle, -int32(syscall.ENETRESET))
	<-g.Done()
	wants(t, g.Err(), syscall.ENETRESET)
	if ev, err := id.NextEvent(ctx); err != nil || ev.Type != abi.RDMA_CM_EVENT_MULTICAST_ERROR {
		t.Errorf("event %v, %v", ev.Type, err)
	}
	if err := g.Leave(); err != nil {
		t.Fatal(err)
	}
	r.cm.Mute(abi.RDMA_USER_CM_CMD_JOIN_MCAST)
	short, cancel := context.WithTimeout(ctx, time.Millisecond)
	defer cancel()
	_, err = id.JoinMulticast(short, addr, nil)
	wants(t, err, context.DeadlineExceeded)
	if left := r.cm.Left(); left.Groups != 0 {
		t.Errorf("%d groups left", left.Groups)
	}
}

// TestGroupRaw joins without waiting, moves with its ID, and ends with it.
func TestGroupRaw(t *testing.T) {
	r := newRig(t)
	a, b := r.channel(NewRawEventChannel), r.channel(NewRawEventChannel)
	id := r.idOn(a, abi.RDMA_PS_UDP)
	if err := id.Bind(sockaddr(t, serverAddr.String())); err != nil {
		t.Fatal(err)
	}
	g, err := id.StartJoinMulticast(sockaddr(t, "239.1.2.3:0"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if ev := nextRaw(t, a, id, abi.RDMA_CM_EVENT_MULTICAST_JOIN); ev.Group != g || g.Param().QPNum != 0xffffff {
		t.Errorf("event %+v", ev)
	}
	if err := id.Migrate(b); err != nil {
		t.Fatal(err)
	}
	r.cm.LoseGroups(id.handle, -int32(syscall.ENETRESET))
	ev := nextRaw(t, b, id, abi.RDMA_CM_EVENT_MULTICAST_ERROR)
	wants(t, ev.Err(), syscall.ENETRESET)
	second, err := id.StartJoinMulticast(sockaddr(t, "239.1.2.4:0"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := id.Close(); err != nil {
		t.Fatal(err)
	}
	wants(t, second.Err(), net.ErrClosed)
	if err := errors.Join(g.Leave(), second.Leave()); err != nil {
		t.Error(err)
	}
}

func TestMaxPrivateData(t *testing.T) {
	r := newRig(t)
	rc, ud := r.newID(), r.idOn(nil, abi.RDMA_PS_UDP)
	rcIB, udIB := r.newID(), r.idOn(nil, abi.RDMA_PS_UDP)
	gid := ucma.SockaddrFromGID([16]byte{0xfe, 0x80, 15: 1}, abi.RDMA_PS_TCP, 1)
	_, _ = rcIB.Bind(gid), udIB.Bind(gid) // there is no InfiniBand device, but they know their family
	for _, tc := range []struct {
		id   *ID
		want [3]int
	}{
		{rc, [3]int{56, 196, 148}}, {rcIB, [3]int{92, 196, 148}}, {ud, [3]int{180, 136, 136}}, {udIB, [3]int{216, 136, 136}},
	} {
		for op, want := range tc.want {
			if got := tc.id.MaxPrivateData(Op(op)); got != want {
				t.Errorf("%v, %v: %d bytes, want %d", tc.id.PortSpace(), Op(op), got, want)
			}
		}
	}
}
