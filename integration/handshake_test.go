//go:build linux

package integration

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/cm"
)

// TestHandshakePrivateData carries data both ways at every limit; one byte
// more is refused before anything is sent (parity scenario 46).
func TestHandshakePrivateData(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	l := listenOn(t, addrV4+":0", nil)
	sizes := [][2]int{{0, 0}, {1, 1}, {cm.MaxConnectData / 2, cm.MaxAcceptData / 2}, {cm.MaxConnectData, cm.MaxAcceptData}}
	if onIWARP() {
		sizes = append(sizes, [2]int{cm.MaxConnectData + 1, cm.MaxAcceptData + 1}, [2]int{cm.MaxIWARPData, cm.MaxIWARPData})
	}
	for _, n := range sizes {
		hello, welcome := make([]byte, n[0]), make([]byte, n[1])
		pattern(hello, 1)
		pattern(welcome, 2)
		client, server, req := connect(t, l, &cm.Dialer{PrivateData: hello}, &cm.AcceptOptions{PrivateData: welcome})
		wantPadded(t, "request", req.PrivateData(), hello, cm.MaxConnectData)
		wantPadded(t, "connection", server.PrivateData(), hello, cm.MaxConnectData)
		wantPadded(t, "answer", client.PrivateData(), welcome, cm.MaxAcceptData)
	}
	_, err := (&cm.Dialer{PrivateData: make([]byte, mostData(cm.OpConnect)+1)}).Dial(testContext(t), l.Addr().String())
	wantTooMuch(t, cm.OpConnect, err)
	// Nothing of it was sent: the next request is that of the next dial.
	_, _, req := connect(t, l, &cm.Dialer{PrivateData: []byte("next")}, nil)
	wantPadded(t, "request after the refusal", req.PrivateData(), []byte("next"), cm.MaxConnectData)
}

// wantTooMuch wants an error that tells the limit of the guest's transport.
func wantTooMuch(t *testing.T, op cm.Op, err error) {
	t.Helper()
	limit := fmt.Sprintf(" %d", mostData(op))
	if !errors.Is(err, syscall.EINVAL) || !strings.Contains(err.Error(), limit) {
		t.Errorf("%v with too much private data: %v, want %q", op, err, limit)
	}
}

func wantPadded(t *testing.T, what string, got, want []byte, size int) {
	t.Helper()
	if onIWARP() {
		size = len(want) // which the wire carries
	}
	padded := make([]byte, size)
	copy(padded, want)
	if !bytes.Equal(got, padded) {
		t.Errorf("%s: %d bytes of private data, want %d padded to %d", what, len(got), len(want), size)
	}
}

