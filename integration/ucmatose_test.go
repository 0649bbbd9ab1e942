//go:build linux

package integration

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/purerdma/rdma/cm"
)

// ucmatose moves messages of this size and number over each connection: the
// server sends all, then the client does, then the server disconnects.
const (
	ucmatoseSize  = 100
	ucmatoseCount = 10
)

// tool is a C program that is running.
type tool struct {
	cmd *exec.Cmd
	out *lockedBuffer
}

// lockedBuffer is written by the program and read by the test.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// startTool runs a C program; the test's end kills it.
func startTool(t *testing.T, name string, args ...string) *tool {
	t.Helper()
	path := requireTool(t, name, "rdmacm-utils")
	tl := &tool{cmd: exec.Command(path, args...), out: new(lockedBuffer)}
	tl.cmd.Stdout, tl.cmd.Stderr = tl.out, tl.out
	tl.cmd.WaitDelay = testTime
	if err := tl.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if tl.cmd.ProcessState == nil {
			_ = tl.cmd.Process.Kill()
			_ = tl.cmd.Wait()
		}
	})
	return tl
}

// wantSuccess waits for the program's end.
func (tl *tool) wantSuccess(t *testing.T) {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- tl.cmd.Wait() }()
	select {
	case err := <-done:
		if err != nil {
			t.Errorf("%v: %v\n%s", tl.cmd.Args, err, tl.out)
		}
	case <-time.After(testTime):
		_ = tl.cmd.Process.Kill()
		<-done
		t.Fatalf("%v does not end\n%s", tl.cmd.Args, tl.out)
	}
}

// TestInteropUcmatoseServer: Go dials the C server (parity scenarios 16, 19).
func TestInteropUcmatoseServer(t *testing.T) {
	needsInfiniBand(t, "the C server speaks first, and siw refuses an answer that data follows (siw_recv_mpa_rr)")
	for _, tt := range []struct {
		name, host  string
		connections int
	}{{"IPv4", addrV4, 1}, {"IPv4, many", addrV4, 8}, {"IPv6", "[" + addrV6 + "]", 2}} {
		t.Run(tt.name, func(t *testing.T) {
			checkLeaks(t)
			ctx := testContext(t)
			args := []string{"-c", strconv.Itoa(tt.connections), "-b", strings.Trim(tt.host, "[]")}
			server := startTool(t, "ucmatose", args...)
			var wg sync.WaitGroup
			for range tt.connections {
				wg.Go(func() {
					if err := ucmatoseClient(ctx, tt.host+":7471"); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			server.wantSuccess(t)
		})
	}
}

// ucmatoseClient receives everything, replies, and waits for the end.
func ucmatoseClient(ctx context.Context, address string) error {
	c, err := dialRetry(ctx, address)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := receiveAll(ctx, c); err != nil {
		return err
	}
	if err := sendAll(ctx, c); err != nil {
		return err
	}
	select {
	case <-c.Done():
	case <-ctx.Done():
		return ctx.Err()
	}
	return c.Close()
}

// dialRetry dials until the C server listens.
func dialRetry(ctx context.Context, address string) (*cm.Conn, error) {
	for {
		c, err := cm.Dial(ctx, address)
		if !errors.Is(err, cm.ErrNoListener) {
			return c, err
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func receiveAll(ctx context.Context, c *cm.Conn) error {
	for range ucmatoseCount {
		m, err := c.Recv(ctx)
		if err != nil {
			return err
		}
		if len(m.Data) != ucmatoseSize {
			return io.ErrUnexpectedEOF
		}
		if err := m.Release(); err != nil {
			return err
		}
	}
	return nil
}

func sendAll(ctx context.Context, c *cm.Conn) error {
	for range ucmatoseCount {
		if err := c.SendCopy(ctx, make([]byte, ucmatoseSize)); err != nil {
			return err
		}
	}
	return nil
}

// TestInteropUcmatoseClient: the C client dials Go.
func TestInteropUcmatoseClient(t *testing.T) {
	requireRDMA(t)
	for _, tt := range []struct {
		name, host  string
		connections int
		more        []string
	}{
		{"IPv4", addrV4, 1, nil},
		{"IPv4, many", addrV4, 8, nil},
		{"IPv6", addrV6, 2, []string{"-f", "ipv6"}},
		{"options", addrV4, 1, []string{"-t", "32", "-a", "18"}},
		{"migrate", addrV4, 2, []string{"-m"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			checkLeaks(t)
			ctx := testContext(t)
			l := listenOn(t, ":7471", nil)
			args := append([]string{"-s", tt.host, "-c", strconv.Itoa(tt.connections)}, tt.more...)
			client := startTool(t, "ucmatose", args...)
			var conns []*cm.Conn
			for range tt.connections {
				a := <-acceptOne(ctx, l, nil)
				if a.err != nil {
					t.Fatalf("%v\n%s", a.err, client.out)
				}
				defer a.conn.Close()
				conns = append(conns, a.conn)
			}
			// As the C server does: all connections up, then data.
			for _, c := range conns {
				if err := sendAll(ctx, c); err != nil {
					t.Fatal(err)
				}
			}
			for _, c := range conns {
				if err := receiveAll(ctx, c); err != nil {
					t.Fatal(err)
				}
			}
			for _, c := range conns {
				if err := c.Disconnect(ctx); err != nil {
					t.Error(err)
				}
			}
			client.wantSuccess(t)
		})
	}
}
