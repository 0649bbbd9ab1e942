// This file mirrors include/uapi/rdma/rdma_user_rxe.h.

package abi

import (
	"structs"
	"unsafe"
)

// Constants starting with RXE_NETWORK_TYPE_IPV4.
const (
	RXE_NETWORK_TYPE_IPV4 = 1
	RXE_NETWORK_TYPE_IPV6 = 2
)

// RXEGID mirrors union rxe_gid.
type RXEGID struct {
	_   structs.HostLayout
	_   [0]uint64 // alignment of the C type
	Raw [16]uint8
}

// RXEGIDGlobal is the unnamed struct global of union rxe_gid.
type RXEGIDGlobal struct {
	_            structs.HostLayout
	SubnetPrefix uint64 // big-endian
	InterfaceID  uint64 // big-endian
}

// Global returns a view of member global of the C union.
func (p *RXEGID) Global() *RXEGIDGlobal { return (*RXEGIDGlobal)(unsafe.Pointer(&p.Raw)) }

// RXEGlobalRoute mirrors struct rxe_global_route.
type RXEGlobalRoute struct {
	_            structs.HostLayout
	Dgid         RXEGID
	FlowLabel    uint32
	SgidIndex    uint8
	HopLimit     uint8
	TrafficClass uint8
	_            [1]byte
}

// RXEAV mirrors struct rxe_av.
type RXEAV struct {
	_           structs.HostLayout
	PortNum     uint8
	NetworkType uint8
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

// RXESendWR mirrors struct rxe_send_wr.
type RXESendWR struct {
	_         structs.HostLayout
	WRID      uint64
	Reserved  uint32
	Opcode    uint32
	SendFlags uint32
	Ex        uint32     // union: imm_data, invalidate_rkey
	WR        [15]uint64 // union: flush, rdma, atomic, ud, mw
}

// RXESendWRFlush is the unnamed struct wr.flush of struct rxe_send_wr.
type RXESendWRFlush struct {
	_          structs.HostLayout
	RemoteAddr uint64
	Length     uint32
	RKey       uint32
	Type       uint8
	Level      uint8
	_          [6]byte
}

// RXESendWRRDMA is the unnamed struct wr.rdma of struct rxe_send_wr.
type RXESendWRRDMA struct {
	_          structs.HostLayout
	RemoteAddr uint64
	RKey       uint32
	Reserved   uint32
}

// RXESendWRAtomic is the unnamed struct wr.atomic of struct rxe_send_wr.
type RXESendWRAtomic struct {
	_          structs.HostLayout
	RemoteAddr uint64
	CompareAdd uint64
	Swap       uint64
	RKey       uint32
	Reserved   uint32
}

// RXESendWRUD is the unnamed struct wr.ud of struct rxe_send_wr.
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

// RXESendWRMW is the unnamed struct wr.mw of struct rxe_send_wr.
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

// RXESGE mirrors struct rxe_sge.
type RXESGE struct {
	_      structs.HostLayout
	Addr   uint64
	Length uint32
	LKey   uint32
}

// Mminfo mirrors struct mminfo.
type Mminfo struct {
	_      structs.HostLayout
	Offset uint64
	Size   uint32
	Pad    uint32
}

// RXEDMAInfo mirrors struct rxe_dma_info.
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

// RXESendWQE mirrors struct rxe_send_wqe.
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

// RXERecvWQE mirrors struct rxe_recv_wqe.
type RXERecvWQE struct {
	_        structs.HostLayout
	WRID     uint64
	Reserved uint32
	Padding  uint32
	DMA      RXEDMAInfo
}

// RXECreateAHResp mirrors struct rxe_create_ah_resp.
type RXECreateAHResp struct {
	_        structs.HostLayout
	AHNum    uint32
	Reserved uint32
}

// RXECreateCQResp mirrors struct rxe_create_cq_resp.
type RXECreateCQResp struct {
	_  structs.HostLayout
	Mi Mminfo
}

// RXEResizeCQResp mirrors struct rxe_resize_cq_resp.
type RXEResizeCQResp struct {
	_  structs.HostLayout
	Mi Mminfo
}

// RXECreateQPResp mirrors struct rxe_create_qp_resp.
type RXECreateQPResp struct {
	_    structs.HostLayout
	RQMi Mminfo
	SQMi Mminfo
}

// RXECreateSRQResp mirrors struct rxe_create_srq_resp.
type RXECreateSRQResp struct {
	_        structs.HostLayout
	Mi       Mminfo
	SRQNum   uint32
	Reserved uint32
}

// RXEModifySRQCmd mirrors struct rxe_modify_srq_cmd.
type RXEModifySRQCmd struct {
	_            structs.HostLayout
	MmapInfoAddr uint64
}

// RXEQueueBuf mirrors struct rxe_queue_buf.
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
