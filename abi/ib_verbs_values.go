// This file holds enums of include/rdma/ib_verbs.h, a kernel header that is not installed
// for user space although its values travel in the uapi structs. Values as of Linux 6.12,
// extended by what rdma-core 64 knows of later kernels.

package abi

// RDMATransportType is enum rdma_transport_type of include/rdma/ib_verbs.h, the transport
// family of a device.
type RDMATransportType uint32

// Values of RDMATransportType.
const (
	RDMA_TRANSPORT_IB          RDMATransportType = 0
	RDMA_TRANSPORT_IWARP       RDMATransportType = 1
	RDMA_TRANSPORT_USNIC       RDMATransportType = 2
	RDMA_TRANSPORT_USNIC_UDP   RDMATransportType = 3
	RDMA_TRANSPORT_UNSPECIFIED RDMATransportType = 4
)

// RDMALinkLayer is enum rdma_link_layer of include/rdma/ib_verbs.h, the link layer of a
// port (IBUverbsQueryPortResp.LinkLayer).
type RDMALinkLayer uint32

// Values of RDMALinkLayer.
const (
	IB_LINK_LAYER_UNSPECIFIED RDMALinkLayer = 0
	IB_LINK_LAYER_INFINIBAND  RDMALinkLayer = 1
	IB_LINK_LAYER_ETHERNET    RDMALinkLayer = 2
)

// IBAtomicCap is enum ib_atomic_cap of include/rdma/ib_verbs.h, how far atomics are atomic
// (IBUverbsQueryDeviceResp.AtomicCap).
type IBAtomicCap uint32

// Values of IBAtomicCap.
const (
	IB_ATOMIC_NONE IBAtomicCap = 0
	IB_ATOMIC_HCA  IBAtomicCap = 1
	IB_ATOMIC_GLOB IBAtomicCap = 2
)

// IBTmCapFlags is enum ib_tm_cap_flags of include/rdma/ib_verbs.h, bits of
// IBUverbsTmCaps.Flags.
type IBTmCapFlags uint32

// Values of IBTmCapFlags.
const (
	IB_TM_CAP_RNDV_RC IBTmCapFlags = 1 << 0
)

// IBMTU is enum ib_mtu of include/rdma/ib_verbs.h, the path MTU (InfiniBand specification,
// PortInfo). The method Bytes gives the size.
type IBMTU uint32

// Values of IBMTU.
const (
	IB_MTU_256  IBMTU = 1
	IB_MTU_512  IBMTU = 2
	IB_MTU_1024 IBMTU = 3
	IB_MTU_2048 IBMTU = 4
	IB_MTU_4096 IBMTU = 5
)

// IBPortState is enum ib_port_state of include/rdma/ib_verbs.h, the logical state of a
// port (InfiniBand specification, PortInfo:PortState).
type IBPortState uint32

// Values of IBPortState.
const (
	IB_PORT_NOP          IBPortState = 0
	IB_PORT_DOWN         IBPortState = 1
	IB_PORT_INIT         IBPortState = 2
	IB_PORT_ARMED        IBPortState = 3
	IB_PORT_ACTIVE       IBPortState = 4
	IB_PORT_ACTIVE_DEFER IBPortState = 5
)

// IBPortPhysState is enum ib_port_phys_state of include/rdma/ib_verbs.h, the physical
// state of a port (InfiniBand specification, PortInfo:PortPhysicalState).
type IBPortPhysState uint32

// Values of IBPortPhysState.
const (
	IB_PORT_PHYS_STATE_SLEEP                       IBPortPhysState = 1
	IB_PORT_PHYS_STATE_POLLING                     IBPortPhysState = 2
	IB_PORT_PHYS_STATE_DISABLED                    IBPortPhysState = 3
	IB_PORT_PHYS_STATE_PORT_CONFIGURATION_TRAINING IBPortPhysState = 4
	IB_PORT_PHYS_STATE_LINK_UP                     IBPortPhysState = 5
	IB_PORT_PHYS_STATE_LINK_ERROR_RECOVERY         IBPortPhysState = 6
	IB_PORT_PHYS_STATE_PHY_TEST                    IBPortPhysState = 7
)

