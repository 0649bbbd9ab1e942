package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/cmd/rdmaprobe/plain"
	"github.com/purerdma/rdma/cmd/rdmaprobe/rping"
)

// pingOptions is the command line of ping.
type pingOptions struct {
	target   string
	source   netip.AddrPort
	count    uint64
	size     int
	timeout  time.Duration
	interval time.Duration
	verbose  bool
	quiet    bool
	data     bool
	tos      uint8
}

func newPing(a *app) *cobra.Command {
	o := &pingOptions{size: rping.DefaultSize}
	var source string
	cmd := &cobra.Command{
		Use:   "ping ADDR[:PORT]",
		Short: "Ping a server over RDMA, with verified data",
		Long: `ping connects to rdmaprobe serve, or to the C tool rping -s, and sends pings:
the server reads the data from this machine's memory with an RDMA read, writes
it back with an RDMA write, and ping compares it byte for byte.

Without -c it goes on until it is interrupted. The C server must have been
started with -S of at least the size used here (65535 for --data).

rdmaprobe serve says what its end is like: device, GID, MTU and ToS are shown as
YOU and PEER with -v or --data, and otherwise where they differ.`,
		Example: `  rdmaprobe ping 10.0.0.7
  rdmaprobe ping -c 5 -v fe80::1%eth0
  rdmaprobe ping -c 1000 -i 0 -q -s 4096 [2001:db8::7]:7174
  rdmaprobe ping 10.0.0.7 --data
  rdmaprobe ping 10.0.0.7 -I 10.0.0.1 -c 1 --json`,
		Args: needOne("the address to ping"),
		RunE: action(func(cmd *cobra.Command, args []string) (err error) {
			if o.target, err = targetAddress(args[0]); err != nil {
				return err
			}
			if err := a.checkTarget(o.target); err != nil {
				return err
			}
			if o.source, err = sourceAddress(source); err != nil {
				return err
			}
			if err := o.check(); err != nil {
				return err
			}
			if o.data && cmd.Flags().Changed("size") {
				return usagef("--data chooses the sizes: leave out -S")
			}
			return newPinger(a, *o).run(cmd.Context())
		}),
	}
	f := cmd.Flags()
	f.Uint64VarP(&o.count, "count", letterCount, 0, "stop after so many pings; 0 means never")
	alias(f, "count", "C")
	f.VarP(sizeVar(&o.size), "size", letterSize, "bytes of each ping, 26 to 65535")
	alias(f, "size", "S")
	f.StringVarP(&source, "source", "I", "", "address to connect from (default: chosen by route)")
	f.DurationVarP(&o.timeout, "timeout", letterTimeout, 5*time.Second, "longest time for connecting, and for each ping")
	f.DurationVarP(&o.interval, "interval", letterInterval, time.Second, "time from one ping to the next; 0 means at once")
	f.BoolVar(&o.data, "data", false, "ping with sizes around the steps of the MTU, 3 times each or as -c says")
	f.Uint8Var(&o.tos, "tos", 0, "IP type of service (four times the DSCP)")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "show the steps of the connection and the data of each ping")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "show the summary only")
	return cmd
}

func (o *pingOptions) check() error {
	switch {
	case o.size < rping.MinSize || o.size > rping.MaxSize:
		return usagef("-s %d: allowed are %d to %d", o.size, rping.MinSize, rping.MaxSize)
	case o.timeout <= 0:
		return usagef("--timeout %v: must be positive", o.timeout)
	case o.interval < 0:
		return usagef("--interval %v: must not be negative", o.interval)
	}
	return nil
}

// pinger is one run of ping.
type pinger struct {
	*app
	pingOptions
	doc            *pingDoc
	stats          stats
	passed, failed int    // with --data: the last size that passed, and the one that did not
	first          uint64 // number of the first ping, where others were sent before
	you            endInfo
	peer           endInfo
}

func newPinger(a *app, o pingOptions) *pinger {
	p := &pinger{app: a, pingOptions: o, doc: &pingDoc{Target: o.target, Size: o.size, Steps: []stepDoc{}, Differences: []string{}}}
	a.doc = p.doc
	return p
}

func (p *pinger) run(ctx context.Context) error {
	conn, err := p.connect(ctx)
	if err != nil {
		return err
	}
	if p.data {
		err = p.sweep(ctx, conn)
	} else {
		err = p.pings(ctx, conn)
	}
	if err != nil && ctx.Err() == nil {
		err = p.blameSize(ctx, err)
	}
	start := time.Now()
	closeErr := conn.Close()
	if p.verbose {
		p.step(cm.Step{Name: "disconnect", Took: time.Since(start)})
	}
	p.summary()
	if err == nil && closeErr != nil {
		err = &failure{step: "disconnect", err: closeErr}
	}
	return err
}

