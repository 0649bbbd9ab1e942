package uverbs

import (
	"context"
	"net/netip"
	"slices"
)

// A netdev is a network interface of the calling thread's network namespace.
type netdev struct {
	index int
	name  string
	kind  string // the kernel's word for a virtual interface: "vlan", "veth"; empty for hardware
	mtu   int    // bytes
	mac   []byte
	addrs []netip.Addr

	lower          int  // the interface below it, or a veth's other end; 0 for none
	lowerElsewhere bool // which is in another network namespace
	master         int  // the bond or bridge that it is a member of; 0 for none
}

// stacked reports whether the interface sends through the one below it.
func (n *netdev) stacked() bool {
	switch n.kind {
	case "vlan", "macvlan", "macvtap", "ipvlan", "ipvtap":
		return true
	}
	return false
}

// has reports whether a GID of RoCE stands for the interface: for one of its addresses,
// or for its MAC address, from which the kernel makes the default GID even where the
// link-local address is another one (make_default_gid).
func (n *netdev) has(gid GID) bool {
	if slices.Contains(n.addrs, gid.Addr()) {
		return true
	}
	return len(n.mac) == 6 && gid == defaultGID([6]byte(n.mac))
}

// defaultGID is the link-local GID of an Ethernet address (addrconf_ifid_eui48).
func defaultGID(mac [6]byte) GID {
	return GID{0xfe, 0x80, 8: mac[0] ^ 2, 9: mac[1], 10: mac[2], 11: 0xff, 12: 0xfe, 13: mac[3], 14: mac[4], 15: mac[5]}
}

// netdevs are all network interfaces of a namespace.
type netdevs []netdev

func (all netdevs) byIndex(index int) *netdev {
	return all.find(func(n *netdev) bool { return n.index == index && index > 0 })
}

func (all netdevs) byName(name string) *netdev {
	return all.find(func(n *netdev) bool { return n.name == name && name != "" })
}

func (all netdevs) find(match func(*netdev) bool) *netdev {
	for i := range all {
		if match(&all[i]) {
			return &all[i]
		}
	}
	return nil
}

// over reports whether n sends through the interface with that index: it is that one,
// is stacked upon it, or is the bond or bridge that it is a member of.
func (all netdevs) over(n *netdev, index int, depth int) bool {
	switch {
	case n == nil || depth == 0: // a chain is no longer than the list
		return false
	case n.index == index:
		return true
	case n.stacked() && !n.lowerElsewhere && all.over(all.byIndex(n.lower), index, depth-1):
		return true
	}
	for i := range all {
		if all[i].master == n.index && all.over(&all[i], index, depth-1) {
			return true
		}
	}
	return false
}

// ofPort reports whether the interface can be one of a port whose own interface has
// that index in this namespace; 0 means that the port's is in another namespace, where
// only what is stacked upon it can be here.
func (all netdevs) ofPort(n *netdev, port int) bool {
	if port == 0 {
		return n.stacked() && n.lowerElsewhere
	}
	return all.over(n, port, len(all)) || all.over(all.byIndex(port), n.index, len(all))
}

// placeGIDs finds out in which network namespace the interfaces of a port's GIDs are.
// Kernel and sysfs tell an interface's number or name, which mean another interface
// here when it is in another namespace, and are often equal there: eth0 is number 2 in
// many a container. So it is ours only if the interface here also has what the GID
// stands for, and belongs to the port.
func (d *Device) placeGIDs(port int, entries []GIDEntry) {
	h := d.machine()
	all, err := h.netdevs()
	if err != nil {
		return // nothing can be told; sysfs has names anyhow
	}
	portIndex, known := h.portNetdev(d, port)
	for i := range entries {
		e := &entries[i]
		if e.Netdev == "" && e.NetdevIndex == 0 {
			continue // InfiniBand, or an interface that has just gone
		}
		n := all.byIndex(e.NetdevIndex)
		if e.NetdevIndex == 0 {
			n = all.byName(e.Netdev)
		}
		byAddress := e.Type == GIDTypeRoCEv1 || e.Type == GIDTypeRoCEv2 // iWARP's is made of the MAC address
		if n == nil || byAddress && !n.has(e.GID) || known && !all.ofPort(n, portIndex) {
			e.OtherNetNS = true
			continue
		}
		e.Netdev, e.NetdevIndex = n.name, n.index
	}
}

// portNetdev asks RDMA netlink for the number of a port's own interface, which it tells
// only in that interface's namespace (fill_port_info). known is false where it cannot
// be asked.
func (h *host) portNetdev(d *Device, port int) (index int, known bool) {
	if d.Index < 0 {
		return 0, false
	}
	ctx, cancel := context.WithTimeout(context.Background(), discoveryTimeout)
	defer cancel()
	c, err := h.dial()
	if err != nil {
		return 0, false
	}
	defer c.Close()
	p, err := c.Port(ctx, d.Index, port)
	return int(p.NetdevIndex), err == nil
}
