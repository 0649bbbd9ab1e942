package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/cmd/rdmaprobe/doctor"
	"github.com/purerdma/rdma/cmd/rdmaprobe/plain"
	"github.com/purerdma/rdma/cmd/rdmaprobe/rping"
)

// acceptTimeout bounds the handshake with one client.
const acceptTimeout = 30 * time.Second

// serveOptions is the command line of serve.
type serveOptions struct {
	address string
	idle    time.Duration
	verbose bool
}

func newServe(a *app) *cobra.Command {
	o := new(serveOptions)
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Answer pings of many clients",
		Long: `serve answers rdmaprobe ping, and the C tool rping -c, for many clients at
once, until it gets SIGINT or SIGTERM. With --json it prints one document a
line, for each event one.

` + serveLimits,
		Example: `  rdmaprobe serve
  rdmaprobe serve -a 10.0.0.7
  rdmaprobe serve -a [fe80::1%eth0]:7175 --json`,
		Args: cobra.NoArgs,
		RunE: action(func(cmd *cobra.Command, _ []string) error {
			address, err := listenAddress(o.address)
			if err != nil {
				return err
			}
			if o.idle < 0 {
				return usagef("--idle %v: must not be negative", o.idle)
			}
			o.address = address
			s := &server{app: a, serveOptions: *o, refusal: make(chan struct{}, maxRefusing)}
			return s.run(cmd.Context())
		}),
	}
	f := cmd.Flags()
	f.StringVarP(&o.address, "address", "a", "", "ADDR[:PORT] to listen on (default: all addresses, port 7174)")
	f.DurationVar(&o.idle, "idle", 2*time.Minute, "drop a client that is silent, or takes nothing, for so long; 0 means never")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "show the data of each ping")
	return cmd
}

// listenAddress completes the address to listen on.
func listenAddress(s string) (string, error) {
	if s == "" {
		return net.JoinHostPort("", strconv.Itoa(rping.DefaultPort)), nil
	}
	return hostPort(s)
}

// server is one run of serve.
type server struct {
	*app
	serveOptions

	mu      sync.Mutex // guards output
	clients sync.WaitGroup
	count   clientCount
	refusal chan struct{} // one for each refusal under way
	served  atomic.Uint64
	pings   atomic.Uint64
	bytes   atomic.Uint64
}

func (s *server) run(ctx context.Context) error {
	l, err := s.sys.listen(ctx, s.address)
	if err != nil {
		s.doc = &serveDoc{Time: time.Now(), Event: "failed"} // printed with the error
		return err
	}
	s.announce(l.Addr())
	lost := s.accept(ctx, l)
	err = l.Close()
	s.clients.Wait()
	s.log(serveDoc{Event: "stopped", Clients: s.served.Load(), Pings: s.pings.Load(), Bytes: s.bytes.Load(),
		Reason: stopReason(ctx, lost)})
	if err != nil {
		err = &failure{step: "stop listening", object: s.address, err: err}
	}
	if lost != nil {
		err = lost
	}
	if err != nil {
		s.doc = &serveDoc{Time: time.Now(), Event: "failed"}
	}
	return err
}

