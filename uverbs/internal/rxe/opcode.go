package rxe

import "github.com/purerdma/rdma/abi"

// opFlags say what a work request of one opcode consists of; zero means that
// the opcode is not supported.
type opFlags uint32

const (
	opRDMA        opFlags = 1 << iota // remote address and rkey
	opAtomic                          // remote address, rkey and operands, 8 bytes of data
	opImm                             // immediate data
	opInvalidate                      // key to invalidate
	opInline                          // may carry inline data
	opLocal                           // no data at all
	opAtomicWrite                     // 8 bytes in the place of inline data
	opUD                              // address handle, queue pair and Q_Key of the peer
	opBind                            // binds a memory window
	opFlush                           // remote address, rkey, length and kind, no data

	opList // its data is in scatter/gather entries, unless it is inline

	// opMore are those of requests that consist of more than data and a place
	// for it.
	opMore = opAtomic | opImm | opInvalidate | opLocal | opAtomicWrite | opUD | opBind | opFlush
)

// opTable has the flags by opcode.
type opTable [abi.IB_UVERBS_WR_ATOMIC_WRITE + 1]opFlags

// of is the flags of any opcode.
func (t *opTable) of(code abi.IBUverbsWROpcode) opFlags {
	if uint64(code) >= uint64(len(t)) {
		return 0
	}
	return t[code]
}

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
var rcOps = opTable{
	abi.IB_UVERBS_WR_RDMA_WRITE:           opList | opRDMA | opInline,
	abi.IB_UVERBS_WR_RDMA_WRITE_WITH_IMM:  opList | opRDMA | opInline | opImm,
	abi.IB_UVERBS_WR_SEND:                 opList | opInline,
	abi.IB_UVERBS_WR_SEND_WITH_IMM:        opList | opInline | opImm,
	abi.IB_UVERBS_WR_SEND_WITH_INV:        opList | opInline | opInvalidate,
	abi.IB_UVERBS_WR_RDMA_READ:            opList | opRDMA,
	abi.IB_UVERBS_WR_ATOMIC_CMP_AND_SWP:   opList | opAtomic,
	abi.IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD: opList | opAtomic,
	abi.IB_UVERBS_WR_LOCAL_INV:            opLocal | opInvalidate,
	abi.IB_UVERBS_WR_ATOMIC_WRITE:         opRDMA | opAtomicWrite,
	abi.IB_UVERBS_WR_FLUSH:                opFlush,
	abi.IB_UVERBS_WR_BIND_MW:              opLocal | opBind,
}

var ucOps = opTable{
	abi.IB_UVERBS_WR_RDMA_WRITE:          opList | opRDMA | opInline,
	abi.IB_UVERBS_WR_RDMA_WRITE_WITH_IMM: opList | opRDMA | opInline | opImm,
	abi.IB_UVERBS_WR_SEND:                opList | opInline,
	abi.IB_UVERBS_WR_SEND_WITH_IMM:       opList | opInline | opImm,
	abi.IB_UVERBS_WR_BIND_MW:             opLocal | opBind,
}

// The kernel tells datagram requests by the type of the queue pair.
var udOps = opTable{
	abi.IB_UVERBS_WR_SEND:          opList | opUD | opInline,
	abi.IB_UVERBS_WR_SEND_WITH_IMM: opList | opUD | opInline | opImm,
}

// opsOf is the table for a queue pair type.
func opsOf(qpType abi.IBUverbsQPType) *opTable {
	switch qpType {
	case abi.IB_UVERBS_QPT_RC:
		return &rcOps
	case abi.IB_UVERBS_QPT_UC:
		return &ucOps
	case abi.IB_UVERBS_QPT_UD:
		return &udOps
	}
	return &opTable{}
}
