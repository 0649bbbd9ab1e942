package cm

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/fakecm"
	"github.com/purerdma/rdma/uverbs"
)

func TestDialErrors(t *testing.T) {
	r := newRig(t)
	for _, tc := range []struct {
		name  string
		d     Dialer
		addr  string
		match []error
		step  string
		text  string
	}{
		{"no listener", Dialer{}, "10.0.0.1:7174", []error{ErrNoListener, ErrRejected, syscall.ECONNREFUSED}, stepConnect, "no listener on that port (CM reason 8"},
		{"no route", Dialer{}, "203.0.113.1:7174", []error{syscall.ENETUNREACH}, stepResolveAddr, "no route to that address"},
		{"loopback", Dialer{}, "127.0.0.1:7174", []error{ErrLoopback}, "", "loopback"},
		{"loopback in IPv6 clothes", Dialer{}, "[::ffff:127.0.0.1]:7174", []error{ErrLoopback}, "", "loopback"},
		{"no zone", Dialer{}, "[fe80::1]:7174", []error{syscall.EINVAL}, "", "zone"},
		{"long private data", Dialer{PrivateData: make([]byte, 57)}, "10.0.0.1:7174", []error{syscall.EINVAL}, stepConnect, "takes at most 56"},
		{"longer", Dialer{PrivateData: make([]byte, 252)}, "10.0.0.1:7174", []error{syscall.EINVAL}, "", "at most 56 over InfiniBand and RoCE, 251 over iWARP"},
		{"bad config", Dialer{Config: &Config{MaxSGE: 300}}, "10.0.0.1:7174", []error{syscall.EINVAL}, "", "MaxSGE is 300"},
		{"foreign source", Dialer{LocalAddr: netip.MustParseAddrPort("192.0.2.1:0")}, "10.0.0.1:7174", []error{syscall.EADDRNOTAVAIL}, stepBind, "no interface here"},
		{"loopback source", Dialer{LocalAddr: netip.MustParseAddrPort("127.0.0.1:0")}, "10.0.0.1:7174", []error{ErrLoopback}, "", "loopback"},
		{"deep queues", Dialer{Config: &Config{SendDepth: 1 << 15}}, "10.0.0.1:7174", []error{syscall.EINVAL}, stepQueuePair, "QP_CREATE"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := tc.d.DialAddr(testContext(t), netip.MustParseAddrPort(tc.addr))
			var oe *OpError
			if !errors.As(err, &oe) || oe.Op != "dial" || oe.Step != tc.step || oe.Remote.String() != tc.addr || oe.Timeout() {
				t.Errorf("got %#v", err)
			}
			wants(t, err, tc.match...)
			wantsText(t, err, tc.text)
		})
	}
	_, err := Dial(testContext(t), "nonsense")
	wantsText(t, err, "dial: ", "host:port")
	_ = r
}

// TestDialUnknownDevice: the connection manager names a device that is not
// there.
func TestDialUnknownDevice(t *testing.T) {
	r := newRig(t)
	r.cm.Devices = []fakecm.Device{{Index: 9, Addrs: fakecm.DefaultDevice.Addrs}}
	_, err := Dial(testContext(t), serverAddr.String())
	wants(t, err, uverbs.ErrNoDevice)
	wantsText(t, err, "open device: RDMA device with index 9")
}

func TestDialLocalAddr(t *testing.T) {
	r := newRig(t)
	l := r.listen(nil)
	client, server := r.pair(l, &Dialer{LocalAddr: netip.MustParseAddrPort("10.0.0.2:5000"), Config: quick, TOS: 0x68})
	if client.LocalAddr().String() != "10.0.0.2:5000" || server.RemoteAddr().String() != "10.0.0.2:5000" {
		t.Errorf("client at %v, server sees %v", client.LocalAddr(), server.RemoteAddr())
	}
}

