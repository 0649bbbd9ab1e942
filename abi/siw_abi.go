// This file mirrors the whole of include/uapi/rdma/siw-abi.h. It is what the soft-iWARP
// driver shares with its user space. The rings are mmaped with the keys that the create
// commands return.

package abi

import (
	"structs"
	"unsafe"
)

// Name, ABI version and limits of siw. SIW_UOBJ_MAX_KEY is the largest mmap key,
// SIW_INVAL_UOBJ_KEY no key.
const (
	SIW_NODE_DESC_COMMON = "Software iWARP stack"
	SIW_ABI_VERSION      = 1
	SIW_MAX_SGE          = 6
	SIW_UOBJ_MAX_KEY     = 0x08FFFF
	SIW_INVAL_UOBJ_KEY   = 589824
)

// SIWUrespCreateCQ is struct siw_uresp_create_cq, the driver part of the response to a CQ
// create command.
type SIWUrespCreateCQ struct {
	_      structs.HostLayout
	CQID   uint32
	NumCQE uint32
	CQKey  uint64
}

// SIWUrespCreateQP is struct siw_uresp_create_qp, the driver part of the response to a QP
// create command.
type SIWUrespCreateQP struct {
	_      structs.HostLayout
	QPID   uint32
	NumSqe uint32
	NumRqe uint32
	Pad    uint32
	SQKey  uint64
	RQKey  uint64
}

// SIWUreqRegMR is struct siw_ureq_reg_mr, the driver part of IB_USER_VERBS_CMD_REG_MR.
type SIWUreqRegMR struct {
	_        structs.HostLayout
	StagKey  uint8
	Reserved [3]uint8
	Pad      uint32
}

// SIWUrespRegMR is struct siw_uresp_reg_mr, the driver part of the response to
// IB_USER_VERBS_CMD_REG_MR.
type SIWUrespRegMR struct {
	_    structs.HostLayout
	Stag uint32
	Pad  uint32
}

// SIWUrespCreateSRQ is struct siw_uresp_create_srq, the driver part of the response to an
// SRQ create command.
type SIWUrespCreateSRQ struct {
	_      structs.HostLayout
	NumRqe uint32
	Pad    uint32
	SRQKey uint64
}

// SIWUrespAllocCtx is struct siw_uresp_alloc_ctx, the driver part of the response to
// IB_USER_VERBS_CMD_GET_CONTEXT.
type SIWUrespAllocCtx struct {
	_     structs.HostLayout
	DevID uint32
	Pad   uint32
}

// SIWOpcode is enum siw_opcode, the operation of a siw queue element. The fetch-and-add
// and compare-and-swap numbers are reserved; those after READ_RESPONSE belong to the
// kernel.
type SIWOpcode uint32

// Values of SIWOpcode.
const (
	SIW_OP_WRITE           SIWOpcode = 0
	SIW_OP_READ            SIWOpcode = 1
	SIW_OP_READ_LOCAL_INV  SIWOpcode = 2
	SIW_OP_SEND            SIWOpcode = 3
	SIW_OP_SEND_WITH_IMM   SIWOpcode = 4
	SIW_OP_SEND_REMOTE_INV SIWOpcode = 5
	SIW_OP_FETCH_AND_ADD   SIWOpcode = 6
	SIW_OP_COMP_AND_SWAP   SIWOpcode = 7
	SIW_OP_RECEIVE         SIWOpcode = 8
	SIW_OP_READ_RESPONSE   SIWOpcode = 9
	SIW_OP_INVAL_STAG      SIWOpcode = 10
	SIW_OP_REG_MR          SIWOpcode = 11
	SIW_NUM_OPCODES        SIWOpcode = 12
)

// SIWSGE is struct siw_sge, a scatter-gather element, laid out like IBUverbsSGE.
type SIWSGE struct {
	_      structs.HostLayout
	Laddr  uint64
	Length uint32
	LKey   uint32
}

// Largest inline message in bytes: the room of all scatter-gather elements but the first.
const (
	SIW_MAX_INLINE = 80
)

// SIWWQEFlags is enum siw_wqe_flags, bits of SIWSqe.Flags and SIWRqe.Flags. VALID hands
// the element over.
type SIWWQEFlags uint32

