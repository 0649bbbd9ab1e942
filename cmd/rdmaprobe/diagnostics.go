package main

import (
	"context"
	"net/netip"
	"time"

	"github.com/purerdma/rdma/cmd/rdmaprobe/doctor"
	"github.com/purerdma/rdma/cmd/rdmaprobe/doctor/gather"
	"github.com/purerdma/rdma/cmd/rdmaprobe/netinfo"
)

// diagnostics is what doctor, gids and path need of the machine besides what
// all commands do. Tests replace it.
type diagnostics struct {
	facts     func(ctx context.Context) *doctor.Facts
	netdevs   func() (netinfo.Netdevs, error)
	routeTo   func(dst netip.Addr) (netinfo.Route, error)
	neighbour func(index int, ip netip.Addr) (netinfo.Neighbour, error)
	// poke sends a packet to an address, so that the kernel looks for its neighbour.
	poke func(ctx context.Context, dst netip.Addr) error
	// resolve lets the connection manager resolve address and route.
	resolve func(ctx context.Context, dst netip.Addr, tos int) resolved
	// reach finds out whether IP packets of a size arrive.
	reach func(ctx context.Context, dst netip.Addr, size int) reachability
	// hearsRoCE tells whether soft-RoCE gets packets in this network namespace, as far as that is known.
	hearsRoCE func() bool
	// maxBacklog is how many connect requests may wait for a listener.
	maxBacklog func() (n int, known bool)
	// cmDefaults reads what configfs tells of a port: default type of GID, ToS.
	cmDefaults func(device string, port int) (mode, tos string)
}

// counterSample is long enough for errors that happen all the time.
const counterSample = 250 * time.Millisecond

func realDiagnostics() diagnostics {
	return diagnostics{
		facts: func(ctx context.Context) *doctor.Facts {
			return gather.Gather(ctx, gather.Options{Sample: counterSample})
		},
		netdevs:    netinfo.List,
		routeTo:    netinfo.RouteTo,
		neighbour:  netinfo.NeighbourOf,
		poke:       poke,
		resolve:    cmResolve,
		reach:      reach,
		hearsRoCE:  gather.HearsRoCE,
		maxBacklog: gather.MaxBacklog,
		cmDefaults: gather.CMDefaults,
	}
}