// TestDialTimeouts names the step and who did not answer.
func TestDialTimeouts(t *testing.T) {
	for _, tc := range []struct {
		mute uint32
		step string
		hint string
	}{
		{abi.RDMA_USER_CM_CMD_RESOLVE_ADDR, stepResolveAddr, "no neighbour answered for 10.0.0.1:7174"},
		{abi.RDMA_USER_CM_CMD_RESOLVE_ROUTE, stepResolveRoute, ""},
		{abi.RDMA_USER_CM_CMD_CONNECT, stepConnect, "UDP port 4791"},
	} {
		t.Run(tc.step, func(t *testing.T) {
			r := newRig(t)
			r.cm.Mute(tc.mute)
			ctx, expire := expiring(t)
			r.cm.After = func(c fakecm.Call) {
				if c.Cmd == tc.mute {
					expire()
				}
			}
			_, err := Dial(ctx, serverAddr.String())
			var oe *OpError
			if !errors.As(err, &oe) || !oe.Timeout() || oe.Step != tc.step || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %#v", err)
			}
			wantsText(t, err, tc.step+": context deadline exceeded", tc.hint)
		})
	}
}

// TestDialKernelErrors are events that end a dial.
func TestDialKernelErrors(t *testing.T) {
	for _, tc := range []struct {
		name    string
		mute    uint32
		event   abi.RDMACMEventType
		status  int32
		match   error
		timeout bool
	}{
		{"neighbour", abi.RDMA_USER_CM_CMD_RESOLVE_ADDR, abi.RDMA_CM_EVENT_ADDR_ERROR, -110, syscall.ETIMEDOUT, true},
		{"no RDMA there", abi.RDMA_USER_CM_CMD_RESOLVE_ADDR, abi.RDMA_CM_EVENT_ADDR_ERROR, -19, ErrNoDevice, false},
		{"no path", abi.RDMA_USER_CM_CMD_RESOLVE_ROUTE, abi.RDMA_CM_EVENT_ROUTE_ERROR, -22, syscall.EINVAL, false},
		{"silent peer", abi.RDMA_USER_CM_CMD_CONNECT, abi.RDMA_CM_EVENT_UNREACHABLE, -110, syscall.ETIMEDOUT, true},
		{"refused", abi.RDMA_USER_CM_CMD_CONNECT, abi.RDMA_CM_EVENT_REJECTED, 10, ErrRejected, false},
		{"iWARP refused", abi.RDMA_USER_CM_CMD_CONNECT, abi.RDMA_CM_EVENT_REJECTED, -111, ErrRejected, false},
		{"removed", abi.RDMA_USER_CM_CMD_CONNECT, abi.RDMA_CM_EVENT_DEVICE_REMOVAL, 0, ErrDeviceRemoved, false},
		{"removed early", abi.RDMA_USER_CM_CMD_RESOLVE_ADDR, abi.RDMA_CM_EVENT_DEVICE_REMOVAL, 0, ErrDeviceRemoved, false},
		{"error", abi.RDMA_USER_CM_CMD_CONNECT, abi.RDMA_CM_EVENT_CONNECT_ERROR, -5, syscall.EIO, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRig(t)
			r.cm.After = func(c fakecm.Call) {
				if c.Cmd == tc.mute {
					r.cm.InjectType(c.ID, tc.event, tc.status)
				}
			}
			r.cm.Mute(tc.mute)
			_, err := Dial(testContext(t), serverAddr.String())
			wants(t, err, tc.match)
			var oe *OpError
			if !errors.As(err, &oe) || oe.Timeout() != tc.timeout {
				t.Errorf("got %#v", err)
			}
		})
	}
}

// TestDialCancelledWhileSucceeding cancels when the connection is up in the
// kernel but not in the caller's hands: it is torn down again, at once.
func TestDialCancelledWhileSucceeding(t *testing.T) {
	r := newRig(t)
	ctx, cancel := context.WithCancel(t.Context())
	l := r.listen(nil)
	dialed := async(func() (*Conn, error) {
		d := &Dialer{Config: &Config{CloseTimeout: time.Minute}, OnStep: func(s Step) {
			if s.Name == stepEstablish {
				cancel()
			}
		}}
		return d.DialAddr(ctx, serverAddr)
	})
	req, err := l.Accept(testContext(t))
	if err != nil {
		t.Fatal(err)
	}
	server, err := req.Accept(testContext(t), &AcceptOptions{Config: quick})
	if err != nil {
		t.Fatal(err)
	}
	c, err := get(t, dialed)
	if c != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, %v", c, err)
	}
	waitEnd(t, server)
	wants(t, server.Err(), ErrPeerClosed)
	if err := server.Close(); err != nil {
		t.Error(err)
	}
}

