//go:build linux

package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net/netip"
	"os"
	"slices"
	"text/tabwriter"
	"time"
)

// A bench is all measurements.
type bench struct {
	conns   int
	rounds  int
	list    []contender
	results map[string][]*result          // by contender
	perConn map[string]map[string]float64 // system calls, by program and call
	next    netip.AddrPort                // with a port nobody has used
}

func runBench(ctx context.Context, where netip.AddrPort, conns, rounds int) error {
	dir, err := os.MkdirTemp("", "conntime")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := &bench{conns: conns, rounds: rounds, results: map[string][]*result{}, perConn: map[string]map[string]float64{}, next: where}
	if b.list, err = contenders(dir); err != nil {
		return err
	}
	// In turn, so that a change of the machine's load hits all alike; the
	// first round warms up and does not count.
	for round := range rounds + 1 {
		for i := range b.list {
			r, err := b.run(ctx, &b.list[i], conns)
			if err != nil {
				return err
			}
			if round > 0 {
				b.results[b.list[i].name] = append(b.results[b.list[i].name], r)
			}
		}
	}
	for i := range b.list {
		if err := b.count(ctx, &b.list[i]); err != nil {
			return err
		}
	}
	b.print(os.Stdout)
	return nil
}

func (b *bench) run(ctx context.Context, c *contender, conns int) (*result, error) {
	b.next = netip.AddrPortFrom(b.next.Addr(), b.next.Port()+1)
	return c.run(ctx, b.next, conns)
}

// count finds the system calls of one connection more by comparing two runs.
func (b *bench) count(ctx context.Context, c *contender) error {
	few, many := b.conns, 3*b.conns
	var runs []map[string]counts
	for _, n := range []int{few, many} {
		got, err := countCalls(func() error {
			_, err := b.run(ctx, c, n)
			return err
		})
		if err != nil {
			return err
		}
		runs = append(runs, got)
	}
	for program, calls := range runs[1] {
		name := c.name + " active"
		if isServer(program) {
			name = c.name + " passive"
		}
		b.perConn[name] = perConn(runs[0][program], calls, many-few)
	}
	if len(runs[1]) != 2 {
		return fmt.Errorf("system calls of %d programs counted, want two: client and server of %s", len(runs[1]), c.name)
	}
	return nil
}

func isServer(program string) bool {
	return program == commPrefix+"go-server" || program == commPrefix+"go-listener" || program == commPrefix+"c-server"
}

// times are the microseconds that a phase took for one connection, by round;
// "" is all phases together.
func (b *bench) times(contender, name string) []float64 {
	var list []float64
	for _, r := range b.results[contender] {
		var sum time.Duration
		for _, p := range r.Phases {
			if p.Name == name || name == "" {
				sum += p.Took
			}
		}
		list = append(list, float64(sum.Microseconds())/float64(r.Conns))
	}
	slices.Sort(list)
	return list
}

func median(sorted []float64) float64 {
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// spread formats median, least and most.
func spread(sorted []float64) string {
	return fmt.Sprintf("%.0f\t(%.0f to %.0f)", median(sorted), sorted[0], sorted[len(sorted)-1])
}

func (b *bench) print(out io.Writer) {
	fmt.Fprintf(out, "%d connections, %d rounds; microseconds for one connection: median (least to most)\n\n", b.conns, b.rounds)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "step\tcmtime\t\tGo\t\tspeed Go/C")
	for _, name := range append(slices.Clone(phaseNames), "") {
		c, g := b.times("cmtime", name), b.times("phases", name)
		fmt.Fprintf(w, "%s\t%s\t%s\t%.2f\n", cmp.Or(name, "all steps"), spread(c), spread(g), median(c)/median(g))
	}
	c := b.times("cmtime", "")
	for _, name := range []string{"dial", "close", ""} {
		g := b.times("dial", name)
		ratio := ""
		if name == "" {
			ratio = fmt.Sprintf("%.2f", median(c)/median(g))
		}
		fmt.Fprintf(w, "cm.%s\t\t\t%s\t%s\n", cmp.Or(name, "dial and close"), spread(g), ratio)
	}
	_ = w.Flush()
	fmt.Fprintf(out, "\nconnections per second, with their ends: cmtime %.0f, Go step by step %.0f, cm.Dial %.0f\n\n",
		1e6/median(c), 1e6/median(b.times("phases", "")), 1e6/median(b.times("dial", "")))
	b.printCPU(out)
	b.printCalls(out)
}

// printCPU prints the processor time of the processes; what the kernel does in
// threads of its own is not in it.
func (b *bench) printCPU(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "processor time, microseconds per connection\tuser\tkernel")
	for _, c := range b.list {
		for _, side := range []struct {
			name string
			of   func(*result) cpu
		}{{"active", func(r *result) cpu { return r.Active }}, {"passive", func(r *result) cpu { return r.Passive }}} {
			var user, system []float64
			for _, r := range b.results[c.name] {
				t := side.of(r)
				user = append(user, float64(t.User.Microseconds())/float64(r.Conns))
				system = append(system, float64(t.System.Microseconds())/float64(r.Conns))
			}
			slices.Sort(user)
			slices.Sort(system)
			fmt.Fprintf(w, "%s %s\t%.0f\t%.0f\n", c.name, side.name, median(user), median(system))
		}
	}
	_ = w.Flush()
	fmt.Fprintln(out)
}

func (b *bench) printCalls(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "system calls per connection\twork\tscheduling\tof these")
	for _, name := range slices.Sorted(maps.Keys(b.perConn)) {
		calls := b.perConn[name]
		work, runtime := split(calls)
		names := slices.SortedFunc(maps.Keys(calls), func(x, y string) int { return cmp.Compare(calls[y], calls[x]) })
		detail := ""
		for _, n := range names {
			if calls[n] >= 0.05 {
				detail += fmt.Sprintf("%s %.1f, ", n, calls[n])
			}
		}
		fmt.Fprintf(w, "%s\t%.1f\t%.1f\t%s\n", name, work, runtime, detail)
	}
	_ = w.Flush()
}
