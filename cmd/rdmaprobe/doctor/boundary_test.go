package doctor

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/purerdma/rdma/abi"
)

// TestMTUBoundaries: an interface whose MTU is exactly enough is, and one byte less
// is not; so for the MTU from which a larger packet fits.
func TestMTUBoundaries(t *testing.T) {
	for _, tc := range []struct {
		mtu    int
		active abi.IBMTU
		want   string // of the findings about packets, or none
	}{
		{1024 + packetRoom, abi.IB_MTU_1024, ""},
		{1024 + packetRoom - 1, abi.IB_MTU_1024, "RP-PRT-003"},
		{2048 + packetRoom, abi.IB_MTU_2048, ""},
		{2048 + packetRoom - 1, abi.IB_MTU_2048, "RP-PRT-003"},
		{2048 + driverRoom, abi.IB_MTU_1024, "RP-PRT-004"},
		{2048 + driverRoom - 1, abi.IB_MTU_1024, ""},
		{9000, abi.IB_MTU_4096, ""},
	} {
		f := healthy()
		f.Netdevs[1].MTU, f.Netdevs[2].MTU = tc.mtu, tc.mtu
		port(f).Attr.ActiveMTU = tc.active
		var got []string
		for _, id := range ids(Run(f)) {
			if id == "RP-PRT-003" || id == "RP-PRT-004" {
				got = append(got, id)
			}
		}
		if tc.want == "" && len(got) > 0 || tc.want != "" && !slices.Equal(got, []string{tc.want}) {
			t.Errorf("MTU %d, packets of %v: %v, want %q", tc.mtu, tc.active, got, tc.want)
		}
	}
	if packetRoom != 80 || driverRoom != 96 {
		t.Errorf("room for headers is %d, and what drivers leave %d", packetRoom, driverRoom)
	}
}

// TestARPBoundaries: two interfaces in a subnet are no finding only when both answer
// for, and announce, their own addresses alone.
func TestARPBoundaries(t *testing.T) {
	for _, tc := range []struct {
		a, b ARP
		fine bool
	}{
		{ARP{Ignore: 1, Announce: 2}, ARP{Ignore: 1, Announce: 2}, true},
		{ARP{Ignore: 2, Announce: 2}, ARP{Ignore: 1, Announce: 2}, true},
		{ARP{Ignore: 1, Announce: 1}, ARP{Ignore: 1, Announce: 2}, false},
		{ARP{Ignore: 1, Announce: 2}, ARP{Ignore: 1, Announce: 1}, false},
		{ARP{Ignore: 0, Announce: 2}, ARP{Ignore: 1, Announce: 2}, false},
		{ARP{Ignore: 1, Announce: 2}, ARP{Ignore: 0, Announce: 2}, false},
		{ARP{}, ARP{}, false},
	} {
		f := healthy()
		f.addDevice()
		f.Netdevs[2].Addrs = []netip.Prefix{netip.MustParsePrefix("10.77.0.2/24")}
		f.ARP = map[string]ARP{f.Netdevs[1].Name: tc.a, f.Netdevs[2].Name: tc.b}
		if found := slices.Contains(ids(Run(f)), "RP-MAP-002"); found == tc.fine {
			t.Errorf("%+v and %+v: finding %v", tc.a, tc.b, found)
		}
	}
}
