package uverbs

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/purerdma/rdma/internal/rdmanl"
)

// TestPlaceGIDs: an interface of another namespace that has the name, the number, the
// address or all of them in common with one here is not taken for it.
func TestPlaceGIDs(t *testing.T) {
	here := netdevs{
		{index: 2, name: "eth0", mac: []byte{2, 0, 0, 0, 0, 1}, addrs: []netip.Addr{netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("fe80::99")}},
		{index: 3, name: "eth0.5", kind: "vlan", lower: 2, addrs: []netip.Addr{netip.MustParseAddr("10.5.0.1")}},
		{index: 4, name: "bond0", kind: "bond", addrs: []netip.Addr{netip.MustParseAddr("10.4.0.1")}},
		{index: 5, name: "eth5", master: 4, addrs: []netip.Addr{netip.MustParseAddr("10.4.0.5")}},
		{index: 6, name: "mac0", kind: "macvlan", lower: 2, lowerElsewhere: true, addrs: []netip.Addr{netip.MustParseAddr("10.6.0.1")}},
		{index: 7, name: "veth0", kind: "veth", lower: 2, lowerElsewhere: true, addrs: []netip.Addr{netip.MustParseAddr("10.7.0.1")}},
	}
	const elsewhere = 0 // the port's own interface is
	for name, tc := range map[string]struct {
		port    int // number of the port's own interface
		gid     string
		name    string // as sysfs tells it
		index   int    // as an open device tells it
		want    string // the interface here; empty for another namespace
		iwarp   bool
		unknown bool // RDMA netlink does not answer
	}{
		"own, by number":                        {port: 2, gid: "10.0.0.1", index: 2, want: "eth0"},
		"own, by name":                          {port: 2, gid: "10.0.0.1", name: "eth0", want: "eth0"},
		"own, default GID":                      {port: 2, gid: "fe80::ff:fe00:1", index: 2, want: "eth0"},
		"own, other link-local":                 {port: 2, gid: "fe80::99", index: 2, want: "eth0"},
		"vlan":                                  {port: 2, gid: "10.5.0.1", index: 3, want: "eth0.5"},
		"bond of the port":                      {port: 5, gid: "10.4.0.1", index: 4, want: "bond0"},
		"member of the port's bond":             {port: 4, gid: "10.4.0.5", index: 5, want: "eth5"},
		"macvlan over one elsewhere":            {port: elsewhere, gid: "10.6.0.1", index: 6, want: "mac0"},
		"no such number":                        {port: 2, gid: "10.0.0.1", index: 9},
		"no such name":                          {port: 2, gid: "10.0.0.1", name: "eth9"},
		"equal number":                          {port: elsewhere, gid: "10.9.0.1", index: 2},
		"equal name":                            {port: elsewhere, gid: "10.9.0.1", name: "eth0"},
		"equal number above a port here":        {port: 2, gid: "10.9.0.1", index: 2},
		"equal name, number and address":        {port: elsewhere, gid: "10.0.0.1", index: 2},
		"equal name and address":                {port: elsewhere, gid: "10.0.0.1", name: "eth0"},
		"equal on a veth whose peer is there":   {port: elsewhere, gid: "10.7.0.1", index: 7},
		"equal, of another port here":           {port: 5, gid: "10.0.0.1", index: 2},
		"without RDMA netlink":                  {port: elsewhere, gid: "10.0.0.1", name: "eth0", want: "eth0", unknown: true},
		"without RDMA netlink, not the address": {port: elsewhere, gid: "10.9.0.1", name: "eth0", unknown: true},
		"iWARP":                                 {port: 2, gid: "200:0:1::", index: 2, want: "eth0", iwarp: true},
		"iWARP elsewhere":                       {port: elsewhere, gid: "200:0:1::", index: 2, iwarp: true},
	} {
		t.Run(name, func(t *testing.T) {
			nl := &fakeNetlink{ports: map[int]map[int]rdmanl.Port{3: {1: {Number: 1, NetdevIndex: uint32(tc.port)}}}}
			h := fakeHost(t, nl, nil, nil)
			h.netdevs = func() (netdevs, error) { return here, nil }
			d := &Device{Index: 3, host: h}
			if tc.unknown {
				d.Index = -1
			}
			typ := GIDTypeRoCEv2
			if tc.iwarp {
				typ = GIDTypeIB
			}
			got := []GIDEntry{{GID: gid(tc.gid), Type: typ, Netdev: tc.name, NetdevIndex: tc.index}}
			want := []GIDEntry{{GID: gid(tc.gid), Type: typ, Netdev: tc.name, NetdevIndex: tc.index, OtherNetNS: true}}
			if n := here.byName(tc.want); n != nil {
				want[0].Netdev, want[0].NetdevIndex, want[0].OtherNetNS = n.name, n.index, false
			}
			d.placeGIDs(1, got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestPlaceGIDsInfiniBand: no interface is no other namespace.
func TestPlaceGIDsInfiniBand(t *testing.T) {
	d := &Device{Index: 3, host: fakeHost(t, rxeNetlink(), nil, nil)}
	got := []GIDEntry{{GID: gid("fe80::1"), Type: GIDTypeIB}}
	if d.placeGIDs(1, got); got[0].OtherNetNS || got[0].Netdev != "" {
		t.Errorf("%+v", got)
	}
}

// TestSysfsPortElsewhere: without RDMA netlink too, a port is not given an interface
// here whose name is that of its own one.
func TestSysfsPortElsewhere(t *testing.T) {
	for addr, want := range map[string]string{"fe80::5054:ff:fe12:3456": "v0", "fe80::1": ""} {
		files := rxeSysfs()
		files["sys/class/infiniband/rxe0/ports/1/gids/0"] = addr
		d, err := fakeHost(t, nil, files, nil).byName("rxe0")
		if err != nil {
			t.Fatal(err)
		}
		if p := d.Ports[0]; p.Netdev != want || (p.NetdevMTU != 0) != (want != "") || (p.NetdevIndex != 0) != (want != "") {
			t.Errorf("GID %s: interface %q number %d MTU %d, want %q", addr, p.Netdev, p.NetdevIndex, p.NetdevMTU, want)
		}
	}
}

// TestOwnGIDHere: of equal GIDs the one of this namespace answers.
func TestOwnGIDHere(t *testing.T) {
	there := GIDEntry{Index: 1, GID: gid("fd00::1"), Type: GIDTypeRoCEv2, OtherNetNS: true}
	here := GIDEntry{Index: 2, GID: gid("fd00::1"), Type: GIDTypeRoCEv2}
	g := &GRH{Dst: gid("fd00::1"), Src: gid("fd00::9")}
	for _, table := range [][]GIDEntry{{there, here}, {here, there}} {
		if e, ok := g.ownGID(table); !ok || e.Index != 2 {
			t.Errorf("from %v: %+v", table, e)
		}
	}
	if e, ok := g.ownGID([]GIDEntry{there}); !ok || e.Index != 1 {
		t.Errorf("without one here: %+v, %v", e, ok)
	}
	g.Dst = gid("ff0e::1")
	if e, ok := g.ownGID([]GIDEntry{there, here}); !ok || e.Index != 2 {
		t.Errorf("of a group: %+v", e)
	}
}
