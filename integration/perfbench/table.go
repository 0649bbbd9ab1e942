//go:build linux

package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/purerdma/rdma/internal/kernelver"
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

// A heading is that of one table, and its columns after the test and the size.
type heading struct {
	kind, title string
	columns     []string
}

var headings = []heading{
	{"lat", "Latency in µs, median of the rounds (least to most); a ratio below 1 means that Go is faster:",
		[]string{"perftest", "Go", "Go/C", "C: CPU µs/message", "Go: CPU µs/message"}},
	{"bw", "Bandwidth in MiB/s and thousands of messages a second; a ratio above 1 means that Go is faster:",
		[]string{"perftest", "Go", "Go/C", "C: 1000/s", "Go: 1000/s", "C: CPU µs/message", "Go: CPU µs/message", "C: CPU s/GiB", "Go: CPU s/GiB"}},
}

// print writes the tables in Markdown.
func (b *bench) print() {
	fmt.Fprintf(b.out, "Linux %s, %d rounds:\n\n", kernelver.Release(), b.rounds())
	for _, h := range headings {
		fmt.Fprintf(b.out, "%s\n\n| test | bytes | %s |\n|---|---|%s\n", h.title, strings.Join(h.columns, " | "), strings.Repeat("---|", len(h.columns)))
		for i, t := range b.list {
			if t.kind == h.kind && i < len(b.results) && len(b.results[i].g) > 0 {
				fmt.Fprintf(b.out, "| %s | %d | %s |\n", t.title(), t.size, strings.Join(t.cells(b.results[i]), " | "))
			}
		}
		fmt.Fprintln(b.out)
	}
	b.printTails()
	fmt.Fprintf(b.out, "Beyond %.2f of latency or %.2f of bandwidth: %s.\n", mostLatency, leastBandwidth, b.beyond())
}

// What is wanted of Go, as parts of what C does.
const (
	mostLatency    = 1.05
	leastBandwidth = 0.95
)

// beyond lists the tests in which Go is slower than wanted.
func (b *bench) beyond() string {
	var list []string
	for i, t := range b.list {
		if i >= len(b.results) {
			break
		}
		r := b.results[i].ratio()
		if t.kind == "lat" && r > mostLatency || t.kind == "bw" && r < leastBandwidth {
			list = append(list, fmt.Sprintf("%s %s, %d bytes (%.2f)", t.kind, t.title(), t.size, r))
		}
	}
	if len(list) == 0 {
		return "nothing"
	}
	return strings.Join(list, "; ")
}

// ratio is Go/C, not a number where there is only one of them.
func (p pair) ratio() float64 { return figures[0].ratio(p) }

// rounds is how many count.
func (b *bench) rounds() (n int) {
	for _, p := range b.results {
		n = max(n, len(p.g))
	}
	return n
}

func (t test) title() string {
	title := t.op + ", " + t.mode
	if t.both {
		title += ", both ways"
	}
	return title
}

// cells are the columns of a row; those of perftest are empty where it has no
// such test.
func (t test) cells(p pair) []string {
	value := func(s sample) float64 { return s.value }
	ratio := ""
	if r := p.ratio(); !math.IsNaN(r) {
		ratio = fmt.Sprintf("%.2f", r)
	}
	out := []string{middle(p.c, value, true), middle(p.g, value, true), ratio}
	add := func(of func(sample) float64) {
		out = append(out, middle(p.c, of, false), middle(p.g, of, false))
	}
	perMessage := func(s sample) float64 { return float64(s.cpu.Microseconds()) / float64(s.message) }
	if t.kind == "bw" {
		add(func(s sample) float64 { return s.rate / 1000 })
	}
	add(perMessage)
	if t.kind == "bw" {
		add(func(s sample) float64 { return perMessage(s) * float64(1<<30) / float64(t.size) / 1e6 })
	}
	return out
}

// middle prints the median of something, and the ends if asked.
func middle(list []sample, of func(sample) float64, ends bool) string {
	if len(list) == 0 {
		return ""
	}
	mid, low, high := spread(valuesOf(list, of))
	if !ends {
		return number(mid)
	}
	return fmt.Sprintf("%s (%s to %s)", number(mid), number(low), number(high))
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
