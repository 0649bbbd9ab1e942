//go:build linux

package integration

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/cmd/rdmaprobe/rping"
)

// rpingPort is the port of the C servers of these tests; each test has its own,
// as a port may stay taken for a moment.
var rpingPort = 7200

// rpingClientOK runs the C client and wants its success and its output.
func rpingClientOK(t *testing.T, host, port string, count int, args ...string) {
	t.Helper()
	all := append([]string{"-c", "-a", host, "-p", port, "-C", fmt.Sprint(count), "-v", "-V"}, args...)
	r := runTool(t, exec.CommandContext(testContext(t), requireTool(t, "rping", "rdmacm-utils"), all...))
	if r.code == 255 && strings.Contains(r.stderr, "rdma_get_cm_event: Bad file descriptor") {
		// When it is done it closes its channel under its own reader, which may
		// still end the program with that (cm_thread of rping.c in rdma-core 44).
		r.code = 0
	}
	r.want(t, 0)
	if n := strings.Count(r.stdout, "ping data: rdma-ping-"); n != count {
		t.Errorf("%d lines of ping data, want %d:\n%s%s", n, count, r.stdout, r.stderr)
	}
}

// TestInteropRpingClient: the C client and rdmaprobe serve.
func TestInteropRpingClient(t *testing.T) {
	requireRDMA(t)
	requireTool(t, "rping", "rdmacm-utils")
	linkLocal := linkLocalOf(t, netdev)
	for _, host := range []string{addrV4, addrV6, linkLocal} {
		t.Run(host, func(t *testing.T) {
			checkLeaks(t)
			server, where := probeServe(t, net.JoinHostPort(host, "0"))
			_, port, err := net.SplitHostPort(where)
			if err != nil {
				t.Fatal(err)
			}
			rpingClientOK(t, host, port, 100)
			server.await(t, "100 pings, 6400 bytes; client disconnected")
			rpingClientOK(t, host, port, 5, "-S", "65535")
			server.await(t, "5 pings, 327675 bytes; client disconnected")
			if code := server.signal(t, syscall.SIGTERM); code != 0 {
				t.Errorf("server's exit code %d", code)
			}
		})
	}
}

// TestInteropRpingManyClients: several C clients at once on the wildcard.
func TestInteropRpingManyClients(t *testing.T) {
	requireRDMA(t)
	requireTool(t, "rping", "rdmacm-utils")
	checkLeaks(t)
	server, where := probeServe(t, ":0")
	_, port, err := net.SplitHostPort(where)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() { rpingClientOK(t, addrV4, port, 25) })
	}
	wg.Wait()
	if code := server.signal(t, syscall.SIGTERM); code != 0 {
		t.Errorf("server's exit code %d", code)
	}
}

// rpingServer starts the C server and pings it with the program; the server
// says nothing when it is ready.
func rpingServer(t *testing.T, host string, serverArgs, pingArgs []string) *process {
	t.Helper()
	rpingPort++
	port := fmt.Sprint(rpingPort)
	server := start(t, requireTool(t, "rping", "rdmacm-utils"),
		append([]string{"-s", "-a", host, "-p", port, "-v"}, serverArgs...)...)
	args := append([]string{"ping", net.JoinHostPort(host, port), "--interval", "0"}, pingArgs...)
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		r := probe(t, args...)
		if r.code == 6 && time.Now().Before(deadline) {
			continue
		}
		r.want(t, 0)
		return server
	}
}

// TestInteropRpingServer: the C server, which serves one client and ends, and
// rdmaprobe ping.
func TestInteropRpingServer(t *testing.T) {
	requireRDMA(t)
	requireTool(t, "rping", "rdmacm-utils")
	linkLocal := linkLocalOf(t, netdev)
	for _, tt := range []struct {
		name, host string
		args       []string
	}{
		{"IPv4", addrV4, nil},
		{"IPv6", addrV6, nil},
		{"link-local", linkLocal, nil},
		{"large", addrV4, []string{"-S", "65535"}},
		{"own queue pair", addrV4, []string{"-q"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			checkLeaks(t)
			pingArgs := []string{"-C", "100", "-v"}
			if len(tt.args) == 2 {
				pingArgs = append(pingArgs, tt.args...)
			}
			server := rpingServer(t, tt.host, tt.args, pingArgs)
			code := server.exit(t)
			// The C program may end with 255 because one of its threads
			// still reads events of the channel that another has closed.
			if code != 0 && !(code == 255 && strings.Contains(server.text(), "Bad file descriptor")) {
				t.Errorf("server's exit code %d", code)
			}
			if n := strings.Count(server.text(), "server ping data: rdma-ping-"); n != 100 {
				t.Errorf("server saw %d pings, want 100", n)
			}
		})
	}
}

