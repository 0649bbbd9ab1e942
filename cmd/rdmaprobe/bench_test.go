package main

import (
	"context"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/cmd/rdmaprobe/bench"
	"github.com/purerdma/rdma/uverbs"
)

// fakeBenchServer sees one client come and go.
type fakeBenchServer struct{ onEvent func(bench.ServerEvent) }

func (f *fakeBenchServer) Addr() (netip.AddrPort, error) {
	return netip.MustParseAddrPort("[::]:7175"), nil
}

func (f *fakeBenchServer) Serve(context.Context) error {
	e := bench.ServerEvent{Event: "connected", Client: "10.0.0.2:4000", Device: "rxe0", Test: bench.Bandwidth, Op: bench.Read, Size: 4096, QPs: 2}
	f.onEvent(e)
	e.Event, e.Took = "ended", time.Second
	f.onEvent(e)
	f.onEvent(bench.ServerEvent{Event: "refused", Client: "10.0.0.3:4000", Err: bench.ErrProtocol})
	return nil
}

// bench measures the same numbers each time.
func (w *world) bench() benchSystem {
	return benchSystem{
		bench:     w.benchRun,
		cpus:      func() int { return 1 },
		governors: func() []string { return []string{"performance", "powersave"} },
		benchListen: func(_ netip.AddrPort, onEvent func(bench.ServerEvent)) (benchServer, error) {
			return &fakeBenchServer{onEvent}, w.listenErr
		},
		benchReg: func(_ context.Context, d *uverbs.Device, p bench.RegParams) (*bench.RegResult, error) {
			return &bench.RegResult{RegParams: p, Device: d.Name, Touch: time.Millisecond, Register: summary(20), Deregister: summary(10), Took: time.Second}, nil
		},
	}
}

func summary(us int) bench.Summary {
	t := func(f float64) time.Duration { return time.Duration(f * float64(us) * float64(time.Microsecond)) }
	return bench.Summary{Count: 1000, Min: t(0.5), Max: t(20), Mean: t(1.1), Stddev: t(0.3), P50: t(1), P90: t(2), P99: t(4), P999: t(8), P9999: t(16)}
}

func (w *world) benchRun(_ context.Context, cl *bench.Client, p bench.Params) (*bench.Result, error) {
	if w.dialErr != nil {
		return nil, &cm.OpError{Op: "bench", Step: "open the connection manager", Remote: cm.Addr{AddrPort: cl.Remote}, Err: w.dialErr}
	}
	if p.Size == 13 {
		return nil, &cm.OpError{Op: "bench", Step: "connect", Remote: cm.Addr{AddrPort: cl.Remote}, Err: &cm.RejectError{Reason: 8}}
	}
	r := &bench.Result{Params: p, Device: "rxe0", Local: "10.0.0.1:4000", Remote: cl.Remote.String(), MTU: 1024, MaxMTU: 4096, TOS: int(cl.TOS),
		Here: bench.Place{Device: 1, CPU: 0, Mbps: 2500}, There: bench.Place{Device: 0, CPU: 1},
		Inline: p.Size <= p.Inline, Messages: 100_000, Took: 2 * time.Second, UserCPU: time.Second, KernCPU: 2 * time.Second,
		Moved: map[string]uint64{"rnr_nak_retry_err": 3}}
	i := bench.Interval{At: time.Second, Took: time.Second, Messages: 50_000, Size: p.Size}
	if p.Both {
		r.Reverse = bench.Report{Messages: 50_000, Took: time.Second}
	}
	if p.Test == bench.Latency {
		r.Latency, i.Latency = summary(15), summary(15)
		r.Bars = []bench.Bar{{From: 10 * time.Microsecond, To: 12 * time.Microsecond, Count: 10}, {From: 12 * time.Microsecond, To: 14 * time.Microsecond, Count: 990}}
	}
	if p.OnInterval != nil && p.Interval > 0 {
		p.OnInterval(i)
	}
	return r, nil
}

func TestBench(t *testing.T) {
	for _, tt := range []struct {
		name, args string
		code       int
	}{
		{"lat", "lat 10.0.0.7 --size 64,4096 --histogram --interval 1s --tos 104", exitOK},
		{"bw", "bw 10.0.0.7:99 --op write --qps 2 --interval 1s --size 512,65536", exitOK},
		{"bw-both", "bw 10.0.0.7 --op write --bidirectional --dscp 26 --size 512,65536", exitOK},
		{"bw-quiet", "bw peer --mode event -q", exitOK},
		{"refused", "lat 10.0.0.7 --size 64,13", exitRejected},
		{"reg", "reg", exitOK},
		{"conn-refused", "conn 10.0.0.7", exitRejected},
		{"serve", "serve", exitOK},
		{"help", "", exitOK},
		{"help-lat", "lat --help", exitOK},
		{"help-bw", "bw --help", exitOK},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := rxeWorld().command(t, strings.Fields("bench "+tt.args)...)
			wantCode(t, r, tt.code)
			wantNarrow(t, r)
			golden(t, filepath.Join("testdata", "bench-"+tt.name+".txt"), r.both())
		})
	}
}

