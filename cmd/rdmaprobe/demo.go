package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/cmd/rdmaprobe/rping"
)

// Time limits of the demo. Cleaning up has its own, because it happens after
// an interrupt too.
const (
	demoTimeout    = 30 * time.Second
	cleanupTimeout = 15 * time.Second
)

// maxDemoPings is more than anybody wants to wait for; ping has no limit.
const maxDemoPings = 1_000_000

// demoOptions is the command line of demo.
type demoOptions struct {
	device string
	count  uint64
	size   int
	ipv6   bool
}

func newDemo(a *app) *cobra.Command {
	o := &demoOptions{size: rping.DefaultSize}
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Set up soft-RoCE, serve and ping this machine, clean up",
		Long: `demo makes a pair of virtual network interfaces and a soft-RoCE device on it,
listens there, connects to itself through the kernel's RDMA stack, moves data
that it verifies, shows how long each step took, and removes what it made. It
needs root, and no other program.

With --device it makes nothing and uses the device given; that needs no root
where the device files admit the user.`,
		Example: `  rdmaprobe demo
  rdmaprobe demo -6 -c 1000 -s 4096
  rdmaprobe demo --device mlx5_0 --json`,
		Args: cobra.NoArgs,
		RunE: action(func(cmd *cobra.Command, _ []string) error {
			if o.size < rping.MinSize || o.size > rping.MaxSize {
				return usagef("-s %d: allowed are %d to %d", o.size, rping.MinSize, rping.MaxSize)
			}
			if o.count == 0 || o.count > maxDemoPings {
				return usagef("-c %d: allowed are 1 to %d", o.count, maxDemoPings)
			}
			d := &demo{app: a, demoOptions: *o, doc: &demoDoc{Steps: []stepDoc{}}}
			a.doc = d.doc
			return d.run(cmd.Context())
		}),
	}
	f := cmd.Flags()
	f.StringVar(&o.device, "device", "", "use this RDMA device instead of making one")
	f.Uint64VarP(&o.count, "count", letterCount, 100, "number of pings")
	alias(f, "count", "C")
	f.VarP(sizeVar(&o.size), "size", letterSize, "bytes of each ping, 26 to 65535")
	alias(f, "size", "S")
	f.BoolVarP(&o.ipv6, "ipv6", "6", false, "use an IPv6 address")
	return cmd
}

// demo is one run of the demo.
type demo struct {
	*app
	demoOptions
	address netip.Addr

	mu  sync.Mutex // guards output and doc.Steps
	doc *demoDoc

	undo []undoStep // what was made, in order
}

// undoStep takes back one thing that was made.
type undoStep struct {
	what string
	do   func(context.Context) error
}

func (d *demo) run(ctx context.Context) (err error) {
	// In a defer, so that a panic does not leave anything behind either.
	defer func() {
		err = d.end(err, d.cleanUp())
	}()
	runCtx, cancel := context.WithTimeout(ctx, demoTimeout+time.Duration(d.count)*100*time.Millisecond)
	defer cancel()
	err = d.prepare(runCtx)
	if err == nil {
		err = d.talk(runCtx)
	}
	if ctx.Err() != nil {
		err = &failure{step: "demo", err: errInterrupted}
	}
	return err
}

// prepare finds or makes a device.
func (d *demo) prepare(ctx context.Context) error {
	if d.device != "" {
		return d.useDevice()
	}
	if err := d.mayMake(); err != nil {
		return err
	}
	d.heading()
	return d.make(ctx)
}

// heading starts the table. Its columns are fixed because rows are printed as
// steps end.
func (d *demo) heading() { d.printf(demoRow, "STEP", "SIDE", "TIME", "DETAIL") }

const demoRow = "%-17s  %-6s  %9s  %s\n"

// step prints and notes a finished step.
func (d *demo) step(side, name string, took time.Duration, format string, args ...any) {
	s := stepDoc{Side: side, Step: name, TimeMS: milliseconds(took), Detail: fmt.Sprintf(format, args...)}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.doc.Steps = append(d.doc.Steps, s)
	d.printf(demoRow, s.Step, s.Side, formatDuration(took), s.Detail)
}

// steps reports the steps of one side of the connection.
func (d *demo) steps(side string) func(cm.Step) {
	return func(s cm.Step) { d.step(side, s.Name, s.Took, "%s", s.Detail) }
}

