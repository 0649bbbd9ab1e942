//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/netip"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A bench is all measurements.
type bench struct {
	address, device string
	gid, port       int
	list            []test
	results         []pair // by test
	out, progress   io.Writer
	start           time.Time
}

// A pair is what both programs measured, by round.
type pair struct{ c, g []sample }

// A sample is one run: the median latency in µs or MiB/s, and what both ends
// used of processors.
type sample struct {
	value   float64
	tails   tails   // lat only
	rate    float64 // messages a second; bw only
	cpu     time.Duration
	message int
}

// tails are what the median latency does not tell, in µs.
type tails struct{ mean, p99, p999 float64 }

// measure takes turns, so that a change of the machine's load hits both, and
// who goes first changes too; the first round warms up and does not count.
func (b *bench) measure(ctx context.Context, rounds int) error {
	b.results = make([]pair, len(b.list))
	var failed []error
	broken := map[int]bool{}
	for round := range rounds + 1 {
		for i, t := range b.list {
			if broken[i] {
				continue
			}
			p, err := b.turn(ctx, t, round)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			switch {
			case err != nil: // the others are worth having
				broken[i] = true
				b.results[i] = pair{}
				failed = append(failed, fmt.Errorf("%s: %w", t.name(), err))
			case round > 0:
				b.results[i].c = append(b.results[i].c, p.c...)
				b.results[i].g = append(b.results[i].g, p.g...)
			}
		}
		fmt.Fprintf(b.progress, "round %d of %d, %.0f s\n", round, rounds, time.Since(b.start).Seconds())
	}
	return errors.Join(failed...)
}

// turn runs both programs once.
func (b *bench) turn(ctx context.Context, t test, round int) (p pair, err error) {
	run := []func() error{
		func() error {
			if t.alone() {
				return nil
			}
			s, err := b.perftest(ctx, t)
			for try := 1; errors.Is(err, errNoClock) && try < tries; try++ {
				s, err = b.perftest(ctx, t)
			}
			p.c = []sample{s}
			return err
		},
		func() error {
			s, err := b.probe(ctx, t)
			p.g = []sample{s}
			return err
		},
	}
	for i := range run {
		if err := run[(i+round)%len(run)](); err != nil {
			return pair{}, err
		}
	}
	return p, nil
}

// limit is how long a run may take.
const limit = 90 * time.Second

// errNoClock is matched when perftest has not found out how fast the processor's
// counter runs, and prints no numbers: it compares it with the time, for a moment,
// in which another program may disturb it. So it gets some tries.
var errNoClock = errors.New("perftest does not know how fast the processor's counter runs")

const tries = 4

// perftest runs the C program as server and client.
func (b *bench) perftest(ctx context.Context, t test) (sample, error) {
	b.port++
	args := t.perftest(b.device, b.gid, b.port)
	server, err := startServer(args, nil)
	if err != nil {
		return sample{}, err
	}
	defer server.stop()
	var out string
	var client *exec.Cmd
	// The server does not say when it is ready.
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		out, client, err = output(ctx, append(args, b.address))
		if err == nil || time.Now().After(deadline) || !strings.Contains(err.Error(), "ouldn't connect") {
			break
		}
	}
	if err != nil {
		return sample{}, fmt.Errorf("%w; server: %s", err, server.said.String())
	}
	s, err := parsePerftest(out, t)
	if err != nil {
		return sample{}, err
	}
	server.wait()
	s.cpu = cpuOf(client) + cpuOf(server.cmd)
	return s, nil
}

// probe runs rdmaprobe as server and client.
func (b *bench) probe(ctx context.Context, t test) (sample, error) {
	b.port++
	where := netip.AddrPortFrom(netip.MustParseAddr(b.address), uint16(b.port))
	server, err := startServer([]string{"rdmaprobe", "bench", "serve", "-a", where.String()}, []byte("listening"))
	if err != nil {
		return sample{}, err
	}
	defer server.stop()
	out, client, err := output(ctx, t.probe(where))
	if err != nil {
		return sample{}, fmt.Errorf("%w; server: %s", err, server.said.String())
	}
	s, err := parseProbe(out, t)
	if err != nil {
		return sample{}, err
	}
	server.stop()
	s.cpu = cpuOf(client) + cpuOf(server.cmd)
	return s, nil
}

func cpuOf(c *exec.Cmd) time.Duration { return c.ProcessState.UserTime() + c.ProcessState.SystemTime() }

// output runs a program to its end.
func output(ctx context.Context, args []string) (string, *exec.Cmd, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	var out, problem bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problem
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return "", cmd, fmt.Errorf("%s: %w: %s%s", strings.Join(args, " "), err, out.String(), problem.String())
	}
	return out.String(), cmd, nil
}

// parsePerftest finds the line of numbers: it begins with the size.
func parsePerftest(out string, t test) (sample, error) {
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		if len(f) < 5 || f[0] != strconv.Itoa(t.size) {
			continue
		}
		var v []float64
		for _, text := range f {
			x, err := strconv.ParseFloat(text, 64)
			if err != nil {
				break
			}
			v = append(v, x)
		}
		if slices.ContainsFunc(v, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }) {
			return sample{}, errNoClock
		}
		switch {
		case t.kind == "lat" && len(v) >= 9: // bytes, iterations, min, max, typical, average, deviation, 99 %, 99.9 %
			return sample{value: v[4], tails: tails{v[5], v[7], v[8]}, message: t.count}, nil
		case t.kind == "bw" && len(v) >= 5: // bytes, iterations, peak, average, million messages a second
			s := sample{value: v[3], rate: v[4] * 1e6, message: t.count}
			if t.both {
				s.message *= 2
			}
			return s, nil
		}
	}
	return sample{}, fmt.Errorf("no result in\n%s", out)
}
