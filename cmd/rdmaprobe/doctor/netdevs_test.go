package doctor

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/purerdma/rdma/cmd/rdmaprobe/gidpick"
	"github.com/purerdma/rdma/cmd/rdmaprobe/netinfo"
	"github.com/purerdma/rdma/uverbs"
)

// TestNetdevTable: VLANs, macvlans and bonds lead to the port below them, as
// the GIDs tell.
func TestNetdevTable(t *testing.T) {
	f := healthy()
	f.Netdevs = append(f.Netdevs,
		netinfo.Netdev{Index: 4, Name: "v0.5", Kind: "vlan", VLAN: 5, ParentIndex: 2, MTU: 1500, Up: true, Running: true,
			Addrs: []netip.Prefix{netip.MustParsePrefix("10.5.0.1/24")}},
		netinfo.Netdev{Index: 5, Name: "pod0", Kind: "macvlan", ParentIndex: 2, ParentElsewhere: true, MTU: 1500, Up: true, Running: true},
		netinfo.Netdev{Index: 6, Name: "bond0", Kind: "bond", MTU: 9000, Up: true, Running: true},
		netinfo.Netdev{Index: 7, Name: "eth7", Kind: "device", MTU: 9000, MasterIndex: 6, Up: true},
		netinfo.Netdev{Index: 8, Name: "eth8", Kind: "device", MTU: 9000, Up: true})
	add := func(index int, addr, netdev string) {
		p := &f.Devices[0].Ports[0]
		entry := uverbs.GIDEntry{Index: index, GID: uverbs.GIDFromAddr(netip.MustParseAddr(addr)), Type: uverbs.GIDTypeRoCEv2, Netdev: netdev}
		p.GIDs = append(p.GIDs, gidpick.Rows([]gidpick.Port{{Device: "rxe0", Protocol: uverbs.ProtocolRoCE, Info: p.PortInfo, GIDs: []uverbs.GIDEntry{entry}}}, f.Netdevs)...)
	}
	add(4, "10.5.0.1", "v0.5")
	add(5, "10.6.0.1", "pod0")
	d := f.addDevice()
	d.Ports[0].Netdev = "eth7"
	d.Ports[0].GIDs = gidpick.Rows([]gidpick.Port{{Device: "rxe1", Protocol: uverbs.ProtocolRoCE, Info: d.Ports[0].PortInfo,
		GIDs: []uverbs.GIDEntry{{Index: 1, GID: uverbs.GIDFromAddr(netip.MustParseAddr("10.7.0.1")), Netdev: "bond0", Type: uverbs.GIDTypeRoCEv2}}}}, f.Netdevs)
	want := [][]string{
		{"NETDEV", "KIND", "ON", "MEMBER OF", "STATE", "MTU", "RDMA"},
		{"v0", "veth", "", "", "up", "1500 B", "rxe0/1"},
		{"v0.5", "vlan 5", "v0", "", "up", "1500 B", "rxe0/1"},
		{"pod0", "macvlan", "other netns", "", "up", "1500 B", "rxe0/1"},
		{"bond0", "bond", "", "", "up", "9000 B", "rxe1/1"},
		{"eth7", "device", "", "bond0", "no carrier", "9000 B", "rxe1/1"},
	}
	if diff := cmp.Diff(want, netdevTable(f)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
