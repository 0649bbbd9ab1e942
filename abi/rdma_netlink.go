// This file mirrors the clients, multicast groups and the device interface (NLDEV) of
// include/uapi/rdma/rdma_netlink.h.

package abi

// Clients of NETLINK_RDMA, the high bits of the message type: type = client<<10 +
// operation.
const (
	RDMA_NL_IWCM        = 2
	RDMA_NL_RSVD        = 3
	RDMA_NL_LS          = 4
	RDMA_NL_NLDEV       = 5
	RDMA_NL_NUM_CLIENTS = 6
)

// Multicast groups of NETLINK_RDMA. NOTIFY is newer than Linux 6.1.
const (
	RDMA_NL_GROUP_IWPM   = 2
	RDMA_NL_GROUP_LS     = 3
	RDMA_NL_GROUP_NOTIFY = 4
	RDMA_NL_NUM_GROUPS   = 5
)

// Node types, the value of RDMA_NLDEV_ATTR_DEV_NODE_TYPE and of
// /sys/class/infiniband/DEVICE/node_type. The first three are the NodeType of NodeInfo.
const (
	RDMA_NODE_IB_CA       = 1
	RDMA_NODE_IB_SWITCH   = 2
	RDMA_NODE_IB_ROUTER   = 3
	RDMA_NODE_RNIC        = 4
	RDMA_NODE_USNIC       = 5
	RDMA_NODE_USNIC_UDP   = 6
	RDMA_NODE_UNSPECIFIED = 7
)

// RDMANldevCommand is enum rdma_nldev_command, the operations of client RDMA_NL_NLDEV.
// Newer than Linux 5.10: RES_CTX_GET, RES_SRQ_GET, STAT_GET_STATUS; newer than 6.1:
// RES_SRQ_GET_RAW, NEWDEV, DELDEV, MONITOR; newer than 6.12: FRMR_POOLS_GET,
// FRMR_POOLS_SET.
type RDMANldevCommand uint32

// Values of RDMANldevCommand.
const (
	RDMA_NLDEV_CMD_UNSPEC          RDMANldevCommand = 0
	RDMA_NLDEV_CMD_GET             RDMANldevCommand = 1 // can dump
	RDMA_NLDEV_CMD_SET             RDMANldevCommand = 2
	RDMA_NLDEV_CMD_NEWLINK         RDMANldevCommand = 3
	RDMA_NLDEV_CMD_DELLINK         RDMANldevCommand = 4
	RDMA_NLDEV_CMD_PORT_GET        RDMANldevCommand = 5 // can dump
	RDMA_NLDEV_CMD_SYS_GET         RDMANldevCommand = 6
	RDMA_NLDEV_CMD_SYS_SET         RDMANldevCommand = 7
	RDMA_NLDEV_CMD_RES_GET         RDMANldevCommand = 9  // can dump
	RDMA_NLDEV_CMD_RES_QP_GET      RDMANldevCommand = 10 // can dump
	RDMA_NLDEV_CMD_RES_CM_ID_GET   RDMANldevCommand = 11 // can dump
	RDMA_NLDEV_CMD_RES_CQ_GET      RDMANldevCommand = 12 // can dump
	RDMA_NLDEV_CMD_RES_MR_GET      RDMANldevCommand = 13 // can dump
	RDMA_NLDEV_CMD_RES_PD_GET      RDMANldevCommand = 14 // can dump
	RDMA_NLDEV_CMD_GET_CHARDEV     RDMANldevCommand = 15
	RDMA_NLDEV_CMD_STAT_SET        RDMANldevCommand = 16
	RDMA_NLDEV_CMD_STAT_GET        RDMANldevCommand = 17 // can dump
	RDMA_NLDEV_CMD_STAT_DEL        RDMANldevCommand = 18
	RDMA_NLDEV_CMD_RES_QP_GET_RAW  RDMANldevCommand = 19
	RDMA_NLDEV_CMD_RES_CQ_GET_RAW  RDMANldevCommand = 20
	RDMA_NLDEV_CMD_RES_MR_GET_RAW  RDMANldevCommand = 21
	RDMA_NLDEV_CMD_RES_CTX_GET     RDMANldevCommand = 22 // can dump
	RDMA_NLDEV_CMD_RES_SRQ_GET     RDMANldevCommand = 23 // can dump
	RDMA_NLDEV_CMD_STAT_GET_STATUS RDMANldevCommand = 24
	RDMA_NLDEV_CMD_RES_SRQ_GET_RAW RDMANldevCommand = 25
	RDMA_NLDEV_CMD_NEWDEV          RDMANldevCommand = 26
	RDMA_NLDEV_CMD_DELDEV          RDMANldevCommand = 27
	RDMA_NLDEV_CMD_MONITOR         RDMANldevCommand = 28
	RDMA_NLDEV_CMD_FRMR_POOLS_GET  RDMANldevCommand = 29 // can dump
	RDMA_NLDEV_CMD_FRMR_POOLS_SET  RDMANldevCommand = 30
	RDMA_NLDEV_NUM_OPS             RDMANldevCommand = 31
)

