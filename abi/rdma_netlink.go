// This file mirrors include/uapi/rdma/rdma_netlink.h.

package abi

import (
	"structs"
)

// Constants starting with RDMA_NL_IWCM.
const (
	RDMA_NL_IWCM        = 2
	RDMA_NL_RSVD        = 3
	RDMA_NL_LS          = 4
	RDMA_NL_NLDEV       = 5
	RDMA_NL_NUM_CLIENTS = 6
)

// Constants starting with RDMA_NL_GROUP_IWPM.
const (
	RDMA_NL_GROUP_IWPM   = 2
	RDMA_NL_GROUP_LS     = 3
	RDMA_NL_GROUP_NOTIFY = 4
	RDMA_NL_NUM_GROUPS   = 5
)

// Constants starting with IWPM_UABI_VERSION_MIN.
const (
	IWPM_UABI_VERSION_MIN = 3
	IWPM_UABI_VERSION     = 4
)

// Constants starting with IWPM_FLAGS_NO_PORT_MAP.
const (
	IWPM_FLAGS_NO_PORT_MAP = 1 << 0
)

// Constants starting with RDMA_NL_IWPM_REG_PID.
const (
	RDMA_NL_IWPM_REG_PID        = 0
	RDMA_NL_IWPM_ADD_MAPPING    = 1
	RDMA_NL_IWPM_QUERY_MAPPING  = 2
	RDMA_NL_IWPM_REMOVE_MAPPING = 3
	RDMA_NL_IWPM_REMOTE_INFO    = 4
	RDMA_NL_IWPM_HANDLE_ERR     = 5
	RDMA_NL_IWPM_MAPINFO        = 6
	RDMA_NL_IWPM_MAPINFO_NUM    = 7
	RDMA_NL_IWPM_HELLO          = 8
	RDMA_NL_IWPM_NUM_OPS        = 9
)

// Constants starting with IWPM_NLA_REG_PID_UNSPEC.
const (
	IWPM_NLA_REG_PID_UNSPEC = 0
	IWPM_NLA_REG_PID_SEQ    = 1
	IWPM_NLA_REG_IF_NAME    = 2
	IWPM_NLA_REG_IBDEV_NAME = 3
	IWPM_NLA_REG_ULIB_NAME  = 4
	IWPM_NLA_REG_PID_MAX    = 5
)

// Constants starting with IWPM_NLA_RREG_PID_UNSPEC.
const (
	IWPM_NLA_RREG_PID_UNSPEC = 0
	IWPM_NLA_RREG_PID_SEQ    = 1
	IWPM_NLA_RREG_IBDEV_NAME = 2
	IWPM_NLA_RREG_ULIB_NAME  = 3
	IWPM_NLA_RREG_ULIB_VER   = 4
	IWPM_NLA_RREG_PID_ERR    = 5
	IWPM_NLA_RREG_PID_MAX    = 6
)

// Constants starting with IWPM_NLA_MANAGE_MAPPING_UNSPEC.
const (
	IWPM_NLA_MANAGE_MAPPING_UNSPEC = 0
	IWPM_NLA_MANAGE_MAPPING_SEQ    = 1
	IWPM_NLA_MANAGE_ADDR           = 2
	IWPM_NLA_MANAGE_FLAGS          = 3
	IWPM_NLA_MANAGE_MAPPING_MAX    = 4
)

// Constants starting with IWPM_NLA_RMANAGE_MAPPING_UNSPEC.
const (
	IWPM_NLA_RMANAGE_MAPPING_UNSPEC  = 0
	IWPM_NLA_RMANAGE_MAPPING_SEQ     = 1
	IWPM_NLA_RMANAGE_ADDR            = 2
	IWPM_NLA_RMANAGE_MAPPED_LOC_ADDR = 3
	IWPM_NLA_MANAGE_MAPPED_LOC_ADDR  = 3
	IWPM_NLA_RMANAGE_MAPPING_ERR     = 4
	IWPM_NLA_RMANAGE_MAPPING_MAX     = 5
)