// connect dials, and says what came of it.
func (p *pinger) connect(ctx context.Context) (link, error) {
	dialCtx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	d := &cm.Dialer{LocalAddr: p.source, Config: rping.ConnConfig(), OnStep: p.step, TOS: p.tos}
	you, known := p.sys.introduce(dialCtx, d, p.target)
	if known {
		d.PrivateData = you.marshal()
	}
	start := time.Now()
	conn, err := p.sys.dial(dialCtx, d, p.target)
	took := time.Since(start)
	if err != nil {
		if ctx.Err() != nil {
			return nil, &failure{step: "connect", object: p.target, after: took, err: errInterrupted}
		}
		return nil, &failure{after: took, err: err} // the error has the step
	}
	p.doc.Local, p.doc.Remote = conn.LocalAddr().String(), conn.RemoteAddr().String()
	p.doc.Device, p.doc.ConnectMS, p.doc.PathMTU = conn.Device(), milliseconds(took), conn.PathMTU()
	p.printf("PING %s from %s via %s: %s, connected in %s\n",
		p.doc.Remote, p.doc.Local, plain.Text(p.doc.Device), p.sizeText(), formatDuration(took))
	p.introductions(conn, you, known)
	return conn, nil
}

func (p *pinger) sizeText() string {
	if p.data {
		return "many sizes"
	}
	return plural(p.size, "byte")
}

// introductions shows what both ends are like.
func (p *pinger) introductions(conn link, you endInfo, known bool) {
	if known {
		p.you, p.doc.You = you, you.doc()
	}
	peer, ok := unmarshalInfo(conn.PeerData())
	if !ok {
		return
	}
	p.peer, p.doc.Peer = peer, peer.doc()
	if known {
		p.doc.Differences = differences(you, peer, p.doc.PathMTU)
	}
	if p.verbose || p.data {
		table(p.out, endRows(you, peer, p.doc.PathMTU))
	}
	for _, d := range p.doc.Differences {
		p.printf("note: %s\n", wrap("you -> peer: "+d, 6))
	}
}

// step notes a step of the connection.
func (p *pinger) step(s cm.Step) {
	p.doc.Steps = append(p.doc.Steps, stepDoc{Side: "client", Step: s.Name, TimeMS: milliseconds(s.Took), Detail: s.Detail})
	if p.verbose {
		p.printf("%s\n", strings.TrimRight(fmt.Sprintf("  %-17s  %9s  %s", s.Name, formatDuration(s.Took), plain.Text(s.Detail)), " "))
	}
}

// pings sends them until the count is reached, one fails, or ctx ends.
func (p *pinger) pings(ctx context.Context, conn link) error {
	client, err := rping.NewClient(conn.Transport(), p.size)
	if err != nil {
		return &failure{step: "allocate memory", err: err}
	}
	client.StartAt(p.first)
	start := time.Now()
	defer func() { p.doc.TimeMS = milliseconds(time.Since(start)) }()
	pace := newPace(p.interval, start)
	for p.count == 0 || p.stats.sent < p.count {
		// When the server ends the connection, the next ping says why.
		if p.stats.sent > 0 && !pace.sleep(ctx, conn.Done()) {
			break
		}
		if err = p.one(ctx, client); err != nil {
			break
		}
	}
	if errors.Is(err, errInterrupted) || err == nil && ctx.Err() != nil {
		err = nil
		if p.stats.verified == 0 {
			err = &failure{step: "ping", object: p.target, err: errInterrupted}
		}
	}
	if closeErr := client.Close(); err == nil && closeErr != nil {
		err = &failure{step: "release memory", err: closeErr}
	}
	return err
}

// one sends one ping.
func (p *pinger) one(ctx context.Context, client *rping.Client) error {
	pingCtx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	begin := time.Now()
	pong, err := client.Ping(pingCtx)
	if err != nil && ctx.Err() != nil {
		return errInterrupted // not a lost ping
	}
	p.stats.sent++
	if err != nil {
		return &failure{step: "", object: "", after: time.Since(begin), err: err}
	}
	p.verified(pong)
	return nil
}

// verified notes and prints a ping that came back right.
func (p *pinger) verified(pong rping.Pong) {
	p.stats.add(pong.Time)
	if p.verbose {
		p.doc.Pings = keep(p.doc.Pings, pongDoc{Seq: pong.Seq, TimeMS: milliseconds(pong.Time)})
	}
	if !p.quiet {
		p.printf("%d bytes from %s: seq=%d time=%s verified\n", p.size, p.doc.Remote, pong.Seq, formatDuration(pong.Time))
	}
	if p.verbose {
		p.printf("ping data: %s\n", plain.Text(rping.Text(pong.Data)))
	}
}

// summary prints and notes the totals.
func (p *pinger) summary() {
	p.doc.Sent, p.doc.Verified = p.stats.sent, p.stats.verified
	p.doc.LossPercent, p.doc.RTT = p.stats.loss(), p.stats.rtt()
	p.printf("\n--- %s rdma ping statistics ---\n", p.target)
	p.printf("%d sent, %d verified, %.4g%% loss, time %s\n", p.doc.Sent, p.doc.Verified, p.doc.LossPercent, formatMS(p.doc.TimeMS))
	if p.stats.verified > 0 {
		p.printf("rtt min/avg/max/mdev = %s\n", p.doc.RTT)
	}
}
