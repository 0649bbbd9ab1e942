// This file mirrors include/uapi/rdma/ib_user_ioctl_verbs.h.

package abi

import (
	"structs"
)

// Constants starting with IB_UVERBS_ACCESS_OPTIONAL_FIRST.
const (
	IB_UVERBS_ACCESS_OPTIONAL_FIRST = 1 << 20
	IB_UVERBS_ACCESS_OPTIONAL_LAST  = 1 << 29
)

// IBUverbsCoreSupport mirrors enum ib_uverbs_core_support.
type IBUverbsCoreSupport uint32

// Values of IBUverbsCoreSupport.
const (
	IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS IBUverbsCoreSupport = 1 << 0
	IB_UVERBS_CORE_SUPPORT_ROBUST_UDATA       IBUverbsCoreSupport = 1 << 1
)

// IBUverbsAccessFlags mirrors enum ib_uverbs_access_flags.
type IBUverbsAccessFlags uint32

// Values of IBUverbsAccessFlags.
const (
	IB_UVERBS_ACCESS_LOCAL_WRITE      IBUverbsAccessFlags = 1 << 0
	IB_UVERBS_ACCESS_REMOTE_WRITE     IBUverbsAccessFlags = 1 << 1
	IB_UVERBS_ACCESS_REMOTE_READ      IBUverbsAccessFlags = 1 << 2
	IB_UVERBS_ACCESS_REMOTE_ATOMIC    IBUverbsAccessFlags = 1 << 3
	IB_UVERBS_ACCESS_MW_BIND          IBUverbsAccessFlags = 1 << 4
	IB_UVERBS_ACCESS_ZERO_BASED       IBUverbsAccessFlags = 1 << 5
	IB_UVERBS_ACCESS_ON_DEMAND        IBUverbsAccessFlags = 1 << 6
	IB_UVERBS_ACCESS_HUGETLB          IBUverbsAccessFlags = 1 << 7
	IB_UVERBS_ACCESS_FLUSH_GLOBAL     IBUverbsAccessFlags = 1 << 8
	IB_UVERBS_ACCESS_FLUSH_PERSISTENT IBUverbsAccessFlags = 1 << 9
	IB_UVERBS_ACCESS_RELAXED_ORDERING IBUverbsAccessFlags = 1048576
	IB_UVERBS_ACCESS_OPTIONAL_RANGE   IBUverbsAccessFlags = 1072693248
)

// IBUverbsSRQType mirrors enum ib_uverbs_srq_type.
type IBUverbsSRQType uint32

// Values of IBUverbsSRQType.
const (
	IB_UVERBS_SRQT_BASIC IBUverbsSRQType = 0
	IB_UVERBS_SRQT_XRC   IBUverbsSRQType = 1
	IB_UVERBS_SRQT_TM    IBUverbsSRQType = 2
)

// IBUverbsWQType mirrors enum ib_uverbs_wq_type.
type IBUverbsWQType uint32

// Values of IBUverbsWQType.
const (
	IB_UVERBS_WQT_RQ IBUverbsWQType = 0
)

// IBUverbsWQFlags mirrors enum ib_uverbs_wq_flags.
type IBUverbsWQFlags uint32

// Values of IBUverbsWQFlags.
const (
	IB_UVERBS_WQ_FLAGS_CVLAN_STRIPPING       IBUverbsWQFlags = 1 << 0
	IB_UVERBS_WQ_FLAGS_SCATTER_FCS           IBUverbsWQFlags = 1 << 1
	IB_UVERBS_WQ_FLAGS_DELAY_DROP            IBUverbsWQFlags = 1 << 2
	IB_UVERBS_WQ_FLAGS_PCI_WRITE_END_PADDING IBUverbsWQFlags = 1 << 3
)

// IBUverbsQPType mirrors enum ib_uverbs_qp_type.
type IBUverbsQPType uint32

