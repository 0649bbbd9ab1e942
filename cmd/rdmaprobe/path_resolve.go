package main

import (
	"context"
	"net/netip"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/ucma"
)

// resolved is what the connection manager made of an address.
type resolved struct {
	addressed bool // address resolution succeeded
	err       error
	device    string
	port      int
	local     netip.Addr
	paths     int
	mtu       int // bytes of data; 0 when not known
	tos       int
	hopLimit  int

	addressTook, routeTook time.Duration
}

// anyPort is a port to ask about: resolution does not look at it.
const anyPort = 7174

// cmResolve lets the connection manager resolve address and route, and takes
// the answer apart. Nothing is left of it afterwards.
func cmResolve(ctx context.Context, dst netip.Addr, tos int) (r resolved) {
	r.err = r.run(ctx, dst, tos)
	return r
}

func (r *resolved) run(ctx context.Context, dst netip.Addr, tos int) error {
	id, err := cm.NewID(nil)
	if err != nil {
		return err
	}
	defer id.Close() // it holds nothing that could be lost
	to, err := ucma.SockaddrFrom(netip.AddrPortFrom(dst, anyPort))
	if err != nil {
		return err
	}
	if tos >= 0 {
		if err := id.SetTOS(uint8(tos)); err != nil {
			return err
		}
	}
	start := time.Now()
	if err := id.ResolveAddr(ctx, ucma.Sockaddr{}, to); err != nil {
		return err
	}
	r.addressed, r.addressTook = true, time.Since(start)
	if addrs, err := id.Addrs(); err == nil {
		local, _ := addrs.Src.AddrPort()
		r.local, r.port = local.Addr().Unmap(), int(addrs.Port)
	}
	if d, err := id.Device(); err == nil {
		r.device = d.Name
	}
	start = time.Now()
	if err := id.ResolveRoute(ctx); err != nil {
		return err
	}
	r.routeTook = time.Since(start)
	route, err := id.Route()
	if err != nil {
		return err
	}
	r.takePath(route)
	return nil
}

// takePath reads the first path record. iWARP has none.
func (r *resolved) takePath(route *ucma.Route) {
	r.paths = int(route.NumPaths)
	if r.paths == 0 {
		return
	}
	p := &route.Paths[0]
	r.mtu = abi.IBMTU(p.MTU).Bytes()
	r.tos, r.hopLimit = int(p.TrafficClass), int(p.HopLimit)
}
