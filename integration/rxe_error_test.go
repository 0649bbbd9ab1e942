//go:build linux

package integration

import (
	"context"
	"errors"
	"syscall"
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs"
)

// TestRxePostTooEarly: before RTS the kernel refuses the doorbell. The
// requests are in the ring then, as the error says, and go out with the next
// doorbell.
func TestRxePostTooEarly(t *testing.T) { eachCallStyle(t, rxePostTooEarly) }

func rxePostTooEarly(t *testing.T, style uverbs.CallStyle) {
	a, b := rxeUnconnected(t, rxeConfig{cap: verbsCap, style: style})
	err := a.qp.PostSend(uverbs.SendWR{ID: 1, Opcode: abi.IB_UVERBS_WR_SEND, Flags: uverbs.SendSignaled})
	var pe *uverbs.PostError
	if !errors.As(err, &pe) || pe.Posted != 1 || !errors.Is(err, syscall.EINVAL) {
		t.Fatalf("send in RESET: %v", err)
	}
	rxeConnect(t, a, b)
	b.recv(uverbs.RecvWR{ID: 10}, uverbs.RecvWR{ID: 11})
	a.send(uverbs.SendWR{ID: 2, Opcode: abi.IB_UVERBS_WR_SEND, Flags: uverbs.SendSignaled})
	b.want(10, abi.IB_WC_RECV)
	b.want(11, abi.IB_WC_RECV)
	a.want(1, abi.IB_WC_SEND)
	a.want(2, abi.IB_WC_SEND)
}

// TestRxeFlush: what was posted before the queue pair failed is flushed on
// every kernel. A receive posted later waits until the kernel looks again,
// for which going to ERR once more is enough.
func TestRxeFlush(t *testing.T) { eachCallStyle(t, rxeFlush) }

func rxeFlush(t *testing.T, style uverbs.CallStyle) {
	a, _ := rxeToNobody(t, rxeConfig{cap: verbsCap, style: style})
	a.recv(uverbs.RecvWR{ID: 1}, uverbs.RecvWR{ID: 2})
	a.send(uverbs.SendWR{ID: 3, Opcode: abi.IB_UVERBS_WR_SEND}, uverbs.SendWR{ID: 4, Opcode: abi.IB_UVERBS_WR_SEND})
	rxeWantFlushed(t, a, 1, 2, 3, 4)
	a.recv(uverbs.RecvWR{ID: 5})
	rxeWantFlushed(t, a, 5)
	a.recv(uverbs.RecvWR{ID: 6}, uverbs.RecvWR{ID: 7})
	rxeWantFlushed(t, a, 6, 7)
}

// rxeWantFlushed takes the queue pair to ERR and expects exactly these
// requests to be flushed, in any order.
func rxeWantFlushed(t *testing.T, s *verbsSide, ids ...uint64) {
	t.Helper()
	if err := s.qp.ToError(); err != nil {
		t.Fatal(err)
	}
	want := map[uint64]bool{}
	for _, id := range ids {
		want[id] = true
	}
	for _, wc := range rxeWait(t, s, len(ids)) {
		if !want[wc.ID] || wc.Status != abi.IB_WC_WR_FLUSH_ERR || wc.QPN != s.qp.Number() {
			t.Errorf("got %+v, want requests %v flushed", wc, ids)
		}
		delete(want, wc.ID)
	}
}

// TestRxeReset takes a used queue pair back to RESET and connects it again;
// the rings go on where they were.
func TestRxeReset(t *testing.T) { eachCallStyle(t, rxeReset) }

func rxeReset(t *testing.T, style uverbs.CallStyle) {
	a, b := rxePair(t, rxeConfig{cap: uverbs.QPCap{MaxSendWR: 4, MaxRecvWR: 4, MaxInline: 64}, style: style})
	for round := range 2 {
		a.recv(uverbs.RecvWR{ID: 99}) // forgotten by the reset
		b.recv(uverbs.RecvWR{ID: 1, SGEs: []uverbs.SGE{b.mr.SGE(0, 64)}})
		a.send(uverbs.SendWR{ID: 2, Opcode: abi.IB_UVERBS_WR_SEND, Flags: uverbs.SendSignaled, Inline: []byte{byte(round)}})
		b.want(1, abi.IB_WC_RECV)
		a.want(2, abi.IB_WC_SEND)
		if b.mr.Bytes()[0] != byte(round) {
			t.Fatalf("round %d: got %d", round, b.mr.Bytes()[0])
		}
		if err := errors.Join(a.qp.ToReset(), b.qp.ToReset()); err != nil {
			t.Fatal(err)
		}
		rxeConnect(t, a, b)
	}
}