// accept takes clients until ctx ends, or until no more can come: its error is
// final then, and the clients that are left are sent away.
func (s *server) accept(ctx context.Context, l listener) error {
	clients, stop := context.WithCancel(ctx)
	for {
		req, err := l.Accept(ctx)
		if err == nil {
			s.admit(clients, req)
			continue
		}
		stop()
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
}

// admit serves a client beside the others, or refuses it.
func (s *server) admit(ctx context.Context, req request) {
	peer := clientAddress(req.RemoteAddr())
	why := s.count.enter(peer)
	if why == nil {
		s.clients.Go(func() {
			defer s.count.leave(peer)
			s.client(ctx, req)
		})
		return
	}
	s.refusal <- struct{}{}
	s.clients.Go(func() {
		defer func() { <-s.refusal }()
		client := req.RemoteAddr().String()
		_ = req.Reject([]byte(why.Error())) // a client that has gone needs no answer
		s.log(serveDoc{Event: "refused", Client: client, Reason: why.Error()})
	})
}

// stopReason says in a few words why the server ended.
func stopReason(ctx context.Context, lost error) string {
	switch {
	case lost != nil:
		return lost.Error()
	case errors.Is(context.Cause(ctx), errOutputClosed):
		return errOutputClosed.Error()
	}
	return "signal"
}

// client serves one client to its end.
func (s *server) client(ctx context.Context, req request) {
	peer := req.RemoteAddr().String()
	acceptCtx, cancel := context.WithTimeout(ctx, acceptTimeout)
	client, introduced := unmarshalInfo(req.PeerData())
	var accept *cm.AcceptOptions
	if introduced {
		own := req.Info()
		accept = &cm.AcceptOptions{PrivateData: own.marshal()}
	}
	conn, err := req.Accept(acceptCtx, accept)
	cancel()
	if err != nil {
		s.log(serveDoc{Event: "refused", Client: peer, Reason: err.Error()})
		return
	}
	start := time.Now()
	device := conn.Device()
	connected := serveDoc{Event: "connected", Client: peer, Device: device}
	if introduced {
		connected.Peer = client.doc()
	}
	s.log(connected)
	opts := &rping.ServeOptions{Idle: s.idle, First: firstPing}
	if s.verbose {
		opts.OnPing = func(_ uint64, data []byte) {
			s.log(serveDoc{Event: "ping", Client: peer, Data: rping.Text(data)})
		}
	}
	stats, err := rping.Serve(ctx, conn.Transport(), opts)
	closeErr := conn.Close()
	if err == nil {
		err = closeErr
	}
	s.served.Add(1)
	s.pings.Add(stats.Pings)
	s.bytes.Add(stats.Bytes)
	s.log(serveDoc{Event: "ended", Client: peer, Device: device, Pings: stats.Pings, Bytes: stats.Bytes,
		ElapsedMS: milliseconds(time.Since(start)), Reason: endReason(ctx, err)})
}

// endReason says in a few words why a client's connection ended.
func endReason(ctx context.Context, err error) string {
	switch {
	case err == nil:
		return "client disconnected"
	case ctx.Err() != nil:
		return "server stopped"
	case errors.Is(err, io.EOF):
		return "client left in the middle of a ping: " + err.Error()
	}
	return err.Error()
}

// log prints an event. Its lines are made to be read and cut by programs, so
// they are not broken.
func (s *server) log(d serveDoc) {
	d.Time = time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.json {
		s.printDoc(&d)
		return
	}
	s.printf("%s %s\n", d.Time.Format("15:04:05.000"), plain.Text(d.String()))
}

// String returns the event in one line.
func (d serveDoc) String() string {
	switch d.Event {
	case "connected":
		s := fmt.Sprintf("%s connected via %s", d.Client, d.Device)
		if p := d.Peer; p != nil {
			s += fmt.Sprintf("; its end: %s %s, port MTU %d, ToS %d", p.Device, p.GID, p.MTU, p.TOS)
		}
		return s
	case "ping":
		return fmt.Sprintf("%s ping data: %s", d.Client, d.Data)
	case "ended":
		return fmt.Sprintf("%s ended after %s: %s, %s; %s", d.Client, formatMS(d.ElapsedMS),
			plural(d.Pings, "ping"), plural(d.Bytes, "byte"), d.Reason)
	case "refused":
		return fmt.Sprintf("%s refused: %s", orDash(d.Client), d.Reason)
	case "stopped":
		return fmt.Sprintf("stopped (%s): %s, %s, %s", d.Reason, plural(d.Clients, "client"),
			plural(d.Pings, "ping"), plural(d.Bytes, "byte"))
	}
	return d.Event
}

// announce says where clients can reach the server.
func (s *server) announce(addr net.Addr) {
	d := serveDoc{Event: "listening", Listen: addr.String(), Devices: s.reachable(addr), Warnings: s.warnings()}
	if s.json {
		s.log(d)
		return
	}
	s.printf("listening on %s, protocol of rping\n\n", addr)
	rows := [][]string{{"DEVICE", "PORT", "STATE", "NETDEV", "ADDRESS"}}
	for _, l := range d.Devices {
		rows = append(rows, perAddress([]string{l.Device, strconv.Itoa(l.Port), l.State, l.Netdev}, l.Addresses)...)
	}
	table(s.out, rows)
	for _, w := range d.Warnings {
		s.printf("warning: %s\n", wrap(w, 9))
	}
	s.printf("\n")
}

// warnings says what keeps clients from coming.
func (s *server) warnings() []string {
	out := s.onLoopback(s.sys.diagnose().Devices)
	if n, known := s.sys.maxBacklog(); known && n < doctor.FewRequests {
		out = append(out, doctor.BacklogText(n)+"; sysctl net.rdma_ucm.max_backlog=1024")
	}
	return out
}

// reachable lists the ports that have the address, or for a wildcard all.
func (s *server) reachable(addr net.Addr) []listenDoc {
	out := []listenDoc{}
	ap, err := netip.ParseAddrPort(addr.String())
	if err != nil {
		return out
	}
	ip := ap.Addr()
	for _, d := range s.sys.diagnose().Devices {
		for _, p := range d.Ports {
			l := listenDoc{Device: d.Name, Port: p.Number, State: p.State.String(), Netdev: p.Netdev, Addresses: []string{}}
			for _, a := range s.portAddresses(d, p) {
				has, err := netip.ParseAddr(a)
				if err == nil && (ip.IsUnspecified() && (ip.Is6() || has.Is4()) || has == ip) {
					l.Addresses = append(l.Addresses, a)
				}
			}
			if ip.IsUnspecified() || len(l.Addresses) > 0 {
				out = append(out, l)
			}
		}
	}
	return out
}
