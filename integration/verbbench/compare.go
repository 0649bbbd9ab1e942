//go:build linux

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// costs are nanoseconds by operation, one per round.
type costs struct {
	names []string // in the order of the output
	ns    map[string][]float64
}

// compare runs the C program and this one in turn and prints a table.
func compare(other, device string, n, rounds int) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	c, g := costs{ns: map[string][]float64{}}, costs{ns: map[string][]float64{}}
	for range rounds {
		if err := c.run(other, device, strconv.Itoa(n)); err != nil {
			return err
		}
		if err := g.run(self, "-d", device, "-n", strconv.Itoa(n)); err != nil {
			return err
		}
	}
	return table(os.Stdout, &c, &g)
}

func (c *costs) run(name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return c.parse(out)
}

// parse adds a round's lines.
func (c *costs) parse(out []byte) error {
	for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
		name, text, _ := strings.Cut(s.Text(), "\t")
		ns, err := strconv.ParseFloat(text, 64)
		if err != nil || ns <= 0 {
			return fmt.Errorf("line %q is not a name and a time", s.Text())
		}
		if c.ns[name] == nil {
			c.names = append(c.names, name)
		}
		c.ns[name] = append(c.ns[name], ns)
	}
	return nil
}

// table prints medians with least and most, and their ratio.
func table(w io.Writer, c, g *costs) error {
	if !slices.Equal(c.names, g.names) {
		return fmt.Errorf("the programs measure different operations: %q, %q", c.names, g.names)
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "nanoseconds\tC\t\tGo\t\tGo/C")
	for _, name := range c.names {
		cs, gs := summarize(c.ns[name]), summarize(g.ns[name])
		fmt.Fprintf(tw, "%s\t%v\t%v\t%.2f\n", name, cs, gs, gs.median/cs.median)
	}
	return tw.Flush()
}

type summary struct{ least, median, most float64 }

func summarize(ns []float64) summary {
	ns = slices.Sorted(slices.Values(ns))
	n := len(ns)
	return summary{ns[0], (ns[(n-1)/2] + ns[n/2]) / 2, ns[n-1]}
}

// String returns the median and, in the next column, least and most.
func (s summary) String() string {
	return fmt.Sprintf("%.0f\t(%.0f to %.0f)", s.median, s.least, s.most)
}
