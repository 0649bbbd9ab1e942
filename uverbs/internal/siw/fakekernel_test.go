package siw

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs/internal/provider"
	"github.com/purerdma/rdma/uverbs/internal/ringtest"
)

// fakeKernel executes send rings against memory, as siw does for two queue pairs
// connected to each other. Addresses are offsets into mem, and any key will do.
type fakeKernel struct {
	mem  []byte
	ends [2]end // indexed by QP handle
}

type end struct {
	sq, rq, cq  *kring
	qpn         uint32
	invalidated []uint32
}

// pair is two connected queue pairs with a completion queue each, on a fake kernel
// that runs inside the doorbell.
type pair struct {
	ringtest.Pair
	kernel *fakeKernel
	env    *ringtest.Env
}

func newPair(tb testing.TB) *pair {
	tb.Helper()
	p := &pair{kernel: &fakeKernel{mem: ringtest.Bytes(1 << 14)}, env: ringtest.NewEnv()}
	for i := range p.QP {
		q, k := newTestQP(tb, p.env, uint32(i))
		c, kc := newTestCQ(tb, p.env, 16)
		p.QP[i], p.CQ[i] = q, c
		p.kernel.ends[i] = end{sq: k.sq, rq: k.rq, cq: kc, qpn: uint32(16 + i)}
	}
	p.env.OnSend = p.kernel.run
	return p
}

// run processes everything posted to one queue pair (siw_qp_sq_process, and
// siw_proc_send and its like of the peer).
func (k *fakeKernel) run(handle uint32) {
	from, to := &k.ends[handle], &k.ends[1-handle]
	for w := from.sq.head(); w != nil; w = from.sq.head() {
		from.sq.release()
		n, status := k.execute(from, to, w)
		if status != 0 || host.Uint16(w[sqFlags:])&signalled != 0 {
			from.cq.push(completion{id: host.Uint64(w[sqID:]), op: w[sqOp], status: status, bytes: n, qp: from.qpn})
		}
	}
}

func (k *fakeKernel) execute(from, to *end, w []byte) (n uint32, status uint16) {
	remote := host.Uint64(w[sqRaddr:])
	data := k.gather(w)
	switch abi.SIWOpcode(w[sqOp]) {
	case abi.SIW_OP_SEND, abi.SIW_OP_SEND_REMOTE_INV:
		r := to.rq.head()
		if r == nil {
			return 0, uint16(abi.SIW_WC_GENERAL_ERR)
		}
		k.scatter(r[rqSGE:], int(r[rqNum]), data)
		if abi.SIWOpcode(w[sqOp]) == abi.SIW_OP_SEND_REMOTE_INV {
			to.invalidated = append(to.invalidated, host.Uint32(w[sqRKey:]))
		}
		to.cq.push(completion{id: host.Uint64(r[rqID:]), op: uint8(abi.SIW_OP_RECEIVE), bytes: uint32(len(data)), qp: to.qpn})
		to.rq.release()
	case abi.SIW_OP_WRITE:
		copy(k.mem[remote:], data)
	case abi.SIW_OP_READ:
		data = k.mem[remote : remote+uint64(host.Uint32(w[sqSGE+8:]))]
		k.scatter(w[sqSGE:], 1, data)
	case abi.SIW_OP_INVAL_STAG:
		from.invalidated = append(from.invalidated, host.Uint32(w[sqRKey:]))
		return 0, 0
	default:
		return 0, uint16(abi.SIW_WC_LOC_QP_OP_ERR)
	}
	return uint32(len(data)), 0
}

// gather is the payload of a request, wherever it lies.
func (k *fakeKernel) gather(w []byte) (out []byte) {
	if host.Uint16(w[sqFlags:])&isInlined != 0 {
		return w[sqSGE+16 : sqSGE+16+int(host.Uint32(w[sqSGE+8:]))]
	}
	for i := range int(w[sqNum]) {
		e := w[sqSGE+16*i:]
		addr := host.Uint64(e)
		out = append(out, k.mem[addr:addr+uint64(host.Uint32(e[8:]))]...)
	}
	return out
}

