// This file holds the queue pair and completion enums of include/rdma/ib_verbs.h, a kernel
// header that is not installed for user space although its values travel in the uapi
// structs.

package abi

// IBQPType is enum ib_qp_type of include/rdma/ib_verbs.h, the type of a QP. SMI and GSI
// are not available to user space.
type IBQPType uint32

// Values of IBQPType.
const (
	IB_QPT_SMI           IBQPType = 0
	IB_QPT_GSI           IBQPType = 1
	IB_QPT_RC            IBQPType = 2
	IB_QPT_UC            IBQPType = 3
	IB_QPT_UD            IBQPType = 4
	IB_QPT_RAW_IPV6      IBQPType = 5
	IB_QPT_RAW_ETHERTYPE IBQPType = 6
	IB_QPT_RAW_PACKET    IBQPType = 8
	IB_QPT_XRC_INI       IBQPType = 9
	IB_QPT_XRC_TGT       IBQPType = 10
	IB_QPT_DRIVER        IBQPType = 255
)

// IBQPState is enum ib_qp_state of include/rdma/ib_verbs.h, the state of a QP (InfiniBand
// specification, 10.3.1).
type IBQPState uint32

// Values of IBQPState.
const (
	IB_QPS_RESET IBQPState = 0
	IB_QPS_INIT  IBQPState = 1
	IB_QPS_RTR   IBQPState = 2
	IB_QPS_RTS   IBQPState = 3
	IB_QPS_SQD   IBQPState = 4
	IB_QPS_SQE   IBQPState = 5
	IB_QPS_ERR   IBQPState = 6
)

// IBMigState is enum ib_mig_state of include/rdma/ib_verbs.h, the path migration state of
// a QP.
type IBMigState uint32

// Values of IBMigState.
const (
	IB_MIG_MIGRATED IBMigState = 0
	IB_MIG_REARM    IBMigState = 1
	IB_MIG_ARMED    IBMigState = 2
)

// IBQPAttrMask is enum ib_qp_attr_mask of include/rdma/ib_verbs.h, the attributes that a
// modify or query of a QP is about.
type IBQPAttrMask uint32

// Values of IBQPAttrMask.
const (
	IB_QP_STATE               IBQPAttrMask = 1
	IB_QP_CUR_STATE           IBQPAttrMask = 1 << 1
	IB_QP_EN_SQD_ASYNC_NOTIFY IBQPAttrMask = 1 << 2
	IB_QP_ACCESS_FLAGS        IBQPAttrMask = 1 << 3
	IB_QP_PKEY_INDEX          IBQPAttrMask = 1 << 4
	IB_QP_PORT                IBQPAttrMask = 1 << 5
	IB_QP_QKEY                IBQPAttrMask = 1 << 6
	IB_QP_AV                  IBQPAttrMask = 1 << 7
	IB_QP_PATH_MTU            IBQPAttrMask = 1 << 8
	IB_QP_TIMEOUT             IBQPAttrMask = 1 << 9
	IB_QP_RETRY_CNT           IBQPAttrMask = 1 << 10
	IB_QP_RNR_RETRY           IBQPAttrMask = 1 << 11
	IB_QP_RQ_PSN              IBQPAttrMask = 1 << 12
	IB_QP_MAX_QP_RD_ATOMIC    IBQPAttrMask = 1 << 13
	IB_QP_ALT_PATH            IBQPAttrMask = 1 << 14
	IB_QP_MIN_RNR_TIMER       IBQPAttrMask = 1 << 15
	IB_QP_SQ_PSN              IBQPAttrMask = 1 << 16
	IB_QP_MAX_DEST_RD_ATOMIC  IBQPAttrMask = 1 << 17
	IB_QP_PATH_MIG_STATE      IBQPAttrMask = 1 << 18
	IB_QP_CAP                 IBQPAttrMask = 1 << 19
	IB_QP_DEST_QPN            IBQPAttrMask = 1 << 20
	IB_QP_RATE_LIMIT          IBQPAttrMask = 1 << 25
)

// IBSendFlags is enum ib_send_flags of include/rdma/ib_verbs.h, options of a send work
// request.
type IBSendFlags uint32

// Values of IBSendFlags.
const (
	IB_SEND_FENCE     IBSendFlags = 1
	IB_SEND_SIGNALED  IBSendFlags = 1 << 1
	IB_SEND_SOLICITED IBSendFlags = 1 << 2
	IB_SEND_INLINE    IBSendFlags = 1 << 3
	IB_SEND_IP_CSUM   IBSendFlags = 1 << 4
)

// IBWCStatus is enum ib_wc_status of include/rdma/ib_verbs.h, the status of a work
// completion. The two TM values are those of rdma-core.
type IBWCStatus uint32