// rpingListen serves the protocol in this process until the test ends, and
// sends the error of each client to the channel.
func rpingListen(t *testing.T) (addr string, ended <-chan error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	l, err := cm.Listen(ctx, addrV4+":0", &cm.ListenConfig{Config: rping.ConnConfig()})
	if err != nil {
		t.Fatal(err)
	}
	errs := make(chan error, 16)
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			req, err := l.Accept(ctx)
			if err != nil {
				return
			}
			wg.Go(func() {
				conn, err := req.Accept(ctx, nil)
				if err == nil {
					_, err = rping.Serve(ctx, rping.Over(conn), nil)
					err = errors.Join(err, conn.Close())
				}
				errs <- err
			})
		}
	})
	t.Cleanup(func() {
		cancel()
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		wg.Wait()
	})
	return l.Addr().String(), errs
}

// TestRpingBadClients: whatever a client does, the server names it and serves
// the next one.
func TestRpingBadClients(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	addr, ended := rpingListen(t)
	wire := func(i rping.Info) []byte { b, _ := i.AppendBinary(nil); return b }
	for _, tt := range []struct {
		name    string
		message []byte // nil: disconnect at once
		want    string // part of the server's error; empty: that the client left, or none; "*": any (siw ends as if the client left)
	}{
		{"disconnect at once", nil, ""},
		{"short message", []byte("GET /"), "message of 5 bytes"},
		{"empty message", []byte{}, "message of 0 bytes"},
		{"long message", make([]byte, 60), "message of 60 bytes"},
		{"message beyond the buffer", make([]byte, 1000), "*"},
		{"garbage", []byte("0123456789abcdef"), "memory of"},
		{"no such memory", wire(rping.Info{Addr: 4096, RKey: 0x12345, Size: 64}), "read the client's data"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx := testContext(t)
			conn, err := cm.Dial(ctx, addr)
			if err != nil {
				t.Fatal(err)
			}
			if tt.message != nil {
				_ = conn.SendCopy(ctx, tt.message) // the server may break the connection
				if tt.want != "" {
					select {
					case <-conn.Done():
					case <-ctx.Done():
						t.Fatal("the server keeps the connection")
					}
				}
			}
			closeConn(t, conn)
			select {
			case err = <-ended:
			case <-ctx.Done():
				t.Fatal("the server keeps the client")
			}
			left := errors.Is(err, cm.ErrPeerClosed) || errors.Is(err, cm.ErrPeerGone) // before it was accepted
			switch {
			case tt.want == "" && err != nil && !left, tt.want == "*" && err == nil && !onIWARP():
				t.Errorf("server's error %v, want %q", err, tt.want)
			case tt.want != "" && tt.want != "*" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("server's error %v, want %q in it", err, tt.want)
			}
			rpingOnce(t, addr)
			if err := <-ended; err != nil {
				t.Errorf("a good client after it: %v", err)
			}
		})
	}
}

// rpingOnce sends one good ping.
func rpingOnce(t *testing.T, addr string) {
	t.Helper()
	ctx := testContext(t)
	conn, err := (&cm.Dialer{Config: rping.ConnConfig()}).Dial(ctx, addr)
	if err != nil {
		t.Fatal(err)
	}
	defer closeConn(t, conn)
	client, err := rping.NewClient(rping.Over(conn), 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Ping(ctx); err != nil {
		t.Error(err)
	}
	if err := client.Close(); err != nil {
		t.Error(err)
	}
}

// TestRpingServerDies: the client of a server that is killed gets an error in
// time, and not a hang.
func TestRpingServerDies(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	server, where := probeServe(t, addrV4+":0")
	client := start(t, requireProbe(t), "ping", where, "--timeout", "30s")
	client.await(t, "seq=0")
	if err := server.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	if code := client.exit(t); code != 5 {
		t.Errorf("exit code %d, want 5", code)
	}
	if took := time.Since(begin); took > 20*time.Second {
		t.Errorf("took %v", took)
	}
}
