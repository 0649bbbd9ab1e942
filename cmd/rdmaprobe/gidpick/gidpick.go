// Package gidpick says which GIDs can be used here, and which one the
// connection manager takes towards an address, with the reason for each other
// one. It looks at what it is given only, so that it needs no device.
package gidpick

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/purerdma/rdma/cmd/rdmaprobe/netinfo"
	"github.com/purerdma/rdma/uverbs"
)

// Port is a port of a device with its GID table.
type Port struct {
	Device   string
	Protocol uverbs.Protocol
	Info     uverbs.PortInfo
	GIDs     []uverbs.GIDEntry
	// Default is the type of GID that the connection manager uses on the port, as
	// far as configfs tells; the zero value stands for the kernel's choice, RoCE v2
	// where the port has it.
	Default uverbs.GIDType
}

// Row is one GID.
type Row struct {
	Device string
	Port   int
	uverbs.GIDEntry
	// Address is the IP address that the GID stands for, with its zone, when the
	// interface has it now; else the zero Addr.
	Address netip.Addr
	Here    bool // the interface is in this network namespace
	// Unusable says why the GID cannot be used; empty when it can.
	Unusable string
	// Picked marks the one that is used towards an address; Lost says why another
	// one is not. Both are empty when no address was asked for.
	Picked bool
	Lost   string

	netdev   netinfo.Netdev
	children netinfo.Netdevs // further interfaces of an InfiniBand port, for partitions or bonding
	protocol uverbs.Protocol
	wanted   uverbs.GIDType
}

// Rows lists the GIDs of all ports, in the order in which the connection
// manager looks through them.
func Rows(ports []Port, netdevs netinfo.Netdevs) []Row {
	var out []Row
	for _, p := range ports {
		for _, g := range p.GIDs {
			out = append(out, newRow(p, g, netdevs))
		}
	}
	return out
}

func newRow(p Port, g uverbs.GIDEntry, netdevs netinfo.Netdevs) Row {
	r := Row{Device: p.Device, Port: p.Info.Number, GIDEntry: g, protocol: p.Protocol, wanted: p.defaultType()}
	if p.infiniband() {
		if all := ipoib(g.GID, netdevs); len(all) > 0 {
			r.netdev, r.children, r.Here = all[0], all[1:], true
		}
	} else {
		r.netdev, r.Here = interfaceOf(p, g, netdevs)
	}
	if r.Here {
		r.Netdev = r.netdev.Name
	}
	if ip := g.GID.Addr(); r.Here && r.netdev.Has(ip) {
		r.Address = ip
		if ip.Is6() && ip.IsLinkLocalUnicast() {
			r.Address = ip.WithZone(r.Netdev)
		}
	}
	r.Unusable = r.unusable(p)
	return r
}

// interfaceOf finds the interface of a GID in this network namespace. Name and
// number are not enough: those of another namespace's interface may be the same,
// which package uverbs finds out.
func interfaceOf(p Port, g uverbs.GIDEntry, netdevs netinfo.Netdevs) (netinfo.Netdev, bool) {
	switch {
	case g.OtherNetNS:
		return netinfo.Netdev{}, false
	case g.NetdevIndex != 0:
		return netdevs.ByIndex(g.NetdevIndex)
	case g.Netdev != "":
		return netdevs.ByName(g.Netdev)
	}
	return PortNetdev(p.Info, netdevs)
}

// infiniband: the port's GIDs are no IP addresses, and its interfaces IP over
// InfiniBand.
func (p Port) infiniband() bool {
	return p.Protocol == uverbs.ProtocolIB || p.Protocol == uverbs.ProtocolOPA
}

// ipoib finds the IP interfaces of an InfiniBand port, of which there is one for each
// partition (ib0, ib0.8001): their hardware addresses of 20 bytes end in the port's
// GID.
func ipoib(gid uverbs.GID, netdevs netinfo.Netdevs) (out netinfo.Netdevs) {
	for _, d := range netdevs {
		if len(d.HWAddr) == 20 && uverbs.GID(d.HWAddr[4:]) == gid {
			out = append(out, d)
		}
	}
	return out
}

func (p Port) defaultType() uverbs.GIDType {
	has := func(t uverbs.GIDType) bool {
		return slices.ContainsFunc(p.GIDs, func(g uverbs.GIDEntry) bool { return g.Type == t })
	}
	switch {
	case p.Default != 0:
		return p.Default
	case has(uverbs.GIDTypeRoCEv2): // cma_add_one prefers it
		return uverbs.GIDTypeRoCEv2
	case has(uverbs.GIDTypeRoCEv1):
		return uverbs.GIDTypeRoCEv1
	}
	return uverbs.GIDTypeIB
}

