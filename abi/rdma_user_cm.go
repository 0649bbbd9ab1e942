// This file mirrors the commands, the ID and the query structs of
// include/uapi/rdma/rdma_user_cm.h. The commands are written to /dev/infiniband/rdma_cm.

package abi

import "structs"

// ABI version of the rdma_cm device, as /sys/class/misc/rdma_cm/abi_version reports it,
// and the size of every private data field.
const (
	RDMA_USER_CM_ABI_VERSION = 4
	RDMA_MAX_PRIVATE_DATA    = 256
)

// Commands of the rdma_cm device, the values of RDMAUCMCmdHdr.Cmd. RESOLVE_IB_SERVICE and
// WRITE_CM_EVENT exist in Linux 7.3, not in 6.12.
const (
	RDMA_USER_CM_CMD_CREATE_ID          = 0
	RDMA_USER_CM_CMD_DESTROY_ID         = 1
	RDMA_USER_CM_CMD_BIND_IP            = 2
	RDMA_USER_CM_CMD_RESOLVE_IP         = 3
	RDMA_USER_CM_CMD_RESOLVE_ROUTE      = 4
	RDMA_USER_CM_CMD_QUERY_ROUTE        = 5
	RDMA_USER_CM_CMD_CONNECT            = 6
	RDMA_USER_CM_CMD_LISTEN             = 7
	RDMA_USER_CM_CMD_ACCEPT             = 8
	RDMA_USER_CM_CMD_REJECT             = 9
	RDMA_USER_CM_CMD_DISCONNECT         = 10
	RDMA_USER_CM_CMD_INIT_QP_ATTR       = 11
	RDMA_USER_CM_CMD_GET_EVENT          = 12
	RDMA_USER_CM_CMD_GET_OPTION         = 13
	RDMA_USER_CM_CMD_SET_OPTION         = 14
	RDMA_USER_CM_CMD_NOTIFY             = 15
	RDMA_USER_CM_CMD_JOIN_IP_MCAST      = 16
	RDMA_USER_CM_CMD_LEAVE_MCAST        = 17
	RDMA_USER_CM_CMD_MIGRATE_ID         = 18
	RDMA_USER_CM_CMD_QUERY              = 19
	RDMA_USER_CM_CMD_BIND               = 20
	RDMA_USER_CM_CMD_RESOLVE_ADDR       = 21
	RDMA_USER_CM_CMD_JOIN_MCAST         = 22
	RDMA_USER_CM_CMD_RESOLVE_IB_SERVICE = 23
	RDMA_USER_CM_CMD_WRITE_CM_EVENT     = 24
)

// RDMAUCMPortSpace is enum rdma_ucm_port_space, the port space of an ID
// (RDMAUCMCreateID.Ps). It decides which QP types the ID may carry and stands in bytes 4
// and 5 of the service ID (InfiniBand specification, annex A11).
type RDMAUCMPortSpace uint32

// Values of RDMAUCMPortSpace.
const (
	RDMA_PS_IPOIB RDMAUCMPortSpace = 0x0002
	RDMA_PS_IB    RDMAUCMPortSpace = 0x013F
	RDMA_PS_TCP   RDMAUCMPortSpace = 0x0106
	RDMA_PS_UDP   RDMAUCMPortSpace = 0x0111
)

// RDMAUCMCmdHdr is struct rdma_ucm_cmd_hdr, the header of every command written to the
// rdma_cm device. In counts the bytes that follow it, Out the bytes of the response
// buffer.
type RDMAUCMCmdHdr struct {
	_   structs.HostLayout
	Cmd uint32
	In  uint16
	Out uint16
}

// RDMAUCMCreateID is struct rdma_ucm_create_id, the request of RDMA_USER_CM_CMD_CREATE_ID.
// UID comes back in every event of the new ID.
type RDMAUCMCreateID struct {
	_        structs.HostLayout
	UID      uint64
	Response uint64
	Ps       uint16 // RDMAUCMPortSpace
	QPType   uint8  // IBQPType
	Reserved [5]uint8
}

// RDMAUCMCreateIDResp is struct rdma_ucm_create_id_resp, the response of
// RDMA_USER_CM_CMD_CREATE_ID and of both multicast joins: the kernel's number of the new
// ID.
type RDMAUCMCreateIDResp struct {
	_  structs.HostLayout
	ID uint32
}

// RDMAUCMDestroyID is struct rdma_ucm_destroy_id, the request of
// RDMA_USER_CM_CMD_DESTROY_ID, also used by RDMA_USER_CM_CMD_LEAVE_MCAST with the
// multicast ID.
type RDMAUCMDestroyID struct {
	_        structs.HostLayout
	Response uint64
	ID       uint32
	Reserved uint32
}

// RDMAUCMDestroyIDResp is struct rdma_ucm_destroy_id_resp, the response of
// RDMA_USER_CM_CMD_DESTROY_ID: how many events of the ID were handed out in its lifetime.
type RDMAUCMDestroyIDResp struct {
	_              structs.HostLayout
	EventsReported uint32
}