// Constants starting with IWPM_NLA_MAPINFO_SEND_MAX.
const (
	IWPM_NLA_MAPINFO_SEND_MAX   = 3
	IWPM_NLA_REMOVE_MAPPING_MAX = 3
)

// Constants starting with IWPM_NLA_QUERY_MAPPING_UNSPEC.
const (
	IWPM_NLA_QUERY_MAPPING_UNSPEC = 0
	IWPM_NLA_QUERY_MAPPING_SEQ    = 1
	IWPM_NLA_QUERY_LOCAL_ADDR     = 2
	IWPM_NLA_QUERY_REMOTE_ADDR    = 3
	IWPM_NLA_QUERY_FLAGS          = 4
	IWPM_NLA_QUERY_MAPPING_MAX    = 5
)

// Constants starting with IWPM_NLA_RQUERY_MAPPING_UNSPEC.
const (
	IWPM_NLA_RQUERY_MAPPING_UNSPEC  = 0
	IWPM_NLA_RQUERY_MAPPING_SEQ     = 1
	IWPM_NLA_RQUERY_LOCAL_ADDR      = 2
	IWPM_NLA_RQUERY_REMOTE_ADDR     = 3
	IWPM_NLA_RQUERY_MAPPED_LOC_ADDR = 4
	IWPM_NLA_RQUERY_MAPPED_REM_ADDR = 5
	IWPM_NLA_RQUERY_MAPPING_ERR     = 6
	IWPM_NLA_RQUERY_MAPPING_MAX     = 7
)

// Constants starting with IWPM_NLA_MAPINFO_REQ_UNSPEC.
const (
	IWPM_NLA_MAPINFO_REQ_UNSPEC = 0
	IWPM_NLA_MAPINFO_ULIB_NAME  = 1
	IWPM_NLA_MAPINFO_ULIB_VER   = 2
	IWPM_NLA_MAPINFO_REQ_MAX    = 3
)

// Constants starting with IWPM_NLA_MAPINFO_UNSPEC.
const (
	IWPM_NLA_MAPINFO_UNSPEC      = 0
	IWPM_NLA_MAPINFO_LOCAL_ADDR  = 1
	IWPM_NLA_MAPINFO_MAPPED_ADDR = 2
	IWPM_NLA_MAPINFO_FLAGS       = 3
	IWPM_NLA_MAPINFO_MAX         = 4
)

// Constants starting with IWPM_NLA_MAPINFO_NUM_UNSPEC.
const (
	IWPM_NLA_MAPINFO_NUM_UNSPEC = 0
	IWPM_NLA_MAPINFO_SEQ        = 1
	IWPM_NLA_MAPINFO_SEND_NUM   = 2
	IWPM_NLA_MAPINFO_ACK_NUM    = 3
	IWPM_NLA_MAPINFO_NUM_MAX    = 4
)

// Constants starting with IWPM_NLA_ERR_UNSPEC.
const (
	IWPM_NLA_ERR_UNSPEC = 0
	IWPM_NLA_ERR_SEQ    = 1
	IWPM_NLA_ERR_CODE   = 2
	IWPM_NLA_ERR_MAX    = 3
)

// Constants starting with IWPM_NLA_HELLO_UNSPEC.
const (
	IWPM_NLA_HELLO_UNSPEC      = 0
	IWPM_NLA_HELLO_ABI_VERSION = 1
	IWPM_NLA_HELLO_MAX         = 2
)

// Constants starting with RDMA_NODE_IB_CA.
const (
	RDMA_NODE_IB_CA       = 1
	RDMA_NODE_IB_SWITCH   = 2
	RDMA_NODE_IB_ROUTER   = 3
	RDMA_NODE_RNIC        = 4
	RDMA_NODE_USNIC       = 5
	RDMA_NODE_USNIC_UDP   = 6
	RDMA_NODE_UNSPECIFIED = 7
)

// Constants starting with RDMA_NL_LS_OP_RESOLVE.
const (
	RDMA_NL_LS_OP_RESOLVE     = 0
	RDMA_NL_LS_OP_SET_TIMEOUT = 1
	RDMA_NL_LS_OP_IP_RESOLVE  = 2
	RDMA_NL_LS_NUM_OPS        = 3
)

