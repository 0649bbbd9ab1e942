// This file mirrors the completion channel and completion queue part of
// include/uapi/rdma/ib_user_verbs.h.

package abi

import (
	"structs"
	"unsafe"
)

// IBUverbsCreateCompChannel is struct ib_uverbs_create_comp_channel, the request of
// IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL.
type IBUverbsCreateCompChannel struct {
	_        structs.HostLayout
	Response uint64
}

// IBUverbsCreateCompChannelResp is struct ib_uverbs_create_comp_channel_resp, the response
// of IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL: a new file descriptor, which is also the
// handle of the channel.
type IBUverbsCreateCompChannelResp struct {
	_  structs.HostLayout
	FD uint32
}

// IBUverbsCreateCQ is struct ib_uverbs_create_cq, the request of
// IB_USER_VERBS_CMD_CREATE_CQ. CompChannel is the channel's descriptor or -1.
type IBUverbsCreateCQ struct {
	_           structs.HostLayout
	Response    uint64
	UserHandle  uint64
	CQE         uint32
	CompVector  uint32
	CompChannel int32
	Reserved    uint32
	// driver_data[] follows at offset 32.
}

// IBUverbsExCreateCQFlags is enum ib_uverbs_ex_create_cq_flags, bits of
// IBUverbsExCreateCQ.Flags and UVERBS_ATTR_CREATE_CQ_FLAGS.
type IBUverbsExCreateCQFlags uint32

// Values of IBUverbsExCreateCQFlags.
const (
	IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION IBUverbsExCreateCQFlags = 1 << 0
	IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN       IBUverbsExCreateCQFlags = 1 << 1
)

// IBUverbsExCreateCQ is struct ib_uverbs_ex_create_cq, the request of
// IB_USER_VERBS_EX_CMD_CREATE_CQ. CompChannel is the channel's descriptor or -1.
type IBUverbsExCreateCQ struct {
	_           structs.HostLayout
	UserHandle  uint64
	CQE         uint32
	CompVector  uint32
	CompChannel int32
	CompMask    uint32
	Flags       uint32 // IBUverbsExCreateCQFlags
	Reserved    uint32
}

// IBUverbsCreateCQResp is struct ib_uverbs_create_cq_resp, the response of
// IB_USER_VERBS_CMD_CREATE_CQ. CQE is the size the kernel chose, at least the one asked
// for.
type IBUverbsCreateCQResp struct {
	_        structs.HostLayout
	_        [0]uint64 // alignment of the C struct
	CQHandle uint32
	CQE      uint32
	// driver_data[] follows at offset 8.
}

// IBUverbsExCreateCQResp is struct ib_uverbs_ex_create_cq_resp, the response of
// IB_USER_VERBS_EX_CMD_CREATE_CQ.
type IBUverbsExCreateCQResp struct {
	_              structs.HostLayout
	Base           IBUverbsCreateCQResp
	CompMask       uint32
	ResponseLength uint32
}

// IBUverbsResizeCQ is struct ib_uverbs_resize_cq, the request of
// IB_USER_VERBS_CMD_RESIZE_CQ.
type IBUverbsResizeCQ struct {
	_        structs.HostLayout
	Response uint64
	CQHandle uint32
	CQE      uint32
	// driver_data[] follows at offset 16.
}

// IBUverbsResizeCQResp is struct ib_uverbs_resize_cq_resp, the response of
// IB_USER_VERBS_CMD_RESIZE_CQ.
type IBUverbsResizeCQResp struct {
	_        structs.HostLayout
	_        [0]uint64 // alignment of the C struct
	CQE      uint32
	Reserved uint32
	// driver_data[] follows at offset 8.
}

// IBUverbsPollCQ is struct ib_uverbs_poll_cq, the request of IB_USER_VERBS_CMD_POLL_CQ,
// for drivers that poll in the kernel.
type IBUverbsPollCQ struct {
	_        structs.HostLayout
	Response uint64
	CQHandle uint32
	Ne       uint32
}

// IBUverbsWCOpcode is enum ib_uverbs_wc_opcode, what a send completion reports in
// IBUverbsWC.Opcode. IBWCOpcode also has the receive values. FLUSH and ATOMIC_WRITE are
// newer than Linux 6.1.
type IBUverbsWCOpcode uint32

