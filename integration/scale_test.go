//go:build linux

package integration

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/purerdma/rdma/cm"
)

// scaleConfig is a small connection: one message each way.
var scaleConfig = &cm.Config{SendDepth: 1, RecvDepth: 1, RecvSize: 64, MaxSGE: 1, MaxInline: 16, CloseTimeout: 20 * time.Second}

// scaleServer makes the test's binary a server, in a process of its own, with
// so many connections to expect.
const scaleServer = "RDMA_SCALE_SERVER"

// scaleParallel is how many connections are being made at a time. Not all:
// soft-RoCE drops datagrams of the connection manager beyond what its queue
// holds, and each is sent again only after seconds.
// The device of kernel 5.10 has 100 address handles, and each connection that
// is being made takes one at either end.
func scaleParallel(tb testing.TB) int {
	if kernelAtLeast(tb, 6, 1) {
		return 64
	}
	return 24
}

// TestScale holds many connections at once, RDMA_SCALE (500 by default),
// between two processes. Each moves a message of its own there and back while
// all are up. Scenario 60: one event descriptor serves them all.
func TestScale(t *testing.T) {
	requireRDMA(t)
	n := countFrom(t, "RDMA_SCALE", 500)
	if os.Getenv(scaleServer) != "" {
		serveScale(t, n)
		return
	}
	checkLeaks(t)
	limit := testTime + time.Duration(n)*150*time.Millisecond
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	server, where := startScaleServer(t, ctx)
	before := footprint(t)

	dialer := cm.Dialer{Config: scaleConfig}
	conns := make([]*cm.Conn, n)
	start := time.Now()
	err := eachConn(t, n, func(i int) (err error) {
		conns[i], err = dialer.DialAddr(ctx, where)
		return err
	})
	defer func() {
		_ = eachConn(t, n, func(i int) error {
			if conns[i] == nil {
				return nil
			}
			return conns[i].Close()
		})
	}()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d connections made in %v", n, time.Since(start).Round(time.Millisecond))

	start = time.Now()
	if err := eachConn(t, n, func(i int) error { return echo(ctx, conns[i], uint64(i)) }); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d messages there and back in %v", n, time.Since(start).Round(time.Millisecond))
	t.Logf("this process: %s", footprint(t).since(before).per(n))

	start = time.Now()
	if err := eachConn(t, n, func(i int) error { return conns[i].Close() }); err != nil {
		t.Fatal(err)
	}
	t.Logf("closed in %v", time.Since(start).Round(time.Millisecond))
	out, err := server()
	if err != nil {
		t.Errorf("server: %v", err)
	}
	t.Logf("the server's process:\n%s", out)
}

// startScaleServer runs this test in another process, as the server. wait
// returns its output when it has ended.
func startScaleServer(t *testing.T, ctx context.Context) (wait func() (string, error), where netip.AddrPort) {
	t.Helper()
	cmd := exec.CommandContext(ctx, "/proc/self/exe", "-test.run", "^TestScale$", "-test.v", "-test.timeout", "30m")
	cmd.Env = append(os.Environ(), scaleServer+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = w, w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	var out strings.Builder
	addr := make(chan string, 1)
	var reading sync.WaitGroup
	reading.Go(func() {
		defer r.Close()
		buf := make([]byte, 4096)
		for found := false; ; {
			k, err := r.Read(buf)
			out.Write(buf[:k])
			if _, rest, ok := strings.Cut(out.String(), "listening on "); ok && !found {
				if a, _, ok := strings.Cut(rest, "\n"); ok {
					found = true
					addr <- a
				}
			}
			if err != nil {
				close(addr)
				return
			}
		}
	})
	wait = sync.OnceValues(func() (string, error) {
		reading.Wait()
		return out.String(), cmd.Wait()
	})
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_, _ = wait()
	})
	where, err = netip.ParseAddrPort(<-addr)
	if err != nil {
		_, waitErr := wait()
		t.Fatalf("server: %v\n%s", waitErr, out.String())
	}
	return wait, where
}