// Constants starting with RDMA_NL_LS_F_ERR.
const (
	RDMA_NL_LS_F_ERR = 0x0100
)

// Constants starting with LS_RESOLVE_PATH_USE_ALL.
const (
	LS_RESOLVE_PATH_USE_ALL            = 0
	LS_RESOLVE_PATH_USE_UNIDIRECTIONAL = 1
	LS_RESOLVE_PATH_USE_GMP            = 2
	LS_RESOLVE_PATH_USE_MAX            = 3
)

// Constants starting with LS_DEVICE_NAME_MAX.
const (
	LS_DEVICE_NAME_MAX = 64
)

// RDMALsResolveHeader mirrors struct rdma_ls_resolve_header.
type RDMALsResolveHeader struct {
	_          structs.HostLayout
	DeviceName [64]uint8
	PortNum    uint8
	PathUse    uint8
}

// RDMALsIPResolveHeader mirrors struct rdma_ls_ip_resolve_header.
type RDMALsIPResolveHeader struct {
	_       structs.HostLayout
	Ifindex uint32
}

// Constants starting with RDMA_NLA_F_MANDATORY.
const (
	RDMA_NLA_F_MANDATORY = 1 << 13
	RDMA_NLA_TYPE_MASK   = 0x1fff
)

// Constants starting with LS_NLA_TYPE_UNSPEC.
const (
	LS_NLA_TYPE_UNSPEC      = 0
	LS_NLA_TYPE_PATH_RECORD = 1
	LS_NLA_TYPE_TIMEOUT     = 2
	LS_NLA_TYPE_SERVICE_ID  = 3
	LS_NLA_TYPE_DGID        = 4
	LS_NLA_TYPE_SGID        = 5
	LS_NLA_TYPE_TCLASS      = 6
	LS_NLA_TYPE_PKEY        = 7
	LS_NLA_TYPE_QOS_CLASS   = 8
	LS_NLA_TYPE_IPV4        = 9
	LS_NLA_TYPE_IPV6        = 10
	LS_NLA_TYPE_MAX         = 11
)

// RDMANlaLsGID mirrors struct rdma_nla_ls_gid.
type RDMANlaLsGID struct {
	_   structs.HostLayout
	GID [16]uint8
}

// RDMANldevCommand mirrors enum rdma_nldev_command.
type RDMANldevCommand uint32

// Values of RDMANldevCommand.
const (
	RDMA_NLDEV_CMD_UNSPEC          RDMANldevCommand = 0
	RDMA_NLDEV_CMD_GET             RDMANldevCommand = 1
	RDMA_NLDEV_CMD_SET             RDMANldevCommand = 2
	RDMA_NLDEV_CMD_NEWLINK         RDMANldevCommand = 3
	RDMA_NLDEV_CMD_DELLINK         RDMANldevCommand = 4
	RDMA_NLDEV_CMD_PORT_GET        RDMANldevCommand = 5
	RDMA_NLDEV_CMD_SYS_GET         RDMANldevCommand = 6
	RDMA_NLDEV_CMD_SYS_SET         RDMANldevCommand = 7
	RDMA_NLDEV_CMD_RES_GET         RDMANldevCommand = 9
	RDMA_NLDEV_CMD_RES_QP_GET      RDMANldevCommand = 10
	RDMA_NLDEV_CMD_RES_CM_ID_GET   RDMANldevCommand = 11
	RDMA_NLDEV_CMD_RES_CQ_GET      RDMANldevCommand = 12
	RDMA_NLDEV_CMD_RES_MR_GET      RDMANldevCommand = 13
	RDMA_NLDEV_CMD_RES_PD_GET      RDMANldevCommand = 14
	RDMA_NLDEV_CMD_GET_CHARDEV     RDMANldevCommand = 15
	RDMA_NLDEV_CMD_STAT_SET        RDMANldevCommand = 16
	RDMA_NLDEV_CMD_STAT_GET        RDMANldevCommand = 17
	RDMA_NLDEV_CMD_STAT_DEL        RDMANldevCommand = 18
	RDMA_NLDEV_CMD_RES_QP_GET_RAW  RDMANldevCommand = 19
	RDMA_NLDEV_CMD_RES_CQ_GET_RAW  RDMANldevCommand = 20
	RDMA_NLDEV_CMD_RES_MR_GET_RAW  RDMANldevCommand = 21
	RDMA_NLDEV_CMD_RES_CTX_GET     RDMANldevCommand = 22
	RDMA_NLDEV_CMD_RES_SRQ_GET     RDMANldevCommand = 23
	RDMA_NLDEV_CMD_STAT_GET_STATUS RDMANldevCommand = 24
	RDMA_NLDEV_CMD_RES_SRQ_GET_RAW RDMANldevCommand = 25
	RDMA_NLDEV_CMD_NEWDEV          RDMANldevCommand = 26
	RDMA_NLDEV_CMD_DELDEV          RDMANldevCommand = 27
	RDMA_NLDEV_CMD_MONITOR         RDMANldevCommand = 28
	RDMA_NLDEV_CMD_FRMR_POOLS_GET  RDMANldevCommand = 29
	RDMA_NLDEV_CMD_FRMR_POOLS_SET  RDMANldevCommand = 30
	RDMA_NLDEV_NUM_OPS             RDMANldevCommand = 31
)

