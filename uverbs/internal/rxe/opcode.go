package rxe

import "github.com/purerdma/rdma/abi"

// opFlags say what a work request of one opcode consists of; zero means that
// the opcode is not supported.
type opFlags uint16

const (
	opKnown       opFlags = 1 << iota
	opRDMA                // remote address and rkey
	opAtomic              // remote address, rkey and operands, 8 bytes of data
	opImm                 // immediate data
	opInvalidate          // key to invalidate
	opInline              // may carry inline data
	opLocal               // no data at all
	opAtomicWrite         // 8 bytes in the place of inline data
	opUD                  // address handle, queue pair and Q_Key of the peer
	opBind                // binds a memory window
	opFlush               // remote address, rkey, length and kind, no data
)

// The tables hold what next_opcode_rc and next_opcode_uc of rxe_req.c build
// packets for, which is less than rxe_wr_opcode_info promises: READ_WITH_INV
// (all types) and SEND_WITH_INV (UC) end there with an error that takes the
// queue pair down. 5.10 does not even check the opcode against its table
// (wr_opcode_mask) and follows a kernel pointer in the request for REG_MR, so
// nothing outside these tables may reach the ring. Opcode values of struct
// rxe_send_wr are those of enum ib_uverbs_wr_opcode.
//
// LOCAL_INV of a key that does not exist stalls the send queue of 5.10
// (rxe_requester). BIND_MW came with 5.14, FLUSH and ATOMIC_WRITE with 6.2
// (IB_UVERBS_DEVICE_FLUSH_GLOBAL, _ATOMIC_WRITE); older kernels have no packet
// for them (next_opcode_rc) and complete them with an error.
var rcOps = [...]opFlags{
	abi.IB_UVERBS_WR_RDMA_WRITE:           opKnown | opRDMA | opInline,
	abi.IB_UVERBS_WR_RDMA_WRITE_WITH_IMM:  opKnown | opRDMA | opInline | opImm,
	abi.IB_UVERBS_WR_SEND:                 opKnown | opInline,
	abi.IB_UVERBS_WR_SEND_WITH_IMM:        opKnown | opInline | opImm,
	abi.IB_UVERBS_WR_SEND_WITH_INV:        opKnown | opInline | opInvalidate,
	abi.IB_UVERBS_WR_RDMA_READ:            opKnown | opRDMA,
	abi.IB_UVERBS_WR_ATOMIC_CMP_AND_SWP:   opKnown | opAtomic,
	abi.IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD: opKnown | opAtomic,
	abi.IB_UVERBS_WR_LOCAL_INV:            opKnown | opLocal | opInvalidate,
	abi.IB_UVERBS_WR_ATOMIC_WRITE:         opKnown | opRDMA | opAtomicWrite,
	abi.IB_UVERBS_WR_FLUSH:                opKnown | opFlush,
	abi.IB_UVERBS_WR_BIND_MW:              opKnown | opLocal | opBind,
}

var ucOps = [...]opFlags{
	abi.IB_UVERBS_WR_RDMA_WRITE:          opKnown | opRDMA | opInline,
	abi.IB_UVERBS_WR_RDMA_WRITE_WITH_IMM: opKnown | opRDMA | opInline | opImm,
	abi.IB_UVERBS_WR_SEND:                opKnown | opInline,
	abi.IB_UVERBS_WR_SEND_WITH_IMM:       opKnown | opInline | opImm,
	abi.IB_UVERBS_WR_BIND_MW:             opKnown | opLocal | opBind,
}

// The kernel tells datagram requests by the type of the queue pair.
var udOps = [...]opFlags{
	abi.IB_UVERBS_WR_SEND:          opKnown | opUD | opInline,
	abi.IB_UVERBS_WR_SEND_WITH_IMM: opKnown | opUD | opInline | opImm,
}

// opsOf is the table for a queue pair type.
func opsOf(qpType abi.IBUverbsQPType) []opFlags {
	switch qpType {
	case abi.IB_UVERBS_QPT_RC:
		return rcOps[:]
	case abi.IB_UVERBS_QPT_UC:
		return ucOps[:]
	case abi.IB_UVERBS_QPT_UD:
		return udOps[:]
	}
	return nil
}