// IBPortWidth is enum ib_port_width of include/rdma/ib_verbs.h, the number of lanes of a
// link, as a bit.
type IBPortWidth uint32

// Values of IBPortWidth.
const (
	IB_WIDTH_1X  IBPortWidth = 1
	IB_WIDTH_2X  IBPortWidth = 16
	IB_WIDTH_4X  IBPortWidth = 2
	IB_WIDTH_8X  IBPortWidth = 4
	IB_WIDTH_12X IBPortWidth = 8
)

// IBPortSpeed is enum ib_port_speed of include/rdma/ib_verbs.h, the speed of one lane, as
// a bit. XDR does not fit the 8-bit field of IBUverbsQueryPortResp.
type IBPortSpeed uint32

// Values of IBPortSpeed.
const (
	IB_SPEED_SDR   IBPortSpeed = 1
	IB_SPEED_DDR   IBPortSpeed = 2
	IB_SPEED_QDR   IBPortSpeed = 4
	IB_SPEED_FDR10 IBPortSpeed = 8
	IB_SPEED_FDR   IBPortSpeed = 16
	IB_SPEED_EDR   IBPortSpeed = 32
	IB_SPEED_HDR   IBPortSpeed = 64
	IB_SPEED_NDR   IBPortSpeed = 128
	IB_SPEED_XDR   IBPortSpeed = 256
)

// IBEventType is enum ib_event_type of include/rdma/ib_verbs.h, the type of an
// asynchronous event (IBUverbsAsyncEventDesc.EventType). DEVICE_SPEED_CHANGE is known to
// rdma-core 64 and newer than Linux 6.12.
type IBEventType uint32

// Values of IBEventType.
const (
	IB_EVENT_CQ_ERR              IBEventType = 0
	IB_EVENT_QP_FATAL            IBEventType = 1
	IB_EVENT_QP_REQ_ERR          IBEventType = 2
	IB_EVENT_QP_ACCESS_ERR       IBEventType = 3
	IB_EVENT_COMM_EST            IBEventType = 4
	IB_EVENT_SQ_DRAINED          IBEventType = 5
	IB_EVENT_PATH_MIG            IBEventType = 6
	IB_EVENT_PATH_MIG_ERR        IBEventType = 7
	IB_EVENT_DEVICE_FATAL        IBEventType = 8
	IB_EVENT_PORT_ACTIVE         IBEventType = 9
	IB_EVENT_PORT_ERR            IBEventType = 10
	IB_EVENT_LID_CHANGE          IBEventType = 11
	IB_EVENT_PKEY_CHANGE         IBEventType = 12
	IB_EVENT_SM_CHANGE           IBEventType = 13
	IB_EVENT_SRQ_ERR             IBEventType = 14
	IB_EVENT_SRQ_LIMIT_REACHED   IBEventType = 15
	IB_EVENT_QP_LAST_WQE_REACHED IBEventType = 16
	IB_EVENT_CLIENT_REREGISTER   IBEventType = 17
	IB_EVENT_GID_CHANGE          IBEventType = 18
	IB_EVENT_WQ_FATAL            IBEventType = 19
	IB_EVENT_DEVICE_SPEED_CHANGE IBEventType = 20
)

// IBRate is enum ib_rate of include/rdma/ib_verbs.h, a static rate limit (InfiniBand
// specification, PathRecord:Rate). 1200 Gbit/s is newer than Linux 6.12.
type IBRate uint32

// Values of IBRate.
const (
	IB_RATE_PORT_CURRENT IBRate = 0
	IB_RATE_2_5_GBPS     IBRate = 2
	IB_RATE_5_GBPS       IBRate = 5
	IB_RATE_10_GBPS      IBRate = 3
	IB_RATE_20_GBPS      IBRate = 6
	IB_RATE_30_GBPS      IBRate = 4
	IB_RATE_40_GBPS      IBRate = 7
	IB_RATE_60_GBPS      IBRate = 8
	IB_RATE_80_GBPS      IBRate = 9
	IB_RATE_120_GBPS     IBRate = 10
	IB_RATE_14_GBPS      IBRate = 11
	IB_RATE_56_GBPS      IBRate = 12
	IB_RATE_112_GBPS     IBRate = 13
	IB_RATE_168_GBPS     IBRate = 14
	IB_RATE_25_GBPS      IBRate = 15
	IB_RATE_100_GBPS     IBRate = 16
	IB_RATE_200_GBPS     IBRate = 17
	IB_RATE_300_GBPS     IBRate = 18
	IB_RATE_28_GBPS      IBRate = 19
	IB_RATE_50_GBPS      IBRate = 20
	IB_RATE_400_GBPS     IBRate = 21
	IB_RATE_600_GBPS     IBRate = 22
	IB_RATE_800_GBPS     IBRate = 23
	IB_RATE_1200_GBPS    IBRate = 24
)

