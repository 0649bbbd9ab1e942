// This file mirrors the connection, event, option and multicast structs of
// include/uapi/rdma/rdma_user_cm.h.

package abi

import (
	"structs"
	"unsafe"
)

// RDMAUCMConnParam is struct rdma_ucm_conn_param, the parameters of a connected service,
// sent with connect and accept and received in events. Valid tells whether an accept
// carries parameters at all.
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

// RDMAUCMUDParam is struct rdma_ucm_ud_param, the parameters of a datagram service,
// received in events.
type RDMAUCMUDParam struct {
	_              structs.HostLayout
	QPNum          uint32
	QKey           uint32
	AHAttr         IBUverbsAHAttr
	PrivateData    [256]uint8
	PrivateDataLen uint8
	Reserved       [7]uint8
}

// RDMAUCMECE is struct rdma_ucm_ece, the enhanced connection establishment options that
// the two ends negotiate.
type RDMAUCMECE struct {
	_        structs.HostLayout
	VendorID uint32
	AttrMod  uint32
}

// RDMAUCMConnect is struct rdma_ucm_connect, the request of RDMA_USER_CM_CMD_CONNECT.
type RDMAUCMConnect struct {
	_         structs.HostLayout
	ConnParam RDMAUCMConnParam
	ID        uint32
	Reserved  uint32
	ECE       RDMAUCMECE
}

// RDMAUCMListen is struct rdma_ucm_listen, the request of RDMA_USER_CM_CMD_LISTEN. The
// backlog counts connection requests not yet fetched as events.
type RDMAUCMListen struct {
	_       structs.HostLayout
	ID      uint32
	Backlog uint32
}

// RDMAUCMAccept is struct rdma_ucm_accept, the request of RDMA_USER_CM_CMD_ACCEPT. UID
// becomes the uid of later events of the accepted ID.
type RDMAUCMAccept struct {
	_         structs.HostLayout
	UID       uint64
	ConnParam RDMAUCMConnParam
	ID        uint32
	Reserved  uint32
	ECE       RDMAUCMECE
}

// RDMAUCMReject is struct rdma_ucm_reject, the request of RDMA_USER_CM_CMD_REJECT. Reason
// zero means IB_CM_REJ_CONSUMER_DEFINED.
type RDMAUCMReject struct {
	_              structs.HostLayout
	ID             uint32
	PrivateDataLen uint8
	Reason         uint8 // CMRejectReason
	Reserved       [2]uint8
	PrivateData    [256]uint8
}

// RDMAUCMDisconnect is struct rdma_ucm_disconnect, the request of
// RDMA_USER_CM_CMD_DISCONNECT.
type RDMAUCMDisconnect struct {
	_  structs.HostLayout
	ID uint32
}

// RDMAUCMInitQPAttr is struct rdma_ucm_init_qp_attr, the request of
// RDMA_USER_CM_CMD_INIT_QP_ATTR; the response is IBUverbsQPAttr, ready for the transition
// to QPState.
type RDMAUCMInitQPAttr struct {
	_        structs.HostLayout
	Response uint64
	ID       uint32
	QPState  uint32 // IBQPState
}

// RDMAUCMNotify is struct rdma_ucm_notify, the request of RDMA_USER_CM_CMD_NOTIFY: an
// asynchronous QP event (IB_EVENT_COMM_EST) that the CM must know about.
type RDMAUCMNotify struct {
	_     structs.HostLayout
	ID    uint32
	Event uint32 // IBEventType
}

// RDMAUCMJoinIPMcast is struct rdma_ucm_join_ip_mcast, the request of
// RDMA_USER_CM_CMD_JOIN_IP_MCAST; the response is RDMAUCMCreateIDResp.
type RDMAUCMJoinIPMcast struct {
	_        structs.HostLayout
	Response uint64
	UID      uint64
	Addr     SockaddrIn6
	ID       uint32
}

// How RDMA_USER_CM_CMD_JOIN_MCAST joins, the value of RDMAUCMJoinMcast.JoinFlags. A
// send-only member receives nothing.
const (
	RDMA_MC_JOIN_FLAG_FULLMEMBER          = 0
	RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER = 1
	RDMA_MC_JOIN_FLAG_RESERVED            = 2
)

