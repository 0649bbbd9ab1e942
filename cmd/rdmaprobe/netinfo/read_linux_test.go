package netinfo

import (
	"errors"
	"net/netip"
	"testing"

	"golang.org/x/sys/unix"
)

// TestReal reads this machine, on which only the loopback interface is sure.
func TestReal(t *testing.T) {
	l, err := List()
	for _, refused := range []error{unix.EPERM, unix.EACCES, unix.EAFNOSUPPORT, unix.EPROTONOSUPPORT} {
		if errors.Is(err, refused) {
			t.Skip(err) // a sandbox without rtnetlink
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	lo, ok := l.ByName("lo")
	if !ok || !lo.Loopback || lo.MTU <= 0 {
		t.Errorf("lo is %+v", lo)
	}
	ip := netip.MustParseAddr("127.0.0.1")
	if !lo.Has(ip) {
		t.Skip("lo has no address")
	}
	r, err := RouteTo(ip)
	if err != nil {
		t.Fatal(err)
	}
	if !r.Local || r.Index != lo.Index || r.Source != ip {
		t.Errorf("route %+v", r)
	}
	n, err := NeighbourOf(lo.Index, netip.MustParseAddr("127.9.9.9"))
	if err != nil || n.State != "none" {
		t.Errorf("neighbour %+v, %v", n, err)
	}
}

func TestNeighbourState(t *testing.T) {
	for bits, want := range map[int]string{0: "none", 2: "REACHABLE", 0x20: "FAILED", 0x84: "PERMANENT|STALE"} {
		if got := neighbourState(bits); got != want {
			t.Errorf("state %#x is %s, want %s", bits, got, want)
		}
	}
}
