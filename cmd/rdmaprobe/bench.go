package main

import (
	"context"
	"fmt"
	"math"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/cmd/rdmaprobe/bench"
)

// benchPort is where bench serve listens.
const benchPort = 7175

// benchOptions is the command line of bench lat and bench bw.
type benchOptions struct {
	target    string
	source    string
	test      bench.Test
	op        string
	mode      string
	spin      time.Duration
	sizes     string
	sweep     bool
	qps       int
	depth     int
	batch     int
	cqMod     int
	inline    int
	count     uint64
	duration  time.Duration
	warmup    uint64
	interval  time.Duration
	timeout   time.Duration
	tos       uint8
	dscp      uint8
	both      bool
	histogram bool
	quiet     bool
}

func newBench(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure latency, bandwidth, connections and memory registration",
		Long: `bench measures what RDMA does between two machines. Start rdmaprobe bench serve
on one, and bench lat, bw or conn on the other; bench reg needs no other.

The loops are those of the perftest programs (ib_send_lat and so on), so that
numbers can be compared.`,
		Example: `  rdmaprobe bench serve
  rdmaprobe bench lat 10.0.0.7
  rdmaprobe bench bw 10.0.0.7 --op write --size 4096,65536`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newBenchServe(a), newBenchLat(a), newBenchBW(a), newBenchConn(a), newBenchReg(a))
	return cmd
}

func newBenchLat(a *app) *cobra.Command {
	o := &benchOptions{test: bench.Latency, inline: 220, qps: 1, depth: 1, batch: 1, cqMod: 1}
	cmd := &cobra.Command{
		Use:   "lat ADDR[:PORT]",
		Short: "Measure the time that one message takes",
		Long: `lat sends one message at a time to rdmaprobe bench serve. Sends and writes are
answered with one of the same kind, and half of the round trip counts, as in
ib_send_lat and ib_write_lat; a read counts whole, as in ib_read_lat.

Both ends wait for completions by polling, by events, or adaptively: polling for
a while, then sleeping. Writes are noticed by looking at memory in each mode.`,
		Example: `  rdmaprobe bench lat 10.0.0.7
  rdmaprobe bench lat 10.0.0.7 --op write --size 2,64,4096 -c 10000
  rdmaprobe bench lat 10.0.0.7 --mode event --duration 10s --interval 1s`,
		Args: needOne("the address of the server"),
		RunE: action(func(cmd *cobra.Command, args []string) error { return a.bench(cmd, o, args[0]) }),
	}
	o.flags(cmd, "64")
	cmd.Flags().Var(sizeVar(&o.inline), "inline", "messages up to so many bytes travel inside of the request")
	cmd.Flags().BoolVar(&o.histogram, "histogram", false, "draw a histogram of each size")
	return cmd
}

func newBenchBW(a *app) *cobra.Command {
	o := &benchOptions{test: bench.Bandwidth}
	cmd := &cobra.Command{
		Use:   "bw ADDR[:PORT]",
		Short: "Measure how much data moves in a second",
		Long: `bw sends to rdmaprobe bench serve, writes there or reads from there, with as many
messages under way as --depth says, as ib_send_bw, ib_write_bw and ib_read_bw
do. One completion stands for --cq-mod messages. With --bidirectional the server
sends at the same time, too.`,
		Example: `  rdmaprobe bench bw 10.0.0.7
  rdmaprobe bench bw 10.0.0.7 --op read --size 65536,1048576 --qps 4
  rdmaprobe bench bw 10.0.0.7 --op write --bidirectional --dscp 26
  rdmaprobe bench bw 10.0.0.7 --sweep --json`,
		Args: needOne("the address of the server"),
		RunE: action(func(cmd *cobra.Command, args []string) error { return a.bench(cmd, o, args[0]) }),
	}
	o.flags(cmd, "65536")
	f := cmd.Flags()
	f.IntVar(&o.qps, "qps", 1, "queue pairs, each a connection of its own")
	f.IntVar(&o.depth, "depth", 128, "messages under way on each queue pair")
	f.IntVar(&o.batch, "batch", 1, "requests for one doorbell")
	f.IntVar(&o.cqMod, "cq-mod", 100, "messages for one completion")
	f.Var(sizeVar(&o.inline), "inline", "messages up to so many bytes travel inside of the request")
	f.BoolVarP(&o.both, "bidirectional", "b", false, "both ends send as many messages, or for as long")
	return cmd
}

