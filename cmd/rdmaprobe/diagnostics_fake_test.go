package main

import (
	"context"
	"net/netip"
	"syscall"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/cmd/rdmaprobe/doctor"
	"github.com/purerdma/rdma/cmd/rdmaprobe/gidpick"
	"github.com/purerdma/rdma/cmd/rdmaprobe/netinfo"
	"github.com/purerdma/rdma/uverbs"
)

// diagnostics is what doctor, gids and path see of a fake machine: eth0 with
// addresses, eth1 without, and eth2 without RDMA.
func (w *world) diagnostics() diagnostics {
	return diagnostics{
		facts:   func(context.Context) *doctor.Facts { return w.facts() },
		netdevs: func() (netinfo.Netdevs, error) { return fakeNetdevs(), nil },
		routeTo: fakeRoute,
		neighbour: func(_ int, ip netip.Addr) (netinfo.Neighbour, error) {
			if ip == netip.MustParseAddr("10.0.0.66") {
				return netinfo.Neighbour{IP: ip, State: "FAILED"}, nil
			}
			return netinfo.Neighbour{IP: ip, MAC: "52:54:00:00:00:07", State: "REACHABLE"}, nil
		},
		poke:       func(context.Context, netip.Addr) error { return nil },
		resolve:    w.resolve,
		reach:      fakeReach,
		hearsRoCE:  func() bool { return true },
		maxBacklog: func() (int, bool) { return 1024, true },
		cmDefaults: func(string, int) (mode, tos string) { return "", "" },
	}
}

func fakeNetdevs() netinfo.Netdevs {
	p := netip.MustParsePrefix
	return netinfo.Netdevs{
		{Index: 1, Name: "lo", Loopback: true, Up: true, Running: true, MTU: 65536, Addrs: []netip.Prefix{p("127.0.0.1/8")}},
		{Index: 2, Name: "eth0", Kind: "device", Up: true, Running: true, MTU: 1500,
			Addrs: []netip.Prefix{p("fe80::1/64"), p("10.0.0.1/24"), p("2001:db8::1/64")}},
		{Index: 3, Name: "eth1", Kind: "device", Up: true, Running: true, MTU: 1500},
		{Index: 4, Name: "eth2", Kind: "device", Up: true, Running: true, MTU: 1500, Addrs: []netip.Prefix{p("fe80::2/64"), p("10.2.0.1/24")}},
		{Index: 5, Name: "eth3", Kind: "device", MTU: 1500, Addrs: []netip.Prefix{p("10.3.0.1/24")}},
	}
}

// fakeRoute routes by prefix; 10.9.0.0/16 has a gateway.
func fakeRoute(dst netip.Addr) (netinfo.Route, error) {
	addr := netip.MustParseAddr
	for _, r := range []struct {
		prefix string
		route  netinfo.Route
	}{
		{"10.0.0.1/32", netinfo.Route{Index: 1, Source: addr("10.0.0.1"), Local: true}},
		{"10.0.0.0/24", netinfo.Route{Index: 2, Source: addr("10.0.0.1"), HopLimit: 64}},
		{"10.9.0.0/16", netinfo.Route{Index: 2, Source: addr("10.0.0.1"), Gateway: addr("10.0.0.254")}},
		{"10.2.0.0/24", netinfo.Route{Index: 4, Source: addr("10.2.0.1")}},
		{"10.3.0.0/24", netinfo.Route{Index: 5, Source: addr("10.3.0.1")}},
		{"fe80::/64", netinfo.Route{Index: 2, Source: addr("fe80::1")}},
		{"2001:db8::/64", netinfo.Route{Index: 2, Source: addr("2001:db8::1")}},
	} {
		if netip.MustParsePrefix(r.prefix).Contains(dst.WithZone("")) {
			r.route.Dst = dst
			return r.route, nil
		}
	}
	return netinfo.Route{}, syscall.ENETUNREACH
}

// fakeRouteWithoutEth0 routes what went through eth0 nowhere.
func fakeRouteWithoutEth0(dst netip.Addr) (netinfo.Route, error) {
	r, err := fakeRoute(dst)
	if err == nil && r.Index == 2 {
		return netinfo.Route{}, syscall.ENETUNREACH
	}
	return r, err
}

// resolve stands in for the connection manager: 10.0.0.66 is silent.
func (w *world) resolve(_ context.Context, dst netip.Addr, tos int) resolved {
	if w.dialErr != nil {
		return resolved{err: w.dialErr}
	}
	if dst == netip.MustParseAddr("10.0.0.66") {
		return resolved{err: syscall.ETIMEDOUT}
	}
	route, err := fakeRoute(dst)
	if err != nil {
		return resolved{err: err}
	}
	return resolved{addressed: true, device: "rxe0", port: 1, local: route.Source, paths: 1, mtu: 1024, tos: max(tos, 0), hopLimit: 64,
		addressTook: time.Millisecond, routeTook: time.Millisecond}
}

// fakeReach: 10.0.0.8 gets small packets only, 10.0.0.9 answers none.
func fakeReach(_ context.Context, dst netip.Addr, _ int) reachability {
	switch dst.String() {
	case "10.0.0.8":
		return reachability{small: true}
	case "10.0.0.9":
		return reachability{}
	}
	return reachability{small: true, large: true}
}

// facts are those of a machine whose process may lock 8 MiB.
func (w *world) facts() *doctor.Facts {
	const mib = 1 << 20
	f := &doctor.Facts{
		Diagnosis: w.diag, Netdevs: fakeNetdevs(),
		Memory: doctor.Memory{Lock: doctor.Limit{Known: true, Soft: 8 * mib, Hard: 8 * mib}, UserNamespace: "initial", Available: 900 * mib},
		Files:  doctor.Limit{Known: true, Soft: 1024, Hard: 4096},
		Sysfs:  doctor.Sysfs{Mounted: true}, CgroupsRead: true,
	}
	if len(w.diag.Devices) > 0 {
		f.VerbsABI, f.CMABI = 6, 4
	}
	for i, d := range w.diag.Devices {
		f.Sysfs.Devices = append(f.Sysfs.Devices, d.Name)
		dev := doctor.Device{Device: d, Usability: w.diag.Usability[i], DataPath: true, Resources: map[string]uint64{"qp": 1}}
		port := doctor.Port{PortInfo: d.Ports[0]}
		if dev.Usability.OK() {
			dev.Attr = &uverbs.DeviceAttr{MaxQP: 1000, MaxMRSize: 1 << 40}
			port.Attr = &uverbs.PortAttr{MaxMTU: abi.IB_MTU_4096, ActiveMTU: abi.IB_MTU_1024}
		}
		port.GIDs = gidpick.Rows([]gidpick.Port{{Device: d.Name, Protocol: d.Protocol, Info: d.Ports[0], GIDs: w.gids[d.Name]}}, f.Netdevs)
		port.Counters = doctor.Counters{Before: map[string]uint64{"send_err": 0}, After: map[string]uint64{"send_err": 0}}
		dev.Ports = []doctor.Port{port}
		f.Devices = append(f.Devices, dev)
	}
	return f
}