// talk listens, connects and moves data.
func (d *demo) talk(ctx context.Context) error {
	start := time.Now()
	l, err := d.sys.listen(ctx, netip.AddrPortFrom(d.address, 0).String())
	if err != nil {
		return err
	}
	d.doc.Address = l.Addr().String()
	d.step("server", "listen", time.Since(start), "on %s", l.Addr())
	served := make(chan error, 1)
	serveCtx, stop := context.WithCancel(ctx)
	go func() { served <- d.serve(serveCtx, l) }()
	err = d.ping(ctx, l.Addr().String())
	if err != nil {
		stop() // the server may wait for a client that never comes
	}
	serveErr := <-served
	stop()
	return errors.Join(err, onlyNews(err, serveErr), l.Close())
}

// onlyNews drops the server's error when the client failed first: it is a
// consequence, or says the same.
func onlyNews(clientErr, serveErr error) error {
	if clientErr != nil {
		return nil
	}
	return serveErr
}

// serve answers the one client of the demo.
func (d *demo) serve(ctx context.Context, l listener) error {
	req, err := l.Accept(ctx)
	if err != nil {
		return err
	}
	conn, err := req.Accept(ctx, &cm.AcceptOptions{OnStep: d.steps("server")})
	if err != nil {
		return err
	}
	_, err = rping.Serve(ctx, conn.Transport(), nil)
	return errors.Join(err, conn.Close())
}

// ping is the client.
func (d *demo) ping(ctx context.Context, target string) error {
	dialer := &cm.Dialer{Config: rping.ConnConfig(), OnStep: d.steps("client")}
	conn, err := d.sys.dial(ctx, dialer, target)
	if err != nil {
		return err
	}
	d.doc.Device = conn.Device()
	err = d.pings(ctx, conn)
	start := time.Now()
	closeErr := conn.Close()
	if err == nil {
		err = closeErr
	}
	if err == nil {
		d.step("client", "disconnect", time.Since(start), "confirmed by the server")
	}
	return err
}

func (d *demo) pings(ctx context.Context, conn link) (err error) {
	client, err := rping.NewClient(conn.Transport(), d.size)
	if err != nil {
		return &failure{step: "allocate memory", err: err}
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	start := time.Now()
	var s stats
	defer func() { d.doc.Sent, d.doc.Verified, d.doc.RTT = s.sent, s.verified, s.rtt() }()
	for s.sent < d.count {
		s.sent++
		pong, err := client.Ping(ctx)
		if err != nil {
			return err
		}
		s.add(pong.Time)
	}
	rtt := s.rtt()
	d.step("client", "verify data", time.Since(start), "%d of %s, min/avg/max %.3g/%.3g/%.3g ms", s.verified,
		plural(s.sent, "ping"), rtt.MinMS, rtt.AvgMS, rtt.MaxMS)
	return nil
}

// cleanUp takes back what was made, the last thing first, and goes on after a
// failure.
func (d *demo) cleanUp() error {
	if len(d.undo) == 0 {
		d.doc.Clean = true
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), cleanupTimeout)
	defer cancel()
	start := time.Now()
	var errs []error
	var what []string
	for _, u := range slices.Backward(d.undo) {
		if err := u.do(ctx); err != nil {
			errs = append(errs, &failure{step: "clean up", object: u.what, err: err})
			continue
		}
		what = append(what, u.what)
	}
	d.doc.Clean = len(errs) == 0
	d.step("setup", "clean up", time.Since(start), "removed %s", joinList(what))
	return errors.Join(errs...)
}

// end prints the verdict and returns the error that counts.
func (d *demo) end(err, cleanErr error) error {
	if err == nil {
		err = cleanErr
	}
	switch {
	case err != nil && d.doc.Verified == 0:
		d.doc.Verdict = "RDMA did not work here: no data was moved."
	case err != nil:
		d.doc.Verdict = "RDMA moved data, but not all went well."
	default:
		d.doc.Verdict = fmt.Sprintf("RDMA works here: %d of %s verified over %s.",
			d.doc.Verified, plural(d.doc.Sent, "ping"), d.doc.Device)
	}
	if len(d.doc.Steps) > 0 {
		d.printf("\n")
	}
	d.printf("%s\n", d.doc.Verdict)
	return err
}
