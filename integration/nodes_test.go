//go:build linux

package integration

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/purerdma/rdma/cm"
)

// Addresses of the guests of scripts/vm --nodes.
func nodeV4(node int) string { return fmt.Sprintf("10.78.0.%d", node+1) }
func nodeV6(node int) string { return fmt.Sprintf("[fd00:78::%d]", node+1) }

// TestNodesConnect runs in two guests at once: guest 0 listens and echoes,
// guest 1 dials over both address families, moves data of sizes around the
// path MTU both ways, and ends the listener.
func TestNodesConnect(t *testing.T) {
	node := requireNodes(t)
	checkLeaks(t)
	ctx, cancel := context.WithTimeout(context.Background(), 2*testTime)
	defer cancel()
	const port = ":7471"
	if node == 0 {
		serveNode(ctx, t, ":7471")
		return
	}
	for _, host := range []string{nodeV4(0), nodeV6(0)} {
		c := dialNode(ctx, t, host+port)
		for _, n := range []int{1, 256, 1023, 1024, 1025, 4096} {
			echoNode(ctx, t, c, n)
		}
		oneSidedNode(ctx, t, c)
		closeConn(t, c)
	}
	if _, err := cm.Dial(ctx, nodeV4(0)+":9"); !errors.Is(err, cm.ErrNoListener) {
		t.Errorf("dial to a port without listener: %v", err)
	}
	silent, stop := context.WithTimeout(ctx, time.Second)
	defer stop()
	if _, err := cm.Dial(silent, "10.78.0.99"+port); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("dial to a silent address: %v", err)
	}
	closeConn(t, dialNode(ctx, t, nodeV4(0)+port, []byte("bye")...))
}

// dialNode dials until the other guest has booted and listens.
func dialNode(ctx context.Context, t *testing.T, address string, hello ...byte) *cm.Conn {
	t.Helper()
	for {
		dialCtx, cancel := context.WithTimeout(ctx, 5*time.Second)
		c, err := (&cm.Dialer{PrivateData: hello}).Dial(dialCtx, address)
		cancel()
		if err == nil {
			return c
		}
		if ctx.Err() != nil || !errors.Is(err, cm.ErrNoListener) && !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		time.Sleep(200 * time.Millisecond)
	}
}

func echoNode(ctx context.Context, t *testing.T, c *cm.Conn, n int) {
	t.Helper()
	msg, buf := make([]byte, n), make([]byte, n)
	pattern(msg, n)
	if err := c.SendCopy(ctx, msg); err != nil {
		t.Fatal(err)
	}
	if _, err := c.RecvCopy(ctx, buf); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(buf, msg) {
		t.Fatalf("echo of %d bytes differs", n)
	}
}

// oneSidedNode lets the other guest's answer to an empty message name its
// memory, and writes and reads 64 KiB of it.
func oneSidedNode(ctx context.Context, t *testing.T, c *cm.Conn) {
	t.Helper()
	if err := c.SendCopy(ctx, nil); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 64)
	n, err := c.RecvCopy(ctx, buf)
	if err != nil {
		t.Fatal(err)
	}
	var remote cm.RemoteMemory
	if err := remote.UnmarshalBinary(buf[:n]); err != nil {
		t.Fatal(err)
	}
	mem := allocRegion(t, c, 2*int(remote.Len), 0)
	half := mem.Len() / 2
	pattern(mem.Bytes()[:half], 9)
	if err := c.Write(ctx, remote, mem.Slice(0, half)); err != nil {
		t.Fatal(err)
	}
	if err := c.Read(ctx, remote, mem.Slice(half, half)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(mem.Bytes()[:half], mem.Bytes()[half:]) {
		t.Fatal("memory of the other guest differs after write and read")
	}
}

// serveNode echoes on all connections until one says bye.
func serveNode(ctx context.Context, t *testing.T, address string) {
	l, err := cm.Listen(ctx, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll(t, l)
	for {
		r, err := l.Accept(ctx)
		if err != nil {
			t.Fatal(err)
		}
		last := bytes.HasPrefix(r.PrivateData(), []byte("bye"))
		c, err := r.Accept(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := serveConn(ctx, c); err != nil {
			t.Error(err)
		}
		closeConn(t, c)
		if last {
			return
		}
	}
}

func serveConn(ctx context.Context, c *cm.Conn) error {
	exposed, err := c.Alloc(1<<16, cm.RemoteRead|cm.RemoteWrite)
	if err != nil {
		return err
	}
	defer exposed.Close()
	for {
		m, err := c.Recv(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		answer := m.Data
		if len(answer) == 0 {
			if answer, err = exposed.Remote().MarshalBinary(); err != nil {
				return err
			}
		}
		if err := c.SendCopy(ctx, answer); err != nil {
			return err
		}
		if err := m.Release(); err != nil {
			return err
		}
	}
}
