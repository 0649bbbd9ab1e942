package doctor

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/purerdma/rdma/cmd/rdmaprobe/gidpick"
	"github.com/purerdma/rdma/cmd/rdmaprobe/netinfo"
	"github.com/purerdma/rdma/uverbs"
)

// TestSubnets: v0 is on rxe0 and has an address in 10.77.0.0/24; another interface gets
// one, too.
func TestSubnets(t *testing.T) {
	for _, tt := range []struct {
		name  string
		other netinfo.Netdev
		more  netinfo.Netdevs
		rxe1  bool // the other one has a device of its own
		warns bool
	}{
		{"device of its own", netinfo.Netdev{Kind: "veth"}, nil, true, true},
		{"macvlan on it", netinfo.Netdev{Kind: "macvlan", ParentIndex: 2}, nil, false, false},
		{"ipvlan on it", netinfo.Netdev{Kind: "ipvlan", ParentIndex: 2}, nil, false, false},
		{"VLAN on it", netinfo.Netdev{Kind: "vlan", ParentIndex: 2, VLAN: 5}, nil, false, true},
		{"macvlan on a VLAN", netinfo.Netdev{Kind: "macvlan", ParentIndex: 8}, netinfo.Netdevs{{Index: 8, Name: "v0.5", Kind: "vlan", ParentIndex: 2, VLAN: 5}}, false, true},
		{"macvlan on another device", netinfo.Netdev{Kind: "macvlan", ParentIndex: 3}, nil, true, true},
		{"in a VRF", netinfo.Netdev{Kind: "veth", MasterIndex: 8}, netinfo.Netdevs{{Index: 8, Name: "blue", Kind: "vrf"}}, true, false},
		{"in a bridge", netinfo.Netdev{Kind: "veth", MasterIndex: 8}, netinfo.Netdevs{{Index: 8, Name: "br0", Kind: "bridge"}}, true, true},
		{"in a bridge in a VRF", netinfo.Netdev{Kind: "veth", MasterIndex: 8},
			netinfo.Netdevs{{Index: 8, Name: "br0", Kind: "bridge", MasterIndex: 9}, {Index: 9, Name: "blue", Kind: "vrf"}}, true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := healthy()
			other := tt.other
			other.Index, other.Name, other.MTU, other.Up, other.Running = 7, "other", 1500, true, true
			other.Addrs = []netip.Prefix{netip.MustParsePrefix("10.77.0.2/24")}
			f.Netdevs = append(append(f.Netdevs, other), tt.more...)
			gids := &f.Devices[0].Ports[0]
			if tt.rxe1 {
				f.addDevice()
				gids = &f.Devices[1].Ports[0]
				gids.Netdev = "other"
			}
			gids.GIDs = append(slices.Clone(gids.GIDs), rowOn(f, gids.PortInfo, "other"))
			found := slices.Contains(ids(Run(f)), "RP-MAP-002")
			if found != tt.warns {
				t.Errorf("warned %v, want %v: %v", found, tt.warns, ids(Run(f)))
			}
		})
	}
}

// rowOn is the GID of 10.77.0.2 on an interface.
func rowOn(f *Facts, p uverbs.PortInfo, netdev string) gidpick.Row {
	g := uverbs.GIDEntry{Index: 9, GID: uverbs.GIDFromAddr(netip.MustParseAddr("10.77.0.2")), Type: uverbs.GIDTypeRoCEv2, Netdev: netdev}
	return gidpick.Rows([]gidpick.Port{{Protocol: uverbs.ProtocolRoCE, Info: p, GIDs: []uverbs.GIDEntry{g}}}, f.Netdevs)[0]
}