// flags adds what both measurements have.
func (o *benchOptions) flags(cmd *cobra.Command, sizes string) {
	f := cmd.Flags()
	f.StringVar(&o.op, "op", "send", "send, write or read")
	f.StringVar(&o.mode, "mode", "poll", "how both ends wait: poll, event or adaptive")
	f.DurationVar(&o.spin, "spin", 50*time.Microsecond, "how long adaptive polls before it sleeps")
	f.StringVarP(&o.sizes, "size", letterSize, sizes, "bytes of a message (4096, 1M); several with commas")
	f.BoolVar(&o.sweep, "sweep", false, "all powers of two from 2 bytes to 1 MiB")
	f.Uint64VarP(&o.count, "count", letterCount, 0, "messages of each size; 0 to measure for --duration")
	alias(f, "count", "n")
	f.DurationVarP(&o.duration, "duration", "D", 2*time.Second, "how long to measure each size")
	f.Uint64Var(&o.warmup, "warmup", 100, "messages before, which do not count (lat)")
	f.DurationVarP(&o.interval, "interval", letterInterval, 0, "print a line after each interval; 0 means none")
	f.DurationVarP(&o.timeout, "timeout", letterTimeout, 10*time.Second, "longest time for connecting")
	f.StringVarP(&o.source, "source", "I", "", "address to connect from (default: chosen by route)")
	f.Uint8Var(&o.tos, "tos", 0, "IP type of service (four times the DSCP)")
	f.Uint8Var(&o.dscp, "dscp", 0, "the same as a DSCP, 0 to 63")
	cmd.MarkFlagsMutuallyExclusive("tos", "dscp")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "show the table only")
}

// params checks the command line and makes one measurement for each size.
func (o *benchOptions) params() ([]bench.Params, error) {
	p := bench.Params{Test: o.test, Spin: o.spin, QPs: o.qps, Depth: o.depth, Batch: o.batch, CQMod: o.cqMod, Inline: o.inline,
		Messages: o.count, Duration: o.duration, Warmup: o.warmup, Interval: o.interval, Both: o.both}
	ops := map[string]bench.Op{"send": bench.Send, "write": bench.Write, "read": bench.Read}
	modes := map[string]bench.Mode{"poll": bench.Poll, "event": bench.Event, "adaptive": bench.Adaptive}
	p.Op, p.Mode = ops[o.op], modes[o.mode]
	switch {
	case p.Op == 0:
		return nil, usagef("--op %s: send, write or read", o.op)
	case p.Mode == 0:
		return nil, usagef("--mode %s: poll, event or adaptive", o.mode)
	case o.qps < 1 || o.qps > bench.MaxQPs:
		return nil, usagef("--qps %d: allowed are 1 to %d", o.qps, bench.MaxQPs)
	case o.depth < 1 || o.depth > bench.MaxDepth:
		return nil, usagef("--depth %d: allowed are 1 to %d", o.depth, bench.MaxDepth)
	case o.batch < 1 || o.batch > o.depth:
		return nil, usagef("--batch %d: allowed are 1 to --depth, %d", o.batch, o.depth)
	case o.cqMod < 1:
		return nil, usagef("--cq-mod %d: must be positive", o.cqMod)
	case o.inline < 0 || o.inline > 4096:
		return nil, usagef("--inline %d: allowed are 0 to 4096", o.inline)
	case o.count == 0 && o.duration <= 0:
		return nil, usagef("--duration %v: must be positive", o.duration)
	case o.dscp > 63:
		return nil, usagef("--dscp %d: allowed are 0 to 63", o.dscp)
	case o.both && (o.count > math.MaxUint32 || o.duration.Milliseconds() > math.MaxUint32):
		return nil, usagef("--bidirectional measures 4294967295 messages or milliseconds at most")
	case o.spin < 0 || o.spin > 10*time.Second || o.interval < 0 || o.timeout <= 0:
		return nil, usagef("--spin, --interval or --timeout is out of range")
	}
	sizes, err := o.sizeList()
	var list []bench.Params
	for _, n := range sizes {
		p.Size = n
		if need := p.Memory(); err == nil && need > bench.MaxTestMemory {
			return nil, usagef("%s of %s with --depth %d need %d MiB at the server: allowed are %d", plural(p.QPs, "queue pair"),
				plural(n, "byte"), p.Depth, need>>20, bench.MaxTestMemory>>20)
		}
		list = append(list, p)
	}
	return list, err
}

func (o *benchOptions) sizeList() (list []int, err error) {
	if o.sweep {
		for n := 2; n <= 1<<20; n *= 2 {
			list = append(list, n)
		}
		return list, nil
	}
	return parseSizes("--size", o.sizes, bench.MaxSize)
}

// benchTarget completes an address with the port of bench serve.
func benchTarget(s string) (string, error) {
	target, err := targetAddress(s)
	if err != nil || hasPort(s) {
		return target, err
	}
	host, _, _ := net.SplitHostPort(target) // targetAddress made it
	return net.JoinHostPort(host, strconv.Itoa(benchPort)), nil
}

