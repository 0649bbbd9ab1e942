//go:build linux

package integration

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/ucma"
)

// TestIDReadLimits: each side sees the limits of reads from its own point of
// view, and retry counts are cut to 7 (parity scenarios 47, 48).
func TestIDReadLimits(t *testing.T) {
	qps := idsQPs(t)
	l, dst := idsListen(t, nil)
	a := idsResolved(t, nil, dst)
	p := qps.param(a)
	p.SetReads(5, 3)
	p.RetryCount, p.RNRRetryCount = 9, 9
	answer := idsConnect(testContext(t), a, p, ucma.ECE{})
	b, ev := idsRequest(t, l)
	got := ev.Conn()
	retries := uint8(7)
	if onIWARP() {
		retries = 0 // TCP sends again
	}
	if got.LocalReads() != 3 || got.PeerReads() != 5 || got.RetryCount != retries || got.RNRRetryCount != retries {
		t.Errorf("request %+v", got)
	}
	reply := qps.param(b)
	reply.SetReads(1, 2)
	if err := b.Accept(reply, ucma.ECE{}); err != nil {
		t.Fatal(err)
	}
	local, peer := uint8(2), uint8(1)
	if onIWARP() {
		// siw raises what is offered to what was asked for (siw_accept), and the
		// event has the two the wrong way round (siw_cm_upcall, cma_iw_handler).
		local, peer = 1, 5
	}
	r := <-answer
	if r.err != nil || r.param.LocalReads() != local || r.param.PeerReads() != peer {
		t.Errorf("answer %+v, %v", r.param, r.err)
	}
}

// TestIDStaleQPN: a queue pair number that the peer knows already is refused
// by name (parity scenario 49).
func TestIDStaleQPN(t *testing.T) {
	needsInfiniBand(t, "its wire carries no numbers of queue pairs")
	checkLeaks(t)
	ctx := testContext(t)
	l, dst := idsListen(t, nil)
	p := idsParam(0)
	first := idsConnect(ctx, idsResolved(t, nil, dst), p, ucma.ECE{})
	b, _ := idsRequest(t, l)
	if err := b.Accept(idsParam(0), ucma.ECE{}); err != nil {
		t.Fatal(err)
	}
	if r := <-first; r.err != nil {
		t.Fatal(r.err)
	}
	_, err := idsResolved(t, nil, dst).Connect(ctx, p, ucma.ECE{})
	var rej *cm.RejectError
	if !errors.As(err, &rej) || rej.Reason != abi.IB_CM_REJ_STALE_CONN {
		t.Errorf("second use: %v", err)
	}
}

