// This file mirrors the work request part of include/uapi/rdma/ib_user_verbs.h.

package abi

import (
	"structs"
	"unsafe"
)

// IBPlacementType is enum ib_placement_type, where a flush work request makes data visible
// or durable (InfiniBand specification, A19.4.1.1). Newer than Linux 6.1, present in 6.12.
type IBPlacementType uint32

// Values of IBPlacementType.
const (
	IB_FLUSH_GLOBAL     IBPlacementType = 1 << 0
	IB_FLUSH_PERSISTENT IBPlacementType = 1 << 1
)

// IBSelectivityLevel is enum ib_selectivity_level, what a flush work request covers
// (InfiniBand specification, A19.4.1.2). Newer than Linux 6.1, present in 6.12.
type IBSelectivityLevel uint32

// Values of IBSelectivityLevel.
const (
	IB_FLUSH_RANGE IBSelectivityLevel = 0
	IB_FLUSH_MR    IBSelectivityLevel = 1
)

// IBUverbsSGE is struct ib_uverbs_sge, a scatter-gather element of the write commands.
type IBUverbsSGE struct {
	_      structs.HostLayout
	Addr   uint64
	Length uint32
	LKey   uint32
}

// IBUverbsWROpcode is enum ib_uverbs_wr_opcode, the operation of a send work request.
// FLUSH and ATOMIC_WRITE are newer than Linux 6.1.
type IBUverbsWROpcode uint32

// Values of IBUverbsWROpcode.
const (
	IB_UVERBS_WR_RDMA_WRITE                  IBUverbsWROpcode = 0
	IB_UVERBS_WR_RDMA_WRITE_WITH_IMM         IBUverbsWROpcode = 1
	IB_UVERBS_WR_SEND                        IBUverbsWROpcode = 2
	IB_UVERBS_WR_SEND_WITH_IMM               IBUverbsWROpcode = 3
	IB_UVERBS_WR_RDMA_READ                   IBUverbsWROpcode = 4
	IB_UVERBS_WR_ATOMIC_CMP_AND_SWP          IBUverbsWROpcode = 5
	IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD        IBUverbsWROpcode = 6
	IB_UVERBS_WR_LOCAL_INV                   IBUverbsWROpcode = 7
	IB_UVERBS_WR_BIND_MW                     IBUverbsWROpcode = 8
	IB_UVERBS_WR_SEND_WITH_INV               IBUverbsWROpcode = 9
	IB_UVERBS_WR_TSO                         IBUverbsWROpcode = 10
	IB_UVERBS_WR_RDMA_READ_WITH_INV          IBUverbsWROpcode = 11
	IB_UVERBS_WR_MASKED_ATOMIC_CMP_AND_SWP   IBUverbsWROpcode = 12
	IB_UVERBS_WR_MASKED_ATOMIC_FETCH_AND_ADD IBUverbsWROpcode = 13
	IB_UVERBS_WR_FLUSH                       IBUverbsWROpcode = 14
	IB_UVERBS_WR_ATOMIC_WRITE                IBUverbsWROpcode = 15
)

// IBUverbsSendWR is struct ib_uverbs_send_wr, a send work request of
// IB_USER_VERBS_CMD_POST_SEND. SendFlags is an IBSendFlags; the members of WR belong to
// one-sided, atomic and datagram operations.
type IBUverbsSendWR struct {
	_         structs.HostLayout
	WRID      uint64
	NumSGE    uint32
	Opcode    uint32    // IBUverbsWROpcode
	SendFlags uint32    // IBSendFlags
	Ex        uint32    // union: imm_data, invalidate_rkey
	WR        [4]uint64 // union: rdma, atomic, ud
}

// IBUverbsSendWRRDMA is the unnamed struct wr.rdma of struct ib_uverbs_send_wr: the target
// of a read or write.
type IBUverbsSendWRRDMA struct {
	_          structs.HostLayout
	RemoteAddr uint64
	RKey       uint32
	Reserved   uint32
}

// IBUverbsSendWRAtomic is the unnamed struct wr.atomic of struct ib_uverbs_send_wr: the
// target and operands of an atomic.
type IBUverbsSendWRAtomic struct {
	_          structs.HostLayout
	RemoteAddr uint64
	CompareAdd uint64
	Swap       uint64
	RKey       uint32
	Reserved   uint32
}