func (k *fakeKernel) scatter(sges []byte, n int, data []byte) {
	for i := range n {
		e := sges[16*i:]
		addr := host.Uint64(e)
		data = data[copy(k.mem[addr:addr+uint64(host.Uint32(e[8:]))], data):]
	}
}

func TestLoopbackSend(t *testing.T) {
	p := newPair(t)
	copy(p.kernel.mem, "hello, rings")
	p.Recv(t, 1,
		provider.RecvWR{ID: 7, SGEs: []provider.SGE{{Addr: 1000, Length: 5}, {Addr: 2000, Length: 100}}},
		provider.RecvWR{ID: 6, SGEs: []provider.SGE{{Addr: 3000, Length: 100}}}, provider.RecvWR{ID: 5})
	p.Send(t, 0,
		provider.SendWR{ID: 8, Opcode: abi.IB_UVERBS_WR_SEND, Flags: provider.SendSignaled, SGEs: []provider.SGE{{Addr: 7, Length: 5}, {Length: 7}}},
		provider.SendWR{Opcode: abi.IB_UVERBS_WR_SEND, Inline: []byte("inline")},
		provider.SendWR{Opcode: abi.IB_UVERBS_WR_SEND_WITH_INV, InvalidateKey: 77})
	if got := string(p.kernel.mem[1000:1005]) + string(p.kernel.mem[2000:2007]) + string(p.kernel.mem[3000:3006]); got != "ringshello, inline" {
		t.Errorf("received %q", got)
	}
	want := []provider.WC{
		{ID: 7, Opcode: abi.IB_WC_RECV, ByteLen: 12, QPN: 17},
		{ID: 6, Opcode: abi.IB_WC_RECV, ByteLen: 6, QPN: 17},
		{ID: 5, Opcode: abi.IB_WC_RECV, QPN: 17},
	}
	if diff := cmp.Diff(want, p.Poll(1)); diff != "" {
		t.Errorf("receiver (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]provider.WC{{ID: 8, Opcode: abi.IB_WC_SEND, ByteLen: 12, QPN: 16}}, p.Poll(0)); diff != "" {
		t.Errorf("sender (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]uint32{77}, p.kernel.ends[1].invalidated); diff != "" {
		t.Errorf("invalidated (-want +got):\n%s", diff)
	}
}

func TestLoopbackOneSided(t *testing.T) {
	p := newPair(t)
	copy(p.kernel.mem, "source")
	copy(p.kernel.mem[3000:], "remote")
	p.Send(t, 0,
		provider.SendWR{Opcode: abi.IB_UVERBS_WR_RDMA_WRITE, RemoteAddr: 1000, Inline: []byte("inline")},
		provider.SendWR{Opcode: abi.IB_UVERBS_WR_RDMA_WRITE, RemoteAddr: 1100, SGEs: []provider.SGE{{Length: 6}}},
		provider.SendWR{ID: 1, Opcode: abi.IB_UVERBS_WR_RDMA_READ, Flags: provider.SendSignaled, RemoteAddr: 3000, SGEs: []provider.SGE{{Addr: 100, Length: 6}}},
		provider.SendWR{ID: 2, Opcode: abi.IB_UVERBS_WR_LOCAL_INV, Flags: provider.SendSignaled, InvalidateKey: 78},
		provider.SendWR{ID: 3, Opcode: abi.IB_UVERBS_WR_RDMA_READ, Flags: provider.SendSignaled})
	if got := fmt.Sprintf("%s %s %s", p.kernel.mem[1000:1006], p.kernel.mem[1100:1106], p.kernel.mem[100:106]); got != "inline source remote" {
		t.Errorf("memory has %q", got)
	}
	want := []provider.WC{
		{ID: 1, Opcode: abi.IB_WC_RDMA_READ, ByteLen: 6, QPN: 16},
		{ID: 2, Opcode: abi.IB_WC_LOCAL_INV, QPN: 16},
		{ID: 3, Opcode: abi.IB_WC_RDMA_READ, QPN: 16},
	}
	if diff := cmp.Diff(want, p.Poll(0)); diff != "" {
		t.Errorf("completions (-want +got):\n%s", diff)
	}
}