// Values of IBUverbsQPType.
const (
	IB_UVERBS_QPT_RC         IBUverbsQPType = 2
	IB_UVERBS_QPT_UC         IBUverbsQPType = 3
	IB_UVERBS_QPT_UD         IBUverbsQPType = 4
	IB_UVERBS_QPT_RAW_PACKET IBUverbsQPType = 8
	IB_UVERBS_QPT_XRC_INI    IBUverbsQPType = 9
	IB_UVERBS_QPT_XRC_TGT    IBUverbsQPType = 10
	IB_UVERBS_QPT_DRIVER     IBUverbsQPType = 0xFF
)

// IBUverbsQPCreateFlags mirrors enum ib_uverbs_qp_create_flags.
type IBUverbsQPCreateFlags uint32

// Values of IBUverbsQPCreateFlags.
const (
	IB_UVERBS_QP_CREATE_BLOCK_MULTICAST_LOOPBACK IBUverbsQPCreateFlags = 1 << 1
	IB_UVERBS_QP_CREATE_SCATTER_FCS              IBUverbsQPCreateFlags = 1 << 8
	IB_UVERBS_QP_CREATE_CVLAN_STRIPPING          IBUverbsQPCreateFlags = 1 << 9
	IB_UVERBS_QP_CREATE_PCI_WRITE_END_PADDING    IBUverbsQPCreateFlags = 1 << 11
	IB_UVERBS_QP_CREATE_SQ_SIG_ALL               IBUverbsQPCreateFlags = 1 << 12
)

// IBUverbsQueryPortCapFlags mirrors enum ib_uverbs_query_port_cap_flags.
type IBUverbsQueryPortCapFlags uint32

// Values of IBUverbsQueryPortCapFlags.
const (
	IB_UVERBS_PCF_SM                              IBUverbsQueryPortCapFlags = 1 << 1
	IB_UVERBS_PCF_NOTICE_SUP                      IBUverbsQueryPortCapFlags = 1 << 2
	IB_UVERBS_PCF_TRAP_SUP                        IBUverbsQueryPortCapFlags = 1 << 3
	IB_UVERBS_PCF_OPT_IPD_SUP                     IBUverbsQueryPortCapFlags = 1 << 4
	IB_UVERBS_PCF_AUTO_MIGR_SUP                   IBUverbsQueryPortCapFlags = 1 << 5
	IB_UVERBS_PCF_SL_MAP_SUP                      IBUverbsQueryPortCapFlags = 1 << 6
	IB_UVERBS_PCF_MKEY_NVRAM                      IBUverbsQueryPortCapFlags = 1 << 7
	IB_UVERBS_PCF_PKEY_NVRAM                      IBUverbsQueryPortCapFlags = 1 << 8
	IB_UVERBS_PCF_LED_INFO_SUP                    IBUverbsQueryPortCapFlags = 1 << 9
	IB_UVERBS_PCF_SM_DISABLED                     IBUverbsQueryPortCapFlags = 1 << 10
	IB_UVERBS_PCF_SYS_IMAGE_GUID_SUP              IBUverbsQueryPortCapFlags = 1 << 11
	IB_UVERBS_PCF_PKEY_SW_EXT_PORT_TRAP_SUP       IBUverbsQueryPortCapFlags = 1 << 12
	IB_UVERBS_PCF_EXTENDED_SPEEDS_SUP             IBUverbsQueryPortCapFlags = 1 << 14
	IB_UVERBS_PCF_CM_SUP                          IBUverbsQueryPortCapFlags = 1 << 16
	IB_UVERBS_PCF_SNMP_TUNNEL_SUP                 IBUverbsQueryPortCapFlags = 1 << 17
	IB_UVERBS_PCF_REINIT_SUP                      IBUverbsQueryPortCapFlags = 1 << 18
	IB_UVERBS_PCF_DEVICE_MGMT_SUP                 IBUverbsQueryPortCapFlags = 1 << 19
	IB_UVERBS_PCF_VENDOR_CLASS_SUP                IBUverbsQueryPortCapFlags = 1 << 20
	IB_UVERBS_PCF_DR_NOTICE_SUP                   IBUverbsQueryPortCapFlags = 1 << 21
	IB_UVERBS_PCF_CAP_MASK_NOTICE_SUP             IBUverbsQueryPortCapFlags = 1 << 22
	IB_UVERBS_PCF_BOOT_MGMT_SUP                   IBUverbsQueryPortCapFlags = 1 << 23
	IB_UVERBS_PCF_LINK_LATENCY_SUP                IBUverbsQueryPortCapFlags = 1 << 24
	IB_UVERBS_PCF_CLIENT_REG_SUP                  IBUverbsQueryPortCapFlags = 1 << 25
	IB_UVERBS_PCF_LINK_SPEED_WIDTH_TABLE_SUP      IBUverbsQueryPortCapFlags = 1 << 27
	IB_UVERBS_PCF_VENDOR_SPECIFIC_MADS_TABLE_SUP  IBUverbsQueryPortCapFlags = 1 << 28
	IB_UVERBS_PCF_MCAST_PKEY_TRAP_SUPPRESSION_SUP IBUverbsQueryPortCapFlags = 1 << 29
	IB_UVERBS_PCF_MCAST_FDB_TOP_SUP               IBUverbsQueryPortCapFlags = 1 << 30
	IB_UVERBS_PCF_HIERARCHY_INFO_SUP              IBUverbsQueryPortCapFlags = 1 << 31
	IB_UVERBS_PCF_IP_BASED_GIDS                   IBUverbsQueryPortCapFlags = 1 << 26
)

