// This file mirrors include/uapi/rdma/rdma_user_cm.h.

package abi

import (
	"structs"
	"unsafe"
)

// Constants starting with RDMA_USER_CM_ABI_VERSION.
const (
	RDMA_USER_CM_ABI_VERSION = 4
	RDMA_MAX_PRIVATE_DATA    = 256
)

// Constants starting with RDMA_USER_CM_CMD_CREATE_ID.
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

// RDMAUCMPortSpace mirrors enum rdma_ucm_port_space.
type RDMAUCMPortSpace uint32

// Values of RDMAUCMPortSpace.
const (
	RDMA_PS_IPOIB RDMAUCMPortSpace = 0x0002
	RDMA_PS_IB    RDMAUCMPortSpace = 0x013F
	RDMA_PS_TCP   RDMAUCMPortSpace = 0x0106
	RDMA_PS_UDP   RDMAUCMPortSpace = 0x0111
)

// RDMAUCMCmdHdr mirrors struct rdma_ucm_cmd_hdr.
type RDMAUCMCmdHdr struct {
	_   structs.HostLayout
	Cmd uint32
	In  uint16
	Out uint16
}

// RDMAUCMCreateID mirrors struct rdma_ucm_create_id.
type RDMAUCMCreateID struct {
	_        structs.HostLayout
	UID      uint64
	Response uint64
	Ps       uint16
	QPType   uint8
	Reserved [5]uint8
}

// RDMAUCMCreateIDResp mirrors struct rdma_ucm_create_id_resp.
type RDMAUCMCreateIDResp struct {
	_  structs.HostLayout
	ID uint32
}

// RDMAUCMDestroyID mirrors struct rdma_ucm_destroy_id.
type RDMAUCMDestroyID struct {
	_        structs.HostLayout
	Response uint64
	ID       uint32
	Reserved uint32
}

// RDMAUCMDestroyIDResp mirrors struct rdma_ucm_destroy_id_resp.
type RDMAUCMDestroyIDResp struct {
	_              structs.HostLayout
	EventsReported uint32
}

// RDMAUCMBindIP mirrors struct rdma_ucm_bind_ip.
type RDMAUCMBindIP struct {
	_        structs.HostLayout
	Response uint64
	Addr     SockaddrIn6
	ID       uint32
}

// RDMAUCMBind mirrors struct rdma_ucm_bind.
type RDMAUCMBind struct {
	_        structs.HostLayout
	ID       uint32
	AddrSize uint16
	Reserved uint16
	Addr     SockaddrStorage
}

// RDMAUCMResolveIP mirrors struct rdma_ucm_resolve_ip.
type RDMAUCMResolveIP struct {
	_         structs.HostLayout
	SrcAddr   SockaddrIn6
	DstAddr   SockaddrIn6
	ID        uint32
	TimeoutMs uint32
}

// RDMAUCMResolveAddr mirrors struct rdma_ucm_resolve_addr.
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

// RDMAUCMResolveRoute mirrors struct rdma_ucm_resolve_route.
type RDMAUCMResolveRoute struct {
	_         structs.HostLayout
	ID        uint32
	TimeoutMs uint32
}

// Constants starting with RDMA_USER_CM_QUERY_ADDR.
const (
	RDMA_USER_CM_QUERY_ADDR       = 0
	RDMA_USER_CM_QUERY_PATH       = 1
	RDMA_USER_CM_QUERY_GID        = 2
	RDMA_USER_CM_QUERY_IB_SERVICE = 3
)

// RDMAUCMQuery mirrors struct rdma_ucm_query.
type RDMAUCMQuery struct {
	_        structs.HostLayout
	Response uint64
	ID       uint32
	Option   uint32
}

// RDMAUCMQueryRouteResp mirrors struct rdma_ucm_query_route_resp.
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

// RDMAUCMQueryAddrResp mirrors struct rdma_ucm_query_addr_resp.
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

// RDMAUCMQueryPathResp mirrors struct rdma_ucm_query_path_resp.
type RDMAUCMQueryPathResp struct {
	_        structs.HostLayout
	NumPaths uint32
	Reserved uint32
	// path_data[] follows at offset 8.
}