// IBUverbsSendWRUD is the unnamed struct wr.ud of struct ib_uverbs_send_wr: the target of
// a datagram.
type IBUverbsSendWRUD struct {
	_          structs.HostLayout
	AH         uint32
	RemoteQPN  uint32
	RemoteQKey uint32
	Reserved   uint32
}

// ExImmData returns a view of union member ex.imm_data.
func (p *IBUverbsSendWR) ExImmData() *uint32 { return (*uint32)(unsafe.Pointer(&p.Ex)) }

// ExInvalidateRKey returns a view of union member ex.invalidate_rkey.
func (p *IBUverbsSendWR) ExInvalidateRKey() *uint32 { return (*uint32)(unsafe.Pointer(&p.Ex)) }

// WRRDMA returns a view of union member wr.rdma.
func (p *IBUverbsSendWR) WRRDMA() *IBUverbsSendWRRDMA {
	return (*IBUverbsSendWRRDMA)(unsafe.Pointer(&p.WR))
}

// WRAtomic returns a view of union member wr.atomic.
func (p *IBUverbsSendWR) WRAtomic() *IBUverbsSendWRAtomic {
	return (*IBUverbsSendWRAtomic)(unsafe.Pointer(&p.WR))
}

// WRUD returns a view of union member wr.ud.
func (p *IBUverbsSendWR) WRUD() *IBUverbsSendWRUD { return (*IBUverbsSendWRUD)(unsafe.Pointer(&p.WR)) }

// IBUverbsPostSend is struct ib_uverbs_post_send, the request of
// IB_USER_VERBS_CMD_POST_SEND. WRCount requests of WQESize bytes follow, then SGECount
// IBUverbsSGE. rxe takes it with no request as doorbell.
type IBUverbsPostSend struct {
	_        structs.HostLayout
	Response uint64
	QPHandle uint32
	WRCount  uint32
	SGECount uint32
	WQESize  uint32
	// send_wr[] follows at offset 24.
}

// IBUverbsPostSendResp is struct ib_uverbs_post_send_resp, the response of
// IB_USER_VERBS_CMD_POST_SEND: on failure, the number of the first request not posted,
// counted from 1.
type IBUverbsPostSendResp struct {
	_     structs.HostLayout
	BadWR uint32
}

// IBUverbsRecvWR is struct ib_uverbs_recv_wr, a receive work request of the write
// commands.
type IBUverbsRecvWR struct {
	_        structs.HostLayout
	WRID     uint64
	NumSGE   uint32
	Reserved uint32
}

// IBUverbsPostRecv is struct ib_uverbs_post_recv, the request of
// IB_USER_VERBS_CMD_POST_RECV, laid out like IBUverbsPostSend.
type IBUverbsPostRecv struct {
	_        structs.HostLayout
	Response uint64
	QPHandle uint32
	WRCount  uint32
	SGECount uint32
	WQESize  uint32
	// recv_wr[] follows at offset 24.
}

// IBUverbsPostRecvResp is struct ib_uverbs_post_recv_resp, the response of
// IB_USER_VERBS_CMD_POST_RECV, like IBUverbsPostSendResp.
type IBUverbsPostRecvResp struct {
	_     structs.HostLayout
	BadWR uint32
}

// IBUverbsPostSRQRecv is struct ib_uverbs_post_srq_recv, the request of
// IB_USER_VERBS_CMD_POST_SRQ_RECV, laid out like IBUverbsPostSend.
type IBUverbsPostSRQRecv struct {
	_         structs.HostLayout
	Response  uint64
	SRQHandle uint32
	WRCount   uint32
	SGECount  uint32
	WQESize   uint32
	// recv[] follows at offset 24.
}

// IBUverbsPostSRQRecvResp is struct ib_uverbs_post_srq_recv_resp, the response of
// IB_USER_VERBS_CMD_POST_SRQ_RECV, like IBUverbsPostSendResp.
type IBUverbsPostSRQRecvResp struct {
	_     structs.HostLayout
	BadWR uint32
}