// RDMANldevPrintType mirrors enum rdma_nldev_print_type.
type RDMANldevPrintType uint32

// Values of RDMANldevPrintType.
const (
	RDMA_NLDEV_PRINT_TYPE_UNSPEC RDMANldevPrintType = 0
	RDMA_NLDEV_PRINT_TYPE_HEX    RDMANldevPrintType = 1
)

// RDMANldevAttr mirrors enum rdma_nldev_attr.
type RDMANldevAttr uint32

// Values of RDMANldevAttr.
const (
	RDMA_NLDEV_ATTR_UNSPEC                          RDMANldevAttr = 0
	RDMA_NLDEV_ATTR_PAD                             RDMANldevAttr = 0
	RDMA_NLDEV_ATTR_DEV_INDEX                       RDMANldevAttr = 1
	RDMA_NLDEV_ATTR_DEV_NAME                        RDMANldevAttr = 2
	RDMA_NLDEV_ATTR_PORT_INDEX                      RDMANldevAttr = 3
	RDMA_NLDEV_ATTR_CAP_FLAGS                       RDMANldevAttr = 4
	RDMA_NLDEV_ATTR_FW_VERSION                      RDMANldevAttr = 5
	RDMA_NLDEV_ATTR_NODE_GUID                       RDMANldevAttr = 6
	RDMA_NLDEV_ATTR_SYS_IMAGE_GUID                  RDMANldevAttr = 7
	RDMA_NLDEV_ATTR_SUBNET_PREFIX                   RDMANldevAttr = 8
	RDMA_NLDEV_ATTR_LID                             RDMANldevAttr = 9
	RDMA_NLDEV_ATTR_SM_LID                          RDMANldevAttr = 10
	RDMA_NLDEV_ATTR_LMC                             RDMANldevAttr = 11
	RDMA_NLDEV_ATTR_PORT_STATE                      RDMANldevAttr = 12
	RDMA_NLDEV_ATTR_PORT_PHYS_STATE                 RDMANldevAttr = 13
	RDMA_NLDEV_ATTR_DEV_NODE_TYPE                   RDMANldevAttr = 14
	RDMA_NLDEV_ATTR_RES_SUMMARY                     RDMANldevAttr = 15
	RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY               RDMANldevAttr = 16
	RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME          RDMANldevAttr = 17
	RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR          RDMANldevAttr = 18
	RDMA_NLDEV_ATTR_RES_QP                          RDMANldevAttr = 19
	RDMA_NLDEV_ATTR_RES_QP_ENTRY                    RDMANldevAttr = 20
	RDMA_NLDEV_ATTR_RES_LQPN                        RDMANldevAttr = 21
	RDMA_NLDEV_ATTR_RES_RQPN                        RDMANldevAttr = 22
	RDMA_NLDEV_ATTR_RES_RQ_PSN                      RDMANldevAttr = 23
	RDMA_NLDEV_ATTR_RES_SQ_PSN                      RDMANldevAttr = 24
	RDMA_NLDEV_ATTR_RES_PATH_MIG_STATE              RDMANldevAttr = 25
	RDMA_NLDEV_ATTR_RES_TYPE                        RDMANldevAttr = 26
	RDMA_NLDEV_ATTR_RES_STATE                       RDMANldevAttr = 27
	RDMA_NLDEV_ATTR_RES_PID                         RDMANldevAttr = 28
	RDMA_NLDEV_ATTR_RES_KERN_NAME                   RDMANldevAttr = 29
	RDMA_NLDEV_ATTR_RES_CM_ID                       RDMANldevAttr = 30
	RDMA_NLDEV_ATTR_RES_CM_ID_ENTRY                 RDMANldevAttr = 31
	RDMA_NLDEV_ATTR_RES_PS                          RDMANldevAttr = 32
	RDMA_NLDEV_ATTR_RES_SRC_ADDR                    RDMANldevAttr = 33
	RDMA_NLDEV_ATTR_RES_DST_ADDR                    RDMANldevAttr = 34
	RDMA_NLDEV_ATTR_RES_CQ                          RDMANldevAttr = 35
	RDMA_NLDEV_ATTR_RES_CQ_ENTRY                    RDMANldevAttr = 36
	RDMA_NLDEV_ATTR_RES_CQE                         RDMANldevAttr = 37
	RDMA_NLDEV_ATTR_RES_USECNT                      RDMANldevAttr = 38
	RDMA_NLDEV_ATTR_RES_POLL_CTX                    RDMANldevAttr = 39
	RDMA_NLDEV_ATTR_RES_MR                          RDMANldevAttr = 40
	RDMA_NLDEV_ATTR_RES_MR_ENTRY                    RDMANldevAttr = 41
	RDMA_NLDEV_ATTR_RES_RKEY                        RDMANldevAttr = 42
	RDMA_NLDEV_ATTR_RES_LKEY                        RDMANldevAttr = 43
	RDMA_NLDEV_ATTR_RES_IOVA                        RDMANldevAttr = 44
	RDMA_NLDEV_ATTR_RES_MRLEN                       RDMANldevAttr = 45
	RDMA_NLDEV_ATTR_RES_PD                          RDMANldevAttr = 46
	RDMA_NLDEV_ATTR_RES_PD_ENTRY                    RDMANldevAttr = 47
	RDMA_NLDEV_ATTR_RES_LOCAL_DMA_LKEY              RDMANldevAttr = 48
	RDMA_NLDEV_ATTR_RES_UNSAFE_GLOBAL_RKEY          RDMANldevAttr = 49
	RDMA_NLDEV_ATTR_NDEV_INDEX                      RDMANldevAttr = 50
	RDMA_NLDEV_ATTR_NDEV_NAME                       RDMANldevAttr = 51
	RDMA_NLDEV_ATTR_DRIVER                          RDMANldevAttr = 52
	RDMA_NLDEV_ATTR_DRIVER_ENTRY                    RDMANldevAttr = 53
	RDMA_NLDEV_ATTR_DRIVER_STRING                   RDMANldevAttr = 54
	RDMA_NLDEV_ATTR_DRIVER_PRINT_TYPE               RDMANldevAttr = 55
	RDMA_NLDEV_ATTR_DRIVER_S32                      RDMANldevAttr = 56
	RDMA_NLDEV_ATTR_DRIVER_U32                      RDMANldevAttr = 57
	RDMA_NLDEV_ATTR_DRIVER_S64                      RDMANldevAttr = 58
	RDMA_NLDEV_ATTR_DRIVER_U64                      RDMANldevAttr = 59
	RDMA_NLDEV_ATTR_RES_PDN                         RDMANldevAttr = 60
	RDMA_NLDEV_ATTR_RES_CQN                         RDMANldevAttr = 61
	RDMA_NLDEV_ATTR_RES_MRN                         RDMANldevAttr = 62
	RDMA_NLDEV_ATTR_RES_CM_IDN                      RDMANldevAttr = 63
	RDMA_NLDEV_ATTR_RES_CTXN                        RDMANldevAttr = 64
	RDMA_NLDEV_ATTR_LINK_TYPE                       RDMANldevAttr = 65
	RDMA_NLDEV_SYS_ATTR_NETNS_MODE                  RDMANldevAttr = 66
	RDMA_NLDEV_ATTR_DEV_PROTOCOL                    RDMANldevAttr = 67
	RDMA_NLDEV_NET_NS_FD                            RDMANldevAttr = 68
	RDMA_NLDEV_ATTR_CHARDEV_TYPE                    RDMANldevAttr = 69
	RDMA_NLDEV_ATTR_CHARDEV_NAME                    RDMANldevAttr = 70
	RDMA_NLDEV_ATTR_CHARDEV_ABI                     RDMANldevAttr = 71
	RDMA_NLDEV_ATTR_CHARDEV                         RDMANldevAttr = 72
	RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID                RDMANldevAttr = 73
	RDMA_NLDEV_ATTR_STAT_MODE                       RDMANldevAttr = 74
	RDMA_NLDEV_ATTR_STAT_RES                        RDMANldevAttr = 75
	RDMA_NLDEV_ATTR_STAT_AUTO_MODE_MASK             RDMANldevAttr = 76
	RDMA_NLDEV_ATTR_STAT_COUNTER                    RDMANldevAttr = 77
	RDMA_NLDEV_ATTR_STAT_COUNTER_ENTRY              RDMANldevAttr = 78
	RDMA_NLDEV_ATTR_STAT_COUNTER_ID                 RDMANldevAttr = 79
	RDMA_NLDEV_ATTR_STAT_HWCOUNTERS                 RDMANldevAttr = 80
	RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY            RDMANldevAttr = 81
	RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME       RDMANldevAttr = 82
	RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE      RDMANldevAttr = 83
	RDMA_NLDEV_ATTR_DEV_DIM                         RDMANldevAttr = 84
	RDMA_NLDEV_ATTR_RES_RAW                         RDMANldevAttr = 85
	RDMA_NLDEV_ATTR_RES_CTX                         RDMANldevAttr = 86
	RDMA_NLDEV_ATTR_RES_CTX_ENTRY                   RDMANldevAttr = 87
	RDMA_NLDEV_ATTR_RES_SRQ                         RDMANldevAttr = 88
	RDMA_NLDEV_ATTR_RES_SRQ_ENTRY                   RDMANldevAttr = 89
	RDMA_NLDEV_ATTR_RES_SRQN                        RDMANldevAttr = 90
	RDMA_NLDEV_ATTR_MIN_RANGE                       RDMANldevAttr = 91
	RDMA_NLDEV_ATTR_MAX_RANGE                       RDMANldevAttr = 92
	RDMA_NLDEV_SYS_ATTR_COPY_ON_FORK                RDMANldevAttr = 93
	RDMA_NLDEV_ATTR_STAT_HWCOUNTER_INDEX            RDMANldevAttr = 94
	RDMA_NLDEV_ATTR_STAT_HWCOUNTER_DYNAMIC          RDMANldevAttr = 95
	RDMA_NLDEV_SYS_ATTR_PRIVILEGED_QKEY_MODE        RDMANldevAttr = 96
	RDMA_NLDEV_ATTR_DRIVER_DETAILS                  RDMANldevAttr = 97
	RDMA_NLDEV_ATTR_RES_SUBTYPE                     RDMANldevAttr = 98
	RDMA_NLDEV_ATTR_DEV_TYPE                        RDMANldevAttr = 99
	RDMA_NLDEV_ATTR_PARENT_NAME                     RDMANldevAttr = 100
	RDMA_NLDEV_ATTR_NAME_ASSIGN_TYPE                RDMANldevAttr = 101
	RDMA_NLDEV_ATTR_EVENT_TYPE                      RDMANldevAttr = 102
	RDMA_NLDEV_SYS_ATTR_MONITOR_MODE                RDMANldevAttr = 103
	RDMA_NLDEV_ATTR_STAT_OPCOUNTER_ENABLED          RDMANldevAttr = 104
	RDMA_NLDEV_ATTR_FRMR_POOLS                      RDMANldevAttr = 105
	RDMA_NLDEV_ATTR_FRMR_POOL_ENTRY                 RDMANldevAttr = 106
	RDMA_NLDEV_ATTR_FRMR_POOL_KEY                   RDMANldevAttr = 107
	RDMA_NLDEV_ATTR_FRMR_POOL_KEY_ATS               RDMANldevAttr = 108
	RDMA_NLDEV_ATTR_FRMR_POOL_KEY_ACCESS_FLAGS      RDMANldevAttr = 109
	RDMA_NLDEV_ATTR_FRMR_POOL_KEY_VENDOR_KEY        RDMANldevAttr = 110
	RDMA_NLDEV_ATTR_FRMR_POOL_KEY_NUM_DMA_BLOCKS    RDMANldevAttr = 111
	RDMA_NLDEV_ATTR_FRMR_POOL_QUEUE_HANDLES         RDMANldevAttr = 112
	RDMA_NLDEV_ATTR_FRMR_POOL_MAX_IN_USE            RDMANldevAttr = 113
	RDMA_NLDEV_ATTR_FRMR_POOL_IN_USE                RDMANldevAttr = 114
	RDMA_NLDEV_ATTR_FRMR_POOLS_AGING_PERIOD         RDMANldevAttr = 115
	RDMA_NLDEV_ATTR_FRMR_POOL_PINNED_HANDLES        RDMANldevAttr = 116
	RDMA_NLDEV_ATTR_FRMR_POOL_KEY_KERNEL_VENDOR_KEY RDMANldevAttr = 117
	RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_MAX           RDMANldevAttr = 118
	RDMA_NLDEV_ATTR_MAX                             RDMANldevAttr = 119
)