// RDMAUCMJoinMcast is struct rdma_ucm_join_mcast, the request of
// RDMA_USER_CM_CMD_JOIN_MCAST; the response is RDMAUCMCreateIDResp.
type RDMAUCMJoinMcast struct {
	_         structs.HostLayout
	Response  uint64
	UID       uint64
	ID        uint32
	AddrSize  uint16
	JoinFlags uint16 // RDMA_MC_JOIN_FLAG_*
	Addr      SockaddrStorage
}

// RDMAUCMGetEvent is struct rdma_ucm_get_event, the request of RDMA_USER_CM_CMD_GET_EVENT;
// the response is RDMAUCMEventResp.
type RDMAUCMGetEvent struct {
	_        structs.HostLayout
	Response uint64
}

// RDMAUCMEventResp is struct rdma_ucm_event_resp, one event, the response of
// RDMA_USER_CM_CMD_GET_EVENT. Event is an RDMACMEventType, Status a negative errno or, in
// a reject, the reason. Conn is the parameter of connected port spaces, UD that of
// datagram ones. The union is only aligned to 4 bytes.
type RDMAUCMEventResp struct {
	_        structs.HostLayout
	UID      uint64
	ID       uint32
	Event    uint32     // RDMACMEventType
	Status   uint32     // negative errno, or the reason of a reject
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

// Option levels, the value of RDMAUCMSetOption.Level.
const (
	RDMA_OPTION_ID = 0
	RDMA_OPTION_IB = 1
)

// Options of level RDMA_OPTION_ID, the value of RDMAUCMSetOption.Optname. TOS and
// ACK_TIMEOUT take one byte, the others an int.
const (
	RDMA_OPTION_ID_TOS         = 0
	RDMA_OPTION_ID_REUSEADDR   = 1
	RDMA_OPTION_ID_AFONLY      = 2
	RDMA_OPTION_ID_ACK_TIMEOUT = 3
)

// Option of level RDMA_OPTION_IB: the path records of the ID, an array of IBPathRecData.
const (
	RDMA_OPTION_IB_PATH = 1
)

// RDMAUCMSetOption is struct rdma_ucm_set_option, the request of
// RDMA_USER_CM_CMD_SET_OPTION. Optval is the address of Optlen bytes.
type RDMAUCMSetOption struct {
	_       structs.HostLayout
	Optval  uint64
	ID      uint32
	Level   uint32
	Optname uint32
	Optlen  uint32
}

// RDMAUCMMigrateID is struct rdma_ucm_migrate_id, the request of
// RDMA_USER_CM_CMD_MIGRATE_ID, written to the new event file. FD is the event file the ID
// leaves.
type RDMAUCMMigrateID struct {
	_        structs.HostLayout
	Response uint64
	ID       uint32
	FD       uint32
}

// RDMAUCMMigrateResp is struct rdma_ucm_migrate_resp, the response of
// RDMA_USER_CM_CMD_MIGRATE_ID.
type RDMAUCMMigrateResp struct {
	_              structs.HostLayout
	EventsReported uint32
}

// Which field of RDMAUCMIBService names the service. Linux 7.3 has it, 6.12 has not.
const (
	RDMA_USER_CM_IB_SERVICE_FLAG_ID   = 1 << 0
	RDMA_USER_CM_IB_SERVICE_FLAG_NAME = 1 << 1
)

// Size of RDMAUCMIBService.ServiceName.
const (
	RDMA_USER_CM_IB_SERVICE_NAME_SIZE = 64
)

// RDMAUCMIBService is struct rdma_ucm_ib_service, the service to look up, by ID or by
// name. Linux 7.3 has it, 6.12 has not.
type RDMAUCMIBService struct {
	_           structs.HostLayout
	ServiceID   uint64
	ServiceName [64]uint8
	Flags       uint32
	Reserved    uint32
}

// RDMAUCMResolveIBService is struct rdma_ucm_resolve_ib_service, the request of
// RDMA_USER_CM_CMD_RESOLVE_IB_SERVICE. Linux 7.3 has it, 6.12 has not.
type RDMAUCMResolveIBService struct {
	_        structs.HostLayout
	ID       uint32
	Reserved uint32
	Ibs      RDMAUCMIBService
}

// RDMAUCMWriteCMEvent is struct rdma_ucm_write_cm_event, the request of
// RDMA_USER_CM_CMD_WRITE_CM_EVENT: an event that user space adds to the queue of an ID.
// Linux 7.3 has it, 6.12 has not.
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