// RDMAUCMQueryIBServiceResp mirrors struct rdma_ucm_query_ib_service_resp.
type RDMAUCMQueryIBServiceResp struct {
	_              structs.HostLayout
	_              [0]uint64 // alignment of the C struct
	NumServiceRecs uint32
	Reserved       uint32
	// recs[] follows at offset 8.
}

// RDMAUCMConnParam mirrors struct rdma_ucm_conn_param.
type RDMAUCMConnParam struct {
	_                  structs.HostLayout
	QPNum              uint32
	QKey               uint32
	PrivateData        [256]uint8
	PrivateDataLen     uint8
	SRQ                uint8
	ResponderResources uint8
	InitiatorDepth     uint8
	FlowControl        uint8
	RetryCount         uint8
	RnrRetryCount      uint8
	Valid              uint8
}

// RDMAUCMUDParam mirrors struct rdma_ucm_ud_param.
type RDMAUCMUDParam struct {
	_              structs.HostLayout
	QPNum          uint32
	QKey           uint32
	AHAttr         IBUverbsAHAttr
	PrivateData    [256]uint8
	PrivateDataLen uint8
	Reserved       [7]uint8
}

// RDMAUCMECE mirrors struct rdma_ucm_ece.
type RDMAUCMECE struct {
	_        structs.HostLayout
	VendorID uint32
	AttrMod  uint32
}

// RDMAUCMConnect mirrors struct rdma_ucm_connect.
type RDMAUCMConnect struct {
	_         structs.HostLayout
	ConnParam RDMAUCMConnParam
	ID        uint32
	Reserved  uint32
	ECE       RDMAUCMECE
}

// RDMAUCMListen mirrors struct rdma_ucm_listen.
type RDMAUCMListen struct {
	_       structs.HostLayout
	ID      uint32
	Backlog uint32
}

// RDMAUCMAccept mirrors struct rdma_ucm_accept.
type RDMAUCMAccept struct {
	_         structs.HostLayout
	UID       uint64
	ConnParam RDMAUCMConnParam
	ID        uint32
	Reserved  uint32
	ECE       RDMAUCMECE
}

// RDMAUCMReject mirrors struct rdma_ucm_reject.
type RDMAUCMReject struct {
	_              structs.HostLayout
	ID             uint32
	PrivateDataLen uint8
	Reason         uint8
	Reserved       [2]uint8
	PrivateData    [256]uint8
}

// RDMAUCMDisconnect mirrors struct rdma_ucm_disconnect.
type RDMAUCMDisconnect struct {
	_  structs.HostLayout
	ID uint32
}

// RDMAUCMInitQPAttr mirrors struct rdma_ucm_init_qp_attr.
type RDMAUCMInitQPAttr struct {
	_        structs.HostLayout
	Response uint64
	ID       uint32
	QPState  uint32
}

// RDMAUCMNotify mirrors struct rdma_ucm_notify.
type RDMAUCMNotify struct {
	_     structs.HostLayout
	ID    uint32
	Event uint32
}

// RDMAUCMJoinIPMcast mirrors struct rdma_ucm_join_ip_mcast.
type RDMAUCMJoinIPMcast struct {
	_        structs.HostLayout
	Response uint64
	UID      uint64
	Addr     SockaddrIn6
	ID       uint32
}

// Constants starting with RDMA_MC_JOIN_FLAG_FULLMEMBER.
const (
	RDMA_MC_JOIN_FLAG_FULLMEMBER          = 0
	RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER = 1
	RDMA_MC_JOIN_FLAG_RESERVED            = 2
)

// RDMAUCMJoinMcast mirrors struct rdma_ucm_join_mcast.
type RDMAUCMJoinMcast struct {
	_         structs.HostLayout
	Response  uint64
	UID       uint64
	ID        uint32
	AddrSize  uint16
	JoinFlags uint16
	Addr      SockaddrStorage
}

// RDMAUCMGetEvent mirrors struct rdma_ucm_get_event.
type RDMAUCMGetEvent struct {
	_        structs.HostLayout
	Response uint64
}

