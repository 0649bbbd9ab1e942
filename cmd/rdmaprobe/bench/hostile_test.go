package bench

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs"
)

// smallSide is a side on the fake kernel, released with the test.
func smallSide(t *testing.T, r request) *side {
	t.Helper()
	s, err := newSide(fakeDevice(), r, 4, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.release)
	for i := range int(r.QPs) {
		if _, err := s.add(newFakeID("10.0.0.2:4000"), i, 0); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// TestArrivedLength: the length in a completion is the peer's when it writes with
// immediate data, and bounds nothing.
func TestArrivedLength(t *testing.T) {
	useFake(t)
	const send, imm = abi.IB_WC_RECV, abi.IB_WC_RECV_RDMA_WITH_IMM
	for _, op := range []Op{Send, Write, Read} {
		r := request{Test: Bandwidth, Op: op, Mode: Event, Size: 64, RecvDepth: 4, QPs: 1, Depth: 1, Batch: 1, CQMod: 1, Limit: 1}
		s := smallSide(t, r)
		for _, wc := range []uverbs.WC{
			{Opcode: imm, ByteLen: 0}, {Opcode: imm, ByteLen: 24}, {Opcode: imm, ByteLen: 64}, {Opcode: imm, ByteLen: 65},
			{Opcode: imm, ByteLen: 1 << 31}, {Opcode: imm, ByteLen: 1<<32 - 1},
			{Opcode: send, ByteLen: 0}, {Opcode: send, ByteLen: 23}, {Opcode: send, ByteLen: 65}, {Opcode: send, ByteLen: 1 << 31},
			{Opcode: send, ByteLen: 24}, // as long as a report, and none
		} {
			if err := s.arrived(&wc); !errors.Is(err, ErrProtocol) {
				t.Errorf("%v: opcode %d, %d bytes: %v", op, wc.Opcode, wc.ByteLen, err)
			}
		}
		c := s.conns[0]
		Report{Messages: 7, Took: time.Second}.put(s.mr.Bytes()[c.recvArea():][:24])
		if err := s.arrived(&uverbs.WC{Opcode: send, ByteLen: 24}); err != nil || s.reverse.Messages != 7 {
			t.Errorf("%v: the report is %+v, %v", op, s.reverse, err)
		}
	}
}

// TestRights: a peer may do with the memory what the operation needs.
func TestRights(t *testing.T) {
	for op, want := range map[Op]uverbs.Access{
		Send:  uverbs.AccessLocalWrite,
		Write: uverbs.AccessLocalWrite | uverbs.AccessRemoteWrite,
		Read:  uverbs.AccessLocalWrite | uverbs.AccessRemoteRead,
	} {
		if got := (&request{Op: op}).access(); got != want {
			t.Errorf("%v: %v, want %v", op, got, want)
		}
	}
}

// TestIndexTwice: of requests with the same index at the same time one is accepted, and
// the test does not begin before all queue pairs are there.
func TestIndexTwice(t *testing.T) {
	useFake(t)
	r := request{Test: Bandwidth, Op: Write, Mode: Event, Size: 64, RecvDepth: 4, QPs: 2, Token: 7, Depth: 1, Batch: 1, CQMod: 1, Limit: 1}
	srv, refused := startFake()
	ctx, cancel := context.WithCancel(t.Context())
	first := newFakeID("10.0.0.2:4000")
	first.confirm = make(chan struct{}) // the others wait for this one to be there
	srv.take(ctx, first, ask(r))
	waitFor(t, "the first to be accepted", func() bool { accepted, _, _ := first.answer(); return accepted })
	r.Index = 1
	ids := make([]*fakeID, 7)
	for i := range ids {
		ids[i] = newFakeID("10.0.0.2:4001")
		go srv.take(ctx, ids[i], ask(r))
	}
	waitFor(t, "all but one to be refused", func() bool { return int(refused.Load()) == len(ids)-1 })
	close(first.confirm)
	waitFor(t, "the test to begin", func() bool { return srv.began(r.Token) })
	n := 0
	for _, id := range ids {
		accepted, rejected, _ := id.answer()
		if accepted {
			n++
		} else if !strings.Contains(rejected, "queue pair 1 twice") {
			t.Errorf("rejected: %q", rejected)
		}
	}
	if n != 1 {
		t.Errorf("%d requests of one index were accepted", n)
	}
	cancel()
	srv.close()
}

// waitFor waits until something is so.
func waitFor(t *testing.T, what string, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !so(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}