// serveScale answers one message on each of n connections.
func serveScale(t *testing.T, n int) {
	checkLeaks(t)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Minute)
	defer cancel()
	l, err := cm.Listen(ctx, addrV4+":0", &cm.ListenConfig{Config: scaleConfig, Backlog: n})
	if err != nil {
		t.Fatal(err)
	}
	before := footprint(t)
	fmt.Printf("listening on %v\n", l.Addr())
	var conns, echoed sync.WaitGroup
	failures := make(chan error, n)
	for range n {
		req, err := l.Accept(ctx)
		if err != nil {
			t.Fatal(err)
		}
		echoed.Add(1)
		conns.Go(func() {
			if err := answerEcho(ctx, req, echoed.Done); err != nil {
				failures <- err
			}
		})
	}
	echoed.Wait()
	t.Logf("%s", footprint(t).since(before).per(n))
	conns.Wait()
	close(failures)
	for err := range failures {
		t.Error(err)
	}
	if busy := l.Busy(); busy > 0 {
		t.Errorf("%d requests refused", busy)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

func answerEcho(ctx context.Context, req *cm.Request, done func()) error {
	done = sync.OnceFunc(done)
	defer done()
	c, err := req.Accept(ctx, nil)
	if err != nil {
		return err
	}
	defer c.Close()
	m, err := c.Recv(ctx)
	if err != nil {
		return err
	}
	err = c.SendCopy(ctx, m.Data)
	_ = m.Release()
	if err != nil {
		return err
	}
	done()
	select {
	case <-c.Done():
	case <-ctx.Done():
		return ctx.Err()
	}
	if !errors.Is(c.Err(), cm.ErrPeerClosed) {
		return c.Err()
	}
	return c.Close()
}

// echo sends a number and wants it back.
func echo(ctx context.Context, c *cm.Conn, v uint64) error {
	if err := c.SendCopy(ctx, binary.BigEndian.AppendUint64(nil, v)); err != nil {
		return err
	}
	m, err := c.Recv(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = m.Release() }()
	if b := m.Data; len(b) != 8 || binary.BigEndian.Uint64(b) != v {
		return fmt.Errorf("connection %d brought back %x", v, b)
	}
	return nil
}

// eachConn calls fn for 0 to n-1, some at a time, until one fails.
func eachConn(tb testing.TB, n int, fn func(i int) error) error {
	parallel := scaleParallel(tb)
	next := make(chan int)
	failed := make(chan error, parallel)
	var wg sync.WaitGroup
	for range parallel {
		wg.Go(func() {
			for i := range next {
				if err := fn(i); err != nil {
					failed <- fmt.Errorf("connection %d: %w", i, err)
					return
				}
			}
		})
	}
	var err error
	for i := 0; i < n && err == nil; i++ {
		select {
		case next <- i:
		case err = <-failed:
		}
	}
	close(next)
	wg.Wait()
	close(failed)
	for e := range failed {
		err = errors.Join(err, e)
	}
	return err
}

// A usage is what a process, and with it the kernel, needs.
type usage struct {
	resident  int // KiB of this process
	available int // KiB of the machine, free for others
	files     int
	threads   int
}

func footprint(t *testing.T) usage {
	t.Helper()
	u := usage{files: len(openFiles(t))}
	u.resident = procNumber(t, "/proc/self/status", "VmRSS:")
	u.threads = procNumber(t, "/proc/self/status", "Threads:")
	u.available = procNumber(t, "/proc/meminfo", "MemAvailable:")
	return u
}

// procNumber reads the number behind a name in a file of lines.
func procNumber(t *testing.T, path, name string) int {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			n, err := strconv.Atoi(strings.Fields(rest)[0])
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatalf("no %s in %s", name, path)
	return 0
}

func (u usage) since(before usage) usage {
	return usage{u.resident - before.resident, before.available - u.available, u.files - before.files, u.threads}
}

// per describes the use of n connections.
func (u usage) per(n int) string {
	var limit unix.Rlimit
	_ = unix.Getrlimit(unix.RLIMIT_NOFILE, &limit)
	return fmt.Sprintf("%d more descriptors (of %d allowed), %d threads; for each of %d connections %.1f KiB resident, %.1f KiB of the machine's memory (both ends, and the kernel)",
		u.files, limit.Cur, u.threads, n, float64(u.resident)/float64(n), float64(u.available)/float64(n))
}