// IBUverbsQueryPortFlags mirrors enum ib_uverbs_query_port_flags.
type IBUverbsQueryPortFlags uint32

// Values of IBUverbsQueryPortFlags.
const (
	IB_UVERBS_QPF_GRH_REQUIRED IBUverbsQueryPortFlags = 1 << 0
)

// IBUverbsFlowActionEspKeymat mirrors enum ib_uverbs_flow_action_esp_keymat.
type IBUverbsFlowActionEspKeymat uint32

// Values of IBUverbsFlowActionEspKeymat.
const (
	IB_UVERBS_FLOW_ACTION_ESP_KEYMAT_AES_GCM IBUverbsFlowActionEspKeymat = 0
)

// IBUverbsFlowActionEspKeymatAesGcmIvAlgo mirrors enum
// ib_uverbs_flow_action_esp_keymat_aes_gcm_iv_algo.
type IBUverbsFlowActionEspKeymatAesGcmIvAlgo uint32

// Values of IBUverbsFlowActionEspKeymatAesGcmIvAlgo.
const (
	IB_UVERBS_FLOW_ACTION_IV_ALGO_SEQ IBUverbsFlowActionEspKeymatAesGcmIvAlgo = 0
)

// IBUverbsFlowActionEspKeymatAesGcm mirrors struct
// ib_uverbs_flow_action_esp_keymat_aes_gcm.
type IBUverbsFlowActionEspKeymatAesGcm struct {
	_      structs.HostLayout
	Iv     uint64
	IvAlgo uint32
	Salt   uint32
	IcvLen uint32
	KeyLen uint32
	AesKey [8]uint32
}

// IBUverbsFlowActionEspReplay mirrors enum ib_uverbs_flow_action_esp_replay.
type IBUverbsFlowActionEspReplay uint32

// Values of IBUverbsFlowActionEspReplay.
const (
	IB_UVERBS_FLOW_ACTION_ESP_REPLAY_NONE IBUverbsFlowActionEspReplay = 0
	IB_UVERBS_FLOW_ACTION_ESP_REPLAY_BMP  IBUverbsFlowActionEspReplay = 1
)

// IBUverbsFlowActionEspReplayBmp mirrors struct ib_uverbs_flow_action_esp_replay_bmp.
type IBUverbsFlowActionEspReplayBmp struct {
	_    structs.HostLayout
	Size uint32
}

// IBUverbsFlowActionEspFlags mirrors enum ib_uverbs_flow_action_esp_flags.
type IBUverbsFlowActionEspFlags uint32

