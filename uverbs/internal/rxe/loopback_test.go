package rxe

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs/internal/provider"
	"github.com/purerdma/rdma/uverbs/internal/ringtest"
)

// pair is two connected queue pairs with a completion queue each, on a fake
// kernel that runs inside the doorbell.
type pair struct {
	ringtest.Pair
	kernel *fakeKernel
	env    *ringtest.Env
}

func newPair(tb testing.TB) *pair {
	tb.Helper()
	p := &pair{kernel: &fakeKernel{mem: ringtest.Bytes(1 << 16)}, env: ringtest.NewEnv()}
	for i := range p.QP {
		q, k := newTestQP(tb, p.env, abi.IB_UVERBS_QPT_RC, uint32(i))
		c, kc := newTestCQ(tb, p.env, uint32(i), 16)
		p.QP[i], p.CQ[i] = q, c
		p.kernel.ends[i] = end{sq: k.sq, rq: k.rq, cq: kc, qpn: uint32(16 + i)}
	}
	p.env.OnSend = p.kernel.run
	return p
}

func TestLoopbackSend(t *testing.T) {
	p := newPair(t)
	copy(p.kernel.mem, "hello, rings")
	p.Recv(t, 1, provider.RecvWR{ID: 7, SGEs: []provider.SGE{{Addr: 1000, Length: 5}, {Addr: 2000, Length: 100}}})
	p.Send(t, 0, provider.SendWR{ID: 8, Opcode: abi.IB_UVERBS_WR_SEND_WITH_IMM, Flags: provider.SendSignaled, Imm: 0x12345678,
		SGEs: []provider.SGE{{Addr: 7, Length: 5}, {Addr: 0, Length: 7}}})
	if got := string(p.kernel.mem[1000:1005]) + string(p.kernel.mem[2000:2007]); got != "ringshello, " {
		t.Errorf("received %q", got)
	}
	want := []provider.WC{{ID: 7, Opcode: abi.IB_WC_RECV, ByteLen: 12, QPN: 17, Imm: 0x12345678, Flags: abi.IB_WC_GRH | abi.IB_WC_WITH_IMM}}
	if diff := cmp.Diff(want, p.Poll(1)); diff != "" {
		t.Errorf("receiver (-want +got):\n%s", diff)
	}
	want = []provider.WC{{ID: 8, Opcode: abi.IB_WC_SEND, ByteLen: 12, QPN: 16}}
	if diff := cmp.Diff(want, p.Poll(0)); diff != "" {
		t.Errorf("sender (-want +got):\n%s", diff)
	}
}

func TestLoopbackOneSided(t *testing.T) {
	p := newPair(t)
	mem := p.kernel.mem
	copy(mem, "source")
	copy(mem[3000:], "remote data")
	host.PutUint64(mem[4096:], 40)
	p.Recv(t, 1, provider.RecvWR{ID: 1}, provider.RecvWR{ID: 2})
	p.Send(t, 0,
		provider.SendWR{Opcode: abi.IB_UVERBS_WR_RDMA_WRITE, RemoteAddr: 1000, Inline: []byte("inline")},
		provider.SendWR{Opcode: abi.IB_UVERBS_WR_RDMA_WRITE_WITH_IMM, RemoteAddr: 1100, Imm: 5, SGEs: []provider.SGE{{Length: 6}}},
		provider.SendWR{Opcode: abi.IB_UVERBS_WR_RDMA_READ, RemoteAddr: 3000, SGEs: []provider.SGE{{Addr: 100, Length: 6}, {Addr: 200, Length: 5}}},
		provider.SendWR{Opcode: abi.IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD, RemoteAddr: 4096, CompareAdd: 2, SGEs: []provider.SGE{{Addr: 304, Length: 8}}},
		provider.SendWR{Opcode: abi.IB_UVERBS_WR_ATOMIC_CMP_AND_SWP, RemoteAddr: 4096, CompareAdd: 42, Swap: 99, SGEs: []provider.SGE{{Addr: 312, Length: 8}}},
		provider.SendWR{Opcode: abi.IB_UVERBS_WR_ATOMIC_WRITE, RemoteAddr: 4104, Inline: []byte("8 bytes!")},
		provider.SendWR{ID: 3, Opcode: abi.IB_UVERBS_WR_SEND_WITH_INV, InvalidateKey: 77, Flags: provider.SendSignaled},
	)
	got := []any{
		string(mem[1000:1006]), string(mem[1100:1106]), string(mem[100:106]) + string(mem[200:205]),
		host.Uint64(mem[304:]), host.Uint64(mem[312:]), host.Uint64(mem[4096:]), string(mem[4104:4112]), p.env.Doorbells,
	}
	want := []any{"inline", "source", "remote data", uint64(40), uint64(42), uint64(99), "8 bytes!", 1}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("memory (-want +got):\n%s", diff)
	}
	wcs := []provider.WC{
		{ID: 1, Opcode: abi.IB_WC_RECV_RDMA_WITH_IMM, ByteLen: 6, QPN: 17, Imm: 5, Flags: abi.IB_WC_GRH | abi.IB_WC_WITH_IMM},
		{ID: 2, Opcode: abi.IB_WC_RECV, QPN: 17, InvalidatedKey: 77, Flags: abi.IB_WC_GRH | abi.IB_WC_WITH_INVALIDATE},
	}
	if diff := cmp.Diff(wcs, p.Poll(1)); diff != "" {
		t.Errorf("peer's completions (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]provider.WC{{ID: 3, QPN: 16}}, p.Poll(0)); diff != "" {
		t.Errorf("own completions (-want +got):\n%s", diff)
	}
}

func TestLoopbackErrorCompletes(t *testing.T) {
	p := newPair(t)
	p.Send(t, 0, provider.SendWR{ID: 4, Opcode: abi.IB_UVERBS_WR_SEND}) // no receive posted, not signaled
	want := []provider.WC{{ID: 4, Status: abi.IB_WC_RNR_RETRY_EXC_ERR, QPN: 16}}
	if diff := cmp.Diff(want, p.Poll(0)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestLoopbackWrapsAround sends far more than fits, in batches of every size,
// both ways, and checks each byte and id.
func TestLoopbackWrapsAround(t *testing.T) {
	p := newPair(t)
	id := uint64(0)
	for round := range 70 {
		from, n := round%2, 1+round%7
		var sends []provider.SendWR
		for i := range n {
			text := fmt.Sprintf("message %d", id+uint64(i))
			sends = append(sends, provider.SendWR{ID: id + uint64(i), Opcode: abi.IB_UVERBS_WR_SEND, Flags: provider.SendSignaled, Inline: []byte(text)})
			p.Recv(t, 1-from, provider.RecvWR{ID: id + uint64(i), SGEs: []provider.SGE{{Addr: uint64(64 * i), Length: 64}}})
		}
		p.Send(t, from, sends...)
		got, sent := p.Poll(1-from), p.Poll(from)
		if len(got) != n || len(sent) != n {
			t.Fatalf("round %d: %d received, %d sent, want %d", round, len(got), len(sent), n)
		}
		for i := range n {
			text := sends[i].Inline
			if got[i].ID != id || sent[i].ID != id || !bytes.Equal(p.kernel.mem[64*i:64*i+len(text)], text) {
				t.Fatalf("round %d, message %d: %+v, %+v, %q", round, i, got[i], sent[i], p.kernel.mem[64*i:64*i+20])
			}
			id++
		}
	}
}
