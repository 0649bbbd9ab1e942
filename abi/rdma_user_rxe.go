// This file mirrors the whole of include/uapi/rdma/rdma_user_rxe.h. It is what the
// soft-RoCE driver shares with its user space: queue rings, their elements and the answers
// to create commands.

package abi

import (
	"structs"
	"unsafe"
)

// Values of RXEAV.NetworkType.
const (
	RXE_NETWORK_TYPE_IPV4 = 1
	RXE_NETWORK_TYPE_IPV6 = 2
)

// RXEGID is union rxe_gid, a GID in network byte order.
type RXEGID struct {
	_   structs.HostLayout
	_   [0]uint64 // alignment of the C type
	Raw [16]uint8
}

// RXEGIDGlobal is the unnamed struct global of union rxe_gid: the two halves, big-endian.
type RXEGIDGlobal struct {
	_            structs.HostLayout
	SubnetPrefix uint64 // big-endian
	InterfaceID  uint64 // big-endian
}

// Global returns a view of member global of the C union.
func (p *RXEGID) Global() *RXEGIDGlobal { return (*RXEGIDGlobal)(unsafe.Pointer(&p.Raw)) }

// RXEGlobalRoute is struct rxe_global_route, the global part of an rxe address vector.
type RXEGlobalRoute struct {
	_            structs.HostLayout
	Dgid         RXEGID
	FlowLabel    uint32
	SgidIndex    uint8
	HopLimit     uint8
	TrafficClass uint8
	_            [1]byte
}

// RXEAV is struct rxe_av, an rxe address vector: what the driver needs to build the IP and
// UDP headers.
type RXEAV struct {
	_           structs.HostLayout
	PortNum     uint8
	NetworkType uint8 // RXE_NETWORK_TYPE_*
	Dmac        [6]uint8
	GRH         RXEGlobalRoute
	SgidAddr    [7]uint32 // union: _sockaddr_in, _sockaddr_in6
	DgidAddr    [7]uint32 // union: _sockaddr_in, _sockaddr_in6
}

// SgidAddrSockaddrIn returns a view of union member sgid_addr._sockaddr_in.
func (p *RXEAV) SgidAddrSockaddrIn() *SockaddrIn { return (*SockaddrIn)(unsafe.Pointer(&p.SgidAddr)) }

// SgidAddrSockaddrIn6 returns a view of union member sgid_addr._sockaddr_in6.
func (p *RXEAV) SgidAddrSockaddrIn6() *SockaddrIn6 {
	return (*SockaddrIn6)(unsafe.Pointer(&p.SgidAddr))
}

// DgidAddrSockaddrIn returns a view of union member dgid_addr._sockaddr_in.
func (p *RXEAV) DgidAddrSockaddrIn() *SockaddrIn { return (*SockaddrIn)(unsafe.Pointer(&p.DgidAddr)) }

// DgidAddrSockaddrIn6 returns a view of union member dgid_addr._sockaddr_in6.
func (p *RXEAV) DgidAddrSockaddrIn6() *SockaddrIn6 {
	return (*SockaddrIn6)(unsafe.Pointer(&p.DgidAddr))
}

// RXESendWR is struct rxe_send_wr, the work request inside RXESendWQE. ExImmData is
// big-endian. Linux 5.10 keeps the address vector of a datagram after the request, at the
// same offset of the WQE as WRUD().AV.
type RXESendWR struct {
	_         structs.HostLayout
	WRID      uint64
	Reserved  uint32
	Opcode    uint32     // IBUverbsWROpcode
	SendFlags uint32     // IBSendFlags
	Ex        uint32     // union: imm_data, invalidate_rkey
	WR        [15]uint64 // union: flush, rdma, atomic, ud, mw
}

// RXESendWRFlush is the unnamed struct wr.flush of struct rxe_send_wr: the target of a
// flush. Newer than Linux 6.1, present in 6.12.
type RXESendWRFlush struct {
	_          structs.HostLayout
	RemoteAddr uint64
	Length     uint32
	RKey       uint32
	Type       uint8
	Level      uint8
	_          [6]byte
}

// RXESendWRRDMA is the unnamed struct wr.rdma of struct rxe_send_wr: the target of a read
// or write.
type RXESendWRRDMA struct {
	_          structs.HostLayout
	RemoteAddr uint64
	RKey       uint32
	Reserved   uint32
}

// RXESendWRAtomic is the unnamed struct wr.atomic of struct rxe_send_wr: the target and
// operands of an atomic.
type RXESendWRAtomic struct {
	_          structs.HostLayout
	RemoteAddr uint64
	CompareAdd uint64
	Swap       uint64
	RKey       uint32
	Reserved   uint32
}

// RXESendWRUD is the unnamed struct wr.ud of struct rxe_send_wr: the target of a datagram.
// AHNum zero means that AV counts.
type RXESendWRUD struct {
	_          structs.HostLayout
	RemoteQPN  uint32
	RemoteQKey uint32
	PKeyIndex  uint16
	Reserved   uint16
	AHNum      uint32
	Pad        [4]uint32
	AV         RXEAV
}

// RXESendWRMW is the unnamed struct wr.mw of struct rxe_send_wr: a memory window bind.
// Newer than Linux 5.10, present in 6.1.
type RXESendWRMW struct {
	_      structs.HostLayout
	Addr   uint64
	Length uint64
	MRLKey uint32
	MWRKey uint32
	RKey   uint32
	Access uint32
}