// resolveTarget takes the resolver's first address.
func (a *app) resolveTarget(ctx context.Context, target string) (netip.AddrPort, error) {
	host, port, _ := net.SplitHostPort(target)
	n, _ := strconv.ParseUint(port, 10, 16) // targetAddress checked it
	ip, err := netip.ParseAddr(host)
	if err == nil {
		if ip.IsLoopback() {
			err = cm.ErrLoopback
		}
		return netip.AddrPortFrom(ip.Unmap(), uint16(n)), err
	}
	ips, err := a.sys.lookup(ctx, host)
	if err == nil && len(ips) == 0 {
		err = &net.DNSError{Err: "no address", Name: host, IsNotFound: true}
	}
	if err != nil {
		return netip.AddrPort{}, err
	}
	return netip.AddrPortFrom(ips[0].Unmap(), uint16(n)), nil
}

// benchRun is one run of bench lat or bw.
type benchRun struct {
	*app
	*benchOptions
	doc *benchDoc
}

func (a *app) bench(cmd *cobra.Command, o *benchOptions, address string) error {
	target, err := benchTarget(address)
	if err != nil {
		return err
	}
	o.target = target
	list, err := o.params()
	if err != nil {
		return err
	}
	r := &benchRun{app: a, benchOptions: o, doc: newBenchDoc(o)}
	a.doc = r.doc
	source, err := sourceAddress(o.source)
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	remote, err := a.resolveTarget(ctx, target)
	if err != nil {
		return &failure{step: "resolve name", object: target, err: err}
	}
	return r.all(ctx, &bench.Client{Remote: remote, Local: source, TOS: o.tos | o.dscp<<2, Timeout: o.timeout}, list)
}

// all measures each size, and prints what there is when one fails.
func (r *benchRun) all(ctx context.Context, cl *bench.Client, list []bench.Params) error {
	progress := newProgress(r.app, r.quiet)
	var failed error
	for i, p := range list {
		p.OnInterval = r.onInterval(progress)
		progress.start(fmt.Sprintf("%d of %d: %d bytes", i+1, len(list), p.Size))
		res, err := r.sys.bench(ctx, cl, p)
		progress.stop()
		if err != nil {
			failed = r.failure(ctx, err)
			if sized := r.blameSize(ctx, cl, err, list[:i], p.Size); sized != nil {
				failed = sized
			}
			break
		}
		r.add(res)
	}
	r.write()
	return failed
}

// blameSize looks whether a measurement failed for the size of its messages.
func (r *benchRun) blameSize(ctx context.Context, cl *bench.Client, err error, before []bench.Params, size int) error {
	class, _ := classify(err)
	if ctx.Err() != nil || !slices.Contains(maybeSize, class) {
		return nil
	}
	l := lostSize{remote: cl.Remote.Addr(), bad: size, pathMTU: r.doc.MTU}
	if l.pathMTU == 0 {
		l.pathMTU = r.sys.resolve(ctx, cl.Remote.Addr(), -1).mtu
	}
	for _, p := range before {
		l.good = max(l.good, p.Size)
	}
	return r.explainSize(ctx, l, "measure")
}

func (r *benchRun) failure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		err = errInterrupted
	}
	return &failure{step: "measure", object: r.target, remedy: benchRemedy(err), err: err}
}

// add notes a result, and prints its histogram at once.
func (r *benchRun) add(res *bench.Result) {
	d := newBenchResultDoc(res)
	r.doc.note(res)
	r.doc.Results = append(r.doc.Results, d)
	for _, w := range benchWarnings(r.sys, res) {
		if !slices.Contains(r.doc.Warnings, w) {
			r.doc.Warnings = append(r.doc.Warnings, w)
		}
	}
	if r.histogram {
		r.printf("\n%d bytes:\n", res.Params.Size)
		writeBars(r.app, res.Bars)
	}
}

// onInterval prints and notes a part of a measurement.
func (r *benchRun) onInterval(p *progress) func(bench.Interval) {
	if r.interval == 0 {
		return nil
	}
	return func(i bench.Interval) {
		d := newBenchIntervalDoc(i, r.test)
		r.doc.Intervals = keep(r.doc.Intervals, d)
		if r.quiet {
			return
		}
		p.clear()
		if r.test == bench.Latency {
			r.printf("%7.1f s  %9d bytes  %9d messages  p50 %s  p99 %s  max %s\n", i.At.Seconds(), i.Size, i.Messages,
				formatUS(i.Latency.P50), formatUS(i.Latency.P99), formatUS(i.Latency.Max))
			return
		}
		r.printf("%7.1f s  %9d bytes  %9d messages  %9.2f MiB/s\n", i.At.Seconds(), i.Size, i.Messages, d.MiBPerSecond)
	}
}
