//go:build linux

package integration

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/ucma"
)

func idsBound(t *testing.T, address string, set ...func(*cm.ID) error) (*cm.ID, error) {
	t.Helper()
	id := idsNew(t, nil)
	for _, f := range set {
		if err := f(id); err != nil {
			t.Fatal(err)
		}
	}
	return id, id.Bind(sockaddr(t, address))
}

func idsReuse(id *cm.ID) error  { return id.SetReuseAddr(true) }
func idsAFOnly(id *cm.ID) error { return id.SetAFOnly(true) }
func idsDual(id *cm.ID) error   { return id.SetAFOnly(false) }

// TestIDPorts: the kernel chooses different ports, also for a listener that
// was not bound (parity scenarios 37, 38).
func TestIDPorts(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	seen := map[uint16]bool{}
	for range 3 {
		id, err := idsBound(t, addrV4+":0")
		if err != nil {
			t.Fatal(err)
		}
		addr, err := id.LocalAddr()
		if err != nil || addr.Port() == 0 || seen[addr.Port()] {
			t.Errorf("address %v, %v", addr, err)
		}
		seen[addr.Port()] = true
	}
	l := idsNew(t, nil)
	if err := l.Listen(5); err != nil {
		t.Fatal(err)
	}
	addr, err := l.LocalAddr()
	if ap, ok := addr.AddrPort(); err != nil || !ok || !ap.Addr().IsUnspecified() || ap.Port() == 0 {
		t.Errorf("unbound listener on %v, %v", addr, err)
	}
}

// TestIDFamilies: the wildcards clash unless told to keep to their families;
// the dual one serves both, the other refuses IPv4 (parity scenario 39).
func TestIDFamilies(t *testing.T) {
	qps := idsQPs(t)
	ctx := testContext(t)
	v4, err := idsBound(t, "0.0.0.0:7491")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := idsBound(t, "[::]:7491", idsDual); !errors.Is(err, cm.ErrAddrInUse) || !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("both families beside IPv4: %v", err)
	}
	only, err := idsBound(t, "[::]:7491", idsAFOnly)
	if err != nil {
		t.Fatalf("IPv6 beside IPv4: %v", err)
	}
	if err := errors.Join(v4.Close(), only.Listen(0)); err != nil {
		t.Fatal(err)
	}
	refused := abi.IB_CM_REJ_CONSUMER_DEFINED
	if onIWARP() {
		refused = iwarpReason(syscall.ECONNREFUSED)
	}
	a := idsResolved(t, nil, sockaddr(t, addrV4+":7491"))
	_, err = a.Connect(ctx, qps.param(a), ucma.ECE{})
	var rej *cm.RejectError
	if !errors.As(err, &rej) || rej.Reason != refused {
		t.Errorf("IPv4 to a listener for IPv6: %v", err)
	}
	dual, err := idsBound(t, "[::]:7492", idsDual)
	if err != nil {
		t.Fatal(err)
	}
	if err := dual.Listen(0); err != nil {
		t.Fatal(err)
	}
	for _, dst := range []string{addrV4 + ":7492", "[" + addrV6 + "]:7492"} {
		a := idsResolved(t, nil, sockaddr(t, dst))
		answer := idsConnect(ctx, a, qps.param(a), ucma.ECE{})
		if onIWARP() && dst == addrV4+":7492" { // the kernel refuses it by itself
			if r := <-answer; !errors.Is(r.err, cm.ErrRejected) {
				t.Errorf("IPv4 to a listener for both: %v", r.err)
			}
			continue
		}
		b, _ := idsRequest(t, dual)
		if err := b.Reject(nil); err != nil {
			t.Fatal(err)
		}
		if r := <-answer; !errors.Is(r.err, cm.ErrRejected) {
			t.Errorf("%s: %v", dst, r.err)
		}
	}
}

// TestIDReuseAddr: two bind one address, and one listens when it is alone
// (parity scenario 40).
func TestIDReuseAddr(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	a, err := idsBound(t, addrV4+":7493", idsReuse)
	if err != nil {
		t.Fatal(err)
	}
	b, err := idsBound(t, addrV4+":7493", idsReuse)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Listen(0); !errors.Is(err, cm.ErrAddrInUse) {
		t.Errorf("listen beside another: %v", err)
	}
	if err := errors.Join(b.Close(), a.Listen(0)); err != nil {
		t.Errorf("listen alone: %v", err)
	}
}

// TestIDResolve: no route at once, a silent host after its time, a route
// without RDMA by name; the same ID can try again (parity scenario 42).
func TestIDResolve(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	ctx := testContext(t)
	id := idsNew(t, nil)
	inTime(t, "an address without a route", time.Second, func() {
		if err := id.ResolveAddr(ctx, ucma.Sockaddr{}, sockaddr(t, "203.0.113.9:1")); !errors.Is(err, syscall.ENETUNREACH) {
			t.Errorf("no route: %v", err)
		}
	})
	if err := id.StartResolveAddr(ucma.Sockaddr{}, sockaddr(t, addrSilent+":1"), 300*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	ev, err := id.NextEvent(ctx)
	if err != nil || ev.Type != abi.RDMA_CM_EVENT_ADDR_ERROR || ev.Status != -int32(syscall.ETIMEDOUT) {
		t.Errorf("silent host: %v, status %d, %v", ev.Type, ev.Status, err)
	}
	if err := id.ResolveAddr(ctx, ucma.Sockaddr{}, sockaddr(t, addrV4+":1")); err != nil {
		t.Errorf("after two failures: %v", err)
	}
	idsPlainLink(t)
	if err := idsNew(t, nil).ResolveAddr(ctx, ucma.Sockaddr{}, sockaddr(t, "198.51.100.2:1")); !errors.Is(err, cm.ErrNoDevice) {
		t.Errorf("without RDMA: %v", err)
	}
	if _, err := idsBound(t, "198.51.100.1:0"); !errors.Is(err, cm.ErrNoDevice) {
		t.Errorf("bound without RDMA: %v", err)
	}
	short, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	if err := idsNew(t, nil).ResolveAddr(short, ucma.Sockaddr{}, sockaddr(t, addrSilent+":1")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("context: %v", err)
	}
}

// idsPlainLink gives the far end of the guest's link, which has no RDMA device,
// an address and a neighbour.
func idsPlainLink(t *testing.T) {
	t.Helper()
	link, err := netlink.LinkByName("v1")
	if err != nil {
		missing(t, "the guest's link v1", "run through scripts/vm")
	}
	addr, _ := netlink.ParseAddr("198.51.100.1/24")
	if err := netlink.AddrAdd(link, addr); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = netlink.AddrDel(link, addr) })
	neigh := &netlink.Neigh{
		LinkIndex: link.Attrs().Index, IP: []byte{198, 51, 100, 2}, State: netlink.NUD_PERMANENT,
		HardwareAddr: []byte{2, 0, 0, 0, 0, 9},
	}
	if err := netlink.NeighSet(neigh); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = netlink.NeighDel(neigh) })
}
