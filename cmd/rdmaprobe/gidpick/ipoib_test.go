package gidpick

import (
	"net/netip"
	"testing"

	"github.com/purerdma/rdma/cmd/rdmaprobe/netinfo"
	"github.com/purerdma/rdma/uverbs"
)

// TestPartitions: an InfiniBand port has an interface for each partition, all with its
// GID; of another port's GID none is taken for one's own.
func TestPartitions(t *testing.T) {
	child := func(index int, name, gid string) netinfo.Netdev {
		return netinfo.Netdev{Index: index, Name: name, Up: true, Running: true, HWAddr: append([]byte{0, 0, 0, byte(index)}, gidBytes(gid)...)}
	}
	port := func(device, gid string) Port {
		return Port{Device: device, Protocol: uverbs.ProtocolIB, Info: uverbs.PortInfo{Number: 1, State: uverbs.PortActive},
			GIDs: []uverbs.GIDEntry{entry(0, gid, "", 0)}}
	}
	const first, second = "fe80::2:c903", "fe80::3:c903"
	all := []Port{port("mlx5_0", first), port("mlx5_1", second)}
	netdevs := netinfo.Netdevs{child(5, "ib0", first), child(6, "ib0.8001", first), child(7, "ib1", second), child(8, "ib1.8001", second)}
	for _, tt := range []struct {
		index          int
		netdev, device string
	}{{5, "ib0", "mlx5_0"}, {6, "ib0.8001", "mlx5_0"}, {7, "ib1", "mlx5_1"}, {8, "ib1.8001", "mlx5_1"}} {
		rows := Rows(all, netdevs)
		for i := range rows {
			if on := rows[i].On(tt.netdev); on != (rows[i].Device == tt.device) {
				t.Errorf("%s on %s: %v", rows[i].Device, tt.netdev, on)
			}
		}
		addr := netip.MustParseAddr
		i := Pick(rows, Want{addr("10.5.0.7"), netinfo.Route{Index: tt.index, Source: addr("10.5.0.1")}}, netdevs)
		if i < 0 || rows[i].Device != tt.device || rows[i].Netdev != tt.netdev {
			t.Errorf("through %s: picked %d of %+v", tt.netdev, i, rows)
		}
	}
}