// TestHandshakeBadAccept: a mistake in the parameters does not reject the peer.
func TestHandshakeBadAccept(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	ctx := testContext(t)
	l := listenOn(t, addrV4+":0", nil)
	ch := make(chan accepted, 1)
	go func() {
		r, err := l.Accept(ctx)
		if err != nil {
			ch <- accepted{err: err}
			return
		}
		_, err = r.Accept(ctx, &cm.AcceptOptions{PrivateData: make([]byte, mostData(cm.OpAccept)+1)})
		wantTooMuch(t, cm.OpAccept, err)
		wantTooMuch(t, cm.OpReject, r.Reject(make([]byte, mostData(cm.OpReject)+1)))
		c, err := r.Accept(ctx, nil)
		ch <- accepted{conn: c, err: err}
	}()
	client, err := cm.Dial(ctx, l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	a := <-ch
	if a.err != nil {
		t.Fatal(a.err)
	}
	defer a.conn.Close()
	exchange(t, client, a.conn, 10)
}

// TestHandshakeReject: reason and data reach the dialer (parity scenario 3).
func TestHandshakeReject(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	ctx := testContext(t)
	l := listenOn(t, addrV4+":0", nil)
	text := "v2 only" + strings.Repeat(".", mostData(cm.OpReject)-7)
	go func() {
		r, err := l.Accept(ctx)
		if err == nil {
			err = r.Reject([]byte(text))
		}
		if err != nil {
			t.Error(err)
		}
	}()
	_, err := cm.Dial(ctx, l.Addr().String())
	var rej *cm.RejectError
	want := abi.IB_CM_REJ_CONSUMER_DEFINED
	if onIWARP() {
		want = iwarpReason(syscall.ECONNRESET)
	}
	if !errors.As(err, &rej) || rej.Reason != want || rej.Text() != text {
		t.Fatalf("rejected dial: %v", err)
	}
	if !errors.Is(err, cm.ErrRejected) || errors.Is(err, cm.ErrNoListener) {
		t.Fatalf("wrong class: %v", err)
	}
}

// TestHandshakeNoListener says so by name in under a second (parity scenario 44).
func TestHandshakeNoListener(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	var err error
	inTime(t, "the refusal", time.Second, func() { _, err = cm.Dial(testContext(t), addrV4+":9") })
	var rej *cm.RejectError
	want := abi.IB_CM_REJ_INVALID_SERVICE_ID
	if onIWARP() {
		want = iwarpReason(syscall.ECONNREFUSED)
	}
	if !errors.As(err, &rej) || rej.Reason != want || !errors.Is(err, cm.ErrNoListener) {
		t.Fatalf("dial without listener: %v", err)
	}
	if !onIWARP() && !strings.Contains(err.Error(), "no listener on that port") {
		t.Errorf("text: %v", err)
	}
}

// TestHandshakeSilent: nobody has the address; the dial ends with its context
// (parity scenarios 42, 45).
func TestHandshakeSilent(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	const deadline = 1500 * time.Millisecond
	inTime(t, "a dial with a deadline of 1.5 s", deadline+time.Second, func() {
		ctx, cancel := context.WithTimeout(context.Background(), deadline)
		defer cancel()
		start := time.Now()
		_, err := cm.Dial(ctx, addrSilent+":7471")
		var oe *cm.OpError
		if !errors.As(err, &oe) || !oe.Timeout() || !errors.Is(err, context.DeadlineExceeded) || oe.Step != "resolve address" {
			t.Fatalf("dial to nobody: %v", err)
		}
		if took := time.Since(start); took < deadline {
			t.Errorf("took %v with a deadline of 1.5 s", took)
		}
	})
}

// TestHandshakeUnreachable: no route fails at once.
func TestHandshakeUnreachable(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	inTime(t, "a dial without route", time.Second, func() {
		if _, err := cm.Dial(testContext(t), "192.0.2.1:7471"); !errors.Is(err, syscall.ENETUNREACH) {
			t.Fatalf("dial without route: %v", err)
		}
	})
}

// TestHandshakeLoopback is refused with an explanation, both ways (parity
// scenario 41).
func TestHandshakeLoopback(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	for _, host := range []string{"127.0.0.1", "[::1]"} {
		if _, err := cm.Dial(testContext(t), host+":7471"); !errors.Is(err, cm.ErrLoopback) {
			t.Errorf("dial %s: %v", host, err)
		}
		if _, err := cm.Listen(testContext(t), host+":7471", nil); !errors.Is(err, cm.ErrLoopback) {
			t.Errorf("listen %s: %v", host, err)
		}
	}
}

// TestListenErrors covers the ways in which binding fails (parity scenario 36).
func TestListenErrors(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	l := listenOn(t, addrV4+":7479", nil)
	tests := []struct {
		name, address string
		want          error
	}{
		{"same address", l.Addr().String(), cm.ErrAddrInUse},
		{"same address, errno", l.Addr().String(), syscall.EADDRINUSE},
		{"wildcard over it", "0.0.0.0:7479", cm.ErrAddrInUse},
		{"wildcard over it, errno", "0.0.0.0:7479", syscall.EADDRINUSE},
		{"not our address", "192.0.2.1:7479", syscall.EADDRNOTAVAIL},
		{"link-local without zone", "[fe80::1]:7479", syscall.EINVAL},
		{"unknown zone", "[fe80::1%nosuch0]:7479", syscall.ENODEV},
		{"port too large", addrV4 + ":70000", syscall.EINVAL},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l, err := cm.Listen(testContext(t), tt.address, nil)
			if err == nil {
				l.Close()
			}
			if !errors.Is(err, tt.want) {
				t.Fatalf("listen %s: %v, want %v", tt.address, err, tt.want)
			}
		})
	}
}

