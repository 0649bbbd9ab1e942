//go:build linux

package integration

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/uverbs"
)

// TestNoPortsLeft: the error of the connection for which no local port is left names
// the setting that says how many there are.
func TestNoPortsLeft(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	l := listenOn(t, addrV4+":7480", nil)
	setSysctl(t, "/proc/sys/net/ipv4/ip_local_port_range", "45000 45001")
	for range 2 {
		if client, _, _ := connect(t, l, &cm.Dialer{}, nil); client == nil {
			t.Fatal("a port of the range was not to be had")
		}
	}
	conn, err := cm.Dial(testContext(t), addrV4+":7480")
	if err == nil {
		conn.Close()
		t.Fatal("a third connection got one of two ports")
	}
	if !errors.Is(err, cm.ErrNoPorts) || !errors.Is(err, syscall.EADDRNOTAVAIL) || !strings.Contains(err.Error(), "net.ipv4.ip_local_port_range") {
		t.Errorf("dial: %v", err)
	}
	_, err = cm.Listen(testContext(t), addrV4+":0", nil)
	if !errors.Is(err, cm.ErrNoPorts) || errors.Is(err, cm.ErrAddrInUse) || !strings.Contains(err.Error(), "net.ipv4.ip_local_port_range") {
		t.Errorf("listen: %v", err)
	}
}

// TestRefusalsTell: whatever way a server of this package refuses, its peer gets a text;
// the kernel's own refusal has none and is not blamed on the application alone.
func TestRefusalsTell(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	for name, tc := range map[string]struct {
		refuse func(l *cm.Listener, req *cm.Request) error
		want   string
	}{
		"request closed":  {func(_ *cm.Listener, req *cm.Request) error { return req.Close() }, "request closed by the server"},
		"ID closed":       {func(_ *cm.Listener, req *cm.Request) error { return req.ID().Close() }, "request closed by the server"},
		"accept canceled": {func(_ *cm.Listener, req *cm.Request) error { return acceptCanceled(req) }, "accept was cancelled or timed out"},
		"rejected":        {func(_ *cm.Listener, req *cm.Request) error { return req.Reject([]byte("not today")) }, "not today"},
	} {
		t.Run(name, func(t *testing.T) {
			l := listenOn(t, addrV4+":0", nil)
			dialed := make(chan error, 1)
			go func() {
				c, err := cm.Dial(testContext(t), l.Addr().String())
				if err == nil {
					err = errors.Join(errors.New("it was accepted"), c.Close())
				}
				dialed <- err
			}()
			req, err := l.Accept(testContext(t))
			if err != nil {
				t.Fatal(err)
			}
			if err := tc.refuse(l, req); err != nil {
				t.Error(err)
			}
			var rejected *cm.RejectError
			if err := <-dialed; !errors.As(err, &rejected) || rejected.Text() != tc.want || errors.Is(err, cm.ErrBusy) {
				t.Errorf("the peer sees %v, want the text %q", err, tc.want)
			}
			_ = req.Close() // again, as after any of them
		})
	}
}

func acceptCanceled(req *cm.Request) error {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := req.Accept(ctx, nil); !errors.Is(err, context.Canceled) {
		return fmt.Errorf("accept: %w", err)
	}
	return nil
}

// TestRejectedByKernel: a listener on another address of the host.
func TestRejectedByKernel(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	listenOn(t, "["+addrV6+"]:7483", nil)
	_, err := cm.Dial(testContext(t), addrV4+":7483")
	var rejected *cm.RejectError
	if !errors.As(err, &rejected) || rejected.Text() != "" || !strings.Contains(err.Error(), "nobody listens on this address of the host") {
		t.Errorf("got %v", err)
	}
}

// TestConfigPathMTU: the cap reaches the queue pairs of both ends, and messages of several
// packets pass.
func TestConfigPathMTU(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	cfg := &cm.Config{PathMTU: 512}
	l := listenOn(t, addrV4+":0", &cm.ListenConfig{Config: cfg})
	client, server, _ := connect(t, l, &cm.Dialer{Config: cfg}, nil)
	for _, c := range []*cm.Conn{client, server} {
		if a, err := c.QP().Query(); err != nil || a.PathMTU != abi.IB_MTU_512 {
			t.Errorf("path MTU code %d, %v", a.PathMTU, err)
		}
	}
	sent := bytes.Repeat([]byte("0123456789"), 300)
	for range 3 {
		received := make([]byte, 4096)
		if err := client.SendCopy(testContext(t), sent); err != nil {
			t.Fatal(err)
		}
		if n, err := server.RecvCopy(testContext(t), received); err != nil || !bytes.Equal(received[:n], sent) {
			t.Fatalf("%d bytes, %v", n, err)
		}
	}
}

// TestQueuePairExplains: what a kernel refuses without a word, or takes and loses.
func TestQueuePairExplains(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	c := verbsOpen(t, uverbs.StyleIoctl)
	pd, ch := verbsPD(t, c), verbsChannel(t, c)
	own := verbsGID(t, c)
	for _, tc := range []struct {
		name, peer string
		slot       int
		mtu        abi.IBMTU
		errno      syscall.Errno
		want       string
	}{
		{"silent neighbour", "10.77.0.233", own.Index, 0, syscall.ETIMEDOUT, "no neighbour answered for 10.77.0.233"},
		{"no route", "203.0.113.9", own.Index, 0, syscall.ETIMEDOUT, "no neighbour answered for 203.0.113.9, or there is no route to it"},
		{"empty slot", addrV4, 77, 0, syscall.ENODATA, "slot 77 of the GID table of port 1 is empty"},
		{"large MTU", addrV4, own.Index, abi.IB_MTU_4096, syscall.EINVAL, "MTU is 4096 bytes, port 1 carries 1024"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			qp := verbsNewSide(t, pd, ch, verbsCap).qp
			if err := qp.ToInit(1, 0); err != nil {
				t.Fatal(err)
			}
			gid, _ := uverbs.ParseGID(tc.peer)
			err := qp.ToRTR(uverbs.RTRConfig{AH: uverbs.AHAttr{DGID: gid, SGIDIndex: uint8(tc.slot), Port: 1}, MTU: tc.mtu, DestQPN: 17})
			if !errors.Is(err, tc.errno) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
	side := verbsNewSide(t, pd, ch, verbsCap)
	err := side.qp.PostSend(uverbs.SendWR{Opcode: abi.IB_UVERBS_WR_SEND})
	if !errors.Is(err, syscall.EINVAL) || !strings.Contains(err.Error(), "in state RESET") {
		t.Errorf("a send in RESET: %v", err)
	}
	cq, err := c.CreateCQ(uverbs.CQConfig{Entries: 8})
	if err != nil {
		t.Fatal(err)
	}
	defer cq.Close()
	_, err = pd.CreateQP(uverbs.QPConfig{SendCQ: cq, RecvCQ: cq, Cap: uverbs.QPCap{MaxSendWR: 1, MaxRecvWR: 1, MaxInline: 50000}})
	if err == nil || !strings.Contains(err.Error(), "Cap.MaxInline is 50000, the device allows ") {
		t.Errorf("much inline data: %v", err)
	}
	t.Log(err)
}