// unusable says why nothing can be sent from the GID.
func (r *Row) unusable(p Port) string {
	switch {
	case p.Info.State != uverbs.PortActive:
		return fmt.Sprintf("port is %v", p.Info.State)
	case p.infiniband():
		return ""
	case !r.Here && r.Netdev == "":
		return "its interface is in another network namespace"
	case !r.Here:
		return r.Netdev + " is in another network namespace"
	case !r.netdev.Up:
		return r.Netdev + " is down"
	case p.Protocol == uverbs.ProtocolIWARP:
		return "" // the GID is made from the MAC address, connections use IP
	case !r.Address.IsValid():
		return fmt.Sprintf("%s does not have the address %v", r.Netdev, r.GID.Addr())
	}
	return ""
}

// Want is what the GID is for.
type Want struct {
	Dst   netip.Addr
	Route netinfo.Route
}

// Egress is the interface through which packets leave. For an address of this
// machine it is the one that has the address: the connection manager looks
// past the loopback interface (addr_resolve in the kernel).
func (w Want) Egress(netdevs netinfo.Netdevs) (netinfo.Netdev, bool) {
	if w.Route.Local {
		return netdevs.Owner(w.Dst)
	}
	return netdevs.ByIndex(w.Route.Index)
}

// Pick marks the row that the connection manager uses, and says of each other
// row why it does not. The result is the row's place, or -1.
func Pick(rows []Row, w Want, netdevs netinfo.Netdevs) int {
	picked := -1
	egress, _ := w.Egress(netdevs)
	for i := range rows {
		r := &rows[i]
		r.Lost = r.lost(w, egress)
		if r.Lost != "" {
			continue
		}
		if picked >= 0 {
			r.Lost = fmt.Sprintf("%s GID %d is found first", rows[picked].Device, rows[picked].Index)
			continue
		}
		r.Picked, picked = true, i
		r.Netdev = egress.Name // of several that is the one
	}
	return picked
}

// lost gives the first reason that rules the row out.
func (r *Row) lost(w Want, egress netinfo.Netdev) string {
	if r.Unusable != "" {
		return r.Unusable
	}
	byAddress := r.protocol == uverbs.ProtocolRoCE
	ip, dst, source := r.GID.Addr(), w.Dst.Unmap(), w.Route.Source.Unmap().WithZone("")
	switch {
	case byAddress && ip.Is4() != dst.Is4():
		return family(ip) + ", not " + family(dst)
	case byAddress && ip.IsLinkLocalUnicast() && !dst.IsLinkLocalUnicast():
		return "link-local, not global"
	case byAddress && !ip.IsLinkLocalUnicast() && dst.IsLinkLocalUnicast():
		return "global, not link-local"
	case !r.on(egress):
		return "packets leave through " + orNothing(egress.Name)
	case byAddress && source.IsValid() && ip != source:
		return fmt.Sprintf("the route's source address is %v", source)
	case byAddress && r.Type != r.wanted:
		return fmt.Sprintf("%v, connections use %v", r.Type, r.wanted)
	}
	return ""
}

// on reports whether the GID is one of an interface.
func (r *Row) on(n netinfo.Netdev) bool {
	if !r.Here {
		return false
	}
	_, child := r.children.ByIndex(n.Index)
	return child || r.netdev.Index == n.Index
}

// On reports whether the GID is one of the interface with that name here.
func (r *Row) On(name string) bool {
	if !r.Here || name == "" {
		return false
	}
	_, child := r.children.ByName(name)
	return child || r.netdev.Name == name
}

func family(ip netip.Addr) string {
	if ip.Is4() {
		return "IPv4"
	}
	return "IPv6"
}

func orNothing(name string) string {
	if name == "" {
		return "no interface known here"
	}
	return name
}

// PortNetdev finds the interface of a port in this network namespace. RDMA
// netlink tells name and number only there (fill_port_info); both must be those
// of one interface, because another namespace may have either.
func PortNetdev(p uverbs.PortInfo, netdevs netinfo.Netdevs) (netinfo.Netdev, bool) {
	n, ok := netdevs.ByName(p.Netdev)
	if !ok || p.NetdevIndex != 0 && p.NetdevIndex != n.Index {
		return netinfo.Netdev{}, false
	}
	return n, true
}