// RDMANldevPrintType is enum rdma_nldev_print_type, how a driver attribute is to be
// printed.
type RDMANldevPrintType uint32

// Values of RDMANldevPrintType.
const (
	RDMA_NLDEV_PRINT_TYPE_UNSPEC RDMANldevPrintType = 0
	RDMA_NLDEV_PRINT_TYPE_HEX    RDMANldevPrintType = 1
)

// RDMANldevAttr is enum rdma_nldev_attr, the attributes of client RDMA_NL_NLDEV, with the
// type of their payload. GUIDs and the subnet prefix are in host byte order. A kernel
// ignores what it does not know and adds what the caller may not know.
type RDMANldevAttr uint32

// Values of RDMANldevAttr.
const (
	RDMA_NLDEV_ATTR_UNSPEC                          RDMANldevAttr = 0
	RDMA_NLDEV_ATTR_PAD                             RDMANldevAttr = 0
	RDMA_NLDEV_ATTR_DEV_INDEX                       RDMANldevAttr = 1   // u32
	RDMA_NLDEV_ATTR_DEV_NAME                        RDMANldevAttr = 2   // string
	RDMA_NLDEV_ATTR_PORT_INDEX                      RDMANldevAttr = 3   // u32
	RDMA_NLDEV_ATTR_CAP_FLAGS                       RDMANldevAttr = 4   // u64
	RDMA_NLDEV_ATTR_FW_VERSION                      RDMANldevAttr = 5   // string
	RDMA_NLDEV_ATTR_NODE_GUID                       RDMANldevAttr = 6   // u64
	RDMA_NLDEV_ATTR_SYS_IMAGE_GUID                  RDMANldevAttr = 7   // u64
	RDMA_NLDEV_ATTR_SUBNET_PREFIX                   RDMANldevAttr = 8   // u64
	RDMA_NLDEV_ATTR_LID                             RDMANldevAttr = 9   // u32
	RDMA_NLDEV_ATTR_SM_LID                          RDMANldevAttr = 10  // u32
	RDMA_NLDEV_ATTR_LMC                             RDMANldevAttr = 11  // u8
	RDMA_NLDEV_ATTR_PORT_STATE                      RDMANldevAttr = 12  // u8
	RDMA_NLDEV_ATTR_PORT_PHYS_STATE                 RDMANldevAttr = 13  // u8
	RDMA_NLDEV_ATTR_DEV_NODE_TYPE                   RDMANldevAttr = 14  // u8
	RDMA_NLDEV_ATTR_RES_SUMMARY                     RDMANldevAttr = 15  // nested
	RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY               RDMANldevAttr = 16  // nested
	RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME          RDMANldevAttr = 17  // string
	RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR          RDMANldevAttr = 18  // u64
	RDMA_NLDEV_ATTR_RES_QP                          RDMANldevAttr = 19  // nested
	RDMA_NLDEV_ATTR_RES_QP_ENTRY                    RDMANldevAttr = 20  // nested
	RDMA_NLDEV_ATTR_RES_LQPN                        RDMANldevAttr = 21  // u32
	RDMA_NLDEV_ATTR_RES_RQPN                        RDMANldevAttr = 22  // u32
	RDMA_NLDEV_ATTR_RES_RQ_PSN                      RDMANldevAttr = 23  // u32
	RDMA_NLDEV_ATTR_RES_SQ_PSN                      RDMANldevAttr = 24  // u32
	RDMA_NLDEV_ATTR_RES_PATH_MIG_STATE              RDMANldevAttr = 25  // u8
	RDMA_NLDEV_ATTR_RES_TYPE                        RDMANldevAttr = 26  // u8
	RDMA_NLDEV_ATTR_RES_STATE                       RDMANldevAttr = 27  // u8
	RDMA_NLDEV_ATTR_RES_PID                         RDMANldevAttr = 28  // u32
	RDMA_NLDEV_ATTR_RES_KERN_NAME                   RDMANldevAttr = 29  // string
	RDMA_NLDEV_ATTR_RES_CM_ID                       RDMANldevAttr = 30  // nested
	RDMA_NLDEV_ATTR_RES_CM_ID_ENTRY                 RDMANldevAttr = 31  // nested
	RDMA_NLDEV_ATTR_RES_PS                          RDMANldevAttr = 32  // u32
	RDMA_NLDEV_ATTR_RES_SRC_ADDR                    RDMANldevAttr = 33  // SockaddrStorage
	RDMA_NLDEV_ATTR_RES_DST_ADDR                    RDMANldevAttr = 34  // SockaddrStorage
	RDMA_NLDEV_ATTR_RES_CQ                          RDMANldevAttr = 35  // nested
	RDMA_NLDEV_ATTR_RES_CQ_ENTRY                    RDMANldevAttr = 36  // nested
	RDMA_NLDEV_ATTR_RES_CQE                         RDMANldevAttr = 37  // u32
	RDMA_NLDEV_ATTR_RES_USECNT                      RDMANldevAttr = 38  // u64
	RDMA_NLDEV_ATTR_RES_POLL_CTX                    RDMANldevAttr = 39  // u8
	RDMA_NLDEV_ATTR_RES_MR                          RDMANldevAttr = 40  // nested
	RDMA_NLDEV_ATTR_RES_MR_ENTRY                    RDMANldevAttr = 41  // nested
	RDMA_NLDEV_ATTR_RES_RKEY                        RDMANldevAttr = 42  // u32
	RDMA_NLDEV_ATTR_RES_LKEY                        RDMANldevAttr = 43  // u32
	RDMA_NLDEV_ATTR_RES_IOVA                        RDMANldevAttr = 44  // u64
	RDMA_NLDEV_ATTR_RES_MRLEN                       RDMANldevAttr = 45  // u64
	RDMA_NLDEV_ATTR_RES_PD                          RDMANldevAttr = 46  // nested
	RDMA_NLDEV_ATTR_RES_PD_ENTRY                    RDMANldevAttr = 47  // nested
	RDMA_NLDEV_ATTR_RES_LOCAL_DMA_LKEY              RDMANldevAttr = 48  // u32
	RDMA_NLDEV_ATTR_RES_UNSAFE_GLOBAL_RKEY          RDMANldevAttr = 49  // u32
	RDMA_NLDEV_ATTR_NDEV_INDEX                      RDMANldevAttr = 50  // u32
	RDMA_NLDEV_ATTR_NDEV_NAME                       RDMANldevAttr = 51  // string
	RDMA_NLDEV_ATTR_DRIVER                          RDMANldevAttr = 52  // nested
	RDMA_NLDEV_ATTR_DRIVER_ENTRY                    RDMANldevAttr = 53  // nested
	RDMA_NLDEV_ATTR_DRIVER_STRING                   RDMANldevAttr = 54  // string
	RDMA_NLDEV_ATTR_DRIVER_PRINT_TYPE               RDMANldevAttr = 55  // u8
	RDMA_NLDEV_ATTR_DRIVER_S32                      RDMANldevAttr = 56  // s32
	RDMA_NLDEV_ATTR_DRIVER_U32                      RDMANldevAttr = 57  // u32
	RDMA_NLDEV_ATTR_DRIVER_S64                      RDMANldevAttr = 58  // s64
	RDMA_NLDEV_ATTR_DRIVER_U64                      RDMANldevAttr = 59  // u64
	RDMA_NLDEV_ATTR_RES_PDN                         RDMANldevAttr = 60  // u32
	RDMA_NLDEV_ATTR_RES_CQN                         RDMANldevAttr = 61  // u32
	RDMA_NLDEV_ATTR_RES_MRN                         RDMANldevAttr = 62  // u32
	RDMA_NLDEV_ATTR_RES_CM_IDN                      RDMANldevAttr = 63  // u32
	RDMA_NLDEV_ATTR_RES_CTXN                        RDMANldevAttr = 64  // u32
	RDMA_NLDEV_ATTR_LINK_TYPE                       RDMANldevAttr = 65  // string
	RDMA_NLDEV_SYS_ATTR_NETNS_MODE                  RDMANldevAttr = 66  // u8
	RDMA_NLDEV_ATTR_DEV_PROTOCOL                    RDMANldevAttr = 67  // string
	RDMA_NLDEV_NET_NS_FD                            RDMANldevAttr = 68  // u32
	RDMA_NLDEV_ATTR_CHARDEV_TYPE                    RDMANldevAttr = 69  // string
	RDMA_NLDEV_ATTR_CHARDEV_NAME                    RDMANldevAttr = 70  // string
	RDMA_NLDEV_ATTR_CHARDEV_ABI                     RDMANldevAttr = 71  // u64
	RDMA_NLDEV_ATTR_CHARDEV                         RDMANldevAttr = 72  // u64
	RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID                RDMANldevAttr = 73  // u64
	RDMA_NLDEV_ATTR_STAT_MODE                       RDMANldevAttr = 74  // u32
	RDMA_NLDEV_ATTR_STAT_RES                        RDMANldevAttr = 75  // u32
	RDMA_NLDEV_ATTR_STAT_AUTO_MODE_MASK             RDMANldevAttr = 76  // u32
	RDMA_NLDEV_ATTR_STAT_COUNTER                    RDMANldevAttr = 77  // nested
	RDMA_NLDEV_ATTR_STAT_COUNTER_ENTRY              RDMANldevAttr = 78  // nested
	RDMA_NLDEV_ATTR_STAT_COUNTER_ID                 RDMANldevAttr = 79  // u32
	RDMA_NLDEV_ATTR_STAT_HWCOUNTERS                 RDMANldevAttr = 80  // nested
	RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY            RDMANldevAttr = 81  // nested
	RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME       RDMANldevAttr = 82  // string
	RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE      RDMANldevAttr = 83  // u64
	RDMA_NLDEV_ATTR_DEV_DIM                         RDMANldevAttr = 84  // u8
	RDMA_NLDEV_ATTR_RES_RAW                         RDMANldevAttr = 85  // binary
	RDMA_NLDEV_ATTR_RES_CTX                         RDMANldevAttr = 86  // nested
	RDMA_NLDEV_ATTR_RES_CTX_ENTRY                   RDMANldevAttr = 87  // nested
	RDMA_NLDEV_ATTR_RES_SRQ                         RDMANldevAttr = 88  // nested
	RDMA_NLDEV_ATTR_RES_SRQ_ENTRY                   RDMANldevAttr = 89  // nested
	RDMA_NLDEV_ATTR_RES_SRQN                        RDMANldevAttr = 90  // u32
	RDMA_NLDEV_ATTR_MIN_RANGE                       RDMANldevAttr = 91  // u32
	RDMA_NLDEV_ATTR_MAX_RANGE                       RDMANldevAttr = 92  // u32
	RDMA_NLDEV_SYS_ATTR_COPY_ON_FORK                RDMANldevAttr = 93  // u8
	RDMA_NLDEV_ATTR_STAT_HWCOUNTER_INDEX            RDMANldevAttr = 94  // u32
	RDMA_NLDEV_ATTR_STAT_HWCOUNTER_DYNAMIC          RDMANldevAttr = 95  // u8
	RDMA_NLDEV_SYS_ATTR_PRIVILEGED_QKEY_MODE        RDMANldevAttr = 96  // u8
	RDMA_NLDEV_ATTR_DRIVER_DETAILS                  RDMANldevAttr = 97  // u8
	RDMA_NLDEV_ATTR_RES_SUBTYPE                     RDMANldevAttr = 98  // string
	RDMA_NLDEV_ATTR_DEV_TYPE                        RDMANldevAttr = 99  // u8
	RDMA_NLDEV_ATTR_PARENT_NAME                     RDMANldevAttr = 100 // string
	RDMA_NLDEV_ATTR_NAME_ASSIGN_TYPE                RDMANldevAttr = 101 // u8
	RDMA_NLDEV_ATTR_EVENT_TYPE                      RDMANldevAttr = 102 // u8
	RDMA_NLDEV_SYS_ATTR_MONITOR_MODE                RDMANldevAttr = 103 // u8
	RDMA_NLDEV_ATTR_STAT_OPCOUNTER_ENABLED          RDMANldevAttr = 104 // u8
	RDMA_NLDEV_ATTR_FRMR_POOLS                      RDMANldevAttr = 105 // nested
	RDMA_NLDEV_ATTR_FRMR_POOL_ENTRY                 RDMANldevAttr = 106 // nested
	RDMA_NLDEV_ATTR_FRMR_POOL_KEY                   RDMANldevAttr = 107 // nested
	RDMA_NLDEV_ATTR_FRMR_POOL_KEY_ATS               RDMANldevAttr = 108 // u8
	RDMA_NLDEV_ATTR_FRMR_POOL_KEY_ACCESS_FLAGS      RDMANldevAttr = 109 // u32
	RDMA_NLDEV_ATTR_FRMR_POOL_KEY_VENDOR_KEY        RDMANldevAttr = 110 // u64
	RDMA_NLDEV_ATTR_FRMR_POOL_KEY_NUM_DMA_BLOCKS    RDMANldevAttr = 111 // u64
	RDMA_NLDEV_ATTR_FRMR_POOL_QUEUE_HANDLES         RDMANldevAttr = 112 // u32
	RDMA_NLDEV_ATTR_FRMR_POOL_MAX_IN_USE            RDMANldevAttr = 113 // u64
	RDMA_NLDEV_ATTR_FRMR_POOL_IN_USE                RDMANldevAttr = 114 // u64
	RDMA_NLDEV_ATTR_FRMR_POOLS_AGING_PERIOD         RDMANldevAttr = 115 // u32
	RDMA_NLDEV_ATTR_FRMR_POOL_PINNED_HANDLES        RDMANldevAttr = 116 // u32
	RDMA_NLDEV_ATTR_FRMR_POOL_KEY_KERNEL_VENDOR_KEY RDMANldevAttr = 117 // u64
	RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_MAX           RDMANldevAttr = 118 // u64
	RDMA_NLDEV_ATTR_MAX                             RDMANldevAttr = 119
)

