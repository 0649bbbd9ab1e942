package doctor

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/purerdma/rdma/cmd/rdmaprobe/netinfo"
)

// A subnet is a prefix in one table of routes: a VRF has its own, and answers ARP for
// its own addresses only.
type subnet struct {
	prefix netip.Prefix
	vrf    int // its interface; 0 for none
}

// subnetMembers are the interfaces in a subnet that lead to RDMA ports.
type subnetMembers struct {
	names []string
	ways  []string // the different ones that packets can take
}

// checkSubnets finds interfaces that answer for each other's addresses.
func checkSubnets(f *Facts, r *Result) {
	members := map[subnet]*subnetMembers{}
	var order []subnet
	for _, d := range Interfaces(f) {
		for _, p := range d.Addrs {
			if !p.Addr().Is4() || p.Bits() == 32 {
				continue
			}
			s := subnet{p.Masked(), f.vrf(d.Netdev)}
			m := members[s]
			if m == nil {
				m = &subnetMembers{}
				members[s], order = m, append(order, s)
			}
			m.names, m.ways = appendNew(m.names, d.Name), appendNew(m.ways, f.way(d))
		}
	}
	for _, s := range order {
		m := members[s]
		if len(m.ways) < 2 || f.separated(m.names) {
			continue
		}
		r.find("RP-MAP-002", s.prefix.String(), strings.Join(m.names, " and ")+" are in this subnet: answers may come from, and packets leave through, the wrong one",
			f.arpText(m.names), fmt.Sprintf("a subnet for each; or, for each of them, sysctl net.ipv4.conf.NAME.arp_ignore=1 arp_announce=2, "+
				"and a table of routes for its address: ip rule add from ADDRESS table N; ip route add %v dev NAME table N", s.prefix))
	}
}

func appendNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// vrf is the VRF that an interface is a member of, itself or through its bridge or
// bond; 0 for none.
func (f *Facts) vrf(d netinfo.Netdev) int {
	for range f.Netdevs { // a chain is no longer than the list
		if d.Kind == "vrf" {
			return d.Index
		}
		master, ok := f.Netdevs.ByIndex(d.MasterIndex)
		if !ok {
			return 0
		}
		d = master
	}
	return 0
}

// way names what packets take from an interface: RDMA ports and VLAN. A macvlan or
// ipvlan and the interface below it have the same.
func (f *Facts) way(d Interface) string {
	vlan, n := 0, d.Netdev
	for range f.Netdevs {
		if n.VLAN != 0 {
			vlan = n.VLAN
			break
		}
		below, ok := f.Netdevs.ByIndex(n.ParentIndex)
		if !n.Stacked() || n.ParentElsewhere || !ok {
			break
		}
		n = below
	}
	return fmt.Sprint(d.Ports, vlan)
}

// separated reports whether ARP is set so that each interface answers for its
// own addresses only.
func (f *Facts) separated(names []string) bool {
	for _, n := range names {
		a, ok := f.ARP[n]
		if !ok || a.Ignore < 1 || a.Announce < 2 {
			return false
		}
	}
	return true
}

func (f *Facts) arpText(names []string) string {
	var out []string
	for _, n := range names {
		if a, ok := f.ARP[n]; ok {
			out = append(out, fmt.Sprintf("%s: arp_ignore %d, arp_announce %d, rp_filter %d", n, a.Ignore, a.Announce, a.RPFilter))
		}
	}
	if out == nil {
		return "addresses of the interfaces"
	}
	return strings.Join(out, "; ")
}
