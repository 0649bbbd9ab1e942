//go:build linux

package main

import (
	"fmt"
	"slices"
)

// median and ends of a list.
func spread(list []float64) (mid, low, high float64) {
	s := slices.Sorted(slices.Values(list))
	n := len(s)
	return (s[(n-1)/2] + s[n/2]) / 2, s[0], s[n-1]
}

func valuesOf(list []sample, of func(sample) float64) (out []float64) {
	for _, s := range list {
		out = append(out, of(s))
	}
	return out
}

// print writes the tables in Markdown.
func (b *bench) print() {
	for _, kind := range []struct{ name, title, unit string }{
		{"lat", "Latency: median of each run, µs; a ratio below 1 means that Go is faster", "µs"},
		{"bw", "Bandwidth, MiB/s; a ratio above 1 means that Go is faster", "MiB/s"},
	} {
		fmt.Fprintf(b.out, "%s\n\n| test | bytes | perftest | Go | Go/C | C: CPU µs/message | Go: CPU µs/message |", kind.title)
		if kind.name == "bw" {
			fmt.Fprint(b.out, " C: CPU s/GiB | Go: CPU s/GiB |")
		}
		fmt.Fprint(b.out, "\n|---|---|---|---|---|---|---|")
		if kind.name == "bw" {
			fmt.Fprint(b.out, "---|---|")
		}
		fmt.Fprintln(b.out)
		for i, t := range b.list {
			if t.kind == kind.name && i < len(b.results) && len(b.results[i].g) > 0 {
				b.printRow(t, b.results[i])
			}
		}
		fmt.Fprintln(b.out)
	}
}

func (b *bench) printRow(t test, p pair) {
	value := func(s sample) float64 { return s.value }
	perMessage := func(s sample) float64 { return float64(s.cpu.Microseconds()) / float64(s.message) }
	c, cLow, cHigh := spread(valuesOf(p.c, value))
	g, gLow, gHigh := spread(valuesOf(p.g, value))
	cCPU, _, _ := spread(valuesOf(p.c, perMessage))
	gCPU, _, _ := spread(valuesOf(p.g, perMessage))
	mode := "poll"
	if t.event {
		mode = "event"
	}
	fmt.Fprintf(b.out, "| %s, %s | %d | %s (%s to %s) | %s (%s to %s) | %.2f | %.0f | %.0f |", t.op, mode, t.size,
		number(c), number(cLow), number(cHigh), number(g), number(gLow), number(gHigh), g/c, cCPU, gCPU)
	if t.kind == "bw" {
		perGiB := float64(1<<30) / float64(t.size) / 1e6
		fmt.Fprintf(b.out, " %.1f | %.1f |", cCPU*perGiB, gCPU*perGiB)
	}
	fmt.Fprintln(b.out)
}

// number prints three digits that count.
func number(v float64) string {
	switch {
	case v < 10:
		return fmt.Sprintf("%.2f", v)
	case v < 100:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}