// ExImmData returns a view of union member ex.imm_data.
func (p *RXESendWR) ExImmData() *uint32 { return (*uint32)(unsafe.Pointer(&p.Ex)) }

// ExInvalidateRKey returns a view of union member ex.invalidate_rkey.
func (p *RXESendWR) ExInvalidateRKey() *uint32 { return (*uint32)(unsafe.Pointer(&p.Ex)) }

// WRFlush returns a view of union member wr.flush.
func (p *RXESendWR) WRFlush() *RXESendWRFlush { return (*RXESendWRFlush)(unsafe.Pointer(&p.WR)) }

// WRRDMA returns a view of union member wr.rdma.
func (p *RXESendWR) WRRDMA() *RXESendWRRDMA { return (*RXESendWRRDMA)(unsafe.Pointer(&p.WR)) }

// WRAtomic returns a view of union member wr.atomic.
func (p *RXESendWR) WRAtomic() *RXESendWRAtomic { return (*RXESendWRAtomic)(unsafe.Pointer(&p.WR)) }

// WRUD returns a view of union member wr.ud.
func (p *RXESendWR) WRUD() *RXESendWRUD { return (*RXESendWRUD)(unsafe.Pointer(&p.WR)) }

// WRMW returns a view of union member wr.mw.
func (p *RXESendWR) WRMW() *RXESendWRMW { return (*RXESendWRMW)(unsafe.Pointer(&p.WR)) }

// RXESGE is struct rxe_sge, a scatter-gather element of rxe rings.
type RXESGE struct {
	_      structs.HostLayout
	Addr   uint64
	Length uint32
	LKey   uint32
}

// Mminfo is struct mminfo, what to mmap to reach a ring: offset and size.
type Mminfo struct {
	_      structs.HostLayout
	Offset uint64
	Size   uint32
	Pad    uint32
}

// RXEDMAInfo is struct rxe_dma_info, the state of a transfer. NumSGE elements, or inline
// data, follow; CurSGE and SGEOffset are the driver's progress.
type RXEDMAInfo struct {
	_         structs.HostLayout
	_         [0]uint64 // alignment of the C struct
	Length    uint32
	Resid     uint32
	CurSGE    uint32
	NumSGE    uint32
	SGEOffset uint32
	Reserved  uint32
	// inline_data[], atomic_wr[], sge[] follow at offset 24 (union of flexible arrays).
}

// RXESendWQE is struct rxe_send_wqe, an element of the rxe send queue. User space fills
// the work request, Iova, Ssn and DMA; the driver owns the rest.
type RXESendWQE struct {
	_           structs.HostLayout
	WR          RXESendWR
	Status      uint32
	State       uint32
	Iova        uint64
	Mask        uint32
	FirstPSN    uint32
	LastPSN     uint32
	AckLength   uint32
	Ssn         uint32
	HasRdAtomic uint32
	DMA         RXEDMAInfo
}

// RXERecvWQE is struct rxe_recv_wqe, an element of the rxe receive and shared receive
// queues.
type RXERecvWQE struct {
	_        structs.HostLayout
	WRID     uint64
	Reserved uint32
	Padding  uint32
	DMA      RXEDMAInfo
}

// RXECreateAHResp is struct rxe_create_ah_resp, the driver part of the response to
// IB_USER_VERBS_CMD_CREATE_AH. Newer than Linux 5.10, present in 6.1.
type RXECreateAHResp struct {
	_        structs.HostLayout
	AHNum    uint32
	Reserved uint32
}

// RXECreateCQResp is struct rxe_create_cq_resp, the driver part of the response to a CQ
// create command.
type RXECreateCQResp struct {
	_  structs.HostLayout
	Mi Mminfo
}

// RXEResizeCQResp is struct rxe_resize_cq_resp, the driver part of the response to
// IB_USER_VERBS_CMD_RESIZE_CQ.
type RXEResizeCQResp struct {
	_  structs.HostLayout
	Mi Mminfo
}

// RXECreateQPResp is struct rxe_create_qp_resp, the driver part of the response to a QP
// create command. The receive ring is empty when the QP uses an SRQ.
type RXECreateQPResp struct {
	_    structs.HostLayout
	RQMi Mminfo
	SQMi Mminfo
}

// RXECreateSRQResp is struct rxe_create_srq_resp, the driver part of the response to an
// SRQ create command.
type RXECreateSRQResp struct {
	_        structs.HostLayout
	Mi       Mminfo
	SRQNum   uint32
	Reserved uint32
}

// RXEModifySRQCmd is struct rxe_modify_srq_cmd, the driver part of
// IB_USER_VERBS_CMD_MODIFY_SRQ: the user address that takes an Mminfo when the ring is
// resized.
type RXEModifySRQCmd struct {
	_            structs.HostLayout
	MmapInfoAddr uint64
}

// RXEQueueBuf is struct rxe_queue_buf, the start of every rxe ring. Indices run freely and
// are masked with IndexMask; each sits in a cache line of its own. The header of Linux
// 5.10 lacks the struct, its kernel has the same layout.
type RXEQueueBuf struct {
	_             structs.HostLayout
	Log2ElemSize  uint32
	IndexMask     uint32
	Pad1          [30]uint32
	ProducerIndex uint32
	Pad2          [31]uint32
	ConsumerIndex uint32
	Pad3          [31]uint32
	// data[] follows at offset 384.
}
