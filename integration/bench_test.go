//go:build linux

package integration

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// benchDoc is what tests look at in the JSON of rdmaprobe bench.
type benchDoc struct {
	Device    string
	MTU       int
	Results   []benchResult
	Intervals []struct{ Messages int }
	TOS, DSCP int
	MaxMTU    int `json:"max_mtu"`
}

type benchResult struct {
	Size, Messages int
	Inline         bool
	Rate           float64 `json:"messages_per_second"`
	MiB            float64 `json:"mib_per_second"`
	Allocations    int
	Reverse        *struct {
		Messages int
		MiB      float64 `json:"mib_per_second"`
	}
	Latency *struct {
		Min float64 `json:"min_us"`
		P50 float64 `json:"p50_us"`
		P99 float64 `json:"p99_us"`
		Max float64 `json:"max_us"`
	}
}

// benchServe starts the other end, and returns its address.
func benchServe(t *testing.T) (*process, string) {
	t.Helper()
	p := start(t, requireProbe(t), "bench", "serve", "-a", addrV4+":0")
	_, where, _ := strings.Cut(p.await(t, "listening on "), "listening on ")
	return p, where
}

func benchRun(t *testing.T, args ...string) (d benchDoc) {
	t.Helper()
	r := probe(t, append([]string{"bench", "--json"}, args...)...)
	r.want(t, 0)
	if err := json.Unmarshal([]byte(r.stdout), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// benchFree is benchRun of what allocates nothing for a message. The program counts
// what its runtime allocates in the background, too: up to ten objects now and then,
// however many messages there are.
func benchFree(t *testing.T, args ...string) (d benchDoc) {
	t.Helper()
	for range 3 {
		d = benchRun(t, args...)
		allocates := slices.ContainsFunc(d.Results, func(r benchResult) bool { return r.Allocations > r.Messages/10 })
		if !allocates {
			return d
		}
	}
	t.Errorf("%v allocates: %+v", args, d.Results)
	return d
}

// TestBenchLoops: each test moves each kind of data in each mode, counts right,
// and allocates nothing while it does.
func TestBenchLoops(t *testing.T) {
	requireRDMA(t)
	fullSuiteOnly(t, ofProgram)
	checkLeaks(t)
	server, where := benchServe(t)
	const count = 100
	for _, mode := range []string{"poll", "event", "adaptive"} {
		for _, op := range []string{"send", "write", "read"} {
			if mode == "adaptive" && op != "send" {
				continue // the way of waiting is the same, and polling on few processors is slow
			}
			d := benchFree(t, "lat", where, "--op", op, "--mode", mode, "-n", fmt.Sprint(count), "--size", "64,5000")
			if len(d.Results) != 2 || d.Device != "rxe0" || d.MTU != 1024 {
				t.Errorf("lat %s %s: %+v", op, mode, d)
			}
			for _, r := range d.Results {
				l := r.Latency
				if r.Messages != count || l == nil || l.Min <= 0 || l.P50 < l.Min || l.P99 < l.P50 || l.Max < l.P99*0.99 ||
					r.Inline != (r.Size <= 64 && op != "read") {
					t.Errorf("lat %s %s: %+v %+v", op, mode, r, l)
				}
			}
			ways := [][]string{{"-n", "300"}, {"-n", "301", "--qps", "3", "--batch", "4"}, {"-n", "100", "--depth", "1", "--inline", "64", "--size", "60"}}
			if mode != "event" {
				ways = ways[:1] // what is sent does not depend on how one waits
			}
			for _, args := range ways {
				d := benchFree(t, append([]string{"bw", where, "--op", op, "--mode", mode, "--size", "4096"}, args...)...)
				r := d.Results[0]
				if want := args[1]; fmt.Sprint(r.Messages) != want || r.Rate <= 0 || r.MiB <= 0 {
					t.Errorf("bw %s %s %v: %+v", op, mode, args, r)
				}
			}
		}
	}
	d := benchRun(t, "bw", where, "--op", "write", "-D", "1200ms", "--interval", "400ms", "--qps", "2",
		"--size", "4096", "--cq-mod", "4")
	if len(d.Intervals) < 2 || d.Results[0].Messages == 0 {
		t.Errorf("by time: %+v", d)
	}
	r := probe(t, "bench", "lat", where, "-n", "100", "--histogram", "--size", "64")
	r.want(t, 0)
	r.contains(t, "SEND latency", "P99.99", "█", "note: rxe is RDMA in software")
	// What is no client is refused, and the server goes on.
	probe(t, "ping", where, "-C", "1").want(t, 6)
	server.await(t, "refused: not rdmaprobe's bench protocol")
	benchRun(t, "lat", where, "-n", "10")
	if code := server.signal(t, syscall.SIGTERM); code != 0 {
		t.Errorf("server's exit code %d", code)
	}
}

// TestBenchBoth: both ends send at once, in each way, and the client gets to
// know what the server measured.
func TestBenchBoth(t *testing.T) {
	requireRDMA(t)
	fullSuiteOnly(t, ofProgram)
	checkLeaks(t)
	server, where := benchServe(t)
	for _, op := range []string{"send", "write", "read"} {
		for _, args := range []string{"--size 4096 -n 300", "--size 24 -n 150 --mode event", "--size 64 -n 101 --qps 3 --batch 4 --depth 8 --mode event"} {
			list := append([]string{"bw", where, "-b", "--op", op}, strings.Fields(args)...)
			r := benchRun(t, list...).Results[0]
			if r.Reverse == nil || r.Reverse.Messages != r.Messages || r.Messages < 101 || r.Reverse.MiB <= 0 {
				t.Errorf("%v: %+v %+v", list, r, r.Reverse)
			}
		}
	}
	d := benchRun(t, "bw", where, "-b", "-D", "500ms", "--size", "4096", "--dscp", "26")
	if r := d.Results[0]; r.Reverse == nil || r.Reverse.Messages == 0 || r.Messages == 0 {
		t.Errorf("by time: %+v", r)
	}
	if d.TOS != 104 || d.DSCP != 26 || d.MaxMTU != 4096 {
		t.Errorf("%+v", d)
	}
	probe(t, "bench", "bw", where, "-b", "-n", "100", "--size", "4096").contains(t, "MIB/S BACK", "both together")
	if code := server.signal(t, syscall.SIGTERM); code != 0 {
		t.Errorf("server's exit code %d", code)
	}
}

// TestBenchInterrupted: either end may leave at any time.
func TestBenchInterrupted(t *testing.T) {
	requireRDMA(t)
	fullSuiteOnly(t, ofProgram)
	checkLeaks(t)
	server, where := benchServe(t)
	client := start(t, requireProbe(t), "bench", "bw", where, "-D", "1h")
	server.await(t, "measures bw of send")
	if code := client.signal(t, syscall.SIGINT); code != 1 {
		t.Errorf("client's exit code %d, want 1", code)
	}
	server.await(t, "ended after")
	client = start(t, requireProbe(t), "bench", "lat", where, "-D", "1h")
	server.await(t, "measures lat of send")
	if code := server.signal(t, syscall.SIGTERM); code != 0 {
		t.Errorf("server's exit code %d", code)
	}
	if code := client.exit(t); code != 5 {
		t.Errorf("client's exit code %d, want 5", code)
	}
	probe(t, "bench", "lat", where, "-n", "1").want(t, 6)
}

func TestBenchConnReg(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	server, where := probeServe(t, addrV4+":0")
	r := probe(t, "bench", "conn", where, "-n", "30", "--parallel", "4")
	r.want(t, 0)
	r.contains(t, "30 connections", "connect", "close")
	server.signal(t, syscall.SIGTERM)
	r = probe(t, "bench", "reg", "--size", "4K,1M", "-n", "20", "--threads", "2")
	r.want(t, 0)
	r.contains(t, "REG P50", "1 MiB")
}