// TestDialCancelAtEachCall cancels the context at each call of a dial: it fails with
// the context's error, unless it was through already.
func TestDialCancelAtEachCall(t *testing.T) {
	before := 0
	for at := 1; at <= 30; at++ {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			if cancelDialAt(t, int32(at)) {
				before++
			}
		})
	}
	if before < 10 {
		t.Errorf("%d dials were cancelled before their last step", before)
	}
}

// cancelDialAt reports whether the context ended before the dial's last step.
func cancelDialAt(t *testing.T, at int32) bool {
	r := newRig(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var n atomic.Int32
	var dialing, through, before atomic.Bool
	r.cm.Before = func(fakecm.Call) error {
		if dialing.Load() && n.Add(1) == at {
			cancel()
			before.Store(!through.Load())
		}
		return nil
	}
	l := r.listen(&ListenConfig{Config: quick})
	acceptCtx, cancelAccept := context.WithCancel(testContext(t))
	defer cancelAccept()
	serving := async(func() (int, error) {
		req, err := l.Accept(acceptCtx)
		if err != nil {
			return 0, nil
		}
		c, err := req.Accept(acceptCtx, nil)
		if err != nil {
			return 0, nil
		}
		<-c.Done()
		return 0, c.Close()
	})
	dialing.Store(true)
	d := &Dialer{Config: quick, OnStep: func(s Step) {
		if s.Name == stepEstablish {
			through.Store(true)
		}
	}}
	c, err := d.DialAddr(ctx, serverAddr)
	dialing.Store(false)
	if err != nil {
		cancelAccept() // not before, or the dial could hear of that first
	}
	switch {
	case err == nil:
		if before.Load() {
			t.Error("the context ended, and the dial went on")
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	case !errors.Is(err, context.Canceled):
		t.Error(err)
	}
	cancel()
	if _, err := get(t, serving); err != nil {
		t.Errorf("server: %v", err)
	}
	return before.Load()
}

// TestDeviceRemovalDuringHandshake tears down once.
func TestDeviceRemovalDuringHandshake(t *testing.T) {
	for i := range 20 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			r := newRig(t)
			r.cm.After = func(c fakecm.Call) {
				if c.Cmd == abi.RDMA_USER_CM_CMD_CONNECT {
					r.cm.RemoveDevice(fakecm.DefaultDevice.Index)
					r.verbs.Remove()
				}
			}
			r.cm.Mute(abi.RDMA_USER_CM_CMD_CONNECT)
			_, err := Dial(testContext(t), serverAddr.String())
			wants(t, err, ErrDeviceRemoved)
			wantsText(t, err, "connect: ")
		})
	}
}