// TestRxeCQOverflow lets more complete than the queue holds: the overflow is
// reported, and what is in the ring can be polled.
func TestRxeCQOverflow(t *testing.T) { eachCallStyle(t, rxeCQOverflow) }

func rxeCQOverflow(t *testing.T, style uverbs.CallStyle) {
	a, b := rxePair(t, rxeConfig{cap: uverbs.QPCap{MaxSendWR: 64, MaxRecvWR: 1, MaxInline: 16}, entries: 2, style: style})
	holds := a.cq.Entries()
	wrs := make([]uverbs.SendWR, holds+3)
	for i := range wrs {
		wrs[i] = uverbs.SendWR{
			ID: uint64(i), Opcode: abi.IB_UVERBS_WR_RDMA_WRITE, Flags: uverbs.SendSignaled,
			Inline: []byte{1}, RemoteAddr: b.mr.Addr() + uint64(i), RKey: b.mr.RKey(),
		}
	}
	a.send(wrs...)
	if e := verbsEvent(t, a.qp.Context(), abi.IB_EVENT_CQ_ERR); e.CQ != a.cq {
		t.Errorf("%+v", e)
	}
	got := make([]uverbs.WC, 64)
	n, err := a.cq.Poll(got)
	if err != nil || n != holds {
		t.Fatalf("%d completions, %v; the queue holds %d", n, err, holds)
	}
	for i, wc := range got[:n] {
		if wc.ID != uint64(i) {
			t.Errorf("completion %d has id %d", i, wc.ID)
		}
	}
}

// TestRxeNoAllocations is the zero of the data path on a real ring, in each way
// to ring a doorbell.
func TestRxeNoAllocations(t *testing.T) {
	if rxeRace {
		t.Skip("the race detector allocates")
	}
	for _, style := range []uverbs.CallStyle{uverbs.StyleAuto, uverbs.StyleIoctl, uverbs.StyleWrite} {
		t.Run(style.String(), func(t *testing.T) {
			a, b := rxePair(t, rxeConfig{cap: verbsCap, style: style})
			rxeNoAllocations(t, a, b)
		})
	}
}

func rxeNoAllocations(t *testing.T, a, b *verbsSide) {
	wrs := []uverbs.SendWR{{Opcode: abi.IB_UVERBS_WR_SEND, Flags: uverbs.SendSignaled, SGEs: []uverbs.SGE{a.mr.SGE(0, 64)}}}
	recvs := []uverbs.RecvWR{{SGEs: []uverbs.SGE{b.mr.SGE(0, 64)}}}
	wcs := make([]uverbs.WC, 4)
	poll := func(s *verbsSide) (err error) {
		for n := 0; n == 0 && err == nil; {
			n, err = s.cq.Poll(wcs)
		}
		return err
	}
	for name, f := range map[string]func() error{
		"arm": func() error { return b.cq.Arm() },
		"event": func() error {
			if err := b.qp.PostRecv(recvs...); err != nil {
				return err
			}
			if err := b.cq.Arm(); err != nil {
				return err
			}
			if err := a.qp.PostSend(wrs...); err != nil {
				return err
			}
			if _, err := a.cq.Wait(context.Background(), wcs); err != nil {
				return err
			}
			_, err := b.cq.Wait(context.Background(), wcs)
			return err
		},
		"message": func() error {
			if err := b.qp.PostRecv(recvs...); err != nil {
				return err
			}
			if err := a.qp.PostSend(wrs...); err != nil {
				return err
			}
			if err := poll(a); err != nil {
				return err
			}
			return poll(b)
		},
	} {
		var err error
		if n := testing.AllocsPerRun(50, func() { err = f() }); n != 0 || err != nil {
			t.Errorf("%s: %v allocations, %v", name, n, err)
		}
	}
}

func BenchmarkRxeWrite(b *testing.B) {
	x, y := rxePair(b, rxeConfig{cap: verbsCap})
	wrs := []uverbs.SendWR{{
		Opcode: abi.IB_UVERBS_WR_RDMA_WRITE, Flags: uverbs.SendSignaled,
		SGEs: []uverbs.SGE{x.mr.SGE(0, 64)}, RemoteAddr: y.mr.Addr(), RKey: y.mr.RKey(),
	}}
	wcs := make([]uverbs.WC, 4)
	b.ReportAllocs()
	for b.Loop() {
		if err := x.qp.PostSend(wrs...); err != nil {
			b.Fatal(err)
		}
		for n := 0; n == 0; {
			n, _ = x.cq.Poll(wcs)
		}
	}
}