// TestIDPeerGone: a client that left before the accept shows as such (parity
// scenario 52).
func TestIDPeerGone(t *testing.T) {
	needsInfiniBand(t, "there it takes the kernel ten seconds to see it (TestSiwPeerGone)")
	checkLeaks(t)
	l, dst := idsListen(t, nil)
	ctx, cancel := context.WithCancel(testContext(t))
	a := idsResolved(t, nil, dst)
	answer := idsConnect(ctx, a, idsParam(0), ucma.ECE{})
	b, _ := idsRequest(t, l)
	cancel()
	if r := <-answer; !errors.Is(r.err, context.Canceled) {
		t.Errorf("cancelled connect: %v", r.err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	awaitRequestGone(t, b)
	err := b.Accept(idsParam(0), ucma.ECE{})
	if !errors.Is(err, cm.ErrPeerGone) {
		t.Errorf("accept: %v", err)
	}
}

// awaitRequestGone waits until the kernel knows that the peer has taken its request
// back. It tells nobody before an accept (ucma_event_handler), but the path of such a
// request is no longer to be had (cm_init_qp_rtr_attr).
func awaitRequestGone(t *testing.T, id *cm.ID) {
	t.Helper()
	for ctx := testContext(t); ; time.Sleep(10 * time.Millisecond) {
		_, err := id.InitQPAttr(abi.IB_QPS_RTR)
		if errors.Is(err, syscall.EINVAL) {
			return
		}
		if err != nil || ctx.Err() != nil {
			t.Fatalf("the request does not go: %v", err)
		}
	}
}

// TestIDRefuseAnswer: the active side refuses the answer, or leaves after it
// (parity scenario 53).
func TestIDRefuseAnswer(t *testing.T) {
	needsInfiniBand(t, "there the answer establishes both sides (TestSiwIDs)")
	checkLeaks(t)
	ctx := testContext(t)
	l, dst := idsListen(t, nil)
	text := strings.Repeat("x", cm.MaxRejectData)
	for name, tc := range map[string]struct {
		leave func(*cm.ID) error
		text  string
	}{
		"reject": {func(a *cm.ID) error { return a.Reject([]byte(text)) }, text},
		"close":  {(*cm.ID).Close, "dial given up"},
	} {
		a := idsResolved(t, nil, dst)
		answer := idsConnect(ctx, a, idsParam(0), ucma.ECE{})
		b, _ := idsRequest(t, l)
		if err := b.Accept(idsParam(0), ucma.ECE{}); err != nil {
			t.Fatal(err)
		}
		if r := <-answer; r.err != nil {
			t.Fatal(r.err)
		}
		if err := a.Reject(make([]byte, cm.MaxRejectData+1)); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("too much private data: %v", err)
		}
		if err := tc.leave(a); err != nil {
			t.Fatal(err)
		}
		err := b.WaitEstablished(ctx)
		var rej *cm.RejectError
		if !errors.As(err, &rej) || rej.Reason != abi.IB_CM_REJ_CONSUMER_DEFINED || rej.Text() != tc.text {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestIDRejectECE: the peer sees that the option was the reason.
func TestIDRejectECE(t *testing.T) {
	qps := idsQPs(t)
	l, dst := idsListen(t, nil)
	a := idsResolved(t, nil, dst)
	answer := idsConnect(testContext(t), a, qps.param(a), ucma.ECE{VendorID: 1, AttrMod: 2})
	b, _ := idsRequest(t, l)
	if err := b.RejectECE([]byte("no")); err != nil {
		t.Fatal(err)
	}
	want := abi.IB_CM_REJ_VENDOR_OPTION_NOT_SUPPORTED
	if onIWARP() {
		want = iwarpReason(syscall.ECONNRESET) // the only one
	}
	var rej *cm.RejectError
	if r := <-answer; !errors.As(r.err, &rej) || rej.Reason != want || rej.Text() != "no" {
		t.Errorf("error %v", r.err)
	}
}

// TestIDDisconnect: both at once and twice succeeds, and both sides learn when
// the queue pair's number is free again (parity scenarios 55, 56).
func TestIDDisconnect(t *testing.T) {
	qps := idsQPs(t)
	l, dst := idsListen(t, nil)
	a, b := qps.pair(l, dst, nil)
	done := make(chan error, 1)
	go func() { done <- b.Disconnect() }()
	if err := errors.Join(a.Disconnect(), <-done, a.Disconnect(), b.Disconnect()); err != nil {
		t.Fatal(err)
	}
	for _, id := range []*cm.ID{a, b} {
		idsWant(t, id, abi.RDMA_CM_EVENT_DISCONNECTED)
		// The answer to the peer's wish, when the two have crossed.
		if err := id.Disconnect(); err != nil {
			t.Fatal(err)
		}
	}
	if onIWARP() {
		return // where a number is free at once
	}
	idsWant(t, a, abi.RDMA_CM_EVENT_TIMEWAIT_EXIT)
	idsWant(t, b, abi.RDMA_CM_EVENT_TIMEWAIT_EXIT)
}

// idsWant takes the next event and checks it.
func idsWant(t *testing.T, id *cm.ID, want abi.RDMACMEventType) {
	t.Helper()
	if ev, err := id.NextEvent(testContext(t)); err != nil || ev.Type != want || ev.Status != 0 {
		t.Errorf("event %v, status %d, %v; want %v", ev.Type, ev.Status, err, want)
	}
}

// TestIDWrongState: steps in a wrong state are refused and harm nothing
// (parity scenario 43).
func TestIDWrongState(t *testing.T) {
	qps := idsQPs(t)
	ctx := testContext(t)
	l, dst := idsListen(t, nil)
	a := idsResolved(t, nil, dst)
	for name, call := range map[string]func() error{
		"bind": func() error { return a.Bind(dst) }, "listen": func() error { return a.Listen(0) },
		"resolve":   func() error { return a.ResolveAddr(ctx, ucma.Sockaddr{}, dst) },
		"route":     func() error { return a.ResolveRoute(ctx) },
		"accept":    func() error { return a.Accept(idsParam(0), ucma.ECE{}) },
		"reject":    func() error { return a.Reject(nil) },
		"establish": a.Establish,
		"join":      func() error { _, err := a.JoinMulticast(ctx, sockaddr(t, "239.1.2.3:0"), nil); return err },
		"listener":  func() error { return l.ResolveAddr(ctx, ucma.Sockaddr{}, dst) },
		"datagram":  func() error { return a.AcceptDatagram(&cm.DatagramReply{}) },
	} {
		if err := call(); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("%s: %v", name, err)
		}
	}
	answer := idsConnect(ctx, a, qps.param(a), ucma.ECE{})
	b, _ := idsRequest(t, l)
	if err := b.Reject(nil); err != nil {
		t.Fatal(err)
	}
	if r := <-answer; !errors.Is(r.err, cm.ErrRejected) {
		t.Errorf("the ID is of no more use: %v", r.err)
	}
}
