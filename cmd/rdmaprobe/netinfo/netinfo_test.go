package netinfo

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func lab() Netdevs {
	p := netip.MustParsePrefix
	return Netdevs{
		{Index: 1, Name: "lo", Loopback: true, Up: true, Running: true, Addrs: []netip.Prefix{p("127.0.0.1/8")}},
		{Index: 2, Name: "eth0", Kind: "device", Up: true, Running: true, Addrs: []netip.Prefix{p("10.0.0.1/24"), p("fe80::1/64")}},
		{Index: 3, Name: "eth0.5", Kind: "vlan", VLAN: 5, ParentIndex: 2, Up: true, Running: true, Addrs: []netip.Prefix{p("10.0.5.1/24")}},
		{Index: 4, Name: "mac0", Kind: "macvlan", ParentIndex: 3, Up: true},
		{Index: 5, Name: "v0", Kind: "veth", ParentIndex: 6, Addrs: []netip.Prefix{p("fe80::5/64")}},
		{Index: 6, Name: "v1", Kind: "veth", ParentIndex: 5},
		{Index: 7, Name: "pod0", Kind: "macvlan", ParentIndex: 2, ParentElsewhere: true},
		{Index: 8, Name: "w0", Kind: "veth", ParentIndex: 2, ParentElsewhere: true},
	}
}

func TestBase(t *testing.T) {
	l := lab()
	for name, want := range map[string]string{"eth0": "eth0", "eth0.5": "eth0", "mac0": "eth0", "v0": "v0", "pod0": "pod0"} {
		d, ok := l.ByName(name)
		if got := l.Base(d); !ok || got.Name != want {
			t.Errorf("base of %s is %s, want %s", name, got.Name, want)
		}
	}
	loop := Netdevs{{Index: 1, Name: "a", Kind: "vlan", ParentIndex: 2}, {Index: 2, Name: "b", Kind: "vlan", ParentIndex: 1}}
	loop.Base(loop[0]) // ends
}

func TestPeer(t *testing.T) {
	l := lab()
	for name, want := range map[string]string{"v0": "v1", "v1": "v0", "eth0.5": "", "w0": ""} {
		d, _ := l.ByName(name)
		if got, _ := l.Peer(d); got.Name != want {
			t.Errorf("peer of %s is %q, want %q", name, got.Name, want)
		}
	}
}

func TestOwner(t *testing.T) {
	l := lab()
	for ip, want := range map[string]string{"10.0.5.1": "eth0.5", "fe80::1%eth0": "eth0", "fe80::1%v0": "", "::ffff:10.0.0.1": "eth0", "10.9.9.9": ""} {
		if got, _ := l.Owner(netip.MustParseAddr(ip)); got.Name != want {
			t.Errorf("owner of %s is %q, want %q", ip, got.Name, want)
		}
	}
	if _, ok := l.ByName(""); ok {
		t.Error("an interface without a name was found")
	}
	if _, ok := l.ByIndex(0); ok {
		t.Error("an interface with index 0 was found")
	}
}

func TestZones(t *testing.T) {
	if diff := cmp.Diff([]string{"eth0"}, lab().Zones()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestState(t *testing.T) {
	for want, d := range map[string]Netdev{"up": {Up: true, Running: true}, "no carrier": {Up: true}, "down": {}} {
		if got := d.State(); got != want {
			t.Errorf("%+v is %s, want %s", d, got, want)
		}
	}
}

func TestNextHop(t *testing.T) {
	dst, gw := netip.MustParseAddr("10.1.0.1"), netip.MustParseAddr("10.0.0.254")
	if got := (Route{Dst: dst}).NextHop(); got != dst {
		t.Errorf("next hop %v, want %v", got, dst)
	}
	if got := (Route{Dst: dst, Gateway: gw}).NextHop(); got != gw {
		t.Errorf("next hop %v, want %v", got, gw)
	}
}