// Values of IBUverbsFlowActionEspFlags.
const (
	IB_UVERBS_FLOW_ACTION_ESP_FLAGS_INLINE_CRYPTO  IBUverbsFlowActionEspFlags = 0
	IB_UVERBS_FLOW_ACTION_ESP_FLAGS_FULL_OFFLOAD   IBUverbsFlowActionEspFlags = 1 << 0
	IB_UVERBS_FLOW_ACTION_ESP_FLAGS_TUNNEL         IBUverbsFlowActionEspFlags = 0
	IB_UVERBS_FLOW_ACTION_ESP_FLAGS_TRANSPORT      IBUverbsFlowActionEspFlags = 1 << 1
	IB_UVERBS_FLOW_ACTION_ESP_FLAGS_DECRYPT        IBUverbsFlowActionEspFlags = 0
	IB_UVERBS_FLOW_ACTION_ESP_FLAGS_ENCRYPT        IBUverbsFlowActionEspFlags = 1 << 2
	IB_UVERBS_FLOW_ACTION_ESP_FLAGS_ESN_NEW_WINDOW IBUverbsFlowActionEspFlags = 1 << 3
)

// IBUverbsFlowActionEspEncap mirrors struct ib_uverbs_flow_action_esp_encap.
type IBUverbsFlowActionEspEncap struct {
	_       structs.HostLayout
	ValPtr  uint64
	NextPtr uint64
	Len     uint16
	Type    uint16
	_       [4]byte
}

// IBUverbsFlowActionEsp mirrors struct ib_uverbs_flow_action_esp.
type IBUverbsFlowActionEsp struct {
	_             structs.HostLayout
	Spi           uint32
	Seq           uint32
	TfcPad        uint32
	Flags         uint32
	HardLimitPkts uint64
}

// IBUverbsReadCountersFlags mirrors enum ib_uverbs_read_counters_flags.
type IBUverbsReadCountersFlags uint32

// Values of IBUverbsReadCountersFlags.
const (
	IB_UVERBS_READ_COUNTERS_PREFER_CACHED IBUverbsReadCountersFlags = 1 << 0
)

// IBUverbsAdviseMRAdvice mirrors enum ib_uverbs_advise_mr_advice.
type IBUverbsAdviseMRAdvice uint32

// Values of IBUverbsAdviseMRAdvice.
const (
	IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH          IBUverbsAdviseMRAdvice = 0
	IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE    IBUverbsAdviseMRAdvice = 1
	IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT IBUverbsAdviseMRAdvice = 2
)

// IBUverbsAdviseMRFlag mirrors enum ib_uverbs_advise_mr_flag.
type IBUverbsAdviseMRFlag uint32

// Values of IBUverbsAdviseMRFlag.
const (
	IB_UVERBS_ADVISE_MR_FLAG_FLUSH IBUverbsAdviseMRFlag = 1 << 0
)

// IBUverbsQueryPortRespEx mirrors struct ib_uverbs_query_port_resp_ex.
type IBUverbsQueryPortRespEx struct {
	_             structs.HostLayout
	LegacyResp    IBUverbsQueryPortResp
	PortCapFlags2 uint16
	Reserved      [2]uint8
	ActiveSpeedEx uint32
}

// IBUverbsQPCap mirrors struct ib_uverbs_qp_cap.
type IBUverbsQPCap struct {
	_             structs.HostLayout
	MaxSendWR     uint32
	MaxRecvWR     uint32
	MaxSendSGE    uint32
	MaxRecvSGE    uint32
	MaxInlineData uint32
}

// RDMADriverID mirrors enum rdma_driver_id.
type RDMADriverID uint32

// Values of RDMADriverID.
const (
	RDMA_DRIVER_UNKNOWN    RDMADriverID = 0
	RDMA_DRIVER_MLX5       RDMADriverID = 1
	RDMA_DRIVER_MLX4       RDMADriverID = 2
	RDMA_DRIVER_CXGB3      RDMADriverID = 3
	RDMA_DRIVER_CXGB4      RDMADriverID = 4
	RDMA_DRIVER_MTHCA      RDMADriverID = 5
	RDMA_DRIVER_BNXT_RE    RDMADriverID = 6
	RDMA_DRIVER_OCRDMA     RDMADriverID = 7
	RDMA_DRIVER_NES        RDMADriverID = 8
	RDMA_DRIVER_I40IW      RDMADriverID = 9
	RDMA_DRIVER_IRDMA      RDMADriverID = 9
	RDMA_DRIVER_VMW_PVRDMA RDMADriverID = 10
	RDMA_DRIVER_QEDR       RDMADriverID = 11
	RDMA_DRIVER_HNS        RDMADriverID = 12
	RDMA_DRIVER_USNIC      RDMADriverID = 13
	RDMA_DRIVER_RXE        RDMADriverID = 14
	RDMA_DRIVER_HFI1       RDMADriverID = 15
	RDMA_DRIVER_QIB        RDMADriverID = 16
	RDMA_DRIVER_EFA        RDMADriverID = 17
	RDMA_DRIVER_SIW        RDMADriverID = 18
	RDMA_DRIVER_ERDMA      RDMADriverID = 19
	RDMA_DRIVER_MANA       RDMADriverID = 20
	RDMA_DRIVER_IONIC      RDMADriverID = 21
)

