package cm

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"syscall"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/ucma"
)

// An AddrInfo is one way to make an endpoint (struct rdma_addrinfo). The
// caller may change it before it is used.
type AddrInfo struct {
	Passive   bool // for a listener: Src is bound, there is no Dst
	PortSpace abi.RDMAUCMPortSpace
	QPType    uint8 // IB_UVERBS_QPT_…; matters with RDMA_PS_IB

	Src, Dst ucma.Sockaddr // the zero Sockaddr lets the kernel choose

	// Route, if not empty, takes the place of resolving the route; see
	// ID.SetIBPath.
	Route []abi.IBPathRecData
}

// AddrInfoHints say what is wanted. A nil pointer means all defaults.
type AddrInfoHints struct {
	Passive     bool // to listen (RAI_PASSIVE)
	NumericHost bool // refuse to look names up (RAI_NUMERICHOST)

	// Network is "ip" (the default), "ip4" or "ip6"; or "ib" for a node
	// that is a GID, which makes a native InfiniBand address (RAI_FAMILY
	// with AF_IB).
	Network string

	// PortSpace is RDMA_PS_TCP by default. QPType matters with RDMA_PS_IB.
	PortSpace abi.RDMAUCMPortSpace
	QPType    uint8

	// Src is the own address of an active endpoint; the zero value lets the
	// kernel choose.
	Src netip.AddrPort
}

// ResolveAddrInfo translates a node (a name or an address; empty for the
// wildcard of a passive endpoint) and a service (a number or a name such as
// "https"; empty for port 0) into all ways to make an endpoint, the resolver's
// favourite first (rdma_getaddrinfo, rdma_resolve_addrinfo; on every kernel and
// without ibacm). ctx bounds the resolver, and ending it is all it takes to
// cancel: for asynchronous use, call it in a goroutine.
//
// Errors match syscall.EINVAL for arguments without meaning, and are
// *net.DNSError for names that do not resolve. hints may be nil.
func ResolveAddrInfo(ctx context.Context, node, service string, hints *AddrInfoHints) ([]AddrInfo, error) {
	var h AddrInfoHints
	if hints != nil {
		h = *hints
	}
	o := (&IDOptions{PortSpace: h.PortSpace, QPType: h.QPType}).resolved()
	h.PortSpace, h.QPType = o.PortSpace, o.QPType
	list, err := h.resolve(ctx, node, service)
	if err != nil {
		return nil, inStep(stepResolveName, err)
	}
	return list, nil
}

func (h *AddrInfoHints) resolve(ctx context.Context, node, service string) ([]AddrInfo, error) {
	port, err := h.port(ctx, service)
	if err != nil {
		return nil, err
	}
	addrs, err := h.addrs(ctx, node, port)
	if err != nil {
		return nil, err
	}
	var src ucma.Sockaddr
	if h.Src.IsValid() {
		if src, err = ucma.SockaddrFrom(h.Src); err != nil {
			return nil, err
		}
	}
	list := make([]AddrInfo, len(addrs))
	for i, a := range addrs {
		list[i] = AddrInfo{Passive: h.Passive, PortSpace: h.PortSpace, QPType: h.QPType, Src: src, Dst: a}
		if h.Passive {
			list[i].Src, list[i].Dst = a, ucma.Sockaddr{}
		}
	}
	return list, nil
}

// port looks a service up; numbers need no lookup.
func (h *AddrInfoHints) port(ctx context.Context, service string) (uint16, error) {
	if service == "" {
		return 0, nil
	}
	if n, err := strconv.ParseUint(service, 10, 16); err == nil {
		return uint16(n), nil
	}
	network := "tcp"
	if h.PortSpace == abi.RDMA_PS_UDP {
		network = "udp"
	}
	n, err := net.DefaultResolver.LookupPort(ctx, network, service)
	return uint16(n), err
}

// addrs translates the node.
func (h *AddrInfoHints) addrs(ctx context.Context, node string, port uint16) ([]ucma.Sockaddr, error) {
	if h.Network == "ib" {
		gid, err := netip.ParseAddr(node)
		if err != nil || !gid.Is6() {
			return nil, fmt.Errorf("node %q is not a GID: %w", node, syscall.EINVAL)
		}
		return []ucma.Sockaddr{ucma.SockaddrFromGID(gid.As16(), h.PortSpace, port)}, nil
	}
	ips, err := h.ips(ctx, node)
	if err != nil {
		return nil, err
	}
	list := make([]ucma.Sockaddr, len(ips))
	for i, ip := range ips {
		if list[i], err = ucma.SockaddrFrom(netip.AddrPortFrom(ip, port)); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// ips translates a node into IP addresses.
func (h *AddrInfoHints) ips(ctx context.Context, node string) ([]netip.Addr, error) {
	network := h.Network
	switch network {
	case "":
		network = "ip"
	case "ip", "ip4", "ip6":
	default:
		return nil, fmt.Errorf("network %q is none of ip, ip4, ip6, ib: %w", network, syscall.EINVAL)
	}
	if node == "" {
		return h.wildcards(network)
	}
	ip, err := netip.ParseAddr(node)
	switch {
	case err == nil && (network == "ip" || (network == "ip4") == ip.Unmap().Is4()):
		return []netip.Addr{ip}, nil
	case err == nil:
		return nil, fmt.Errorf("%v is no address of network %s: %w", ip, network, syscall.EINVAL)
	case h.NumericHost:
		return nil, fmt.Errorf("node %q is not an address: %w", node, syscall.EINVAL)
	}
	return lookup(ctx, network, node)
}

func (h *AddrInfoHints) wildcards(network string) ([]netip.Addr, error) {
	v6, v4 := netip.IPv6Unspecified(), netip.IPv4Unspecified()
	switch {
	case !h.Passive:
		return nil, fmt.Errorf("no node to connect to (the own host has no address of this kind for RDMA): %w", syscall.EINVAL)
	case network == "ip4":
		return []netip.Addr{v4}, nil
	case network == "ip6":
		return []netip.Addr{v6}, nil
	}
	return []netip.Addr{v6, v4}, nil
}
