package main

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/purerdma/rdma/cmd/rdmaprobe/bench"
	"github.com/purerdma/rdma/cmd/rdmaprobe/plain"
)

func newBenchServe(a *app) *cobra.Command {
	var address string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Be the other end of bench lat, bw and conn",
		Long: `serve answers bench lat, bw and conn of many clients, until it gets
SIGINT or SIGTERM. Clients that are measured at the same time disturb each other.
With --json it prints one document a line, for each event one.

` + benchLimits,
		Example: "  rdmaprobe bench serve\n  rdmaprobe bench serve -a 10.0.0.7:7200 --json",
		Args:    cobra.NoArgs,
		RunE: action(func(cmd *cobra.Command, _ []string) error {
			if address == "" {
				address = net.JoinHostPort("", strconv.Itoa(benchPort))
			} else {
				hp, err := hostPort(address)
				if err != nil {
					return err
				}
				if !hasPort(address) {
					host, _, _ := net.SplitHostPort(hp) // hostPort made it
					hp = net.JoinHostPort(host, strconv.Itoa(benchPort))
				}
				address = hp
			}
			return a.benchServe(cmd.Context(), address)
		}),
	}
	cmd.Flags().StringVarP(&address, "address", "a", "", "ADDR[:PORT] to listen on (default: all addresses, port 7175)")
	return cmd
}

// benchLimits is what the help says of limits.
var benchLimits = fmt.Sprintf(`It takes %d tests at a time, %d of one address. One test may need %d MiB of memory
here (two messages and the queues for each queue pair), those of one address %d
MiB, all together %d. Others are refused with that reason.`,
	bench.MaxTests, bench.MaxPeerTests, bench.MaxTestMemory>>20, bench.MaxPeerMemory>>20, bench.MaxMemory>>20)

type benchServeDoc struct {
	Time      time.Time `json:"time" doc:"when it happened"`
	Event     string    `json:"event" doc:"listening, connected, ended, refused, stopped or failed"`
	Listen    string    `json:"listen,omitempty" doc:"listening: the address"`
	Client    string    `json:"client,omitempty" doc:"the client's address"`
	Device    string    `json:"device,omitempty" doc:"RDMA device of the client's connections"`
	Test      string    `json:"test,omitempty" doc:"connected, ended: lat, bw or conn"`
	Op        string    `json:"op,omitempty" doc:"connected, ended: send, write or read"`
	Size      int       `json:"size,omitempty" doc:"connected, ended: bytes of a message"`
	QPs       int       `json:"qps,omitempty" doc:"connected, ended: queue pairs"`
	ElapsedMS float64   `json:"elapsed_ms,omitempty" doc:"ended: how long it lasted, in milliseconds"`
	Reason    string    `json:"reason,omitempty" doc:"ended, refused: why; empty when the client disconnected"`
	outcome
}

func (a *app) benchServe(ctx context.Context, address string) error {
	a.doc = &benchServeDoc{Time: time.Now(), Event: "failed"}
	addr, err := listenAddrPort(address)
	if err != nil {
		return &failure{step: "listen", object: address, err: err}
	}
	srv, err := a.sys.benchListen(addr, func(e bench.ServerEvent) {
		d := benchServeDoc{Event: e.Event, Client: e.Client, Device: e.Device, Size: e.Size, QPs: e.QPs, ElapsedMS: milliseconds(e.Took)}
		if e.Op != 0 {
			d.Op = e.Op.String()
			d.Test = map[bench.Test]string{bench.Latency: "lat", bench.Bandwidth: "bw"}[e.Test]
		}
		if e.Err != nil {
			d.Reason = e.Err.Error()
		}
		a.benchLog(d)
	})
	if err != nil {
		return &failure{step: "listen", object: address, err: err}
	}
	where, err := srv.Addr()
	if err != nil {
		return &failure{step: "listen", object: address, err: err}
	}
	a.benchLog(benchServeDoc{Event: "listening", Listen: where.String()})
	if err := srv.Serve(ctx); err != nil {
		return &failure{step: "wait for clients", object: address, err: err}
	}
	a.doc = nil
	a.benchLog(benchServeDoc{Event: "stopped"})
	return nil
}

// listenAddrPort reads the address; an empty host is the wildcard.
func listenAddrPort(address string) (netip.AddrPort, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return netip.AddrPort{}, err
	}
	n, _ := strconv.ParseUint(port, 10, 16) // hostPort checked it
	ip := netip.IPv6Unspecified()
	if host != "" {
		if ip, err = netip.ParseAddr(host); err != nil {
			return netip.AddrPort{}, err
		}
	}
	return netip.AddrPortFrom(ip, uint16(n)), nil
}

func (a *app) benchLog(d benchServeDoc) {
	d.Time = time.Now()
	if a.json {
		a.printDoc(&d)
		return
	}
	a.printf("%s %s\n", d.Time.Format("15:04:05.000"), plain.Text(d.String()))
}

// String returns the event in one line.
func (d benchServeDoc) String() string {
	switch d.Event {
	case "listening":
		return fmt.Sprintf("listening on %s", d.Listen)
	case "connected":
		return fmt.Sprintf("%s measures %s of %s, %d bytes, %s, via %s", d.Client, d.Test, d.Op, d.Size, plural(d.QPs, "queue pair"), d.Device)
	case "ended":
		return fmt.Sprintf("%s ended after %s%s", d.Client, formatMS(d.ElapsedMS), because(d.Reason))
	case "refused":
		return fmt.Sprintf("%s refused%s", orDash(d.Client), because(d.Reason))
	}
	return d.Event
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}
