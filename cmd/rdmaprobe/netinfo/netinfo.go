// Package netinfo reads what RDMA needs to know of IP networking: interfaces
// and what they are stacked on, routes, neighbours. It asks the kernel through
// rtnetlink, so it needs no other program and no privilege.
package netinfo

import (
	"net/netip"
	"slices"
)

// Netdev is one network interface of this network namespace.
type Netdev struct {
	Index int
	Name  string
	// Kind is the kernel's word for a virtual interface ("veth", "vlan", "bond");
	// "device" for hardware.
	Kind string
	MTU  int // bytes
	// Up is the administrative state, Running whether it has a carrier.
	Up, Running bool
	Loopback    bool
	// Parent is the interface below a VLAN, macvlan or ipvlan, or the other end of
	// a veth pair; 0 for none. ParentElsewhere says that it is in another network
	// namespace, where ParentIndex means nothing.
	ParentIndex     int
	ParentElsewhere bool
	// MasterIndex is the bridge, bond or VRF that it is a member of; 0 for none.
	MasterIndex int
	VLAN        int // VLAN number of a vlan interface
	// HWAddr is the link-layer address; that of IP over InfiniBand ends in the GID.
	HWAddr []byte
	Addrs  []netip.Prefix
}

// Stacked reports whether the interface sends through its parent.
func (d Netdev) Stacked() bool {
	switch d.Kind {
	case "vlan", "macvlan", "macvtap", "ipvlan", "ipvtap":
		return true
	}
	return false
}

// State returns "up", "down" or "no carrier".
func (d Netdev) State() string {
	switch {
	case !d.Up:
		return "down"
	case !d.Running:
		return "no carrier"
	}
	return "up"
}

// Has reports whether the interface has the address.
func (d Netdev) Has(ip netip.Addr) bool {
	ip = ip.Unmap().WithZone("")
	return slices.ContainsFunc(d.Addrs, func(p netip.Prefix) bool { return p.Addr() == ip })
}

// Netdevs is a list of interfaces.
type Netdevs []Netdev

// ByName finds an interface.
func (l Netdevs) ByName(name string) (Netdev, bool) {
	return l.find(func(d Netdev) bool { return d.Name == name && name != "" })
}

// ByIndex finds an interface.
func (l Netdevs) ByIndex(index int) (Netdev, bool) {
	return l.find(func(d Netdev) bool { return d.Index == index && index > 0 })
}

// Owner finds the interface that has an address.
func (l Netdevs) Owner(ip netip.Addr) (Netdev, bool) {
	return l.find(func(d Netdev) bool { return d.Has(ip) && (ip.Zone() == "" || d.Name == ip.Zone()) })
}

func (l Netdevs) find(match func(Netdev) bool) (Netdev, bool) {
	if i := slices.IndexFunc(l, match); i >= 0 {
		return l[i], true
	}
	return Netdev{}, false
}

// Base follows VLANs, macvlans and ipvlans down to the interface that carries
// the traffic. It is the interface itself where that is all there is.
func (l Netdevs) Base(d Netdev) Netdev {
	for range l { // a chain is no longer than the list
		below, ok := l.ByIndex(d.ParentIndex)
		if !d.Stacked() || d.ParentElsewhere || !ok {
			return d
		}
		d = below
	}
	return d
}

// Peer returns the other end of a veth pair, when it is in this namespace too.
func (l Netdevs) Peer(d Netdev) (Netdev, bool) {
	if d.Kind != "veth" || d.ParentElsewhere {
		return Netdev{}, false
	}
	return l.ByIndex(d.ParentIndex)
}

// Zones lists the interfaces that a link-local address could mean: those that
// are up and have a link-local address themselves.
func (l Netdevs) Zones() []string {
	var zones []string
	for _, d := range l {
		if d.Up && !d.Loopback && slices.ContainsFunc(d.Addrs, isLinkLocal6) {
			zones = append(zones, d.Name)
		}
	}
	return zones
}

func isLinkLocal6(p netip.Prefix) bool { return p.Addr().Is6() && p.Addr().IsLinkLocalUnicast() }

// Route is the kernel's answer to how packets to an address leave.
type Route struct {
	// Dst is the address asked for.
	Dst netip.Addr
	// Index is the outgoing interface, Source the address packets carry.
	Index  int
	Source netip.Addr
	// Gateway is the next hop; the zero Addr when Dst is on the link.
	Gateway netip.Addr
	// Local says that Dst is an address of this machine.
	Local    bool
	MTU      int // of the route; 0 when the interface's counts
	HopLimit int // of the route; 0 when the system's default counts
}

// NextHop returns the address whose neighbour entry counts.
func (r Route) NextHop() netip.Addr {
	if r.Gateway.IsValid() {
		return r.Gateway
	}
	return r.Dst
}

// Neighbour is an entry of the neighbour table.
type Neighbour struct {
	IP    netip.Addr
	MAC   string // empty when not known
	State string // the kernel's word, such as REACHABLE; "none" without an entry
}

// Failed reports whether the kernel asked for the neighbour and got no answer.
func (n Neighbour) Failed() bool { return n.State == "FAILED" }

// Known reports whether packets can be sent to the neighbour.
func (n Neighbour) Known() bool { return n.MAC != "" && !n.Failed() || n.State == "NOARP" }
