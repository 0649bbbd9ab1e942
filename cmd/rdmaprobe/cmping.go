package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/cmd/rdmaprobe/rping"
)

// cmpingOptions is the command line of cmping.
type cmpingOptions struct {
	target   string // as asked for, with port
	source   netip.AddrPort
	count    uint64
	timeout  time.Duration
	interval time.Duration
	tos      uint8
	quiet    bool
}

func newCMPing(a *app) *cobra.Command {
	o := new(cmpingOptions)
	var source string
	var port uint16
	cmd := &cobra.Command{
		Use:   "cmping ADDR[:PORT]",
		Short: "See whether a host answers over RDMA, with nothing installed there",
		Long: `cmping sends connect requests of the RDMA connection manager and times the
answers. It needs no agent at the far end, and no data path here: the far kernel
answers by itself. "No listener on that port" proves that it is reachable.

Each line says up, rejected (by an application that listens there), no answer
(the host is there but its connection manager does not answer) or unresolved
(no route, neighbour or path). At a port where something listens the connection
is made and ended at once. Well-known ports: 4420 NVMe over fabrics, 20049
NFS over RDMA, 7174 rping.

When nothing answered, cmping looks at this machine before it blames others: is
the port down, does the connection manager here still answer itself? Soft-RoCE's
stops for good once a packet of it could not be sent, because the interface was
down or a firewall here dropped it; "rdmaprobe rxe del" and "rxe add" mend that.

Without -c it goes on until it is interrupted. Exit code 0 if the host answered,
6 if an application rejected, 5 if nothing answered.`,
		Example: `  rdmaprobe cmping 10.0.0.7
  rdmaprobe cmping 10.0.0.7 -p 4420 -c 3
  rdmaprobe cmping fe80::1%eth0 -c 1 --timeout 500ms --json
  rdmaprobe cmping [2001:db8::7]:20049 -I 2001:db8::1`,
		Args: needOne("the address to reach"),
		RunE: action(func(cmd *cobra.Command, args []string) (err error) {
			if o.target, err = cmpingTarget(args[0], port, cmd.Flags().Changed("port")); err != nil {
				return err
			}
			if o.source, err = sourceAddress(source); err != nil {
				return err
			}
			if err := o.check(); err != nil {
				return err
			}
			return newCMPinger(a, *o).run(cmd.Context())
		}),
	}
	f := cmd.Flags()
	f.Uint64VarP(&o.count, "count", letterCount, 0, "stop after so many requests; 0 means never")
	alias(f, "count", "C")
	f.Uint16VarP(&port, "port", "p", rping.DefaultPort, "port to connect to, unless ADDR has one")
	f.StringVarP(&source, "source", "I", "", "address to connect from (default: chosen by route)")
	f.DurationVarP(&o.timeout, "timeout", letterTimeout, 2*time.Second, "longest time to wait for each answer")
	f.DurationVarP(&o.interval, "interval", letterInterval, time.Second, "time from one request to the next; 0 means at once")
	f.Uint8Var(&o.tos, "tos", 0, "IP type of service of the requests (four times the DSCP)")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "show the summary only")
	return cmd
}

// cmpingTarget completes the address with the port of -p.
func cmpingTarget(s string, port uint16, given bool) (string, error) {
	target, err := targetAddress(s)
	if err != nil {
		return "", err
	}
	host, inAddress, _ := net.SplitHostPort(target) // targetAddress made it
	want := strconv.Itoa(int(port))
	if port == 0 {
		return "", usagef("-p 0: not a port to connect to")
	}
	if !hasPort(s) {
		return net.JoinHostPort(host, want), nil
	}
	if given && inAddress != want {
		return "", usagef("port %s in the address and -p %s: which?", inAddress, want)
	}
	return target, nil
}

// hasPort tells whether an address that hostPort understood names a port.
func hasPort(s string) bool {
	if _, err := netip.ParseAddr(s); err == nil {
		return false
	}
	_, _, err := net.SplitHostPort(s)
	return err == nil
}

func (o *cmpingOptions) check() error {
	switch {
	case o.timeout <= 0:
		return usagef("--timeout %v: must be positive", o.timeout)
	case o.interval < 0:
		return usagef("--interval %v: must not be negative", o.interval)
	}
	return nil
}

// cmPinger is one run of cmping.
type cmPinger struct {
	*app
	cmpingOptions
	doc   *cmpingDoc
	stats stats // verified counts answers
	best  error // of the last request that came as far as any; nil when one found the host up
}

func newCMPinger(a *app, o cmpingOptions) *cmPinger {
	p := &cmPinger{app: a, cmpingOptions: o, doc: &cmpingDoc{Target: o.target, State: stateUnresolved, Probes: []cmProbeDoc{}}}
	a.doc = p.doc
	return p
}

func (p *cmPinger) run(ctx context.Context) error {
	remote, err := p.resolveName(ctx)
	if err != nil {
		return err
	}
	q := cmQuery{Remote: remote, Local: p.source, TOS: p.tos}
	start := time.Now()
	fatal := p.probes(ctx, q)
	p.doc.TimeMS = milliseconds(time.Since(start))
	p.summary()
	switch {
	case fatal != nil:
		return fatal
	case p.stats.sent == 0:
		return &failure{step: "connect", object: p.target, err: errInterrupted}
	}
	return p.best
}

