package main

import (
	"context"
	"net/netip"

	"github.com/purerdma/rdma/cmd/rdmaprobe/bench"
	"github.com/purerdma/rdma/uverbs"
)

// benchSystem is what bench needs of the machine.
type benchSystem struct {
	bench       func(ctx context.Context, cl *bench.Client, p bench.Params) (*bench.Result, error)
	benchReg    func(ctx context.Context, d *uverbs.Device, p bench.RegParams) (*bench.RegResult, error)
	benchListen func(addr netip.AddrPort, onEvent func(bench.ServerEvent)) (benchServer, error)
	cpus        func() int
	governors   func() []string // of processor frequencies; empty without any
}

// benchServer is a bench.Server.
type benchServer interface {
	Addr() (netip.AddrPort, error)
	Serve(ctx context.Context) error
}

func realBench() benchSystem {
	return benchSystem{
		bench: func(ctx context.Context, cl *bench.Client, p bench.Params) (*bench.Result, error) {
			return cl.Run(ctx, p)
		},
		benchListen: func(addr netip.AddrPort, onEvent func(bench.ServerEvent)) (benchServer, error) {
			srv, err := bench.Listen(addr)
			if err != nil {
				return nil, err
			}
			srv.OnEvent = onEvent
			return srv, nil
		},
		benchReg:  bench.Register,
		cpus:      usableCPUs,
		governors: bench.Topology{}.Governors,
	}
}