// Values of IBWCStatus.
const (
	IB_WC_SUCCESS            IBWCStatus = 0
	IB_WC_LOC_LEN_ERR        IBWCStatus = 1
	IB_WC_LOC_QP_OP_ERR      IBWCStatus = 2
	IB_WC_LOC_EEC_OP_ERR     IBWCStatus = 3
	IB_WC_LOC_PROT_ERR       IBWCStatus = 4
	IB_WC_WR_FLUSH_ERR       IBWCStatus = 5
	IB_WC_MW_BIND_ERR        IBWCStatus = 6
	IB_WC_BAD_RESP_ERR       IBWCStatus = 7
	IB_WC_LOC_ACCESS_ERR     IBWCStatus = 8
	IB_WC_REM_INV_REQ_ERR    IBWCStatus = 9
	IB_WC_REM_ACCESS_ERR     IBWCStatus = 10
	IB_WC_REM_OP_ERR         IBWCStatus = 11
	IB_WC_RETRY_EXC_ERR      IBWCStatus = 12
	IB_WC_RNR_RETRY_EXC_ERR  IBWCStatus = 13
	IB_WC_LOC_RDD_VIOL_ERR   IBWCStatus = 14
	IB_WC_REM_INV_RD_REQ_ERR IBWCStatus = 15
	IB_WC_REM_ABORT_ERR      IBWCStatus = 16
	IB_WC_INV_EECN_ERR       IBWCStatus = 17
	IB_WC_INV_EEC_STATE_ERR  IBWCStatus = 18
	IB_WC_FATAL_ERR          IBWCStatus = 19
	IB_WC_RESP_TIMEOUT_ERR   IBWCStatus = 20
	IB_WC_GENERAL_ERR        IBWCStatus = 21
	IB_WC_TM_ERR             IBWCStatus = 22
	IB_WC_TM_RNDV_INCOMPLETE IBWCStatus = 23
)

// IBWCOpcode is enum ib_wc_opcode of include/rdma/ib_verbs.h, the operation a work
// completion reports. IB_WC_RECV is a bit: all receive values have it.
type IBWCOpcode uint32

// Values of IBWCOpcode.
const (
	IB_WC_SEND               IBWCOpcode = 0
	IB_WC_RDMA_WRITE         IBWCOpcode = 1
	IB_WC_RDMA_READ          IBWCOpcode = 2
	IB_WC_COMP_SWAP          IBWCOpcode = 3
	IB_WC_FETCH_ADD          IBWCOpcode = 4
	IB_WC_BIND_MW            IBWCOpcode = 5
	IB_WC_LOCAL_INV          IBWCOpcode = 6
	IB_WC_LSO                IBWCOpcode = 7
	IB_WC_ATOMIC_WRITE       IBWCOpcode = 9
	IB_WC_REG_MR             IBWCOpcode = 10
	IB_WC_MASKED_COMP_SWAP   IBWCOpcode = 11
	IB_WC_MASKED_FETCH_ADD   IBWCOpcode = 12
	IB_WC_FLUSH              IBWCOpcode = 8
	IB_WC_RECV               IBWCOpcode = 1 << 7
	IB_WC_RECV_RDMA_WITH_IMM IBWCOpcode = 129
)

// IBWCFlags is enum ib_wc_flags of include/rdma/ib_verbs.h, which fields of a work
// completion count.
type IBWCFlags uint32

// Values of IBWCFlags.
const (
	IB_WC_GRH                   IBWCFlags = 1
	IB_WC_WITH_IMM              IBWCFlags = 1 << 1
	IB_WC_WITH_INVALIDATE       IBWCFlags = 1 << 2
	IB_WC_IP_CSUM_OK            IBWCFlags = 1 << 3
	IB_WC_WITH_SMAC             IBWCFlags = 1 << 4
	IB_WC_WITH_VLAN             IBWCFlags = 1 << 5
	IB_WC_WITH_NETWORK_HDR_TYPE IBWCFlags = 1 << 6
)

// IBCQNotifyFlags is enum ib_cq_notify_flags of include/rdma/ib_verbs.h, how a driver is
// asked to arm a CQ.
type IBCQNotifyFlags uint32

// Values of IBCQNotifyFlags.
const (
	IB_CQ_SOLICITED            IBCQNotifyFlags = 1 << 0
	IB_CQ_NEXT_COMP            IBCQNotifyFlags = 1 << 1
	IB_CQ_SOLICITED_MASK       IBCQNotifyFlags = 3
	IB_CQ_REPORT_MISSED_EVENTS IBCQNotifyFlags = 1 << 2
)

// Limits of packet fields (include/rdma/ib_verbs.h).
const (
	IB_QPN_MASK           = 0xFFFFFF
	IB_MULTICAST_QPN      = 0xFFFFFF
	IB_GRH_FLOWLABEL_MASK = 0x000FFFFF
)