// resolveName takes the resolver's first address.
func (p *cmPinger) resolveName(ctx context.Context) (netip.AddrPort, error) {
	host, port, _ := net.SplitHostPort(p.target) // cmpingTarget made it
	n, _ := strconv.ParseUint(port, 10, 16)
	ip, err := netip.ParseAddr(host)
	if err != nil {
		nameCtx, cancel := context.WithTimeout(ctx, p.timeout)
		defer cancel()
		ips, err := p.sys.lookup(nameCtx, host)
		if err == nil && len(ips) == 0 {
			err = &net.DNSError{Err: "no address", Name: host, IsNotFound: true}
		}
		if err != nil {
			return netip.AddrPort{}, &failure{step: "resolve name", object: host, err: err}
		}
		ip = ips[0]
	}
	ip = ip.Unmap()
	p.doc.Address = ip.String()
	return netip.AddrPortFrom(ip, uint16(n)), p.checkAddresses(ip)
}

// checkAddresses refuses what the kernel would take for something else.
func (p *cmPinger) checkAddresses(ip netip.Addr) error {
	from := p.source.Addr().Unmap()
	switch {
	case ip.IsUnspecified():
		return usagef("address %v: not the address of a host", ip)
	case ip.IsLoopback() || from.IsLoopback():
		return &failure{step: "resolve address", object: p.target, err: cm.ErrLoopback}
	case from.IsValid() && from.Is4() != ip.Is4():
		return usagef("-I %v and %v are of different families", from, ip)
	case ip.Is6() && ip.IsLinkLocalUnicast():
		return p.checkZone(ip)
	}
	return nil
}

// probes sends requests until the count is reached, ctx ends, or one fails in
// a way that the next will not change: such an error is returned.
func (p *cmPinger) probes(ctx context.Context, q cmQuery) error {
	pace := newPace(p.interval, time.Now())
	for seq := uint64(0); p.count == 0 || seq < p.count; seq++ {
		if seq > 0 && !pace.sleep(ctx, nil) {
			return nil
		}
		q.QPNum = 0 // a new one for each
		probeCtx, cancel := context.WithTimeout(ctx, p.timeout)
		got := p.sys.cmProbe(probeCtx, q)
		cancel()
		if got.Err != nil && ctx.Err() != nil {
			return nil // interrupted, not lost
		}
		p.note(seq, got)
		if got.State == stateNoDevice {
			return got.failure(p.target)
		}
	}
	return nil
}

// note counts and prints one outcome.
func (p *cmPinger) note(seq uint64, got cmAnswer) {
	p.stats.sent++
	if got.answered() {
		p.stats.add(got.Answer)
	}
	if seq == 0 || stateRank(got.State) >= stateRank(p.doc.State) {
		p.best = nil
		if got.State != stateUp {
			p.best = got.failure(p.target)
		}
	}
	if got.State == stateNoAnswer || got.State == stateUnresolved {
		if port, down := p.findDownPort(got.Device, p.doc.Address); down {
			got.Text = port.text()
		}
	}
	d := got.doc(seq)
	if seq == 0 && !p.quiet {
		p.header(got)
	}
	if got.Local.IsValid() {
		p.doc.Local, p.doc.Device = got.Local.String(), got.Device
	}
	p.doc.count(d)
	if !p.quiet {
		p.printf("%s\n", d.line(p.doc.Address))
	}
}

func (p *cmPinger) header(got cmAnswer) {
	s := fmt.Sprintf("CMPING %s", p.target)
	if got.Local.IsValid() {
		s += fmt.Sprintf(" from %s via %s", got.Local, orDash(got.Device))
	}
	p.printf("%s\n", wrap(s+": connect requests only, no agent needed", 0))
}

// summary prints and notes the totals.
func (p *cmPinger) summary() {
	d := p.doc
	d.Sent, d.Answered = p.stats.sent, p.stats.verified
	d.LossPercent, d.RTT = p.stats.loss(), p.stats.rtt()
	if d.Sent == 0 {
		return
	}
	p.printf("\n--- %s cm ping statistics ---\n", p.target)
	p.printf("%d sent, %d answered, %.4g%% loss, time %s: %s\n", d.Sent, d.Answered, d.LossPercent, formatMS(d.TimeMS), d.verdict())
	if d.Answered > 0 {
		p.printf("rtt min/avg/max/mdev = %s\n", d.RTT)
	}
}

// failure makes the error of a request that did not find the host up.
func (got cmAnswer) failure(target string) error {
	object := target
	if got.Local.IsValid() {
		object = fmt.Sprintf("%v -> %s via %s", got.Local, target, orDash(got.Device))
	}
	return &failure{step: got.Step, object: object, remedy: got.remedy(), peer: target, device: got.Device, after: got.Took, err: got.Err}
}

// remedy says what to look at. Where nobody answered in time, the silence of
// that step says more.
func (got cmAnswer) remedy() string {
	switch {
	case got.State == stateRejected && got.Reject != nil && got.Reject.Advice != "":
		return got.Reject.Advice
	case got.State == stateNoAnswer:
		return "check that UDP port 4791 is open both ways, that the host has RDMA on that address, and its connection manager module (rdma_cm) loaded"
	case got.State != stateUnresolved, got.Step != "resolve address":
		return ""
	case errors.Is(got.Err, syscall.ENETUNREACH), errors.Is(got.Err, syscall.EHOSTUNREACH) && got.Took < time.Second:
		return "there is no route to that address: rdmaprobe path shows the stages"
	}
	return "no neighbour answered: host down, wrong address, or no ARP/ND on that link; rdmaprobe path shows the stages"
}