// RDMAUCMEventResp mirrors struct rdma_ucm_event_resp.
type RDMAUCMEventResp struct {
	_        structs.HostLayout
	UID      uint64
	ID       uint32
	Event    uint32
	Status   uint32
	Param    [76]uint32 // union: conn, ud, arg32
	Reserved uint32
	ECE      RDMAUCMECE
}

// ParamConn returns a view of union member param.conn.
func (p *RDMAUCMEventResp) ParamConn() *RDMAUCMConnParam {
	return (*RDMAUCMConnParam)(unsafe.Pointer(&p.Param))
}

// ParamUD returns a view of union member param.ud.
func (p *RDMAUCMEventResp) ParamUD() *RDMAUCMUDParam {
	return (*RDMAUCMUDParam)(unsafe.Pointer(&p.Param))
}

// ParamArg32 returns a view of union member param.arg32.
func (p *RDMAUCMEventResp) ParamArg32() *[2]uint32 { return (*[2]uint32)(unsafe.Pointer(&p.Param)) }

// Constants starting with RDMA_OPTION_ID.
const (
	RDMA_OPTION_ID = 0
	RDMA_OPTION_IB = 1
)

// Constants starting with RDMA_OPTION_ID_TOS.
const (
	RDMA_OPTION_ID_TOS         = 0
	RDMA_OPTION_ID_REUSEADDR   = 1
	RDMA_OPTION_ID_AFONLY      = 2
	RDMA_OPTION_ID_ACK_TIMEOUT = 3
)

// Constants starting with RDMA_OPTION_IB_PATH.
const (
	RDMA_OPTION_IB_PATH = 1
)

// RDMAUCMSetOption mirrors struct rdma_ucm_set_option.
type RDMAUCMSetOption struct {
	_       structs.HostLayout
	Optval  uint64
	ID      uint32
	Level   uint32
	Optname uint32
	Optlen  uint32
}

// RDMAUCMMigrateID mirrors struct rdma_ucm_migrate_id.
type RDMAUCMMigrateID struct {
	_        structs.HostLayout
	Response uint64
	ID       uint32
	FD       uint32
}

// RDMAUCMMigrateResp mirrors struct rdma_ucm_migrate_resp.
type RDMAUCMMigrateResp struct {
	_              structs.HostLayout
	EventsReported uint32
}

// Constants starting with RDMA_USER_CM_IB_SERVICE_FLAG_ID.
const (
	RDMA_USER_CM_IB_SERVICE_FLAG_ID   = 1 << 0
	RDMA_USER_CM_IB_SERVICE_FLAG_NAME = 1 << 1
)

// Constants starting with RDMA_USER_CM_IB_SERVICE_NAME_SIZE.
const (
	RDMA_USER_CM_IB_SERVICE_NAME_SIZE = 64
)

// RDMAUCMIBService mirrors struct rdma_ucm_ib_service.
type RDMAUCMIBService struct {
	_           structs.HostLayout
	ServiceID   uint64
	ServiceName [64]uint8
	Flags       uint32
	Reserved    uint32
}

// RDMAUCMResolveIBService mirrors struct rdma_ucm_resolve_ib_service.
type RDMAUCMResolveIBService struct {
	_        structs.HostLayout
	ID       uint32
	Reserved uint32
	Ibs      RDMAUCMIBService
}

// RDMAUCMWriteCMEvent mirrors struct rdma_ucm_write_cm_event.
type RDMAUCMWriteCMEvent struct {
	_        structs.HostLayout
	ID       uint32
	Reserved uint32
	Event    uint32
	Status   uint32
	Param    [38]uint64 // union: conn, ud, arg
}

// ParamConn returns a view of union member param.conn.
func (p *RDMAUCMWriteCMEvent) ParamConn() *RDMAUCMConnParam {
	return (*RDMAUCMConnParam)(unsafe.Pointer(&p.Param))
}

// ParamUD returns a view of union member param.ud.
func (p *RDMAUCMWriteCMEvent) ParamUD() *RDMAUCMUDParam {
	return (*RDMAUCMUDParam)(unsafe.Pointer(&p.Param))
}

// ParamArg returns a view of union member param.arg.
func (p *RDMAUCMWriteCMEvent) ParamArg() *uint64 { return (*uint64)(unsafe.Pointer(&p.Param)) }