// RDMANlCounterMode mirrors enum rdma_nl_counter_mode.
type RDMANlCounterMode uint32

// Values of RDMANlCounterMode.
const (
	RDMA_COUNTER_MODE_NONE   RDMANlCounterMode = 0
	RDMA_COUNTER_MODE_AUTO   RDMANlCounterMode = 1
	RDMA_COUNTER_MODE_MANUAL RDMANlCounterMode = 2
	RDMA_COUNTER_MODE_MAX    RDMANlCounterMode = 3
)

// RDMANlCounterMask mirrors enum rdma_nl_counter_mask.
type RDMANlCounterMask uint32

// Values of RDMANlCounterMask.
const (
	RDMA_COUNTER_MASK_QP_TYPE RDMANlCounterMask = 1
	RDMA_COUNTER_MASK_PID     RDMANlCounterMask = 1 << 1
)

// RDMANlDevType mirrors enum rdma_nl_dev_type.
type RDMANlDevType uint32

// Values of RDMANlDevType.
const (
	RDMA_DEVICE_TYPE_SMI RDMANlDevType = 1
)

// RDMANlNameAssignType mirrors enum rdma_nl_name_assign_type.
type RDMANlNameAssignType uint32

// Values of RDMANlNameAssignType.
const (
	RDMA_NAME_ASSIGN_TYPE_UNKNOWN RDMANlNameAssignType = 0
	RDMA_NAME_ASSIGN_TYPE_USER    RDMANlNameAssignType = 1
)

// RDMANlNotifyEventType mirrors enum rdma_nl_notify_event_type.
type RDMANlNotifyEventType uint32

// Values of RDMANlNotifyEventType.
const (
	RDMA_REGISTER_EVENT      RDMANlNotifyEventType = 0
	RDMA_UNREGISTER_EVENT    RDMANlNotifyEventType = 1
	RDMA_NETDEV_ATTACH_EVENT RDMANlNotifyEventType = 2
	RDMA_NETDEV_DETACH_EVENT RDMANlNotifyEventType = 3
	RDMA_RENAME_EVENT        RDMANlNotifyEventType = 4
	RDMA_NETDEV_RENAME_EVENT RDMANlNotifyEventType = 5
)