// IBRnrTimeout is enum ib_rnr_timeout of include/rdma/ib_verbs.h, the shortest wait after
// a receiver-not-ready answer, as encoded in QP attribute min_rnr_timer (InfiniBand
// specification, table 45). The name is the time in milliseconds.
type IBRnrTimeout uint32

// Values of IBRnrTimeout.
const (
	IB_RNR_TIMER_655_36 IBRnrTimeout = 0
	IB_RNR_TIMER_000_01 IBRnrTimeout = 1
	IB_RNR_TIMER_000_02 IBRnrTimeout = 2
	IB_RNR_TIMER_000_03 IBRnrTimeout = 3
	IB_RNR_TIMER_000_04 IBRnrTimeout = 4
	IB_RNR_TIMER_000_06 IBRnrTimeout = 5
	IB_RNR_TIMER_000_08 IBRnrTimeout = 6
	IB_RNR_TIMER_000_12 IBRnrTimeout = 7
	IB_RNR_TIMER_000_16 IBRnrTimeout = 8
	IB_RNR_TIMER_000_24 IBRnrTimeout = 9
	IB_RNR_TIMER_000_32 IBRnrTimeout = 10
	IB_RNR_TIMER_000_48 IBRnrTimeout = 11
	IB_RNR_TIMER_000_64 IBRnrTimeout = 12
	IB_RNR_TIMER_000_96 IBRnrTimeout = 13
	IB_RNR_TIMER_001_28 IBRnrTimeout = 14
	IB_RNR_TIMER_001_92 IBRnrTimeout = 15
	IB_RNR_TIMER_002_56 IBRnrTimeout = 16
	IB_RNR_TIMER_003_84 IBRnrTimeout = 17
	IB_RNR_TIMER_005_12 IBRnrTimeout = 18
	IB_RNR_TIMER_007_68 IBRnrTimeout = 19
	IB_RNR_TIMER_010_24 IBRnrTimeout = 20
	IB_RNR_TIMER_015_36 IBRnrTimeout = 21
	IB_RNR_TIMER_020_48 IBRnrTimeout = 22
	IB_RNR_TIMER_030_72 IBRnrTimeout = 23
	IB_RNR_TIMER_040_96 IBRnrTimeout = 24
	IB_RNR_TIMER_061_44 IBRnrTimeout = 25
	IB_RNR_TIMER_081_92 IBRnrTimeout = 26
	IB_RNR_TIMER_122_88 IBRnrTimeout = 27
	IB_RNR_TIMER_163_84 IBRnrTimeout = 28
	IB_RNR_TIMER_245_76 IBRnrTimeout = 29
	IB_RNR_TIMER_327_68 IBRnrTimeout = 30
	IB_RNR_TIMER_491_52 IBRnrTimeout = 31
)

// IBMWType is enum ib_mw_type of include/rdma/ib_verbs.h, the type of a memory window.
type IBMWType uint32

// Values of IBMWType.
const (
	IB_MW_TYPE_1 IBMWType = 1
	IB_MW_TYPE_2 IBMWType = 2
)

// IBMRReregFlags is enum ib_mr_rereg_flags of include/rdma/ib_verbs.h, what
// IB_USER_VERBS_CMD_REREG_MR changes.
type IBMRReregFlags uint32

// Values of IBMRReregFlags.
const (
	IB_MR_REREG_TRANS     IBMRReregFlags = 1
	IB_MR_REREG_PD        IBMRReregFlags = 1 << 1
	IB_MR_REREG_ACCESS    IBMRReregFlags = 1 << 2
	IB_MR_REREG_SUPPORTED IBMRReregFlags = 7
)