func TestResolve(t *testing.T) {
	for _, tc := range []struct {
		in, want string
		err      error
	}{
		{"10.0.0.1:7174", "10.0.0.1:7174", nil},
		{"[::ffff:10.0.0.1]:1", "10.0.0.1:1", nil},
		{"[fe80::1%3]:1", "[fe80::1%3]:1", nil},
		{":7174", "[::]:7174", nil},
		{"10.0.0.1:-1", "", syscall.EINVAL},
		{"10.0.0.1:70000", "", syscall.EINVAL},
		{"10.0.0.1:", "", syscall.EINVAL},
	} {
		got, err := resolve(testContext(t), tc.in)
		if !errors.Is(err, tc.err) || (err == nil) != (tc.err == nil) {
			t.Errorf("%s: %v", tc.in, err)
		}
		if err == nil && (len(got) != 1 || got[0].String() != tc.want) {
			t.Errorf("%s: got %v", tc.in, got)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Dial(ctx, "name.invalid:1")
	var oe *OpError
	if !errors.As(err, &oe) || oe.Step != stepResolveName {
		t.Errorf("got %#v", err)
	}
}

// TestDialSeveralAddresses tries them in turn and reports each failure.
func TestDialSeveralAddresses(t *testing.T) {
	r := newRig(t)
	l := r.listen(nil)
	addrs := []netip.AddrPort{netip.MustParseAddrPort("203.0.113.1:7174"), serverAddr}
	dialed := async(func() (*Conn, error) { return (&Dialer{Config: quick}).race(testContext(t), addrs) })
	client, server := r.accept(l, dialed, &AcceptOptions{Config: quick})
	if err := errors.Join(client.Close(), server.Close(), l.Close()); err != nil {
		t.Error(err)
	}
	_, err := new(Dialer).race(testContext(t), addrs)
	wants(t, err, syscall.ENETUNREACH, ErrNoListener)
}

// TestDialStale: a peer that still knows the queue pair number gets another
// one, and after eight it is an error. All numbers are given back.
func TestDialStale(t *testing.T) {
	for _, refusals := range []int32{1, 3, 8, 100} {
		t.Run(fmt.Sprint(refusals), func(t *testing.T) {
			r := newRig(t)
			var n atomic.Int32
			tried := 0
			r.cm.Before = func(c fakecm.Call) error {
				if c.Cmd == abi.RDMA_USER_CM_CMD_CONNECT && n.Add(1) <= refusals {
					r.cm.Mute(c.Cmd)
				}
				return nil
			}
			r.cm.After = func(c fakecm.Call) {
				if c.Cmd == abi.RDMA_USER_CM_CMD_CONNECT && n.Load() <= refusals {
					r.cm.Unmute()
					r.cm.InjectType(c.ID, abi.RDMA_CM_EVENT_REJECTED, int32(abi.IB_CM_REJ_STALE_CONN))
				}
			}
			l := r.listen(&ListenConfig{Config: quick})
			ctx, cancel := context.WithCancel(testContext(t))
			defer cancel()
			serving := async(func() (*Conn, error) {
				req, err := l.Accept(ctx)
				if err != nil {
					return nil, err
				}
				return req.Accept(ctx, nil)
			})
			client, err := (&Dialer{Config: quick, OnStep: func(s Step) {
				if s.Name == stepQueuePair {
					tried++
				}
			}}).DialAddr(ctx, serverAddr)
			if refusals > maxStale {
				wants(t, err, ErrRejected)
				wantsText(t, err, "stale connection")
				cancel()
				_, err = get(t, serving)
				wants(t, err, context.Canceled)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if tried != int(refusals)+1 {
				t.Errorf("%d queue pairs after %d refusals", tried, refusals)
			}
			server, err := get(t, serving)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(client.Close(), server.Close()); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestDialStaleFixedPort: with a local port of the caller's choice there is no second
// attempt, for which the first would have to keep the port.
func TestDialStaleFixedPort(t *testing.T) {
	r := newRig(t)
	var tries atomic.Int32
	r.cm.Before = func(c fakecm.Call) error {
		if c.Cmd == abi.RDMA_USER_CM_CMD_CONNECT {
			tries.Add(1)
			r.cm.Mute(c.Cmd)
		}
		return nil
	}
	r.cm.After = func(c fakecm.Call) {
		if c.Cmd == abi.RDMA_USER_CM_CMD_CONNECT {
			r.cm.InjectType(c.ID, abi.RDMA_CM_EVENT_REJECTED, int32(abi.IB_CM_REJ_STALE_CONN))
		}
	}
	d := &Dialer{Config: quick, LocalAddr: netip.AddrPortFrom(serverAddr.Addr(), 40000)}
	_, err := d.DialAddr(testContext(t), serverAddr)
	wants(t, err, ErrRejected)
	wantsText(t, err, "stale connection")
	if n := tries.Load(); n != 1 {
		t.Errorf("%d attempts", n)
	}
}
