package siw

import "github.com/purerdma/rdma/abi"

// op says what a work request of one opcode consists of; the zero op is not
// supported.
type op struct {
	code  abi.SIWOpcode
	flags opFlags
}

type opFlags uint8

const (
	opKnown      opFlags = 1 << iota
	opRemote             // remote address and rkey
	opInvalidate         // the key to invalidate, in the place of rkey
	opInline             // may carry inline data
	opSolicited          // may ask for the peer's attention
	opRead               // one entry, no fence
	opLocal              // no data at all
)

// ops has what siw does for a process. The kernel does not tell requests of
// processes from its own: REG_MR would make it follow a pointer in the request
// (siw_fastreg_mr), so nothing outside this table may reach the ring.
var ops = [...]op{
	abi.IB_UVERBS_WR_RDMA_WRITE:    {abi.SIW_OP_WRITE, opKnown | opRemote | opInline},
	abi.IB_UVERBS_WR_SEND:          {abi.SIW_OP_SEND, opKnown | opInline | opSolicited},
	abi.IB_UVERBS_WR_SEND_WITH_INV: {abi.SIW_OP_SEND_REMOTE_INV, opKnown | opInvalidate | opSolicited},
	abi.IB_UVERBS_WR_RDMA_READ:     {abi.SIW_OP_READ, opKnown | opRemote | opRead},
	abi.IB_UVERBS_WR_LOCAL_INV:     {abi.SIW_OP_INVAL_STAG, opKnown | opInvalidate | opLocal},
}

// opOf is the op of an opcode.
func opOf(code abi.IBUverbsWROpcode) op {
	if uint32(code) >= uint32(len(ops)) {
		return op{}
	}
	return ops[code]
}

// opcodeError says why there is no op.
func opcodeError(code abi.IBUverbsWROpcode) error {
	switch code {
	case abi.IB_UVERBS_WR_SEND_WITH_IMM, abi.IB_UVERBS_WR_RDMA_WRITE_WITH_IMM:
		return errImmediate
	case abi.IB_UVERBS_WR_ATOMIC_CMP_AND_SWP, abi.IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD, abi.IB_UVERBS_WR_ATOMIC_WRITE:
		return errAtomic
	}
	return errOpcode
}

// wcOpcodes names completions (map_wc_opcode of siw_cq.c).
var wcOpcodes = [abi.SIW_NUM_OPCODES]abi.IBWCOpcode{
	abi.SIW_OP_WRITE:           abi.IB_WC_RDMA_WRITE,
	abi.SIW_OP_READ:            abi.IB_WC_RDMA_READ,
	abi.SIW_OP_READ_LOCAL_INV:  abi.IB_WC_RDMA_READ,
	abi.SIW_OP_SEND:            abi.IB_WC_SEND,
	abi.SIW_OP_SEND_WITH_IMM:   abi.IB_WC_SEND,
	abi.SIW_OP_SEND_REMOTE_INV: abi.IB_WC_SEND,
	abi.SIW_OP_FETCH_AND_ADD:   abi.IB_WC_FETCH_ADD,
	abi.SIW_OP_COMP_AND_SWAP:   abi.IB_WC_COMP_SWAP,
	abi.SIW_OP_RECEIVE:         abi.IB_WC_RECV,
	abi.SIW_OP_INVAL_STAG:      abi.IB_WC_LOCAL_INV,
	abi.SIW_OP_REG_MR:          abi.IB_WC_REG_MR,
}

// wcStatus translates how a request ended.
var wcStatus = [abi.SIW_NUM_WC_STATUS]abi.IBWCStatus{
	abi.SIW_WC_SUCCESS:         abi.IB_WC_SUCCESS,
	abi.SIW_WC_LOC_LEN_ERR:     abi.IB_WC_LOC_LEN_ERR,
	abi.SIW_WC_LOC_PROT_ERR:    abi.IB_WC_LOC_PROT_ERR,
	abi.SIW_WC_LOC_QP_OP_ERR:   abi.IB_WC_LOC_QP_OP_ERR,
	abi.SIW_WC_WR_FLUSH_ERR:    abi.IB_WC_WR_FLUSH_ERR,
	abi.SIW_WC_BAD_RESP_ERR:    abi.IB_WC_BAD_RESP_ERR,
	abi.SIW_WC_LOC_ACCESS_ERR:  abi.IB_WC_LOC_ACCESS_ERR,
	abi.SIW_WC_REM_ACCESS_ERR:  abi.IB_WC_REM_ACCESS_ERR,
	abi.SIW_WC_REM_INV_REQ_ERR: abi.IB_WC_REM_INV_REQ_ERR,
	abi.SIW_WC_GENERAL_ERR:     abi.IB_WC_GENERAL_ERR,
}
