package doctor

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/purerdma/rdma/cmd/rdmaprobe/gidpick"
	"github.com/purerdma/rdma/uverbs"
)

// checkGIDs looks for addresses that connections can use. Only RoCE takes its
// GIDs from IP addresses.
func checkGIDs(f *Facts, r *Result) {
	usable, all := 0, 0
	for _, d := range f.Devices {
		for _, p := range d.Ports {
			for _, g := range p.GIDs {
				all++
				if g.Unusable == "" {
					usable++
				}
			}
			if p.GIDErr != nil {
				r.find("RP-GID-004", portName(d, p), "the GID table cannot be read", p.GIDErr.Error(), "mount sysfs, or give access to the device node")
			} else if d.Protocol == uverbs.ProtocolRoCE {
				checkPortGIDs(f, r, d, p)
				checkFullTable(f, r, d, p)
			}
		}
	}
	r.Summary = fmt.Sprintf("%d usable of %d", usable, all)
	if len(f.Devices) == 0 {
		r.nothing("no device")
	}
	checkSharedAddresses(f, r)
}

// kinds counts the addresses among a port's GIDs that interfaces here have.
type kinds struct{ v4, v6, local int }

func checkPortGIDs(f *Facts, r *Result, d Device, p Port) {
	var have kinds
	foreign := false
	for _, g := range p.GIDs {
		switch {
		case !g.Here:
			foreign = true
		case !g.Address.IsValid():
			staleGID(r, d, p, g)
		case g.Address.Is4():
			have.v4++
		case g.Address.IsLinkLocalUnicast():
			have.local++
		default:
			have.v6++
		}
	}
	checkDefaultType(r, d, p)
	if _, here := gidpick.PortNetdev(p.PortInfo, f.Netdevs); !here && have == (kinds{}) {
		return // the interfaces' section tells
	}
	object := portName(d, p)
	netdev := p.Netdev
	if netdev == "" {
		netdev = "NETDEV"
	}
	remedy := "ip addr add ADDRESS/LENGTH dev " + netdev
	evidence := have.evidence(len(p.GIDs), foreign)
	switch {
	case have == (kinds{}):
		r.find("RP-GID-001", object, "no IP address on "+netdev+", so no usable GID: nothing can connect", evidence, remedy)
	case have.v4+have.v6 == 0:
		r.find("RP-GID-002", object, "no IPv4 and no global IPv6 address on "+netdev+": only fe80 addresses with a zone can connect", evidence, remedy)
	case have.v4 == 0:
		r.find("RP-GID-003", object, "no IPv4 address on "+netdev+": IPv4 peers are not reached through this port", evidence, remedy)
	}
}

func (k kinds) evidence(all int, foreign bool) string {
	if all == 0 {
		return "the GID table is empty"
	}
	s := fmt.Sprintf("of %d GIDs %d are IPv4, %d global IPv6, %d link-local addresses of interfaces here", all, k.v4, k.v6, k.local)
	if foreign {
		s += "; others belong to interfaces of other network namespaces"
	}
	return s
}

// staleGID reports an address that has gone while its GID stayed. RoCE has a
// link-local GID even without such an address.
func staleGID(r *Result, d Device, p Port, g gidpick.Row) {
	if ip := g.GID.Addr(); !ip.IsLinkLocalUnicast() && p.State == uverbs.PortActive {
		r.find("RP-GID-006", fmt.Sprintf("%s GID %d", portName(d, p), g.Index), fmt.Sprintf("stands for %v, which %s does not have", ip, g.Netdev),
			"the addresses of "+g.Netdev, "give "+g.Netdev+" the address and take it away again; if the GID stays, look at the kernel log")
	}
}

func checkDefaultType(r *Result, d Device, p Port) {
	v2 := slices.ContainsFunc(p.GIDs, func(g gidpick.Row) bool { return g.Type == uverbs.GIDTypeRoCEv2 })
	if v2 && strings.Contains(p.CMDefault, "v1") {
		r.find("RP-GID-007", portName(d, p), "connections use RoCE v1, although the port has RoCE v2: no router passes v1, and a peer with v2 does not answer",
			"default_roce_mode is "+p.CMDefault, fmt.Sprintf("echo 'RoCE v2' > /sys/kernel/config/rdma_cm/%s/ports/%d/default_roce_mode", d.Name, p.Number))
	}
}

// checkSharedAddresses finds devices that compete for addresses, such as two
// soft devices on one interface.
func checkSharedAddresses(f *Facts, r *Result) {
	owners := map[netip.Addr][]string{}
	var order []netip.Addr
	for _, d := range f.Devices {
		for _, p := range d.Ports {
			for _, g := range p.GIDs {
				if !g.Address.IsValid() || slices.Contains(owners[g.Address], d.Name) {
					continue
				}
				if owners[g.Address] == nil {
					order = append(order, g.Address)
				}
				owners[g.Address] = append(owners[g.Address], d.Name)
			}
		}
	}
	shared := map[string][]string{} // addresses by devices
	var groups []string
	for _, ip := range order {
		if len(owners[ip]) < 2 {
			continue
		}
		group := strings.Join(owners[ip], " and ")
		if shared[group] == nil {
			groups = append(groups, group)
		}
		shared[group] = append(shared[group], ip.String())
	}
	for _, group := range groups {
		first, _, _ := strings.Cut(group, " ")
		r.find("RP-GID-005", group, "have the same addresses: connections use "+first, "both have "+strings.Join(shared[group], ", "),
			"remove one of the devices, or use "+first+" only")
	}
}