// Values of SIWWQEFlags.
const (
	SIW_WQE_VALID      SIWWQEFlags = 1
	SIW_WQE_INLINE     SIWWQEFlags = 1 << 1
	SIW_WQE_SIGNALLED  SIWWQEFlags = 1 << 2
	SIW_WQE_SOLICITED  SIWWQEFlags = 1 << 3
	SIW_WQE_READ_FENCE SIWWQEFlags = 1 << 4
	SIW_WQE_REM_INVAL  SIWWQEFlags = 1 << 5
	SIW_WQE_COMPLETED  SIWWQEFlags = 1 << 6
)

// SIWSqe is struct siw_sqe, an element of the siw send queue. Inline data starts at the
// second scatter-gather element.
type SIWSqe struct {
	_      structs.HostLayout
	ID     uint64
	Flags  uint16 // SIWWQEFlags
	NumSGE uint8
	Opcode uint8 // SIWOpcode
	RKey   uint32
	Raddr  uint64    // union with base_mr
	SGE    [6]SIWSGE // union with access
}

// BaseMR returns a view of union member base_mr.
func (p *SIWSqe) BaseMR() *uint64 { return (*uint64)(unsafe.Pointer(&p.Raddr)) }

// Access returns a view of union member access.
func (p *SIWSqe) Access() *uint64 { return (*uint64)(unsafe.Pointer(&p.SGE)) }

// SIWRqe is struct siw_rqe, an element of the siw receive queues.
type SIWRqe struct {
	_      structs.HostLayout
	ID     uint64
	Flags  uint16
	NumSGE uint8
	Opcode uint8
	Unused uint32
	SGE    [6]SIWSGE
}

// SIWNotifyFlags is enum siw_notify_flags, bits of SIWCQCtrl.Flags: which completions
// raise an event.
type SIWNotifyFlags uint32

// Values of SIWNotifyFlags.
const (
	SIW_NOTIFY_NOT             SIWNotifyFlags = 0
	SIW_NOTIFY_SOLICITED       SIWNotifyFlags = 1 << 0
	SIW_NOTIFY_NEXT_COMPLETION SIWNotifyFlags = 1 << 1
	SIW_NOTIFY_MISSED_EVENTS   SIWNotifyFlags = 1 << 2
	SIW_NOTIFY_ALL             SIWNotifyFlags = 7
)

// SIWWCStatus is enum siw_wc_status, the value of SIWCQE.Status.
type SIWWCStatus uint32

// Values of SIWWCStatus.
const (
	SIW_WC_SUCCESS         SIWWCStatus = 0
	SIW_WC_LOC_LEN_ERR     SIWWCStatus = 1
	SIW_WC_LOC_PROT_ERR    SIWWCStatus = 2
	SIW_WC_LOC_QP_OP_ERR   SIWWCStatus = 3
	SIW_WC_WR_FLUSH_ERR    SIWWCStatus = 4
	SIW_WC_BAD_RESP_ERR    SIWWCStatus = 5
	SIW_WC_LOC_ACCESS_ERR  SIWWCStatus = 6
	SIW_WC_REM_ACCESS_ERR  SIWWCStatus = 7
	SIW_WC_REM_INV_REQ_ERR SIWWCStatus = 8
	SIW_WC_GENERAL_ERR     SIWWCStatus = 9
	SIW_NUM_WC_STATUS      SIWWCStatus = 10
)

// SIWCQE is struct siw_cqe, an element of the siw completion queue. Flags with
// SIW_WQE_VALID mark a new one.
type SIWCQE struct {
	_       structs.HostLayout
	ID      uint64
	Flags   uint8  // SIWWQEFlags
	Opcode  uint8  // SIWOpcode
	Status  uint16 // SIWWCStatus
	Bytes   uint32
	ImmData uint64 // union with inval_stag
	QPID    uint64 // union with base_qp
}

// InvalStag returns a view of union member inval_stag.
func (p *SIWCQE) InvalStag() *uint32 { return (*uint32)(unsafe.Pointer(&p.ImmData)) }

// BaseQP returns a view of union member base_qp.
func (p *SIWCQE) BaseQP() *uint64 { return (*uint64)(unsafe.Pointer(&p.QPID)) }

// SIWCQCtrl is struct siw_cq_ctrl, the word after the completion ring through which user
// space arms it.
type SIWCQCtrl struct {
	_     structs.HostLayout
	Flags uint32 // SIWNotifyFlags
	Pad   uint32
}
