package cm

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"syscall"

	"github.com/purerdma/rdma/ucma"
)

// An Addr is the address of one end of a connection. It implements net.Addr.
type Addr struct{ netip.AddrPort }

// Network returns "rdma".
func (a Addr) Network() string { return "rdma" }

// addrOf converts what the kernel reported; nil when it reported no IP address.
func addrOf(s ucma.Sockaddr) net.Addr {
	if ap, ok := s.AddrPort(); ok {
		return Addr{ap}
	}
	return nil
}

// resolve turns "host:port" into addresses, in the order the resolver gives.
// An empty host is the unspecified IPv6 address. The port is a number.
func resolve(ctx context.Context, address string) ([]netip.AddrPort, error) {
	host, portText, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("%w: %w: an RDMA address is host:port or [IPv6%%zone]:port", err, syscall.EINVAL)
	}
	port, err := strconv.ParseUint(portText, 10, 16)
	if err != nil {
		return nil, fmt.Errorf("address %q: port %q: %w: RDMA ports are numbers from 0 to 65535", address, portText, syscall.EINVAL)
	}
	if host == "" {
		return []netip.AddrPort{netip.AddrPortFrom(netip.IPv6Unspecified(), uint16(port))}, nil
	}
	ips, err := resolveHost(ctx, host)
	if err != nil {
		return nil, err
	}
	out := make([]netip.AddrPort, len(ips))
	for i, ip := range ips {
		out[i] = netip.AddrPortFrom(ip.Unmap(), uint16(port))
	}
	return out, nil
}

func resolveHost(ctx context.Context, host string) ([]netip.Addr, error) {
	if ip, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{ip}, nil
	}
	ips, err := lookup(ctx, "ip", host)
	if err != nil {
		return nil, &stepFailure{step: stepResolveName, err: err}
	}
	return ips, nil
}

// lookup asks the resolver, which works in goroutines of its own, from the calling
// thread's network namespace. Where threads are in different ones that is Go's own
// resolver.
func lookup(ctx context.Context, network, host string) ([]netip.Addr, error) {
	netns, unpin := pinNetNS()
	defer unpin()
	if netns == "" {
		return net.DefaultResolver.LookupNetIP(ctx, network, host)
	}
	r := net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, server string) (c net.Conn, err error) {
		err = inNetNS(netns, func() (err error) {
			c, err = new(net.Dialer).DialContext(ctx, network, server) // an address: no goroutine
			return err
		})
		return c, err
	}}
	return r.LookupNetIP(ctx, network, host)
}

// checkAddr refuses addresses that cannot work, before the kernel turns them
// into something else. Listening on loopback would make a listener that the
// whole fabric reaches (the kernel treats it as the wildcard).
func checkAddr(ip netip.Addr) error {
	switch {
	case ip.IsLoopback():
		return fmt.Errorf("%v: %w: %w", ip, ErrLoopback, syscall.EADDRNOTAVAIL)
	case ip.Is6() && ip.IsLinkLocalUnicast() && ip.Zone() == "":
		return fmt.Errorf("%v: a link-local address needs a zone%s: %w", ip, zoneHint(ip), syscall.EINVAL)
	}
	return nil
}

// sockaddrIn converts an address as a network namespace understands it: zones
// are interfaces there.
func sockaddrIn(netns string, addr netip.AddrPort) (sa ucma.Sockaddr, err error) {
	if addr.Addr().Zone() == "" {
		return ucma.SockaddrFrom(addr)
	}
	err = inNetNS(netns, func() (err error) {
		sa, err = ucma.SockaddrFrom(addr)
		return err
	})
	return sa, err
}

// zoneHint lists what a missing zone could be.
func zoneHint(ip netip.Addr) string {
	ifis, err := net.Interfaces()
	if err != nil {
		return ""
	}
	var zones []string
	for _, ifi := range ifis {
		if ifi.Flags&net.FlagUp != 0 && ifi.Flags&net.FlagLoopback == 0 {
			zones = append(zones, ip.WithZone(ifi.Name).String())
		}
	}
	if len(zones) == 0 {
		return ""
	}
	return ", such as " + strings.Join(zones, " or ")
}

// isLocalIn is isLocal in a network namespace.
func isLocalIn(netns string, ip netip.Addr) (local bool) {
	_ = inNetNS(netns, func() error { // one that cannot be entered has no address
		local = isLocal(ip)
		return nil
	})
	return local
}

// isLocal reports whether an interface here has the address.
func isLocal(ip netip.Addr) bool {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return false
	}
	for _, a := range addrs {
		if n, ok := a.(*net.IPNet); ok {
			if have, ok := netip.AddrFromSlice(n.IP); ok && have.Unmap() == ip.Unmap().WithZone("") {
				return true
			}
		}
	}
	return false
}