// TestBenchConn makes connections through memory.
func TestBenchConn(t *testing.T) {
	w := rxeWorld()
	server := w.startCommand(t, "serve")
	server.await("ADDRESS")
	r := w.command(t, "bench", "conn", "10.0.0.1", "-n", "20", "--parallel", "3", "--json")
	wantCode(t, r, exitOK)
	validate(t, "bench-conn", []byte(r.stdout))
	if !strings.Contains(r.stdout, `"connections": 20`) {
		t.Errorf("output:\n%s", r.stdout)
	}
	server.stop()
}

func TestBenchServeJSON(t *testing.T) {
	r := rxeWorld().command(t, "bench", "serve", "--json")
	wantCode(t, r, exitOK)
	for line := range strings.Lines(r.stdout) {
		validate(t, "bench-serve", []byte(line))
	}
	r = emptyWorld().command(t, "bench", "serve", "--json")
	wantCode(t, r, exitNoDevice)
	validate(t, "bench-serve", []byte(r.stdout))
}

func TestBenchUsage(t *testing.T) {
	for _, args := range []string{
		"lat", "lat a b", "lat 10.0.0.7 --op push", "lat 10.0.0.7 --mode sleep", "lat 10.0.0.7 --size 0", "lat 10.0.0.7 --size 1,x",
		"bw 10.0.0.7 --qps 0", "bw 10.0.0.7 --depth 5000", "bw 10.0.0.7 --depth 4 --batch 5", "bw 10.0.0.7 --cq-mod 0",
		"lat 10.0.0.7 -D 0s", "lat 10.0.0.7 --inline -1", "lat 10.0.0.7 --interval -1s", "conn 10.0.0.7 -n 0", "reg --size 4X",
		"bw 10.0.0.7 --dscp 64", "lat 10.0.0.7 --dscp 26 --tos 104", "lat 10.0.0.7 --bidirectional", "bw 10.0.0.7 -b -n 5000000000",
		"bw 10.0.0.7 --size 64M --qps 2",
		"reg --size 0", "reg --threads 0", "serve -a 10.0.0.1:x", "bogus",
	} {
		r := rxeWorld().command(t, strings.Fields("bench "+args)...)
		if r.code != exitUsage {
			t.Errorf("bench %s: exit code %d\n%s", args, r.code, r.both())
		}
	}
}

// TestSizes: every command takes sizes with and without units.
func TestSizes(t *testing.T) {
	got, err := parseSizes("--size", "1,4K, 2m,1G,1.5KiB", maxRegSize)
	if want := []int{1, 4096, 2 << 20, 1 << 30, 1536}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	for line, code := range map[string]int{
		"bench bw 10.0.0.7 -n 10 --size 1M,64KiB": exitOK, "bench lat 10.0.0.7 -n 10 --size 4K --inline 1K": exitOK,
		"bench reg -n 1 --size 4K,4096": exitOK, "ping 10.0.0.2 -C 1 -S 4K": exitRejected,
		"bench bw 10.0.0.7 --size 65M": exitUsage, "bench bw 10.0.0.7 --size 0.3K": exitUsage, "bench bw 10.0.0.7 --size 1e3": exitUsage,
		"ping 10.0.0.2 -S 64K": exitUsage, "ping 10.0.0.2 -S 5G": exitUsage, "ping 10.0.0.2 -S x": exitUsage, "demo -S 1M": exitUsage,
		"bench reg --size 2048G": exitUsage, "bench reg --size 1,,2": exitUsage,
	} {
		if r := rxeWorld().command(t, strings.Fields(line)...); r.code != code {
			t.Errorf("%s: exit code %d, want %d\n%s", line, r.code, code, r.stderr)
		}
	}
}

// TestBenchLimits: what limits a result on hardware.
func TestBenchLimits(t *testing.T) {
	eth := uverbs.PortInfo{Number: 1, LinkLayer: uverbs.LinkEthernet, Netdev: "eth0", NetdevMTU: 9000, SpeedMbps: 25_000}
	device := &uverbs.Device{Name: "mlx5_0", DriverID: abi.RDMA_DRIVER_MLX5, Ports: []uverbs.PortInfo{eth}}
	at := func(mbps float64) *bench.Result { // at a rate
		return &bench.Result{Params: bench.Params{Test: bench.Bandwidth, Size: 1 << 20}, MTU: 4096, MaxMTU: 4096,
			Messages: uint64(mbps * 1e6 / 8 / (1 << 20) * 10), Took: 10 * time.Second}
	}
	small := at(1000)
	small.MTU = 1024
	other := at(9000)
	other.There.Mbps = 10_000
	for _, tt := range []struct {
		name   string
		result *bench.Result
		want   []string
	}{
		{"nothing", at(20_000), nil},
		{"port", at(24_000), []string{"this is what a port of 25 Gbit/s can carry: the port is the limit"}},
		{"server's port", other, []string{"this port has 25 Gbit/s, the server's 10 Gbit/s",
			"this is what a port of 10 Gbit/s can carry: the port is the limit"}},
		{"MTU of the route", small, []string{"the packet MTU is 1024, the device's largest 4096: eth0, with an MTU of 9000, " +
			"would allow it, so the server's side or the route does not"}},
	} {
		if diff := cmp.Diff(tt.want, deviceWarnings(device, eth, tt.result)); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}
