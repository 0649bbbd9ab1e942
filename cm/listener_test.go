package cm

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/fakecm"
	"github.com/purerdma/rdma/ucma"
)

func TestListenErrors(t *testing.T) {
	r := newRig(t)
	r.cm.Unprivileged = true
	r.listen(nil)
	for _, tc := range []struct {
		addr  string
		cfg   *ListenConfig
		match []error
		text  string
	}{
		{"10.0.0.1:7174", nil, []error{ErrAddrInUse, syscall.EADDRINUSE}, "bind: RDMA port in use"},
		{"0.0.0.0:7174", nil, []error{ErrAddrInUse, syscall.EADDRINUSE, syscall.EADDRNOTAVAIL}, "bind"},
		{"[::]:7174", nil, []error{ErrAddrInUse, syscall.EADDRINUSE}, "bind"},
		{"192.0.2.1:1", nil, []error{syscall.EADDRNOTAVAIL}, "no interface here has that address"},
		{"127.0.0.1:7174", nil, []error{ErrLoopback, syscall.EADDRNOTAVAIL}, "loopback"},
		{"[::1]:7174", nil, []error{ErrLoopback}, "loopback"},
		{"[fe80::1]:7174", nil, []error{syscall.EINVAL}, "needs a zone"},
		{"10.0.0.1:80", nil, []error{syscall.EACCES, os.ErrPermission}, "CAP_NET_BIND_SERVICE"},
		{"10.0.0.1:0", &ListenConfig{Backlog: -1}, []error{syscall.EINVAL}, "backlog -1"},
		{"10.0.0.1:0", &ListenConfig{Config: &Config{SendDepth: -1}}, []error{syscall.EINVAL}, "SendDepth"},
	} {
		t.Run(tc.addr, func(t *testing.T) {
			l, err := ListenAddr(netip.MustParseAddrPort(tc.addr), tc.cfg)
			if err == nil {
				_ = l.Close()
				t.Fatal("listens")
			}
			var oe *OpError
			if !errors.As(err, &oe) || oe.Op != "listen" || oe.Local == nil || oe.Local.String() != tc.addr {
				t.Errorf("got %#v", err)
			}
			wants(t, err, tc.match...)
			wantsText(t, err, "listen "+tc.addr, tc.text)
			if got, want := errors.Is(err, ErrAddrInUse), errors.Is(tc.match[0], ErrAddrInUse); got != want {
				t.Errorf("in use is %v: %v", got, err)
			}
			if errors.Is(err, ucma.ErrCredentialsChanged) {
				t.Errorf("blames the credentials: %v", err)
			}
		})
	}
	for _, address := range []string{"10.0.0.1", "10.0.0.1:http", "10.0.0.1:65536", "[fe80::1%nosuch]:1"} {
		_, err := Listen(testContext(t), address, nil)
		var oe *OpError
		if !errors.As(err, &oe) || oe.Op != "listen" {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestListenPortZero(t *testing.T) {
	r := newRig(t)
	l, err := Listen(testContext(t), "10.0.0.1:0", &ListenConfig{AFOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if a := l.Addr().(Addr); a.Port() == 0 || a.Addr() != serverAddr.Addr() || l.ID() == nil {
		t.Errorf("address %v", l.Addr())
	}
	_ = r
}

// dialInto starts a dial and waits until its request has been queued.
func (r *rig) dialInto(l *Listener, queued int) <-chan result[*Conn] {
	c := async(func() (*Conn, error) { return (&Dialer{Config: quick}).DialAddr(testContext(r.t), serverAddr) })
	waitFor(r.t, func() bool { return len(l.queue) == queued })
	return c
}

// TestBacklog: what does not fit is rejected at once, and says why.
func TestBacklog(t *testing.T) {
	r := newRig(t)
	l := r.listen(&ListenConfig{Backlog: 2, Config: quick})
	first, second := r.dialInto(l, 1), r.dialInto(l, 2)
	_, err := (&Dialer{}).DialAddr(testContext(t), serverAddr)
	wants(t, err, ErrRejected, syscall.ECONNREFUSED)
	wantsText(t, err, `"busy"`)
	var re *RejectError
	if !errors.As(err, &re) || re.Text() != "busy" || errors.Is(err, ErrNoListener) || l.Busy() != 1 {
		t.Errorf("got %v, %d rejected", err, l.Busy())
	}
	for _, c := range []<-chan result[*Conn]{first, second} {
		req, err := l.Accept(testContext(t))
		if err != nil {
			t.Fatal(err)
		}
		if err := req.Reject([]byte("not today")); err != nil {
			t.Error(err)
		}
		_, err = get(t, c)
		wants(t, err, ErrRejected)
		wantsText(t, err, "dial 10.0.0.1:", "-> 10.0.0.1:7174 via rxe0: connect: rejected by peer", `"not today"`)
	}
}

// TestListenerClose rejects what nobody accepted, and ends all waits.
func TestListenerClose(t *testing.T) {
	r := newRig(t)
	l, err := ListenAddr(serverAddr, nil)
	if err != nil {
		t.Fatal(err)
	}
	client, server := r.pair(l, &Dialer{Config: quick})
	pending := r.dialInto(l, 1)
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			if err := l.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	_, err = get(t, pending)
	wants(t, err, ErrRejected)
	wg.Wait()
	_, err = l.Accept(testContext(t))
	wants(t, err, net.ErrClosed)
	// Accepted connections live on.
	if err := client.SendCopy(testContext(t), []byte("x")); err != nil {
		t.Error(err)
	}
	if _, err := server.RecvCopy(testContext(t), make([]byte, 1)); err != nil {
		t.Error(err)
	}
	// The port is free again.
	r.listen(nil)
}

func TestListenerCloseWakesAccept(t *testing.T) {
	r := newRig(t)
	l := r.listen(nil)
	var waits []<-chan result[*Request]
	for range 4 {
		waits = append(waits, async(func() (*Request, error) { return l.Accept(context.Background()) }))
	}
	time.Sleep(time.Millisecond)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for _, w := range waits {
		_, err := get(t, w)
		wants(t, err, net.ErrClosed)
		wantsText(t, err, "accept 10.0.0.1:7174")
	}
}

// TestListenerIDClosed: closing the ID under a listener ends its waits too.
func TestListenerIDClosed(t *testing.T) {
	r := newRig(t)
	l := r.listen(nil)
	accepting := async(func() (*Request, error) { return l.Accept(context.Background()) })
	if err := l.ID().Close(); err != nil {
		t.Fatal(err)
	}
	_, err := get(t, accepting)
	wants(t, err, net.ErrClosed)
}

func TestAcceptContext(t *testing.T) {
	r := newRig(t)
	l := r.listen(nil)
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	_, err := l.Accept(ctx)
	var oe *OpError
	if !errors.As(err, &oe) || !oe.Timeout() || oe.Op != "accept" {
		t.Errorf("got %v", err)
	}
}

// TestListenFailsLate: requests that came before the failure are rejected.
func TestListenFailsLate(t *testing.T) {
	r := newRig(t)
	var l2 atomic.Bool
	dialed := make(chan (<-chan result[*Conn]), 1)
	r.cm.Before = func(c fakecm.Call) error {
		if c.Cmd == abi.RDMA_USER_CM_CMD_QUERY_ROUTE && l2.CompareAndSwap(true, false) {
			d := async(func() (*Conn, error) { return (&Dialer{Config: quick}).DialAddr(testContext(t), serverAddr) })
			waitFor(t, func() bool { _, requests := r.cm.Handles(); return len(requests) == 1 })
			dialed <- d
			return syscall.ENOMEM
		}
		return nil
	}
	l2.Store(true)
	_, err := ListenAddr(serverAddr, nil)
	wants(t, err, syscall.ENOMEM)
	_, err = get(t, <-dialed)
	wants(t, err, ErrRejected)
}

// TestPeerGone: the client gave up before the server answered.
func TestPeerGone(t *testing.T) {
	r := newRig(t)
	l := r.listen(nil)
	ctx, cancel := context.WithCancel(t.Context())
	dialed := async(func() (*Conn, error) { return new(Dialer).DialAddr(ctx, serverAddr) })
	req, err := l.Accept(testContext(t))
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	_, err = get(t, dialed)
	wants(t, err, context.Canceled)
	wantsText(t, err, "connect: context canceled")
	_, err = req.Accept(testContext(t), nil)
	wants(t, err, ErrPeerGone, syscall.EINVAL)
	wantsText(t, err, "accept 10.0.0.1:7174 -> 10.0.0.1:", "peer gave up")
	if err := req.Close(); err != nil {
		t.Error(err)
	}
}

// TestUnanswered: Close of a request rejects it.
func TestRequestClose(t *testing.T) {
	r := newRig(t)
	l := r.listen(nil)
	pending := r.dialInto(l, 1)
	req, err := l.Accept(testContext(t))
	if err != nil {
		t.Fatal(err)
	}
	if req.LocalAddr().String() != serverAddr.String() || req.RemoteAddr() == nil || !bytes.Equal(req.PrivateData(), make([]byte, MaxConnectData)) {
		t.Errorf("request from %v to %v with %q", req.RemoteAddr(), req.LocalAddr(), req.PrivateData())
	}
	for range 2 {
		if err := req.Close(); err != nil {
			t.Error(err)
		}
	}
	_, err = get(t, pending)
	wants(t, err, ErrRejected)
	_, err = req.Accept(testContext(t), nil)
	wants(t, err, net.ErrClosed)
}

// TestAnsweredOnce lets two goroutines answer: one of them does.
func TestAnsweredOnce(t *testing.T) {
	r := newRig(t)
	l := r.listen(&ListenConfig{Config: quick})
	for range 20 {
		pending := r.dialInto(l, 1)
		req, err := l.Accept(testContext(t))
		if err != nil {
			t.Fatal(err)
		}
		rejecting := async(func() (int, error) { return 0, req.Reject(nil) })
		server, acceptErr := req.Accept(testContext(t), nil)
		_, rejectErr := get(t, rejecting)
		client, dialErr := get(t, pending)
		if (acceptErr == nil) == (rejectErr == nil) || (acceptErr == nil) != (dialErr == nil) {
			t.Fatalf("accept %v, reject %v, dial %v", acceptErr, rejectErr, dialErr)
		}
		if acceptErr == nil {
			if err := errors.Join(client.Close(), server.Close()); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestAcceptCancelled: the peer never confirms, the accept ends with its
// context, and the peer is told.
func TestAcceptCancelled(t *testing.T) {
	r := newRig(t)
	l := r.listen(nil)
	r.cm.Mute(abi.RDMA_USER_CM_CMD_ACCEPT)
	pending := r.dialInto(l, 1)
	req, err := l.Accept(testContext(t))
	if err != nil {
		t.Fatal(err)
	}
	ctx, expire := expiring(t)
	r.cm.After = func(c fakecm.Call) {
		if c.Cmd == abi.RDMA_USER_CM_CMD_ACCEPT {
			expire()
		}
	}
	_, err = req.Accept(ctx, nil)
	wants(t, err, context.DeadlineExceeded)
	wantsText(t, err, "accept: context deadline exceeded", "did not confirm")
	_, err = get(t, pending)
	wants(t, err, ErrRejected)
}

// TestDataBeforeConfirmation: the confirmation is lost, the first message
// establishes the connection.
func TestDataBeforeConfirmation(t *testing.T) {
	r := newRig(t)
	l := r.listen(nil)
	ctx := testContext(t)
	pending := async(func() (*Conn, error) {
		d := &Dialer{Config: quick, OnStep: func(s Step) {
			if s.Name == stepConnect {
				r.cm.Mute(abi.RDMA_USER_CM_CMD_ACCEPT) // the next one is the confirmation
			}
		}}
		return d.DialAddr(ctx, serverAddr)
	})
	req, err := l.Accept(ctx)
	if err != nil {
		t.Fatal(err)
	}
	accepting := async(func() (*Conn, error) { return req.Accept(ctx, &AcceptOptions{Config: quick}) })
	client, err := get(t, pending)
	if err != nil {
		t.Fatal(err)
	}
	if err := client.SendCopy(ctx, []byte("early")); err != nil {
		t.Fatal(err)
	}
	server, err := get(t, accepting)
	if err != nil {
		t.Fatal(err)
	}
	r.cm.Unmute()
	if text, err := recvText(ctx, server); err != nil || text != "early" {
		t.Errorf("got %v", err)
	}
	if err := errors.Join(client.Close(), server.Close()); err != nil {
		t.Error(err)
	}
}