// RDMANlCounterMode is enum rdma_nl_counter_mode, the value of RDMA_NLDEV_ATTR_STAT_MODE:
// how QPs are bound to counters.
type RDMANlCounterMode uint32

// Values of RDMANlCounterMode.
const (
	RDMA_COUNTER_MODE_NONE   RDMANlCounterMode = 0
	RDMA_COUNTER_MODE_AUTO   RDMANlCounterMode = 1
	RDMA_COUNTER_MODE_MANUAL RDMANlCounterMode = 2
	RDMA_COUNTER_MODE_MAX    RDMANlCounterMode = 3
)

// RDMANlCounterMask is enum rdma_nl_counter_mask, bits of
// RDMA_NLDEV_ATTR_STAT_AUTO_MODE_MASK: by what QPs share a counter in automatic mode.
type RDMANlCounterMask uint32

// Values of RDMANlCounterMask.
const (
	RDMA_COUNTER_MASK_QP_TYPE RDMANlCounterMask = 1
	RDMA_COUNTER_MASK_PID     RDMANlCounterMask = 1 << 1
)

// RDMANlDevType is enum rdma_nl_dev_type, the value of RDMA_NLDEV_ATTR_DEV_TYPE. Newer
// than Linux 6.1, present in 6.12.
type RDMANlDevType uint32

// Values of RDMANlDevType.
const (
	RDMA_DEVICE_TYPE_SMI RDMANlDevType = 1
)

// RDMANlNameAssignType is enum rdma_nl_name_assign_type, the value of
// RDMA_NLDEV_ATTR_NAME_ASSIGN_TYPE. Newer than Linux 6.1, present in 6.12.
type RDMANlNameAssignType uint32

// Values of RDMANlNameAssignType.
const (
	RDMA_NAME_ASSIGN_TYPE_UNKNOWN RDMANlNameAssignType = 0
	RDMA_NAME_ASSIGN_TYPE_USER    RDMANlNameAssignType = 1
)

// RDMANlNotifyEventType is enum rdma_nl_notify_event_type, the value of
// RDMA_NLDEV_ATTR_EVENT_TYPE in messages of RDMA_NL_GROUP_NOTIFY. Newer than Linux 6.1;
// the RENAME events newer than 6.12.
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
