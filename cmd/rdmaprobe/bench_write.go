package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/cmd/rdmaprobe/bench"
	"github.com/purerdma/rdma/cmd/rdmaprobe/plain"
)

// write prints the table of all results.
func (r *benchRun) write() {
	d := r.doc
	if len(d.Results) == 0 {
		return
	}
	what := "latency"
	if r.test == bench.Bandwidth {
		what = "bandwidth"
	}
	if !r.quiet {
		r.printf("%s %s, %s -> %s via %s\n", strings.ToUpper(d.Op), what, d.Local, d.Remote, plain.Text(d.Device))
		r.printf("waiting: %s; packet MTU %d, ToS %d (DSCP %d); %s, %d under way on each\n\n",
			d.Mode, d.MTU, d.TOS, d.TOS>>2, plural(d.QPs, "queue pair"), d.Depth)
	}
	if r.test == bench.Latency {
		r.writeLatency()
	} else {
		r.writeBandwidth()
	}
	for _, w := range d.Warnings {
		r.printf("note: %s\n", wrap(w, 6))
	}
}

func (r *benchRun) writeLatency() {
	rows := [][]string{{"BYTES", "MESSAGES", "MIN", "P50", "P90", "P99", "P99.9", "P99.99", "MAX", "MEAN", "CPU/MSG"}}
	for _, d := range r.doc.Results {
		l := d.Latency
		row := []string{fmt.Sprint(d.Size), fmt.Sprint(d.Messages)}
		for _, us := range []float64{l.MinUS, l.P50US, l.P90US, l.P99US, l.P999US, l.P9999US, l.MaxUS, l.MeanUS, d.UserCPUUS + d.KernelCPUUS} {
			row = append(row, usText(us))
		}
		rows = append(rows, row)
	}
	table(r.out, rows)
	r.printf("times in µs\n")
}

func (r *benchRun) writeBandwidth() {
	head := []string{"BYTES", "MESSAGES", "SECONDS", "MIB/S", "GBIT/S", "MESSAGES/S", "CPU/MSG", "USER", "KERNEL"}
	if r.both {
		head = append(head, "MIB/S BACK", "BOTH")
	}
	rows := [][]string{head}
	for _, d := range r.doc.Results {
		row := []string{fmt.Sprint(d.Size), fmt.Sprint(d.Messages), fmt.Sprintf("%.2f", d.Seconds), fmt.Sprintf("%.2f", d.MiBPerSecond),
			fmt.Sprintf("%.3f", d.MiBPerSecond*8*1.048576/1000), fmt.Sprintf("%.0f", d.Rate),
			usText(d.UserCPUUS + d.KernelCPUUS), usText(d.UserCPUUS), usText(d.KernelCPUUS)}
		if d.Reverse != nil {
			back := d.Reverse.MiBPerSecond
			row = append(row, fmt.Sprintf("%.2f", back), fmt.Sprintf("%.2f", back+d.MiBPerSecond))
		}
		rows = append(rows, row)
	}
	table(r.out, rows)
	way := "data one way"
	if r.both {
		way = "data this way, back, and both together"
	}
	r.printf("%s; processor time of this process in µs for a message\n", way)
}

// usText prints microseconds with three digits that count.
func usText(us float64) string {
	switch {
	case us < 10:
		return fmt.Sprintf("%.2f", us)
	case us < 100:
		return fmt.Sprintf("%.1f", us)
	}
	return fmt.Sprintf("%.0f", us)
}

func formatUS(d time.Duration) string { return usText(microseconds(d)) + " µs" }

// writeBars draws a histogram.
func writeBars(a *app, bars []bench.Bar) {
	most := uint64(1)
	for _, b := range bars {
		most = max(most, b.Count)
	}
	const width = 50
	for _, b := range bars {
		n := int((b.Count*width + most - 1) / most)
		a.printf("%10s … %10s  %-*s %d\n", usText(microseconds(b.From)), usText(microseconds(b.To)), width, strings.Repeat("█", n), b.Count)
	}
}

// benchRemedy is for what only this command can explain.
func benchRemedy(err error) string {
	var rej *cm.RejectError
	switch {
	case errors.Is(err, bench.ErrProtocol):
		return "the other end must be rdmaprobe bench serve, of this version"
	case errors.Is(err, cm.ErrNoListener):
		return "start one there: rdmaprobe bench serve"
	case errors.As(err, &rej):
		return "its log says why: rdmaprobe bench serve"
	}
	return ""
}

// A progress is a line on a terminal that says what is going on.
type progress struct {
	a     *app
	shown bool // whether standard error is a terminal, and text is wanted
	mu    sync.Mutex
	line  bool // whether a line is there now
	quit  chan struct{}
	wg    sync.WaitGroup
}

// progressAfter is how long a measurement takes before its progress is shown.
const progressAfter = 3 * time.Second

func newProgress(a *app, quiet bool) *progress {
	f, ok := a.errOut.(*os.File)
	if !ok || quiet || a.json {
		return &progress{a: a}
	}
	info, err := f.Stat()
	return &progress{a: a, shown: err == nil && info.Mode()&os.ModeCharDevice != 0}
}

// start shows a text with the seconds, once it takes long.
func (p *progress) start(text string) {
	if !p.shown {
		return
	}
	p.quit = make(chan struct{})
	quit, begin := p.quit, time.Now()
	p.wg.Go(func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				return
			case <-tick.C:
			}
			if took := time.Since(begin); took >= progressAfter {
				p.mu.Lock()
				fmt.Fprintf(p.a.errOut, "\r%s, %.0f s\x1b[K", text, took.Seconds())
				p.line = true
				p.mu.Unlock()
			}
		}
	})
}

func (p *progress) stop() {
	if !p.shown {
		return
	}
	close(p.quit)
	p.wg.Wait()
	p.clear()
}

// clear makes room for other lines.
func (p *progress) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.line {
		fmt.Fprint(p.a.errOut, "\r\x1b[K")
		p.line = false
	}
}
