package doctor

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/purerdma/rdma/cmd/rdmaprobe/gidpick"
	"github.com/purerdma/rdma/uverbs"
)

// TestTwinElsewhere: a device of another network namespace, whose interface has the
// name, the number and even the address of one here, causes no finding about that.
func TestTwinElsewhere(t *testing.T) {
	for _, address := range []string{"10.77.0.1", "10.99.0.1"} {
		for _, state := range []uverbs.PortState{uverbs.PortActive, uverbs.PortDown} {
			f := healthy()
			d := f.addDevice()
			p := &d.Ports[0]
			p.State, p.Netdev, p.NetdevIndex = state, "", 0 // netlink tells neither
			p.GIDs = gidpick.Rows([]gidpick.Port{{Device: d.Name, Protocol: d.Protocol, Info: p.PortInfo, GIDs: []uverbs.GIDEntry{{
				GID: uverbs.GIDFromAddr(netip.MustParseAddr(address)), Type: uverbs.GIDTypeRoCEv2, Netdev: "v0", NetdevIndex: 2, OtherNetNS: true}}}}, f.Netdevs)
			if diff := cmp.Diff([]string{"RP-MAP-003"}, ids(Run(f))); diff != "" {
				t.Errorf("%s, port %v (-want +got):\n%s", address, state, diff)
			}
		}
	}
}
