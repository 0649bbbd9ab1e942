package main

import (
	"bytes"
	"context"
	"net/netip"
	"strings"
	"syscall"
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/cmd/rdmaprobe/bench"
	"github.com/purerdma/rdma/cmd/rdmaprobe/rping"
	"github.com/purerdma/rdma/uverbs"
)

// narrowLink loses messages above a size: the server ends the connection, as one
// whose device gave up on a packet does.
type narrowLink struct {
	link
	limit int
}

func (l narrowLink) Transport() rping.Transport {
	return &narrowTransport{l.link.Transport(), l.link, l.limit, 0}
}

type narrowTransport struct {
	rping.Transport
	link  link
	limit int
	size  int
}

func (n *narrowTransport) Alloc(size int, rights rping.Rights) (rping.Memory, error) {
	n.size = size
	return n.Transport.Alloc(size, rights)
}

func (n *narrowTransport) Recv(ctx context.Context, b []byte) (int, error) {
	if n.size > n.limit {
		return 0, cm.ErrPeerClosed
	}
	return n.Transport.Recv(ctx, b)
}

// narrowSystem has a way that loses messages above a size, and what UDP packets tell
// of it.
func narrowSystem(w *world, limit int, r reachability) system {
	w.you, w.peer = endOf("rxe0", "10.0.0.1", 1024, 1500, 0), endOf("rxe0", "10.0.0.1", 1024, 800, 0)
	sys := w.system()
	sys.dial = func(ctx context.Context, d *cm.Dialer, target string) (link, error) {
		l, err := w.dial(ctx, d, target)
		return narrowLink{l, limit}, err
	}
	sys.reach = func(context.Context, netip.Addr, int) reachability { return r }
	return sys
}

// TestPingLostSize: a connection that breaks at a size says so, with the size and the
// MTUs of both ends, and not that the server closed it.
func TestPingLostSize(t *testing.T) {
	for _, tt := range []struct {
		name, args string
		reach      reachability
		want       []string
	}{
		{"sweep, lost there", "--data -C 1", reachability{small: true}, []string{"messages of 739 bytes are lost, of up to 513 bytes pass", "to the peer", "up to 1024 bytes of data",
			"this end's interface has an MTU of 1500", "the peer's has one of 800"}},
		{"sweep, lost on the way back", "--data -C 1", reachability{small: true, large: true}, []string{"of up to 513 bytes pass", "on the way back"}},
		{"sweep, not known", "--data -C 1", reachability{err: syscall.EPERM}, []string{"messages of 739 bytes are lost, of up to 513 bytes pass"}},
		{"one size", "-S 4K -C 1", reachability{small: true, large: true}, []string{"messages of 739 bytes are lost, of up to 513 bytes pass"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := rxeWorld()
			server := w.startCommand(t, "serve")
			server.await("ADDRESS")
			e := failed(t, narrowSystem(w, 600, tt.reach), "ping 10.0.0.1 "+tt.args)
			if e.Class != "mtu" || e.ExitCode != exitUnreachable || !strings.Contains(e.Remedy, "an MTU of 799 or more") {
				t.Errorf("error %+v", e)
			}
			for _, want := range tt.want {
				if !strings.Contains(e.Cause, want) {
					t.Errorf("cause lacks %q: %s", want, e.Cause)
				}
			}
			server.stop()
		})
	}
	// What breaks at each size has another reason.
	w := rxeWorld()
	server := w.startCommand(t, "serve")
	server.await("ADDRESS")
	if e := failed(t, narrowSystem(w, 0, reachability{small: true, large: true}), "ping 10.0.0.1 -C 1"); e.Class != "peer-closed" {
		t.Errorf("error %+v", e)
	}
	server.stop()
}

// TestBenchLostSize: the same of a measurement, whatever it ended with.
func TestBenchLostSize(t *testing.T) {
	for _, err := range []error{cm.ErrPeerClosed, &uverbs.CompletionError{Status: abi.IB_WC_WR_FLUSH_ERR}, context.DeadlineExceeded} {
		w := rxeWorld()
		sys := w.system()
		sys.reach = func(context.Context, netip.Addr, int) reachability { return reachability{small: true} }
		measure := sys.bench
		sys.bench = func(ctx context.Context, cl *bench.Client, p bench.Params) (*bench.Result, error) {
			if p.Size > 1024 {
				return nil, err
			}
			return measure(ctx, cl, p)
		}
		var out, errOut bytes.Buffer
		code := runOn(t.Context(), sys, strings.Fields("bench bw 10.0.0.7 --op read --size 64,64K"), &out, &errOut)
		if text := strings.Join(strings.Fields(errOut.String()), " "); code != exitUnreachable ||
			!strings.Contains(text, "messages of 65536 bytes are lost, of up to 64 bytes pass: packets of 1084 bytes do not get through to the peer") {
			t.Errorf("%v: exit code %d\n%s", err, code, &errOut)
		}
	}
}
