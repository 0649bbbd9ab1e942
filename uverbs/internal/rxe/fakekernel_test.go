package rxe

import (
	"encoding/binary"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs/internal/provider"
)

// fakeKernel executes send rings against memory, as rxe does for two queue
// pairs connected to each other: it gathers, places, invalidates, counts
// atomics, and completes. Addresses are offsets into mem, and any key will do.
type fakeKernel struct {
	mem  []byte
	ends [2]end // indexed by QP handle
}

type end struct {
	sq, rq, cq  *kring
	qpn         uint32
	invalidated []uint32
}

// run processes everything posted to one queue pair (rxe_requester, and
// rxe_responder of the peer).
func (k *fakeKernel) run(handle uint32) {
	from, to := &k.ends[handle], &k.ends[1-handle]
	for w := from.sq.head(); w != nil; w = from.sq.head() {
		status := k.execute(from, to, w)
		if status != 0 || host.Uint32(w[wqeFlags:])&provider.SendSignaled != 0 {
			from.cq.push(cqe(field{wcID, host.Uint64(w)}, field{wcStatus, status}, field{wcQPN, from.qpn},
				field{wcOpcode, wcOpcodeOf(host.Uint32(w[wqeOpcode:]))}, field{wcLen, host.Uint32(w[wqeLength:])}))
		}
		from.sq.release()
	}
}

func wcOpcodeOf(op uint32) uint32 {
	switch abi.IBUverbsWROpcode(op) {
	case abi.IB_UVERBS_WR_RDMA_WRITE, abi.IB_UVERBS_WR_RDMA_WRITE_WITH_IMM:
		return uint32(abi.IB_WC_RDMA_WRITE)
	case abi.IB_UVERBS_WR_RDMA_READ:
		return uint32(abi.IB_WC_RDMA_READ)
	case abi.IB_UVERBS_WR_ATOMIC_CMP_AND_SWP:
		return uint32(abi.IB_WC_COMP_SWAP)
	case abi.IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD:
		return uint32(abi.IB_WC_FETCH_ADD)
	case abi.IB_UVERBS_WR_LOCAL_INV:
		return uint32(abi.IB_WC_LOCAL_INV)
	}
	return uint32(abi.IB_WC_SEND)
}

// gather is the payload of a send request, wherever it lies.
func (k *fakeKernel) gather(w []byte) []byte {
	n := int(host.Uint32(w[wqeLength:]))
	if host.Uint32(w[wqeFlags:])&provider.SendInline != 0 {
		return w[wqeSize : wqeSize+n]
	}
	var out []byte
	for _, s := range k.entries(w, wqeSize, wqeNumSGE) {
		out = append(out, s...)
	}
	return out
}

// entries are the pieces of memory that a request names.
func (k *fakeKernel) entries(w []byte, at, count int) [][]byte {
	var out [][]byte
	for i := range int(host.Uint32(w[count:])) {
		e := w[at+16*i:]
		addr := host.Uint64(e)
		out = append(out, k.mem[addr:addr+uint64(host.Uint32(e[8:]))])
	}
	return out
}

// scatter places data into the memory that a request names.
func (k *fakeKernel) scatter(w []byte, at, count int, data []byte) {
	for _, s := range k.entries(w, at, count) {
		data = data[copy(s, data):]
	}
}

func (k *fakeKernel) execute(from, to *end, w []byte) (status uint32) {
	op := abi.IBUverbsWROpcode(host.Uint32(w[wqeOpcode:]))
	switch op {
	case abi.IB_UVERBS_WR_SEND, abi.IB_UVERBS_WR_SEND_WITH_IMM, abi.IB_UVERBS_WR_SEND_WITH_INV:
		return k.deliver(to, w, op, k.gather(w))
	case abi.IB_UVERBS_WR_LOCAL_INV:
		from.invalidated = append(from.invalidated, host.Uint32(w[wqeEx:]))
		return 0
	}
	addr := host.Uint64(w[wqeIova:])
	remote := k.mem[addr : addr+uint64(host.Uint32(w[wqeLength:]))]
	switch op {
	case abi.IB_UVERBS_WR_RDMA_WRITE:
		copy(remote, k.gather(w))
	case abi.IB_UVERBS_WR_RDMA_WRITE_WITH_IMM:
		copy(remote, k.gather(w))
		return k.deliver(to, w, op, nil)
	case abi.IB_UVERBS_WR_RDMA_READ:
		k.scatter(w, wqeSize, wqeNumSGE, remote)
	case abi.IB_UVERBS_WR_ATOMIC_CMP_AND_SWP, abi.IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD:
		k.atomic(w, op, remote)
	case abi.IB_UVERBS_WR_ATOMIC_WRITE:
		copy(remote, w[wqeSize:wqeSize+8])
	default:
		return uint32(abi.IB_WC_LOC_QP_OP_ERR)
	}
	return 0
}

func (k *fakeKernel) atomic(w []byte, op abi.IBUverbsWROpcode, remote []byte) {
	old := binary.NativeEndian.Uint64(remote)
	operand := host.Uint64(w[wqeCompare:])
	switch {
	case op == abi.IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD:
		host.PutUint64(remote, old+operand)
	case old == operand:
		host.PutUint64(remote, host.Uint64(w[wqeSwap:]))
	}
	var b [8]byte
	host.PutUint64(b[:], old)
	k.scatter(w, wqeSize, wqeNumSGE, b[:])
}

// deliver uses up one receive request of the peer; without one the send fails
// as after exhausted RNR retries.
func (k *fakeKernel) deliver(to *end, w []byte, op abi.IBUverbsWROpcode, data []byte) (status uint32) {
	r := to.rq.head()
	if r == nil {
		return uint32(abi.IB_WC_RNR_RETRY_EXC_ERR)
	}
	k.scatter(r, rwqeSize, rwqeNumSGE, data)
	fields := []field{{wcID, host.Uint64(r)}, {wcOpcode, uint32(abi.IB_WC_RECV)}, {wcLen, host.Uint32(w[wqeLength:])}, {wcQPN, to.qpn}}
	flags := uint32(abi.IB_WC_GRH)
	switch op {
	case abi.IB_UVERBS_WR_SEND_WITH_IMM, abi.IB_UVERBS_WR_RDMA_WRITE_WITH_IMM:
		flags |= uint32(abi.IB_WC_WITH_IMM) // on the wire and in the completion as it is in the request
		fields = append(fields, field{wcEx, w[wqeEx : wqeEx+4]})
	case abi.IB_UVERBS_WR_SEND_WITH_INV:
		flags |= uint32(abi.IB_WC_WITH_INVALIDATE)
		fields = append(fields, field{wcEx, w[wqeEx : wqeEx+4]})
	}
	if op == abi.IB_UVERBS_WR_RDMA_WRITE_WITH_IMM {
		fields = append(fields, field{wcOpcode, uint32(abi.IB_WC_RECV_RDMA_WITH_IMM)})
	}
	to.cq.push(cqe(append(fields, field{wcFlags, flags})...))
	to.rq.release()
	return 0
}
