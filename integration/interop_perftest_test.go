//go:build linux

package integration

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// perftestRounds is how often each program runs; the best of each counts. The guest's
// two processors execute in turn, so that a message waits for the other one's turn, or
// not, and does so in most rounds of some runs.
const perftestRounds = 5

// What Go/C may be. The guest's clock counts the instructions it executes, so both
// count work and not time: how fast or how busy the machine is does not matter
// (scripts/vm --icount). By that clock Go takes 0.82 to 0.98 times as long by events
// (docs/benchmarks.md), and bandwidth by events is 0.79 to 1.07 times C's.
var (
	perftestLatency   = [2]float64{0.7, 1.15}
	perftestBandwidth = [2]float64{0.7, 1.2}
)

// A perftestCase is one thing to measure: perftest's program and arguments, and
// rdmaprobe bench's.
type perftestCase struct {
	c, g    string
	latency bool
}

// Waiting for events, because polling on two processors measures the scheduler
// (docs/benchmarks.md); ib_send_lat -e needs room for all its completions.
var perftestCases = []perftestCase{
	{"ib_read_lat -s 64 -n 200 -e", "lat --op read --size 64 -n 200 --mode event", true},
	{"ib_read_lat -s 4096 -n 200 -e", "lat --op read --size 4096 -n 200 --mode event", true},
	{"ib_send_lat -s 64 -n 200 -e -t 200 -Q 1", "lat --op send --size 64 -n 200 --mode event", true},
	{"ib_send_bw -s 4096 -n 1000 -e", "bw --op send --size 4096 -n 1000 --mode event", false},
	{"ib_read_bw -s 16384 -n 300 -e", "bw --op read --size 16384 -n 300 --mode event", false},
}

// TestPerftestAgrees: what rdmaprobe bench lat and bw print is what perftest
// measures of the same thing. That is no timed test, because of the guest's clock.
// It wants a guest of its own: scripts/vm --icount --tools perftest --env
// RDMA_PERFTEST=1.
func TestPerftestAgrees(t *testing.T) {
	requireRDMA(t)
	if os.Getenv("RDMA_PERFTEST") != "1" {
		t.Skip("needs a guest of its own: scripts/vm --icount --tools perftest --env RDMA_PERFTEST=1")
	}
	requireTool(t, "ib_read_lat", "perftest")
	checkLeaks(t)
	_, where := benchServe(t)
	port := 20000
	for _, tt := range perftestCases {
		var c, g []float64
		for range perftestRounds {
			port++
			c = append(c, tt.perftest(t, port))
			g = append(g, tt.probe(t, where))
		}
		limits, best := perftestBandwidth, slices.Max[[]float64]
		if tt.latency {
			limits, best = perftestLatency, slices.Min[[]float64]
		}
		ratio := best(g) / best(c)
		t.Logf("%s: perftest %.4g %.4g, Go %.4g %.4g: Go/C %.2f", tt.g, best(c), c, best(g), g, ratio)
		if ratio < limits[0] || ratio > limits[1] {
			t.Errorf("%s: Go/C is %.2f, want %v: %.4g, and perftest %.4g", tt.g, ratio, limits, g, c)
		}
	}
}

// gidIndex is an address's place in the device's table.
func gidIndex(t *testing.T, addr string) int {
	t.Helper()
	c, err := verbsDevice(t).Open(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	gids, err := c.QueryGIDs(1)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range gids {
		if g.GID.Addr().String() == addr {
			return g.Index
		}
	}
	t.Fatalf("%s is not in %v", addr, gids)
	return 0
}

// probe returns the median latency in µs, or MiB/s.
func (tt *perftestCase) probe(t *testing.T, where string) float64 {
	t.Helper()
	test, rest, _ := strings.Cut(tt.g, " ")
	d := benchRun(t, append([]string{test, where}, strings.Fields(rest)...)...)
	if tt.latency {
		return d.Results[0].Latency.P50
	}
	return d.Results[0].MiB
}

// perftest runs both ends of the C program and returns what probe does.
func (tt *perftestCase) perftest(t *testing.T, port int) float64 {
	t.Helper()
	args := strings.Fields(tt.c)
	args = append(args, "-F", "-d", verbsDevice(t).Name, "-x", strconv.Itoa(gidIndex(t, addrV4)), "-p", strconv.Itoa(port))
	server := exec.Command(args[0], args[1:]...)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = server.Process.Kill() // it has ended unless the client failed
		_ = server.Wait()
	}()
	ctx, cancel := context.WithTimeout(context.Background(), testTime)
	defer cancel()
	for {
		out, err := exec.CommandContext(ctx, args[0], append(args[1:], addrV4)...).CombinedOutput()
		switch {
		case err == nil:
			v, err := tt.parse(out)
			if err != nil {
				t.Fatalf("%s: %v in\n%s", tt.c, err, out)
			}
			_ = server.Wait() // the client's status is what counts
			return v
		case !bytes.Contains(out, []byte("ouldn't connect")) || ctx.Err() != nil:
			t.Fatalf("%s: %v\n%s", tt.c, err, out)
		}
		time.Sleep(50 * time.Millisecond) // the server does not say when it is ready
	}
}

// parse takes t_typical, or the average bandwidth, from the line that begins with
// the size.
func (tt *perftestCase) parse(out []byte) (float64, error) {
	size, column := strings.Fields(tt.c)[2], 3
	if tt.latency {
		column = 4
	}
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); len(f) > column && f[0] == size {
			return strconv.ParseFloat(f[column], 64)
		}
	}
	return 0, fmt.Errorf("no result")
}
