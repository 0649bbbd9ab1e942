package siw

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs/internal/provider"
	"github.com/purerdma/rdma/uverbs/internal/ringtest"
)

// sges are n entries of so many bytes each.
func sges(n int, length uint32) []provider.SGE {
	out := make([]provider.SGE, n)
	for i := range out {
		out[i] = provider.SGE{Addr: uint64(i+1) << 12, Length: length, LKey: uint32(i + 1)}
	}
	return out
}

// TestEncodeSend looks at what lies in the ring.
func TestEncodeSend(t *testing.T) {
	type sent struct {
		ID, Raddr  uint64
		RKey       uint32
		Flags      uint16
		Op, Num    uint8
		Length     uint32 // of the first entry
		Inline     string
		LastLength uint32
	}
	const sig = provider.SendSignaled
	for _, tc := range []struct {
		name string
		wr   provider.SendWR
		want sent
	}{
		{"send", provider.SendWR{ID: 9, Opcode: abi.IB_UVERBS_WR_SEND, Flags: sig, SGEs: sges(4, 10), RKey: 5, RemoteAddr: 6},
			sent{ID: 9, Flags: valid | signalled, Op: 3, Num: 4, Length: 10, LastLength: 10}},
		{"send nothing, fenced, solicited", provider.SendWR{Opcode: abi.IB_UVERBS_WR_SEND, Flags: provider.SendFence | provider.SendSolicited},
			sent{Flags: valid | solicited | fenced, Op: 3}},
		{"send inline", provider.SendWR{Opcode: abi.IB_UVERBS_WR_SEND, Inline: []byte("abc")},
			sent{Flags: valid | isInlined, Op: 3, Num: 1, Length: 3, Inline: "abc"}},
		{"send inline nothing", provider.SendWR{Opcode: abi.IB_UVERBS_WR_SEND, Flags: provider.SendInline},
			sent{Flags: valid | isInlined, Op: 3, Num: 1}},
		{"send and invalidate", provider.SendWR{Opcode: abi.IB_UVERBS_WR_SEND_WITH_INV, InvalidateKey: 44, RKey: 5, SGEs: sges(1, 7)},
			sent{Flags: valid, RKey: 44, Op: 5, Num: 1, Length: 7}},
		{"write", provider.SendWR{Opcode: abi.IB_UVERBS_WR_RDMA_WRITE, RemoteAddr: 66, RKey: 55, SGEs: sges(2, 7), Flags: provider.SendSolicited},
			sent{Flags: valid, Raddr: 66, RKey: 55, Op: 0, Num: 2, Length: 7}},
		{"read", provider.SendWR{Opcode: abi.IB_UVERBS_WR_RDMA_READ, RemoteAddr: 66, RKey: 55, SGEs: sges(1, 7)},
			sent{Flags: valid, Raddr: 66, RKey: 55, Op: 1, Num: 1, Length: 7}},
		{"read nothing", provider.SendWR{Opcode: abi.IB_UVERBS_WR_RDMA_READ, RemoteAddr: 66, RKey: 55},
			sent{Flags: valid, Raddr: 66, RKey: 55, Op: 1, Num: 1}},
		{"invalidate", provider.SendWR{Opcode: abi.IB_UVERBS_WR_LOCAL_INV, InvalidateKey: 33, Flags: sig},
			sent{Flags: valid | signalled, RKey: 33, Op: 10}},
	} {
		q, k := newTestQP(t, ringtest.NewEnv(), 1)
		copy(k.sq.slot(0)[sqSGE:], strings.Repeat("\xff", 96)) // of an earlier request
		if err := q.send.post(&tc.wr); err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		if k.sq.head() != nil {
			t.Errorf("%s: visible before all are written", tc.name)
		}
		if err := q.send.flush(); err != nil {
			t.Fatal(err)
		}
		w := k.sq.head()
		got := sent{ID: host.Uint64(w), Raddr: host.Uint64(w[sqRaddr:]), RKey: host.Uint32(w[sqRKey:]),
			Flags: host.Uint16(w[sqFlags:]), Op: w[sqOp], Num: w[sqNum]}
		if got.Num > 0 {
			got.Length = host.Uint32(w[sqSGE+8:])
		}
		if got.Flags&isInlined != 0 {
			got.Inline = string(w[sqSGE+16 : sqSGE+16+int(got.Length)])
		}
		if got.Num == 4 {
			got.LastLength = host.Uint32(w[sqSGE+16*3+8:])
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}

func TestPostSendRefuses(t *testing.T) {
	send, write, read, inv := abi.IB_UVERBS_WR_SEND, abi.IB_UVERBS_WR_RDMA_WRITE, abi.IB_UVERBS_WR_RDMA_READ, abi.IB_UVERBS_WR_LOCAL_INV
	for _, tc := range []struct {
		name string
		wr   provider.SendWR
		want error
	}{
		{"5 entries", provider.SendWR{Opcode: send, SGEs: sges(5, 1)}, provider.ErrTooManySGEs},
		{"2 GiB", provider.SendWR{Opcode: write, SGEs: sges(2, 1<<30)}, errMessageSize},
		{"65 bytes inline", provider.SendWR{Opcode: send, Inline: make([]byte, 65)}, provider.ErrInlineSize},
		{"inline and entries", provider.SendWR{Opcode: send, Inline: []byte{1}, SGEs: sges(1, 1)}, errInlineAndSGE},
		{"inline with invalidation", provider.SendWR{Opcode: abi.IB_UVERBS_WR_SEND_WITH_INV, Inline: []byte{1}}, errInlineOpcode},
		{"read inline", provider.SendWR{Opcode: read, Flags: provider.SendInline}, errInlineOpcode},
		{"read into two entries", provider.SendWR{Opcode: read, SGEs: sges(2, 1)}, errReadSGE},
		{"read with fence", provider.SendWR{Opcode: read, Flags: provider.SendFence, SGEs: sges(1, 1)}, errReadFence},
		{"local invalidate with data", provider.SendWR{Opcode: inv, SGEs: sges(1, 0)}, errNoData},
		{"local invalidate inline", provider.SendWR{Opcode: inv, Flags: provider.SendInline}, errNoData},
		{"immediate", provider.SendWR{Opcode: abi.IB_UVERBS_WR_SEND_WITH_IMM}, errImmediate},
		{"write with immediate", provider.SendWR{Opcode: abi.IB_UVERBS_WR_RDMA_WRITE_WITH_IMM}, errImmediate},
		{"compare and swap", provider.SendWR{Opcode: abi.IB_UVERBS_WR_ATOMIC_CMP_AND_SWP, SGEs: sges(1, 8)}, errAtomic},
		{"fetch and add", provider.SendWR{Opcode: abi.IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD, SGEs: sges(1, 8)}, errAtomic},
		{"read with invalidation", provider.SendWR{Opcode: abi.IB_UVERBS_WR_RDMA_READ_WITH_INV, SGEs: sges(1, 8)}, errOpcode},
		{"bind memory window", provider.SendWR{Opcode: abi.IB_UVERBS_WR_BIND_MW}, errOpcode},
		{"register memory", provider.SendWR{Opcode: 0x20}, errOpcode},
		{"largest opcode", provider.SendWR{Opcode: 0xffffffff}, errOpcode},
	} {
		q, k := newTestQP(t, ringtest.NewEnv(), 1)
		if err := q.send.post(&tc.wr); !errors.Is(err, tc.want) {
			t.Errorf("%s: %v, want %v", tc.name, err, tc.want)
		}
		if err := q.send.flush(); err != nil || k.sq.head() != nil {
			t.Errorf("%s: flush: %v, or the request reached the ring", tc.name, err)
		}
	}
	for _, err := range []error{errOpcode, errImmediate, errAtomic} {
		if !errors.Is(err, provider.ErrOpcode) || !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%v matches too little", err)
		}
	}
}

func TestPostStops(t *testing.T) {
	env := ringtest.NewEnv()
	q, k := newTestQP(t, env, 1)
	ringtest.PostStops(t, q, env)
	for name, tc := range map[string]struct {
		k    *kring
		want int
	}{"sends": {k.sq, 3}, "receives": {k.rq, 2}} {
		n := 0
		for ; tc.k.head() != nil; n++ {
			tc.k.release()
		}
		if n != tc.want {
			t.Errorf("the kernel sees %d %s", n, name)
		}
	}
}

// TestPostRecv fills the receive rings, which the kernel empties one by one.
func TestPostRecv(t *testing.T) {
	q, k := newTestQP(t, ringtest.NewEnv(), 1)
	s, ks := newTestSRQ(t, ringtest.NewEnv())
	for _, tc := range []struct {
		name string
		r    ringtest.Receiver
		q    *recvQueue
		k    *kring
	}{{"QP", q, &q.recv, k.rq}, {"SRQ", s, &s.recv, ks}} {
		if err := ringtest.Recv(tc.r, &provider.RecvWR{SGEs: sges(5, 1)}); err != provider.ErrTooManySGEs {
			t.Errorf("%s: 5 entries: %v", tc.name, err)
		}
		for round := range uint64(3) {
			for i := range uint64(8) {
				if err := tc.q.post(&provider.RecvWR{ID: round<<8 | i, SGEs: sges(int(i%5), 3)}); err != nil {
					t.Fatalf("%s: %d: %v", tc.name, i, err)
				}
			}
			if err := tc.q.post(&provider.RecvWR{}); err != provider.ErrQueueFull {
				t.Errorf("%s: ninth request before all are written: %v", tc.name, err)
			}
			if tc.k.head() != nil {
				t.Errorf("%s: visible before all are written", tc.name)
			}
			ringtest.MustRecv(t, tc.r)
			if err := ringtest.Recv(tc.r, &provider.RecvWR{}); err != provider.ErrQueueFull {
				t.Errorf("%s: ninth request: %v", tc.name, err)
			}
			for i := range uint64(8) {
				w := tc.k.head()
				if host.Uint64(w) != round<<8|i || uint64(w[rqNum]) != i%5 || host.Uint16(w[rqFlags:]) != valid {
					t.Errorf("%s: request %d of round %d: % x", tc.name, i, round, w)
				}
				if i%5 == 4 && host.Uint32(w[rqSGE+16*3+8:]) != 3 {
					t.Errorf("%s: last entry % x", tc.name, w[rqSGE+16*3:])
				}
				tc.k.release()
			}
		}
	}
}

// TestDoorbell: one for a batch, and none while the kernel is on its way.
func TestDoorbell(t *testing.T) {
	env := ringtest.NewEnv()
	q, k := newTestQP(t, env, 1)
	post := func(n int) error {
		for range n {
			if err := q.send.post(&provider.SendWR{Opcode: abi.IB_UVERBS_WR_SEND}); err != nil {
				return err
			}
		}
		return q.send.flush()
	}
	rung := func(what string, want int) {
		t.Helper()
		if env.Doorbells != want {
			t.Errorf("%s: %d doorbells, want %d", what, env.Doorbells, want)
		}
	}
	if err := errors.Join(q.send.flush(), post(3)); err != nil {
		t.Fatal(err)
	}
	rung("first batch", 1)
	k.sq.release()
	if err := post(2); err != nil {
		t.Fatal(err)
	}
	rung("the kernel has two to take", 1)
	for k.sq.head() != nil {
		k.sq.release()
	}
	env.DoorErr = errors.New("not connected")
	if err := post(1); err != env.DoorErr {
		t.Fatal(err)
	}
	if err := post(1); err != env.DoorErr {
		t.Fatalf("second post: %v", err)
	}
	env.DoorErr = nil
	if err := q.send.flush(); err != nil {
		t.Fatal(err)
	}
	rung("refused twice, then taken", 4)
	for k.sq.head() != nil {
		k.sq.release()
	}
	if err := post(8); err != nil {
		t.Fatal(err)
	}
	rung("a batch that fills the ring", 5)
	if err := q.send.post(&provider.SendWR{Opcode: abi.IB_UVERBS_WR_SEND}); err != provider.ErrQueueFull {
		t.Errorf("full ring: %v", err)
	}
}
