package main

import (
	"context"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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
		bench:    w.benchRun,
		cpus:     func() int { return 1 },
		governor: func() string { return "powersave" },
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
	r := &bench.Result{Params: p, Device: "rxe0", Local: "10.0.0.1:4000", Remote: cl.Remote.String(), MTU: 1024, TOS: int(cl.TOS),
		Inline: p.Size <= p.Inline, Messages: 100_000, Took: 2 * time.Second, UserCPU: time.Second, KernCPU: 2 * time.Second,
		Moved: map[string]uint64{"rnr_nak_retry_err": 3}}
	i := bench.Interval{At: time.Second, Took: time.Second, Messages: 50_000, Size: p.Size}
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
		"reg --size 0", "reg --threads 0", "serve -a 10.0.0.1:x", "bogus",
	} {
		r := rxeWorld().command(t, strings.Fields("bench "+args)...)
		if r.code != exitUsage {
			t.Errorf("bench %s: exit code %d\n%s", args, r.code, r.both())
		}
	}
}

func TestByteSizes(t *testing.T) {
	got, err := byteSizes("1,4K, 2m,1G")
	if diff := cmp.Diff([]uint64{1, 4096, 2 << 20, 1 << 30}, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
}