// IBCQAttrMask is enum ib_cq_attr_mask of include/rdma/ib_verbs.h, what
// IB_USER_VERBS_EX_CMD_MODIFY_CQ changes.
type IBCQAttrMask uint32

// Values of IBCQAttrMask.
const (
	IB_CQ_MODERATE IBCQAttrMask = 1 << 0
)

// IBSRQAttrMask is enum ib_srq_attr_mask of include/rdma/ib_verbs.h, what
// IB_USER_VERBS_CMD_MODIFY_SRQ changes.
type IBSRQAttrMask uint32

// Values of IBSRQAttrMask.
const (
	IB_SRQ_MAX_WR IBSRQAttrMask = 1 << 0
	IB_SRQ_LIMIT  IBSRQAttrMask = 1 << 1
)

// IBWQState is enum ib_wq_state of include/rdma/ib_verbs.h, the state of a work queue.
type IBWQState uint32

// Values of IBWQState.
const (
	IB_WQS_RESET IBWQState = 0
	IB_WQS_RDY   IBWQState = 1
	IB_WQS_ERR   IBWQState = 2
)

// IBWQAttrMask is enum ib_wq_attr_mask of include/rdma/ib_verbs.h, what
// IB_USER_VERBS_EX_CMD_MODIFY_WQ changes.
type IBWQAttrMask uint32

// Values of IBWQAttrMask.
const (
	IB_WQ_STATE     IBWQAttrMask = 1 << 0
	IB_WQ_CUR_STATE IBWQAttrMask = 1 << 1
	IB_WQ_FLAGS     IBWQAttrMask = 1 << 2
)

// IBFlowAttrType is enum ib_flow_attr_type of include/rdma/ib_verbs.h, the kind of a flow
// rule.
type IBFlowAttrType uint32

// Values of IBFlowAttrType.
const (
	IB_FLOW_ATTR_NORMAL      IBFlowAttrType = 0
	IB_FLOW_ATTR_ALL_DEFAULT IBFlowAttrType = 1
	IB_FLOW_ATTR_MC_DEFAULT  IBFlowAttrType = 2
	IB_FLOW_ATTR_SNIFFER     IBFlowAttrType = 3
)

// IBFlowSpecType is enum ib_flow_spec_type of include/rdma/ib_verbs.h, the kind of a flow
// specification; IB_FLOW_SPEC_INNER is or-ed in for the inner headers of a tunnel.
type IBFlowSpecType uint32

// Values of IBFlowSpecType.
const (
	IB_FLOW_SPEC_ETH           IBFlowSpecType = 0x20
	IB_FLOW_SPEC_IB            IBFlowSpecType = 0x22
	IB_FLOW_SPEC_IPV4          IBFlowSpecType = 0x30
	IB_FLOW_SPEC_IPV6          IBFlowSpecType = 0x31
	IB_FLOW_SPEC_ESP           IBFlowSpecType = 0x34
	IB_FLOW_SPEC_TCP           IBFlowSpecType = 0x40
	IB_FLOW_SPEC_UDP           IBFlowSpecType = 0x41
	IB_FLOW_SPEC_VXLAN_TUNNEL  IBFlowSpecType = 0x50
	IB_FLOW_SPEC_GRE           IBFlowSpecType = 0x51
	IB_FLOW_SPEC_MPLS          IBFlowSpecType = 0x60
	IB_FLOW_SPEC_INNER         IBFlowSpecType = 0x100
	IB_FLOW_SPEC_ACTION_TAG    IBFlowSpecType = 0x1000
	IB_FLOW_SPEC_ACTION_DROP   IBFlowSpecType = 0x1001
	IB_FLOW_SPEC_ACTION_HANDLE IBFlowSpecType = 0x1002
	IB_FLOW_SPEC_ACTION_COUNT  IBFlowSpecType = 0x1003
)

// IBFlowFlags is enum ib_flow_flags of include/rdma/ib_verbs.h, bits of
// IBUverbsFlowAttr.Flags.
type IBFlowFlags uint32

// Values of IBFlowFlags.
const (
	IB_FLOW_ATTR_FLAGS_DONT_TRAP IBFlowFlags = 1 << 1
	IB_FLOW_ATTR_FLAGS_EGRESS    IBFlowFlags = 1 << 2
)