// RDMAUCMBindIP is struct rdma_ucm_bind_ip, the request of RDMA_USER_CM_CMD_BIND_IP, the
// form of BIND that takes only IPv4 and IPv6.
type RDMAUCMBindIP struct {
	_        structs.HostLayout
	Response uint64
	Addr     SockaddrIn6
	ID       uint32
}

// RDMAUCMBind is struct rdma_ucm_bind, the request of RDMA_USER_CM_CMD_BIND. AddrSize is
// the length of the address in Addr.
type RDMAUCMBind struct {
	_        structs.HostLayout
	ID       uint32
	AddrSize uint16
	Reserved uint16
	Addr     SockaddrStorage
}

// RDMAUCMResolveIP is struct rdma_ucm_resolve_ip, the request of
// RDMA_USER_CM_CMD_RESOLVE_IP, the form of RESOLVE_ADDR that takes only IPv4 and IPv6.
type RDMAUCMResolveIP struct {
	_         structs.HostLayout
	SrcAddr   SockaddrIn6
	DstAddr   SockaddrIn6
	ID        uint32
	TimeoutMs uint32
}

// RDMAUCMResolveAddr is struct rdma_ucm_resolve_addr, the request of
// RDMA_USER_CM_CMD_RESOLVE_ADDR. SrcSize may be zero; the answer is an event.
type RDMAUCMResolveAddr struct {
	_         structs.HostLayout
	ID        uint32
	TimeoutMs uint32
	SrcSize   uint16
	DstSize   uint16
	Reserved  uint32
	SrcAddr   SockaddrStorage
	DstAddr   SockaddrStorage
}

// RDMAUCMResolveRoute is struct rdma_ucm_resolve_route, the request of
// RDMA_USER_CM_CMD_RESOLVE_ROUTE. The answer is an event.
type RDMAUCMResolveRoute struct {
	_         structs.HostLayout
	ID        uint32
	TimeoutMs uint32
}

// What RDMA_USER_CM_CMD_QUERY returns, the value of RDMAUCMQuery.Option. QUERY_IB_SERVICE
// exists in Linux 7.3, not in 6.12.
const (
	RDMA_USER_CM_QUERY_ADDR       = 0
	RDMA_USER_CM_QUERY_PATH       = 1
	RDMA_USER_CM_QUERY_GID        = 2
	RDMA_USER_CM_QUERY_IB_SERVICE = 3
)

// RDMAUCMQuery is struct rdma_ucm_query, the request of RDMA_USER_CM_CMD_QUERY and
// RDMA_USER_CM_CMD_QUERY_ROUTE (which ignores Option).
type RDMAUCMQuery struct {
	_        structs.HostLayout
	Response uint64
	ID       uint32
	Option   uint32 // RDMA_USER_CM_QUERY_*
}

// RDMAUCMQueryRouteResp is struct rdma_ucm_query_route_resp, the response of
// RDMA_USER_CM_CMD_QUERY_ROUTE. A kernel copies as much as the response buffer holds;
// IbdevIndex is the device index that netlink uses.
type RDMAUCMQueryRouteResp struct {
	_          structs.HostLayout
	NodeGUID   uint64
	IBRoute    [2]IBUserPathRec
	SrcAddr    SockaddrIn6
	DstAddr    SockaddrIn6
	NumPaths   uint32
	PortNum    uint8
	Reserved   [3]uint8
	IbdevIndex uint32
	Reserved1  uint32
}

// RDMAUCMQueryAddrResp is struct rdma_ucm_query_addr_resp, the response of
// RDMA_USER_CM_CMD_QUERY with RDMA_USER_CM_QUERY_ADDR and RDMA_USER_CM_QUERY_GID (the
// addresses are then of family AF_IB).
type RDMAUCMQueryAddrResp struct {
	_          structs.HostLayout
	NodeGUID   uint64
	PortNum    uint8
	Reserved   uint8
	PKey       uint16
	SrcSize    uint16
	DstSize    uint16
	SrcAddr    SockaddrStorage
	DstAddr    SockaddrStorage
	IbdevIndex uint32
	Reserved1  uint32
}

// RDMAUCMQueryPathResp is struct rdma_ucm_query_path_resp, the response of
// RDMA_USER_CM_CMD_QUERY with RDMA_USER_CM_QUERY_PATH. NumPaths counts the records that
// exist, which may be more than the buffer holds.
type RDMAUCMQueryPathResp struct {
	_        structs.HostLayout
	NumPaths uint32
	Reserved uint32
	// path_data[] follows at offset 8.
}

// RDMAUCMQueryIBServiceResp is struct rdma_ucm_query_ib_service_resp, the response of
// RDMA_USER_CM_CMD_QUERY with RDMA_USER_CM_QUERY_IB_SERVICE. Linux 7.3 has it, 6.12 has
// not.
type RDMAUCMQueryIBServiceResp struct {
	_              structs.HostLayout
	_              [0]uint64 // alignment of the C struct
	NumServiceRecs uint32
	Reserved       uint32
	// recs[] follows at offset 8.
}
