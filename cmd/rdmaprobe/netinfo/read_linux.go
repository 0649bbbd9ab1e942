package netinfo

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// List returns the interfaces of this network namespace.
func List() (Netdevs, error) {
	links, err := netlink.LinkList()
	// An interrupted dump has what there was to see; changes are not waited for.
	if err != nil && !errors.Is(err, netlink.ErrDumpInterrupted) {
		return nil, fmt.Errorf("list network interfaces: %w", err)
	}
	addrs, err := netlink.AddrList(nil, netlink.FAMILY_ALL)
	if err != nil && !errors.Is(err, netlink.ErrDumpInterrupted) {
		return nil, fmt.Errorf("list IP addresses: %w", err)
	}
	out := make(Netdevs, 0, len(links))
	for _, l := range links {
		d := netdev(l)
		for _, a := range addrs {
			if a.LinkIndex != d.Index || a.IPNet == nil {
				continue
			}
			if p, ok := prefix(a.IPNet); ok {
				d.Addrs = append(d.Addrs, p)
			}
		}
		out = append(out, d)
	}
	return out, nil
}

func netdev(l netlink.Link) Netdev {
	a := l.Attrs()
	d := Netdev{
		Index: a.Index, Name: a.Name, Kind: l.Type(), MTU: a.MTU,
		Up: a.RawFlags&unix.IFF_UP != 0, Running: a.RawFlags&unix.IFF_LOWER_UP != 0,
		Loopback:    a.RawFlags&unix.IFF_LOOPBACK != 0,
		ParentIndex: a.ParentIndex, ParentElsewhere: a.NetNsID >= 0, MasterIndex: a.MasterIndex,
		HWAddr: a.HardwareAddr,
	}
	if a.ParentIndex == a.Index { // IFLA_LINK of an interface without a parent
		d.ParentIndex = 0
	}
	if v, ok := l.(*netlink.Vlan); ok {
		d.VLAN = v.VlanId
	}
	return d
}

func prefix(n *net.IPNet) (netip.Prefix, bool) {
	ip, ok := netip.AddrFromSlice(n.IP)
	if !ok {
		return netip.Prefix{}, false
	}
	ones, _ := n.Mask.Size()
	return netip.PrefixFrom(ip.Unmap(), ones), true
}

// RouteTo asks how packets to an address would leave. The zone of a link-local
// address decides the interface. The error matches ENETUNREACH without a route.
func RouteTo(dst netip.Addr) (Route, error) {
	opts := &netlink.RouteGetOptions{}
	if dst.Zone() != "" {
		ifi, err := net.InterfaceByName(dst.Zone())
		if err != nil {
			return Route{}, fmt.Errorf("zone of %v: %w", dst, err)
		}
		opts.OifIndex = ifi.Index
	}
	routes, err := netlink.RouteGetWithOptions(dst.AsSlice(), opts)
	if err == nil && len(routes) == 0 {
		err = unix.ENETUNREACH
	}
	if err != nil {
		return Route{}, fmt.Errorf("look up the route to %v: %w", dst, err)
	}
	r := routes[0]
	out := Route{Dst: dst, Index: r.LinkIndex, Local: r.Type == unix.RTN_LOCAL, MTU: r.MTU, HopLimit: r.Hoplimit}
	out.Source, out.Gateway = addr(r.Src), addr(r.Gw)
	if via, ok := r.Via.(*netlink.Via); ok && !out.Gateway.IsValid() {
		out.Gateway = addr(via.Addr)
	}
	return out, nil
}

func addr(ip net.IP) netip.Addr {
	a, _ := netip.AddrFromSlice(ip) // nil gives the zero Addr
	return a.Unmap()
}

// NeighbourOf looks up an entry of the neighbour table.
func NeighbourOf(index int, ip netip.Addr) (Neighbour, error) {
	list, err := netlink.NeighList(index, netlink.FAMILY_ALL)
	if err != nil && !errors.Is(err, netlink.ErrDumpInterrupted) {
		return Neighbour{}, fmt.Errorf("list neighbours: %w", err)
	}
	ip = ip.WithZone("")
	for _, n := range list {
		if addr(n.IP) == ip {
			return Neighbour{IP: ip, MAC: n.HardwareAddr.String(), State: neighbourState(n.State)}, nil
		}
	}
	return Neighbour{IP: ip, State: "none"}, nil
}

var neighbourStates = []struct {
	bit  int
	name string
}{
	{netlink.NUD_PERMANENT, "PERMANENT"}, {netlink.NUD_NOARP, "NOARP"}, {netlink.NUD_REACHABLE, "REACHABLE"},
	{netlink.NUD_STALE, "STALE"}, {netlink.NUD_DELAY, "DELAY"}, {netlink.NUD_PROBE, "PROBE"},
	{netlink.NUD_INCOMPLETE, "INCOMPLETE"}, {netlink.NUD_FAILED, "FAILED"},
}

func neighbourState(bits int) string {
	var names []string
	for _, s := range neighbourStates {
		if bits&s.bit != 0 {
			names = append(names, s.name)
		}
	}
	if names == nil {
		return "none"
	}
	return strings.Join(names, "|")
}
