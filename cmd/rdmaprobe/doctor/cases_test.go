package doctor

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/purerdma/rdma/cmd/rdmaprobe/netinfo"
	"github.com/purerdma/rdma/uverbs"
)

// TestPortStates: on a fabric with a subnet manager a link that is up waits for it; on
// Ethernet there is none to wait for.
func TestPortStates(t *testing.T) {
	const sm, down = "RP-PRT-002", "RP-PRT-001"
	fabric := map[uverbs.PortState]string{uverbs.PortActive: "", uverbs.PortInit: sm, uverbs.PortArmed: sm, uverbs.PortDown: down}
	ethernet := map[uverbs.PortState]string{uverbs.PortActive: "", uverbs.PortInit: down, uverbs.PortArmed: down, uverbs.PortDown: down}
	for protocol, states := range map[uverbs.Protocol]map[uverbs.PortState]string{
		uverbs.ProtocolIB: fabric, uverbs.ProtocolOPA: fabric, uverbs.ProtocolRoCE: ethernet, uverbs.ProtocolIWARP: ethernet,
	} {
		for state, want := range states {
			f := healthy()
			first(f).Protocol, port(f).State = protocol, state
			got := ids(Run(f))
			if want == "" && len(got) > 0 || want != "" && !slices.Equal(got, []string{want}) {
				t.Errorf("%s, port %v: %v, want %q", protocol, state, got, want)
			}
		}
	}
}

// TestWhyDown: the first cause that is seen, and a remedy for it.
func TestWhyDown(t *testing.T) {
	up := netinfo.Netdev{Name: "v0", Kind: "veth", Up: true, Running: true}
	noCarrier, off := up, up
	noCarrier.Running = false
	off.Up, off.Running = false, false
	card := noCarrier
	card.Kind = "device"
	disabled := uverbs.PortInfo{Phys: uverbs.PhysDisabled}
	for _, tc := range []struct {
		name            string
		port            uverbs.PortInfo
		netdev          netinfo.Netdev
		here            bool
		problem, remedy string
	}{
		{"interface down", disabled, off, true, "because v0 is", "ip link set v0 up"},
		{"veth without carrier", disabled, noCarrier, true, "no carrier", "other end of the veth pair"},
		{"card without carrier", disabled, card, true, "no carrier", "check cable and the other end of v0"},
		{"interface fine, port disabled", disabled, up, true, "down", "enable the port"},
		{"interface fine", uverbs.PortInfo{}, up, true, "down", "transceiver"},
		{"interface elsewhere, port disabled", disabled, off, false, "down", "enable the port"},
		{"interface elsewhere", uverbs.PortInfo{}, off, false, "down", "transceiver"},
	} {
		problem, remedy := WhyDown(tc.port, tc.netdev, tc.here)
		if !strings.Contains(problem, tc.problem) || !strings.Contains(remedy, tc.remedy) {
			t.Errorf("%s: %q, %q", tc.name, problem, remedy)
		}
	}
}

// TestSharedSubnets: interfaces that share a subnet, which an address alone is not.
func TestSharedSubnets(t *testing.T) {
	for _, tc := range []struct {
		a, b  string
		found bool
	}{
		{"10.77.0.1/24", "10.77.0.2/24", true},
		{"10.77.0.0/31", "10.77.0.1/31", true},
		{"10.77.0.1/32", "10.77.0.1/32", false},
		{"10.77.0.1/24", "10.77.1.2/24", false},
		{"10.77.0.1/24", "10.77.0.2/25", false},
		{"fd00:77::1/64", "fd00:77::2/64", false}, // neighbour discovery does not answer for others
	} {
		f := healthy()
		f.addDevice()
		f.Netdevs[1].Addrs = []netip.Prefix{netip.MustParsePrefix(tc.a)}
		f.Netdevs[2].Addrs = []netip.Prefix{netip.MustParsePrefix(tc.b)}
		if found := slices.Contains(ids(Run(f)), "RP-MAP-002"); found != tc.found {
			t.Errorf("%s and %s: finding %v", tc.a, tc.b, found)
		}
	}
}

// TestFewNames: three addresses are named, of more than that the rest is counted.
func TestFewNames(t *testing.T) {
	for want, list := range map[string][]string{
		"": nil, "a": {"a"}, "a, b, c": {"a", "b", "c"}, "a, b, c and 1 more": {"a", "b", "c", "d"}, "a, b, c and 2 more": {"a", "b", "c", "d", "e"},
	} {
		if got := some(list); got != want {
			t.Errorf("%v: %q, want %q", list, got, want)
		}
	}
}
