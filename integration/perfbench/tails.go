//go:build linux

package main

import (
	"fmt"
	"math"
	"strings"
)

// A figure is one of those that describe the latencies of a run, and the most that
// is wanted of Go, as a part of what C has. Of the longest in a thousand nothing is
// wanted: few of them are in a run, and the emulator makes most.
type figure struct {
	name string
	of   func(sample) float64
	most float64
}

var figures = []figure{
	{"p50", func(s sample) float64 { return s.value }, 1.1},
	{"mean", func(s sample) float64 { return s.tails.mean }, 1.1},
	{"p99", func(s sample) float64 { return s.tails.p99 }, 1.3},
	{"p99.9", func(s sample) float64 { return s.tails.p999 }, math.Inf(1)},
}

// ratio is Go/C of the medians of the rounds, not a number where there is only one
// of the programs.
func (f figure) ratio(p pair) float64 {
	if len(p.c) == 0 || len(p.g) == 0 {
		return math.NaN()
	}
	c, _, _ := spread(valuesOf(p.c, f.of))
	g, _, _ := spread(valuesOf(p.g, f.of))
	return g / c
}

// printTails writes what the median does not tell, for tests that both programs have.
func (b *bench) printTails() {
	var rows, beyond []string
	for i, t := range b.list {
		if t.kind != "lat" || i >= len(b.results) || len(b.results[i].g) == 0 || len(b.results[i].c) == 0 {
			continue
		}
		p, cells := b.results[i], []string(nil)
		for _, f := range figures {
			r := f.ratio(p)
			cells = append(cells, middle(p.c, f.of, false), middle(p.g, f.of, false), fmt.Sprintf("%.2f", r))
			if r > f.most {
				beyond = append(beyond, fmt.Sprintf("%s of %s, %d bytes (%.2f)", f.name, t.title(), t.size, r))
			}
		}
		rows = append(rows, fmt.Sprintf("| %s | %d | %s |", t.title(), t.size, strings.Join(cells, " | ")))
	}
	if len(rows) == 0 {
		return
	}
	var columns []string
	for _, f := range figures {
		columns = append(columns, f.name+": C", "Go", "Go/C")
	}
	fmt.Fprintf(b.out, "Latency in µs: half, the mean, 99 %% and 99.9 %% of a run's messages, each the median of the rounds:\n\n"+
		"| test | bytes | %s |\n|---|---|%s\n%s\n\n", strings.Join(columns, " | "), strings.Repeat("---|", len(columns)), strings.Join(rows, "\n"))
	if len(beyond) == 0 {
		beyond = []string{"nothing"}
	}
	fmt.Fprintf(b.out, "Beyond %.1f of the median or the mean, or %.1f of the 99th percentile: %s.\n\n",
		figures[0].most, figures[2].most, strings.Join(beyond, "; "))
}