// IBUverbsGIDType mirrors enum ib_uverbs_gid_type.
type IBUverbsGIDType uint32

// Values of IBUverbsGIDType.
const (
	IB_UVERBS_GID_TYPE_IB      IBUverbsGIDType = 0
	IB_UVERBS_GID_TYPE_ROCE_V1 IBUverbsGIDType = 1
	IB_UVERBS_GID_TYPE_ROCE_V2 IBUverbsGIDType = 2
)

// IBUverbsGIDEntry mirrors struct ib_uverbs_gid_entry.
type IBUverbsGIDEntry struct {
	_             structs.HostLayout
	GID           [2]uint64
	GIDIndex      uint32
	PortNum       uint32
	GIDType       uint32
	NetdevIfindex uint32
}

// IBUverbsBufferType mirrors enum ib_uverbs_buffer_type.
type IBUverbsBufferType uint32

// Values of IBUverbsBufferType.
const (
	IB_UVERBS_BUFFER_TYPE_DMABUF IBUverbsBufferType = 0
	IB_UVERBS_BUFFER_TYPE_VA     IBUverbsBufferType = 1
)

// IBUverbsBufferDesc mirrors struct ib_uverbs_buffer_desc.
type IBUverbsBufferDesc struct {
	_             structs.HostLayout
	Type          uint32
	FD            int32
	Flags         uint32
	OptionalFlags uint32
	Addr          uint64
	Length        uint64
}

// IBUverbsCompCntrEntry mirrors enum ib_uverbs_comp_cntr_entry.
type IBUverbsCompCntrEntry uint32

// Values of IBUverbsCompCntrEntry.
const (
	IB_UVERBS_COMP_CNTR_ENTRY_COMP IBUverbsCompCntrEntry = 0
	IB_UVERBS_COMP_CNTR_ENTRY_ERR  IBUverbsCompCntrEntry = 1
)

// IBUverbsCompCntrModifyOp mirrors enum ib_uverbs_comp_cntr_modify_op.
type IBUverbsCompCntrModifyOp uint32

// Values of IBUverbsCompCntrModifyOp.
const (
	IB_UVERBS_COMP_CNTR_MODIFY_OP_SET IBUverbsCompCntrModifyOp = 0
	IB_UVERBS_COMP_CNTR_MODIFY_OP_INC IBUverbsCompCntrModifyOp = 1
)

// IBUverbsQPAttachCompCntrOp mirrors enum ib_uverbs_qp_attach_comp_cntr_op.
type IBUverbsQPAttachCompCntrOp uint32

// Values of IBUverbsQPAttachCompCntrOp.
const (
	IB_UVERBS_QP_ATTACH_COMP_CNTR_OP_SEND              IBUverbsQPAttachCompCntrOp = 1 << 0
	IB_UVERBS_QP_ATTACH_COMP_CNTR_OP_RECV              IBUverbsQPAttachCompCntrOp = 1 << 1
	IB_UVERBS_QP_ATTACH_COMP_CNTR_OP_RDMA_READ         IBUverbsQPAttachCompCntrOp = 1 << 2
	IB_UVERBS_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_READ  IBUverbsQPAttachCompCntrOp = 1 << 3
	IB_UVERBS_QP_ATTACH_COMP_CNTR_OP_RDMA_WRITE        IBUverbsQPAttachCompCntrOp = 1 << 4
	IB_UVERBS_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_WRITE IBUverbsQPAttachCompCntrOp = 1 << 5
)
