package gidpick

import (
	"net/netip"
	"testing"

	"github.com/purerdma/rdma/cmd/rdmaprobe/netinfo"
	"github.com/purerdma/rdma/uverbs"
)

// TestOtherNamespace: a GID of another network namespace is neither here nor picked,
// whatever its interface has in common with one that is here.
func TestOtherNamespace(t *testing.T) {
	for _, tt := range []struct {
		name   string
		netdev string
		index  int
		addr   string
	}{
		{"equal name", "eth0", 0, "10.9.9.9"},
		{"equal number", "", 2, "10.9.9.9"},
		{"equal name and number", "eth0", 2, "10.9.9.9"},
		{"equal name, number and address", "eth0", 2, "10.0.0.1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			foreign := entry(0, tt.addr, tt.netdev, uverbs.GIDTypeRoCEv2)
			foreign.NetdevIndex, foreign.OtherNetNS = tt.index, true
			own := entry(1, "10.0.0.1", "eth0", uverbs.GIDTypeRoCEv2)
			own.NetdevIndex = 2
			active := uverbs.PortInfo{Number: 1, State: uverbs.PortActive}
			rows := Rows([]Port{
				{Device: "rxe9", Protocol: uverbs.ProtocolRoCE, Info: active, GIDs: []uverbs.GIDEntry{foreign}},
				{Device: "rxe0", Protocol: uverbs.ProtocolRoCE, Info: active, GIDs: []uverbs.GIDEntry{own}},
			}, lab())
			why := "its interface is in another network namespace"
			if tt.netdev != "" {
				why = "eth0 is in another network namespace"
			}
			if r := rows[0]; r.Here || r.Address.IsValid() || r.Unusable != why || r.On("eth0") {
				t.Errorf("the foreign GID: %+v", r)
			}
			addr := netip.MustParseAddr
			w := Want{addr("10.0.0.7"), netinfo.Route{Index: 2, Source: addr("10.0.0.1")}}
			if i := Pick(rows, w, lab()); i != 1 || rows[0].Lost != why {
				t.Errorf("picked %d; the foreign GID lost because %q", i, rows[0].Lost)
			}
		})
	}
}

// TestPortNetdev: a port's interface is here only when name and number are those of
// one interface.
func TestPortNetdev(t *testing.T) {
	for _, tt := range []struct {
		name  string
		index int
		here  bool
	}{{"eth0", 2, true}, {"eth0", 0, true}, {"eth0", 3, false}, {"", 2, false}, {"nope", 2, false}, {"", 0, false}} {
		n, here := PortNetdev(uverbs.PortInfo{Netdev: tt.name, NetdevIndex: tt.index}, lab())
		if here != tt.here || here && n.Name != tt.name {
			t.Errorf("%q number %d: %q, %v", tt.name, tt.index, n.Name, here)
		}
	}
}