// Values of IBUverbsWCOpcode.
const (
	IB_UVERBS_WC_SEND         IBUverbsWCOpcode = 0
	IB_UVERBS_WC_RDMA_WRITE   IBUverbsWCOpcode = 1
	IB_UVERBS_WC_RDMA_READ    IBUverbsWCOpcode = 2
	IB_UVERBS_WC_COMP_SWAP    IBUverbsWCOpcode = 3
	IB_UVERBS_WC_FETCH_ADD    IBUverbsWCOpcode = 4
	IB_UVERBS_WC_BIND_MW      IBUverbsWCOpcode = 5
	IB_UVERBS_WC_LOCAL_INV    IBUverbsWCOpcode = 6
	IB_UVERBS_WC_TSO          IBUverbsWCOpcode = 7
	IB_UVERBS_WC_FLUSH        IBUverbsWCOpcode = 8
	IB_UVERBS_WC_ATOMIC_WRITE IBUverbsWCOpcode = 9
)

// IBUverbsWC is struct ib_uverbs_wc, a work completion, an element of IBUverbsPollCQResp
// and of the CQ ring of rxe. Status is an IBWCStatus, Opcode an IBWCOpcode, WCFlags an
// IBWCFlags.
type IBUverbsWC struct {
	_            structs.HostLayout
	WRID         uint64
	Status       uint32 // IBWCStatus
	Opcode       uint32 // IBWCOpcode
	VendorErr    uint32
	ByteLen      uint32
	Ex           uint32 // union: imm_data, invalidate_rkey
	QPNum        uint32
	SrcQP        uint32
	WCFlags      uint32 // IBWCFlags
	PKeyIndex    uint16
	Slid         uint16
	SL           uint8
	DlidPathBits uint8
	PortNum      uint8
	Reserved     uint8
}

// ExImmData returns a view of union member ex.imm_data.
func (p *IBUverbsWC) ExImmData() *uint32 { return (*uint32)(unsafe.Pointer(&p.Ex)) }

// ExInvalidateRKey returns a view of union member ex.invalidate_rkey.
func (p *IBUverbsWC) ExInvalidateRKey() *uint32 { return (*uint32)(unsafe.Pointer(&p.Ex)) }

// IBUverbsPollCQResp is struct ib_uverbs_poll_cq_resp, the response of
// IB_USER_VERBS_CMD_POLL_CQ.
type IBUverbsPollCQResp struct {
	_        structs.HostLayout
	_        [0]uint64 // alignment of the C struct
	Count    uint32
	Reserved uint32
	// wc[] follows at offset 8.
}

// IBUverbsReqNotifyCQ is struct ib_uverbs_req_notify_cq, the request of
// IB_USER_VERBS_CMD_REQ_NOTIFY_CQ, for drivers that arm a CQ in the kernel. It has no
// response.
type IBUverbsReqNotifyCQ struct {
	_             structs.HostLayout
	CQHandle      uint32
	SolicitedOnly uint32
}

// IBUverbsDestroyCQ is struct ib_uverbs_destroy_cq, the request of
// IB_USER_VERBS_CMD_DESTROY_CQ.
type IBUverbsDestroyCQ struct {
	_        structs.HostLayout
	Response uint64
	CQHandle uint32
	Reserved uint32
}

// IBUverbsDestroyCQResp is struct ib_uverbs_destroy_cq_resp, the response of
// IB_USER_VERBS_CMD_DESTROY_CQ: how many events of the CQ were handed out.
type IBUverbsDestroyCQResp struct {
	_                   structs.HostLayout
	CompEventsReported  uint32
	AsyncEventsReported uint32
}

// IBUverbsCQModeration is struct ib_uverbs_cq_moderation, when a CQ raises an event: after
// CQCount completions or CQPeriod microseconds.
type IBUverbsCQModeration struct {
	_        structs.HostLayout
	CQCount  uint16
	CQPeriod uint16
}

// IBUverbsExModifyCQ is struct ib_uverbs_ex_modify_cq, the request of
// IB_USER_VERBS_EX_CMD_MODIFY_CQ. AttrMask is an IBCQAttrMask.
type IBUverbsExModifyCQ struct {
	_        structs.HostLayout
	CQHandle uint32
	AttrMask uint32
	Attr     IBUverbsCQModeration
	Reserved uint32
}
