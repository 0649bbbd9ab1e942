// This file holds enums of include/rdma/ib_cm.h, a kernel header that is not installed for
// user space. The numbers are those of the InfiniBand specification, volume 1, chapter 12
// (communication management).

package abi

// CMRejectReason is enum ib_cm_rej_reason of include/rdma/ib_cm.h, the reason of a reject
// (InfiniBand specification, volume 1, section 12.6.7.2). It is the status of
// RDMA_CM_EVENT_REJECTED on InfiniBand and RoCE.
type CMRejectReason uint32

// Values of CMRejectReason.
const (
	IB_CM_REJ_NO_QP                       CMRejectReason = 1
	IB_CM_REJ_NO_EEC                      CMRejectReason = 2
	IB_CM_REJ_NO_RESOURCES                CMRejectReason = 3
	IB_CM_REJ_TIMEOUT                     CMRejectReason = 4
	IB_CM_REJ_UNSUPPORTED                 CMRejectReason = 5
	IB_CM_REJ_INVALID_COMM_ID             CMRejectReason = 6
	IB_CM_REJ_INVALID_COMM_INSTANCE       CMRejectReason = 7
	IB_CM_REJ_INVALID_SERVICE_ID          CMRejectReason = 8
	IB_CM_REJ_INVALID_TRANSPORT_TYPE      CMRejectReason = 9
	IB_CM_REJ_STALE_CONN                  CMRejectReason = 10
	IB_CM_REJ_RDC_NOT_EXIST               CMRejectReason = 11
	IB_CM_REJ_INVALID_GID                 CMRejectReason = 12
	IB_CM_REJ_INVALID_LID                 CMRejectReason = 13
	IB_CM_REJ_INVALID_SL                  CMRejectReason = 14
	IB_CM_REJ_INVALID_TRAFFIC_CLASS       CMRejectReason = 15
	IB_CM_REJ_INVALID_HOP_LIMIT           CMRejectReason = 16
	IB_CM_REJ_INVALID_PACKET_RATE         CMRejectReason = 17
	IB_CM_REJ_INVALID_ALT_GID             CMRejectReason = 18
	IB_CM_REJ_INVALID_ALT_LID             CMRejectReason = 19
	IB_CM_REJ_INVALID_ALT_SL              CMRejectReason = 20
	IB_CM_REJ_INVALID_ALT_TRAFFIC_CLASS   CMRejectReason = 21
	IB_CM_REJ_INVALID_ALT_HOP_LIMIT       CMRejectReason = 22
	IB_CM_REJ_INVALID_ALT_PACKET_RATE     CMRejectReason = 23
	IB_CM_REJ_PORT_CM_REDIRECT            CMRejectReason = 24
	IB_CM_REJ_PORT_REDIRECT               CMRejectReason = 25
	IB_CM_REJ_INVALID_MTU                 CMRejectReason = 26
	IB_CM_REJ_INSUFFICIENT_RESP_RESOURCES CMRejectReason = 27
	IB_CM_REJ_CONSUMER_DEFINED            CMRejectReason = 28
	IB_CM_REJ_INVALID_RNR_RETRY           CMRejectReason = 29
	IB_CM_REJ_DUPLICATE_LOCAL_COMM_ID     CMRejectReason = 30
	IB_CM_REJ_INVALID_CLASS_VERSION       CMRejectReason = 31
	IB_CM_REJ_INVALID_FLOW_LABEL          CMRejectReason = 32
	IB_CM_REJ_INVALID_ALT_FLOW_LABEL      CMRejectReason = 33
	IB_CM_REJ_VENDOR_OPTION_NOT_SUPPORTED CMRejectReason = 35
)

// IBCMDataSize is enum ib_cm_data_size of include/rdma/ib_cm.h, the private data sizes of
// CM messages in bytes. Through the RDMA CM a request carries 36 bytes less (56), because
// a header with the IP addresses precedes them.
type IBCMDataSize uint32

// Values of IBCMDataSize.
const (
	IB_CM_REQ_PRIVATE_DATA_SIZE      IBCMDataSize = 92
	IB_CM_MRA_PRIVATE_DATA_SIZE      IBCMDataSize = 222
	IB_CM_REJ_PRIVATE_DATA_SIZE      IBCMDataSize = 148
	IB_CM_REP_PRIVATE_DATA_SIZE      IBCMDataSize = 196
	IB_CM_RTU_PRIVATE_DATA_SIZE      IBCMDataSize = 224
	IB_CM_DREQ_PRIVATE_DATA_SIZE     IBCMDataSize = 220
	IB_CM_DREP_PRIVATE_DATA_SIZE     IBCMDataSize = 224
	IB_CM_REJ_ARI_LENGTH             IBCMDataSize = 72
	IB_CM_LAP_PRIVATE_DATA_SIZE      IBCMDataSize = 168
	IB_CM_APR_PRIVATE_DATA_SIZE      IBCMDataSize = 148
	IB_CM_APR_INFO_LENGTH            IBCMDataSize = 72
	IB_CM_SIDR_REQ_PRIVATE_DATA_SIZE IBCMDataSize = 216
	IB_CM_SIDR_REP_PRIVATE_DATA_SIZE IBCMDataSize = 136
	IB_CM_SIDR_REP_INFO_LENGTH       IBCMDataSize = 72
)

// IBCMSidrStatus is enum ib_cm_sidr_status of include/rdma/ib_cm.h, the answer to a
// datagram service request; the status of RDMA_CM_EVENT_UNREACHABLE in a datagram port
// space.
type IBCMSidrStatus uint32

// Values of IBCMSidrStatus.
const (
	IB_SIDR_SUCCESS             IBCMSidrStatus = 0
	IB_SIDR_UNSUPPORTED         IBCMSidrStatus = 1
	IB_SIDR_REJECT              IBCMSidrStatus = 2
	IB_SIDR_NO_QP               IBCMSidrStatus = 3
	IB_SIDR_REDIRECT            IBCMSidrStatus = 4
	IB_SIDR_UNSUPPORTED_VERSION IBCMSidrStatus = 5
)
