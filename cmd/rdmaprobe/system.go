package main

import (
	"context"
	"net"
	"net/netip"

	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/cmd/rdmaprobe/holders"
	"github.com/purerdma/rdma/uverbs"
)

// system is what commands need of the machine. Tests replace parts of it.
type system struct {
	diagnose func() *uverbs.Diagnosis
	gids     func(d *uverbs.Device, port int) ([]uverbs.GIDEntry, error)
	// gidSlots is the length of a port's GID table; 0 when not known.
	gidSlots   func(d *uverbs.Device, port int) int
	addLink    func(ctx context.Context, cfg uverbs.LinkConfig) (*uverbs.Device, error)
	deleteLink func(ctx context.Context, name string) error

	dial   func(ctx context.Context, d *cm.Dialer, target string) (link, error)
	listen func(ctx context.Context, address string) (listener, error)
	// introduce describes the own end of a dial before it.
	introduce func(ctx context.Context, d *cm.Dialer, target string) (endInfo, bool)

	// cmProbe sends one connect request without a queue pair.
	cmProbe func(ctx context.Context, q cmQuery) cmAnswer
	lookup  func(ctx context.Context, host string) ([]netip.Addr, error)

	// holders lists who holds RDMA objects.
	holders func(ctx context.Context) ([]holders.Device, error)

	benchSystem

	seeABI func(*uverbs.Diagnosis) *abiDoc // for version --abi

	// watch makes what watch looks at.
	watch func(ctx context.Context, o watchOptions) (watchSource, error)

	// addresses returns the IP addresses that each network interface has now.
	addresses func() map[string][]netip.Addr

	diagnostics
}

func realSystem() system {
	return system{
		diagnose:   uverbs.Diagnose,
		gids:       readGIDs,
		gidSlots:   readGIDSlots,
		addLink:    uverbs.AddLink,
		deleteLink: uverbs.DeleteLink,
		dial:       dial,
		listen:     listen,
		introduce:  introduce,
		cmProbe:    cmProbe,
		lookup:     lookupIP,
		holders:    holders.List,
		watch:      watchMachine,

		benchSystem: realBench(),

		seeABI:    seeABI,
		addresses: interfaceAddresses,

		diagnostics: realDiagnostics(),
	}
}

// readGIDs asks the device for the table, with one call, and sysfs when the
// device cannot be opened: there each of up to thousands of slots is a file.
func readGIDs(d *uverbs.Device, port int) ([]uverbs.GIDEntry, error) {
	ctx, err := d.Open(nil)
	if err != nil {
		return d.GIDTable(port)
	}
	defer ctx.Close()
	return ctx.QueryGIDs(port)
}

func lookupIP(ctx context.Context, host string) ([]netip.Addr, error) {
	return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
}

// interfaceAddresses leaves out what cannot be read: an address that is not
// found is shown as not configured.
func interfaceAddresses() map[string][]netip.Addr {
	out := make(map[string][]netip.Addr)
	ifis, err := net.Interfaces()
	if err != nil {
		return out
	}
	for _, ifi := range ifis {
		addrs, err := ifi.Addrs()
		if err != nil {
			continue
		}
		for _, a := range addrs {
			if n, ok := a.(*net.IPNet); ok {
				if ip, ok := netip.AddrFromSlice(n.IP); ok {
					out[ifi.Name] = append(out[ifi.Name], ip.Unmap())
				}
			}
		}
	}
	return out
}

// addressOf returns the IP address of a GID if its network device is here and has it now,
// with the zone that using it takes; else the zero Addr.
func addressOf(g uverbs.GIDEntry, port uverbs.PortInfo, have map[string][]netip.Addr) netip.Addr {
	if g.OtherNetNS {
		return netip.Addr{}
	}
	netdev := g.Netdev
	if netdev == "" {
		netdev = port.Netdev
	}
	ip := g.GID.Addr()
	for _, a := range have[netdev] {
		if a != ip {
			continue
		}
		if ip.Is6() && ip.IsLinkLocalUnicast() {
			return ip.WithZone(netdev)
		}
		return ip
	}
	return netip.Addr{}
}
