package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/spf13/cobra"

	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/cmd/rdmaprobe/plain"
	"github.com/purerdma/rdma/cmd/rdmaprobe/rping"
)

// benchConnOptions is the command line of bench conn.
type benchConnOptions struct {
	target   string
	source   netip.AddrPort
	count    int
	parallel int
	timeout  time.Duration
}

func newBenchConn(a *app) *cobra.Command {
	o := new(benchConnOptions)
	var source string
	cmd := &cobra.Command{
		Use:   "conn ADDR[:PORT]",
		Short: "Measure how many connections can be made in a second",
		Long: `conn makes connections to rdmaprobe serve, or any other server that accepts what
it knows nothing about, and ends each at once, so many at a time.`,
		Example: "  rdmaprobe bench conn 10.0.0.7\n  rdmaprobe bench conn 10.0.0.7 -c 10000 --parallel 64 --json",
		Args:    needOne("the address of the server"),
		RunE: action(func(cmd *cobra.Command, args []string) (err error) {
			if o.target, err = targetAddress(args[0]); err != nil {
				return err
			}
			if o.source, err = sourceAddress(source); err != nil {
				return err
			}
			if o.count < 1 || o.parallel < 1 || o.timeout <= 0 {
				return usagef("-n, --parallel and --timeout must be positive")
			}
			return a.benchConn(cmd.Context(), *o)
		}),
	}
	f := cmd.Flags()
	f.IntVarP(&o.count, "count", letterCount, 200, "connections to make")
	alias(f, "count", "n")
	f.IntVar(&o.parallel, "parallel", 8, "connections at a time")
	f.StringVarP(&source, "source", "I", "", "address to connect from (default: chosen by route)")
	f.DurationVarP(&o.timeout, "timeout", letterTimeout, 10*time.Second, "longest time for one connection")
	return cmd
}

type benchConnDoc struct {
	Target      string     `json:"target" doc:"host:port as asked for"`
	Device      string     `json:"device" doc:"RDMA device used; empty without a connection"`
	Connections int        `json:"connections" doc:"connections made and ended"`
	Failed      int        `json:"failed" doc:"connections that could not be made"`
	Parallel    int        `json:"parallel" doc:"connections at a time"`
	Seconds     float64    `json:"seconds" doc:"time for all together"`
	Rate        float64    `json:"connections_per_second" doc:"connections made and ended in a second"`
	Connect     latencyDoc `json:"connect" doc:"time to make a connection"`
	Close       latencyDoc `json:"close" doc:"time to end it"`
	outcome
}

// connBench is one run.
type connBench struct {
	*app
	benchConnOptions
	dialer         *cm.Dialer
	mu             sync.Mutex // guards what follows
	doc            *benchConnDoc
	started        int
	connect, close *hdrhistogram.Histogram
	err            error // the first
}

func (a *app) benchConn(ctx context.Context, o benchConnOptions) error {
	small := &cm.Config{SendDepth: 1, RecvDepth: 1, RecvSize: 4 * rping.InfoSize, MaxSGE: 1}
	b := &connBench{app: a, benchConnOptions: o, dialer: &cm.Dialer{LocalAddr: o.source, Config: small},
		doc:     &benchConnDoc{Target: o.target, Parallel: o.parallel},
		connect: hdrhistogram.New(1, int64(time.Hour), 3), close: hdrhistogram.New(1, int64(time.Hour), 3)}
	a.doc = b.doc
	start := time.Now()
	var wg sync.WaitGroup
	for range min(o.parallel, o.count) {
		wg.Go(func() {
			for b.next(ctx) {
				b.one(ctx)
			}
		})
	}
	wg.Wait()
	b.doc.Seconds = round3(time.Since(start).Seconds())
	b.finish(time.Since(start))
	switch {
	case ctx.Err() != nil:
		return &failure{step: "connect", object: o.target, err: errInterrupted}
	case b.err != nil:
		return &failure{err: b.err} // the error has the step
	}
	return nil
}

// next tells whether another connection is to be made.
func (b *connBench) next(ctx context.Context) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.started++
	return b.started <= b.count && ctx.Err() == nil && b.err == nil
}

func (b *connBench) one(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	start := time.Now()
	conn, err := b.sys.dial(ctx, b.dialer, b.target)
	connected := time.Now()
	var device string
	if err == nil {
		device = conn.Device()
		err = conn.Close()
	}
	closed := time.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	if err != nil {
		b.doc.Failed++
		if b.err == nil && !errors.Is(ctx.Err(), context.Canceled) {
			b.err = err
		}
		return
	}
	b.doc.Connections++
	b.doc.Device = device
	_ = b.connect.RecordValue(max(1, int64(connected.Sub(start)))) // within an hour, which timeout may exceed
	_ = b.close.RecordValue(max(1, int64(closed.Sub(connected))))
}

func (b *connBench) finish(took time.Duration) {
	d := b.doc
	d.Rate = round3(float64(d.Connections) / max(took.Seconds(), 1e-9))
	d.Connect, d.Close = histogramDoc(b.connect), histogramDoc(b.close)
	if d.Connections == 0 {
		return
	}
	b.printf("%d connections to %s via %s, %d at a time, in %.2f s: %.1f a second\n\n", d.Connections, d.Target, plain.Text(d.Device), d.Parallel, took.Seconds(), d.Rate)
	rows := [][]string{{"STEP", "MIN", "P50", "P90", "P99", "MAX", "MEAN"}}
	for _, s := range []struct {
		name string
		l    latencyDoc
	}{{"connect", d.Connect}, {"close", d.Close}} {
		row := []string{s.name}
		for _, us := range []float64{s.l.MinUS, s.l.P50US, s.l.P90US, s.l.P99US, s.l.MaxUS, s.l.MeanUS} {
			row = append(row, fmt.Sprintf("%.2f", us/1000))
		}
		rows = append(rows, row)
	}
	table(b.out, rows)
	b.printf("times in ms\n")
}

func histogramDoc(h *hdrhistogram.Histogram) latencyDoc {
	if h.TotalCount() == 0 {
		return latencyDoc{}
	}
	us := func(ns int64) float64 { return float64(ns) / 1000 }
	at := func(q float64) float64 { return us(h.ValueAtQuantile(q)) }
	return latencyDoc{MinUS: us(h.Min()), MeanUS: round3(h.Mean() / 1000), StddevUS: round3(h.StdDev() / 1000), P50US: at(50), P90US: at(90),
		P99US: at(99), P999US: at(99.9), P9999US: at(99.99), MaxUS: us(h.Max())}
}