// TestListenerClose rejects what waits, and frees the port at once (parity
// scenario 51).
func TestListenerClose(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	ctx := testContext(t)
	l := listenOn(t, addrV4+":0", nil)
	address := l.Addr().String()
	const dials = 5
	results := make(chan error, dials)
	for range dials {
		go func() {
			c, err := cm.Dial(ctx, address)
			if err == nil {
				c.Close()
			}
			results <- err
		}()
	}
	time.Sleep(300 * time.Millisecond) // requests wait, or are on their way: both must end
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for range dials {
		if err := <-results; !errors.Is(err, cm.ErrRejected) {
			t.Errorf("dial to a closed listener: %v", err)
		}
	}
	if _, err := l.Accept(ctx); !errors.Is(err, net.ErrClosed) {
		t.Errorf("accept after close: %v", err)
	}
	again, err := cm.Listen(ctx, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	closeAll(t, again)
}

type closer interface{ Close() error }

func closeAll(t *testing.T, cs ...closer) {
	t.Helper()
	for _, c := range cs {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestListenerDrains: requests are fetched at once, so that none is lost to
// the kernel's backlog although nobody accepts (parity scenario 50).
func TestListenerDrains(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	ctx := testContext(t)
	l := listenOn(t, addrV4+":0", nil)
	const dials = 24
	ids := kernelObjects(t, "cm_id")
	results := make(chan error, dials)
	for i := range dials {
		go func() {
			c, err := (&cm.Dialer{PrivateData: []byte{byte(i)}}).Dial(ctx, l.Addr().String())
			if err == nil {
				err = c.Close()
			}
			results <- err
		}()
	}
	waitForObjects(ctx, t, "cm_id", ids+2*dials) // one of each dial, and one of its request
	seen := make(map[byte]bool)
	var wg sync.WaitGroup
	for range dials {
		r, err := l.Accept(ctx)
		if err != nil {
			t.Fatal(err)
		}
		seen[r.PrivateData()[0]] = true
		wg.Go(func() {
			c, err := r.Accept(ctx, nil)
			if err != nil {
				t.Error(err)
				return
			}
			<-c.Done()
			closeConn(t, c)
		})
	}
	for range dials {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	wg.Wait()
	if len(seen) != dials {
		t.Errorf("%d different requests of %d", len(seen), dials)
	}
}

// TestListenerBusy: beyond the backlog peers are told at once.
func TestListenerBusy(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	ctx, cancel := context.WithCancel(testContext(t))
	defer cancel()
	l := listenOn(t, addrV4+":0", &cm.ListenConfig{Backlog: 1})
	const dials = 4
	results := make(chan error, dials)
	for range dials {
		go func() {
			c, err := cm.Dial(ctx, l.Addr().String())
			if err == nil {
				err = c.Close()
			}
			results <- err
		}()
	}
	for range dials - 1 {
		var rej *cm.RejectError
		if err := <-results; !errors.As(err, &rej) || rej.Text() != "busy" || !errors.Is(err, cm.ErrBusy) {
			t.Errorf("dial: %v", err)
		}
	}
	if n := l.Busy(); n != dials-1 {
		t.Errorf("the listener has told %d peers that it is busy, want %d", n, dials-1)
	}
	// The one that waits is not lost.
	req, err := l.Accept(ctx)
	if err != nil {
		t.Fatal(err)
	}
	c, err := req.Accept(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer closeConn(t, c)
	if err := <-results; err != nil {
		t.Errorf("the dial that waits: %v", err)
	}
}

// TestCycles is a long run of short connections, sixteen at a time; the leak
// check is the point. RDMA_CYCLES changes the number.
func TestCycles(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	cycles := countFrom(t, "RDMA_CYCLES", 1000)
	ctx, cancel := context.WithTimeout(context.Background(), testTime+time.Duration(cycles)*time.Second)
	defer cancel()
	l := listenOn(t, addrV4+":0", nil)
	echoed := make(chan struct{})
	go func() {
		defer close(echoed)
		serveEcho(ctx, t, l)
	}()
	work := make(chan int)
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for i := range work {
				if err := cycle(ctx, l.Addr().String(), i); err != nil {
					t.Errorf("cycle %d: %v", i, err)
				}
			}
		})
	}
	start := time.Now()
	for i := range cycles {
		work <- i
	}
	close(work)
	wg.Wait()
	t.Logf("%d cycles in %v", cycles, time.Since(start).Round(time.Millisecond))
	closeAll(t, l)
	<-echoed
}

// cycle dials, pings and closes.
func cycle(ctx context.Context, address string, i int) error {
	c, err := cm.Dial(ctx, address)
	if err != nil {
		return err
	}
	err = pingConn(ctx, c, fmt.Sprint("ping ", i))
	if closeErr := c.Close(); err == nil {
		err = closeErr
	}
	return err
}

// serveEcho accepts until the listener closes and echoes messages.
func serveEcho(ctx context.Context, t *testing.T, l *cm.Listener) {
	var wg sync.WaitGroup
	defer wg.Wait()
	for {
		r, err := l.Accept(ctx)
		if err != nil {
			if !errors.Is(err, net.ErrClosed) {
				t.Error(err)
			}
			return
		}
		wg.Go(func() {
			c, err := r.Accept(ctx, nil)
			if err != nil {
				t.Errorf("accept: %v", err)
				return
			}
			defer closeConn(t, c)
			for {
				m, err := c.Recv(ctx)
				if err != nil {
					if !errors.Is(err, cm.ErrPeerClosed) {
						t.Errorf("echo: %v", err)
					}
					return
				}
				if err := c.SendCopy(ctx, m.Data); err != nil && !errors.Is(err, cm.ErrPeerClosed) {
					t.Errorf("echo: %v", err)
				}
				_ = m.Release()
			}
		})
	}
}
