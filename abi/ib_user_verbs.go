// This file mirrors include/uapi/rdma/ib_user_verbs.h.

package abi

import (
	"structs"
	"unsafe"
)

// Constants starting with IB_USER_VERBS_ABI_VERSION.
const (
	IB_USER_VERBS_ABI_VERSION   = 6
	IB_USER_VERBS_CMD_THRESHOLD = 50
)

// IBUverbsWriteCmds mirrors enum ib_uverbs_write_cmds.
type IBUverbsWriteCmds uint32

// Values of IBUverbsWriteCmds.
const (
	IB_USER_VERBS_CMD_GET_CONTEXT         IBUverbsWriteCmds = 0
	IB_USER_VERBS_CMD_QUERY_DEVICE        IBUverbsWriteCmds = 1
	IB_USER_VERBS_CMD_QUERY_PORT          IBUverbsWriteCmds = 2
	IB_USER_VERBS_CMD_ALLOC_PD            IBUverbsWriteCmds = 3
	IB_USER_VERBS_CMD_DEALLOC_PD          IBUverbsWriteCmds = 4
	IB_USER_VERBS_CMD_CREATE_AH           IBUverbsWriteCmds = 5
	IB_USER_VERBS_CMD_MODIFY_AH           IBUverbsWriteCmds = 6
	IB_USER_VERBS_CMD_QUERY_AH            IBUverbsWriteCmds = 7
	IB_USER_VERBS_CMD_DESTROY_AH          IBUverbsWriteCmds = 8
	IB_USER_VERBS_CMD_REG_MR              IBUverbsWriteCmds = 9
	IB_USER_VERBS_CMD_REG_SMR             IBUverbsWriteCmds = 10
	IB_USER_VERBS_CMD_REREG_MR            IBUverbsWriteCmds = 11
	IB_USER_VERBS_CMD_QUERY_MR            IBUverbsWriteCmds = 12
	IB_USER_VERBS_CMD_DEREG_MR            IBUverbsWriteCmds = 13
	IB_USER_VERBS_CMD_ALLOC_MW            IBUverbsWriteCmds = 14
	IB_USER_VERBS_CMD_BIND_MW             IBUverbsWriteCmds = 15
	IB_USER_VERBS_CMD_DEALLOC_MW          IBUverbsWriteCmds = 16
	IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL IBUverbsWriteCmds = 17
	IB_USER_VERBS_CMD_CREATE_CQ           IBUverbsWriteCmds = 18
	IB_USER_VERBS_CMD_RESIZE_CQ           IBUverbsWriteCmds = 19
	IB_USER_VERBS_CMD_DESTROY_CQ          IBUverbsWriteCmds = 20
	IB_USER_VERBS_CMD_POLL_CQ             IBUverbsWriteCmds = 21
	IB_USER_VERBS_CMD_PEEK_CQ             IBUverbsWriteCmds = 22
	IB_USER_VERBS_CMD_REQ_NOTIFY_CQ       IBUverbsWriteCmds = 23
	IB_USER_VERBS_CMD_CREATE_QP           IBUverbsWriteCmds = 24
	IB_USER_VERBS_CMD_QUERY_QP            IBUverbsWriteCmds = 25
	IB_USER_VERBS_CMD_MODIFY_QP           IBUverbsWriteCmds = 26
	IB_USER_VERBS_CMD_DESTROY_QP          IBUverbsWriteCmds = 27
	IB_USER_VERBS_CMD_POST_SEND           IBUverbsWriteCmds = 28
	IB_USER_VERBS_CMD_POST_RECV           IBUverbsWriteCmds = 29
	IB_USER_VERBS_CMD_ATTACH_MCAST        IBUverbsWriteCmds = 30
	IB_USER_VERBS_CMD_DETACH_MCAST        IBUverbsWriteCmds = 31
	IB_USER_VERBS_CMD_CREATE_SRQ          IBUverbsWriteCmds = 32
	IB_USER_VERBS_CMD_MODIFY_SRQ          IBUverbsWriteCmds = 33
	IB_USER_VERBS_CMD_QUERY_SRQ           IBUverbsWriteCmds = 34
	IB_USER_VERBS_CMD_DESTROY_SRQ         IBUverbsWriteCmds = 35
	IB_USER_VERBS_CMD_POST_SRQ_RECV       IBUverbsWriteCmds = 36
	IB_USER_VERBS_CMD_OPEN_XRCD           IBUverbsWriteCmds = 37
	IB_USER_VERBS_CMD_CLOSE_XRCD          IBUverbsWriteCmds = 38
	IB_USER_VERBS_CMD_CREATE_XSRQ         IBUverbsWriteCmds = 39
	IB_USER_VERBS_CMD_OPEN_QP             IBUverbsWriteCmds = 40
)

// Constants starting with IB_USER_VERBS_EX_CMD_QUERY_DEVICE.
const (
	IB_USER_VERBS_EX_CMD_QUERY_DEVICE        = 1
	IB_USER_VERBS_EX_CMD_CREATE_CQ           = 18
	IB_USER_VERBS_EX_CMD_CREATE_QP           = 24
	IB_USER_VERBS_EX_CMD_MODIFY_QP           = 26
	IB_USER_VERBS_EX_CMD_CREATE_FLOW         = 50
	IB_USER_VERBS_EX_CMD_DESTROY_FLOW        = 51
	IB_USER_VERBS_EX_CMD_CREATE_WQ           = 52
	IB_USER_VERBS_EX_CMD_MODIFY_WQ           = 53
	IB_USER_VERBS_EX_CMD_DESTROY_WQ          = 54
	IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL  = 55
	IB_USER_VERBS_EX_CMD_DESTROY_RWQ_IND_TBL = 56
	IB_USER_VERBS_EX_CMD_MODIFY_CQ           = 57
)

// IBPlacementType mirrors enum ib_placement_type.
type IBPlacementType uint32

// Values of IBPlacementType.
const (
	IB_FLUSH_GLOBAL     IBPlacementType = 1 << 0
	IB_FLUSH_PERSISTENT IBPlacementType = 1 << 1
)

// IBSelectivityLevel mirrors enum ib_selectivity_level.
type IBSelectivityLevel uint32

// Values of IBSelectivityLevel.
const (
	IB_FLUSH_RANGE IBSelectivityLevel = 0
	IB_FLUSH_MR    IBSelectivityLevel = 1
)

// IBUverbsAsyncEventDesc mirrors struct ib_uverbs_async_event_desc.
type IBUverbsAsyncEventDesc struct {
	_         structs.HostLayout
	Element   uint64
	EventType uint32
	Reserved  uint32
}

// IBUverbsCompEventDesc mirrors struct ib_uverbs_comp_event_desc.
type IBUverbsCompEventDesc struct {
	_        structs.HostLayout
	CQHandle uint64
}

// IBUverbsCQModerationCaps mirrors struct ib_uverbs_cq_moderation_caps.
type IBUverbsCQModerationCaps struct {
	_                     structs.HostLayout
	MaxCQModerationCount  uint16
	MaxCQModerationPeriod uint16
	Reserved              uint32
}

// Constants starting with IB_USER_VERBS_CMD_COMMAND_MASK.
const (
	IB_USER_VERBS_CMD_COMMAND_MASK  = 0xff
	IB_USER_VERBS_CMD_FLAG_EXTENDED = 0x80000000
)

// IBUverbsCmdHdr mirrors struct ib_uverbs_cmd_hdr.
type IBUverbsCmdHdr struct {
	_        structs.HostLayout
	Command  uint32
	InWords  uint16
	OutWords uint16
}

// IBUverbsExCmdHdr mirrors struct ib_uverbs_ex_cmd_hdr.
type IBUverbsExCmdHdr struct {
	_                structs.HostLayout
	Response         uint64
	ProviderInWords  uint16
	ProviderOutWords uint16
	CmdHdrReserved   uint32
}

// IBUverbsGetContext mirrors struct ib_uverbs_get_context.
type IBUverbsGetContext struct {
	_        structs.HostLayout
	Response uint64
	// driver_data[] follows at offset 8.
}

// IBUverbsGetContextResp mirrors struct ib_uverbs_get_context_resp.
type IBUverbsGetContextResp struct {
	_              structs.HostLayout
	_              [0]uint64 // alignment of the C struct
	AsyncFD        uint32
	NumCompVectors uint32
	// driver_data[] follows at offset 8.
}

// IBUverbsQueryDevice mirrors struct ib_uverbs_query_device.
type IBUverbsQueryDevice struct {
	_        structs.HostLayout
	Response uint64
	// driver_data[] follows at offset 8.
}

// IBUverbsQueryDeviceResp mirrors struct ib_uverbs_query_device_resp.
type IBUverbsQueryDeviceResp struct {
	_                     structs.HostLayout
	FwVer                 uint64
	NodeGUID              uint64 // big-endian
	SysImageGUID          uint64 // big-endian
	MaxMRSize             uint64
	PageSizeCap           uint64
	VendorID              uint32
	VendorPartID          uint32
	HwVer                 uint32
	MaxQP                 uint32
	MaxQPWR               uint32
	DeviceCapFlags        uint32
	MaxSGE                uint32
	MaxSGERd              uint32
	MaxCQ                 uint32
	MaxCQE                uint32
	MaxMR                 uint32
	MaxPD                 uint32
	MaxQPRdAtom           uint32
	MaxEeRdAtom           uint32
	MaxResRdAtom          uint32
	MaxQPInitRdAtom       uint32
	MaxEeInitRdAtom       uint32
	AtomicCap             uint32
	MaxEe                 uint32
	MaxRdd                uint32
	MaxMW                 uint32
	MaxRawIpv6QP          uint32
	MaxRawEthyQP          uint32
	MaxMcastGrp           uint32
	MaxMcastQPAttach      uint32
	MaxTotalMcastQPAttach uint32
	MaxAH                 uint32
	MaxFmr                uint32
	MaxMapPerFmr          uint32
	MaxSRQ                uint32
	MaxSRQWR              uint32
	MaxSRQSGE             uint32
	MaxPkeys              uint16
	LocalCaAckDelay       uint8
	PhysPortCnt           uint8
	Reserved              [4]uint8
}

// IBUverbsExQueryDevice mirrors struct ib_uverbs_ex_query_device.
type IBUverbsExQueryDevice struct {
	_        structs.HostLayout
	CompMask uint32
	Reserved uint32
}

// IBUverbsOdpGeneralCapBits mirrors enum ib_uverbs_odp_general_cap_bits.
type IBUverbsOdpGeneralCapBits uint32

// Values of IBUverbsOdpGeneralCapBits.
const (
	IB_UVERBS_ODP_SUPPORT          IBUverbsOdpGeneralCapBits = 1 << 0
	IB_UVERBS_ODP_SUPPORT_IMPLICIT IBUverbsOdpGeneralCapBits = 1 << 1
)

// IBUverbsOdpTransportCapBits mirrors enum ib_uverbs_odp_transport_cap_bits.
type IBUverbsOdpTransportCapBits uint32

// Values of IBUverbsOdpTransportCapBits.
const (
	IB_UVERBS_ODP_SUPPORT_SEND         IBUverbsOdpTransportCapBits = 1 << 0
	IB_UVERBS_ODP_SUPPORT_RECV         IBUverbsOdpTransportCapBits = 1 << 1
	IB_UVERBS_ODP_SUPPORT_WRITE        IBUverbsOdpTransportCapBits = 1 << 2
	IB_UVERBS_ODP_SUPPORT_READ         IBUverbsOdpTransportCapBits = 1 << 3
	IB_UVERBS_ODP_SUPPORT_ATOMIC       IBUverbsOdpTransportCapBits = 1 << 4
	IB_UVERBS_ODP_SUPPORT_SRQ_RECV     IBUverbsOdpTransportCapBits = 1 << 5
	IB_UVERBS_ODP_SUPPORT_FLUSH        IBUverbsOdpTransportCapBits = 1 << 6
	IB_UVERBS_ODP_SUPPORT_ATOMIC_WRITE IBUverbsOdpTransportCapBits = 1 << 7
)

// IBUverbsOdpCaps mirrors struct ib_uverbs_odp_caps.
type IBUverbsOdpCaps struct {
	_                structs.HostLayout
	GeneralCaps      uint64
	PerTransportCaps IBUverbsOdpCapsPerTransportCaps
	Reserved         uint32
}

// IBUverbsOdpCapsPerTransportCaps is the unnamed struct per_transport_caps of struct
// ib_uverbs_odp_caps.
type IBUverbsOdpCapsPerTransportCaps struct {
	_         structs.HostLayout
	RCOdpCaps uint32
	UCOdpCaps uint32
	UDOdpCaps uint32
}

// IBUverbsRssCaps mirrors struct ib_uverbs_rss_caps.
type IBUverbsRssCaps struct {
	_                          structs.HostLayout
	SupportedQpts              uint32
	MaxRWQIndirectionTables    uint32
	MaxRWQIndirectionTableSize uint32
	Reserved                   uint32
}

// IBUverbsTmCaps mirrors struct ib_uverbs_tm_caps.
type IBUverbsTmCaps struct {
	_              structs.HostLayout
	MaxRndvHdrSize uint32
	MaxNumTags     uint32
	Flags          uint32
	MaxOps         uint32
	MaxSGE         uint32
	Reserved       uint32
}

// IBUverbsExQueryDeviceResp mirrors struct ib_uverbs_ex_query_device_resp.
type IBUverbsExQueryDeviceResp struct {
	_                structs.HostLayout
	Base             IBUverbsQueryDeviceResp
	CompMask         uint32
	ResponseLength   uint32
	OdpCaps          IBUverbsOdpCaps
	TimestampMask    uint64
	HcaCoreClock     uint64
	DeviceCapFlagsEx uint64
	RssCaps          IBUverbsRssCaps
	MaxWQTypeRQ      uint32
	RawPacketCaps    uint32
	TmCaps           IBUverbsTmCaps
	CQModerationCaps IBUverbsCQModerationCaps
	MaxDmSize        uint64
	XrcOdpCaps       uint32
	Reserved         uint32
}

// IBUverbsQueryPort mirrors struct ib_uverbs_query_port.
type IBUverbsQueryPort struct {
	_        structs.HostLayout
	Response uint64
	PortNum  uint8
	Reserved [7]uint8
	// driver_data[] follows at offset 16.
}

// IBUverbsQueryPortResp mirrors struct ib_uverbs_query_port_resp.
type IBUverbsQueryPortResp struct {
	_             structs.HostLayout
	PortCapFlags  uint32
	MaxMsgSz      uint32
	BadPKeyCntr   uint32
	QKeyViolCntr  uint32
	GIDTblLen     uint32
	PKeyTblLen    uint16
	LID           uint16
	SMLID         uint16
	State         uint8
	MaxMTU        uint8
	ActiveMTU     uint8
	LMC           uint8
	MaxVLNum      uint8
	SMSL          uint8
	SubnetTimeout uint8
	InitTypeReply uint8
	ActiveWidth   uint8
	ActiveSpeed   uint8
	PhysState     uint8
	LinkLayer     uint8
	Flags         uint8
	Reserved      uint8
}

// IBUverbsAllocPD mirrors struct ib_uverbs_alloc_pd.
type IBUverbsAllocPD struct {
	_        structs.HostLayout
	Response uint64
	// driver_data[] follows at offset 8.
}

// IBUverbsAllocPDResp mirrors struct ib_uverbs_alloc_pd_resp.
type IBUverbsAllocPDResp struct {
	_        structs.HostLayout
	PDHandle uint32
	// driver_data[] follows at offset 4.
}

// IBUverbsDeallocPD mirrors struct ib_uverbs_dealloc_pd.
type IBUverbsDeallocPD struct {
	_        structs.HostLayout
	PDHandle uint32
}

// IBUverbsOpenXRCD mirrors struct ib_uverbs_open_xrcd.
type IBUverbsOpenXRCD struct {
	_        structs.HostLayout
	Response uint64
	FD       uint32
	Oflags   uint32
	// driver_data[] follows at offset 16.
}

// IBUverbsOpenXRCDResp mirrors struct ib_uverbs_open_xrcd_resp.
type IBUverbsOpenXRCDResp struct {
	_          structs.HostLayout
	XRCDHandle uint32
	// driver_data[] follows at offset 4.
}

// IBUverbsCloseXRCD mirrors struct ib_uverbs_close_xrcd.
type IBUverbsCloseXRCD struct {
	_          structs.HostLayout
	XRCDHandle uint32
}

// IBUverbsRegMR mirrors struct ib_uverbs_reg_mr.
type IBUverbsRegMR struct {
	_           structs.HostLayout
	Response    uint64
	Start       uint64
	Length      uint64
	HcaVa       uint64
	PDHandle    uint32
	AccessFlags uint32
	// driver_data[] follows at offset 40.
}

// IBUverbsRegMRResp mirrors struct ib_uverbs_reg_mr_resp.
type IBUverbsRegMRResp struct {
	_        structs.HostLayout
	MRHandle uint32
	LKey     uint32
	RKey     uint32
	// driver_data[] follows at offset 12.
}

// IBUverbsReregMR mirrors struct ib_uverbs_rereg_mr.
type IBUverbsReregMR struct {
	_           structs.HostLayout
	Response    uint64
	MRHandle    uint32
	Flags       uint32
	Start       uint64
	Length      uint64
	HcaVa       uint64
	PDHandle    uint32
	AccessFlags uint32
	// driver_data[] follows at offset 48.
}

// IBUverbsReregMRResp mirrors struct ib_uverbs_rereg_mr_resp.
type IBUverbsReregMRResp struct {
	_    structs.HostLayout
	_    [0]uint64 // alignment of the C struct
	LKey uint32
	RKey uint32
	// driver_data[] follows at offset 8.
}

// IBUverbsDeregMR mirrors struct ib_uverbs_dereg_mr.
type IBUverbsDeregMR struct {
	_        structs.HostLayout
	MRHandle uint32
}

// IBUverbsAllocMW mirrors struct ib_uverbs_alloc_mw.
type IBUverbsAllocMW struct {
	_        structs.HostLayout
	Response uint64
	PDHandle uint32
	MWType   uint8
	Reserved [3]uint8
	// driver_data[] follows at offset 16.
}

// IBUverbsAllocMWResp mirrors struct ib_uverbs_alloc_mw_resp.
type IBUverbsAllocMWResp struct {
	_        structs.HostLayout
	_        [0]uint64 // alignment of the C struct
	MWHandle uint32
	RKey     uint32
	// driver_data[] follows at offset 8.
}

// IBUverbsDeallocMW mirrors struct ib_uverbs_dealloc_mw.
type IBUverbsDeallocMW struct {
	_        structs.HostLayout
	MWHandle uint32
}

// IBUverbsCreateCompChannel mirrors struct ib_uverbs_create_comp_channel.
type IBUverbsCreateCompChannel struct {
	_        structs.HostLayout
	Response uint64
}

// IBUverbsCreateCompChannelResp mirrors struct ib_uverbs_create_comp_channel_resp.
type IBUverbsCreateCompChannelResp struct {
	_  structs.HostLayout
	FD uint32
}

// IBUverbsCreateCQ mirrors struct ib_uverbs_create_cq.
type IBUverbsCreateCQ struct {
	_           structs.HostLayout
	Response    uint64
	UserHandle  uint64
	CQE         uint32
	CompVector  uint32
	CompChannel int32
	Reserved    uint32
	// driver_data[] follows at offset 32.
}

// IBUverbsExCreateCQFlags mirrors enum ib_uverbs_ex_create_cq_flags.
type IBUverbsExCreateCQFlags uint32

// Values of IBUverbsExCreateCQFlags.
const (
	IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION IBUverbsExCreateCQFlags = 1 << 0
	IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN       IBUverbsExCreateCQFlags = 1 << 1
)

// IBUverbsExCreateCQ mirrors struct ib_uverbs_ex_create_cq.
type IBUverbsExCreateCQ struct {
	_           structs.HostLayout
	UserHandle  uint64
	CQE         uint32
	CompVector  uint32
	CompChannel int32
	CompMask    uint32
	Flags       uint32
	Reserved    uint32
}

// IBUverbsCreateCQResp mirrors struct ib_uverbs_create_cq_resp.
type IBUverbsCreateCQResp struct {
	_        structs.HostLayout
	_        [0]uint64 // alignment of the C struct
	CQHandle uint32
	CQE      uint32
	// driver_data[] follows at offset 8.
}

// IBUverbsExCreateCQResp mirrors struct ib_uverbs_ex_create_cq_resp.
type IBUverbsExCreateCQResp struct {
	_              structs.HostLayout
	Base           IBUverbsCreateCQResp
	CompMask       uint32
	ResponseLength uint32
}

// IBUverbsResizeCQ mirrors struct ib_uverbs_resize_cq.
type IBUverbsResizeCQ struct {
	_        structs.HostLayout
	Response uint64
	CQHandle uint32
	CQE      uint32
	// driver_data[] follows at offset 16.
}

// IBUverbsResizeCQResp mirrors struct ib_uverbs_resize_cq_resp.
type IBUverbsResizeCQResp struct {
	_        structs.HostLayout
	_        [0]uint64 // alignment of the C struct
	CQE      uint32
	Reserved uint32
	// driver_data[] follows at offset 8.
}

// IBUverbsPollCQ mirrors struct ib_uverbs_poll_cq.
type IBUverbsPollCQ struct {
	_        structs.HostLayout
	Response uint64
	CQHandle uint32
	Ne       uint32
}

// IBUverbsWCOpcode mirrors enum ib_uverbs_wc_opcode.
type IBUverbsWCOpcode uint32

// Values of IBUverbsWCOpcode.
const (
	IB_UVERBS_WC_SEND         IBUverbsWCOpcode = 0
	IB_UVERBS_WC_RDMA_WRITE   IBUverbsWCOpcode = 1
	IB_UVERBS_WC_RDMA_READ    IBUverbsWCOpcode = 2
	IB_UVERBS_WC_COMP_SWAP    IBUverbsWCOpcode = 3
	IB_UVERBS_WC_FETCH_ADD    IBUverbsWCOpcode = 4
	IB_UVERBS_WC_BIND_MW      IBUverbsWCOpcode = 5
	IB_UVERBS_WC_LOCAL_INV    IBUverbsWCOpcode = 6
	IB_UVERBS_WC_TSO          IBUverbsWCOpcode = 7
	IB_UVERBS_WC_FLUSH        IBUverbsWCOpcode = 8
	IB_UVERBS_WC_ATOMIC_WRITE IBUverbsWCOpcode = 9
)

// IBUverbsWC mirrors struct ib_uverbs_wc.
type IBUverbsWC struct {
	_            structs.HostLayout
	WRID         uint64
	Status       uint32
	Opcode       uint32
	VendorErr    uint32
	ByteLen      uint32
	Ex           uint32 // union: imm_data, invalidate_rkey
	QPNum        uint32
	SrcQP        uint32
	WCFlags      uint32
	PKeyIndex    uint16
	Slid         uint16
	SL           uint8
	DlidPathBits uint8
	PortNum      uint8
	Reserved     uint8
}

// ExImmData returns a view of union member ex.imm_data.
func (p *IBUverbsWC) ExImmData() *uint32 { return (*uint32)(unsafe.Pointer(&p.Ex)) }

// ExInvalidateRKey returns a view of union member ex.invalidate_rkey.
func (p *IBUverbsWC) ExInvalidateRKey() *uint32 { return (*uint32)(unsafe.Pointer(&p.Ex)) }

// IBUverbsPollCQResp mirrors struct ib_uverbs_poll_cq_resp.
type IBUverbsPollCQResp struct {
	_        structs.HostLayout
	_        [0]uint64 // alignment of the C struct
	Count    uint32
	Reserved uint32
	// wc[] follows at offset 8.
}

// IBUverbsReqNotifyCQ mirrors struct ib_uverbs_req_notify_cq.
type IBUverbsReqNotifyCQ struct {
	_             structs.HostLayout
	CQHandle      uint32
	SolicitedOnly uint32
}

// IBUverbsDestroyCQ mirrors struct ib_uverbs_destroy_cq.
type IBUverbsDestroyCQ struct {
	_        structs.HostLayout
	Response uint64
	CQHandle uint32
	Reserved uint32
}

// IBUverbsDestroyCQResp mirrors struct ib_uverbs_destroy_cq_resp.
type IBUverbsDestroyCQResp struct {
	_                   structs.HostLayout
	CompEventsReported  uint32
	AsyncEventsReported uint32
}

// IBUverbsGlobalRoute mirrors struct ib_uverbs_global_route.
type IBUverbsGlobalRoute struct {
	_            structs.HostLayout
	Dgid         [16]uint8
	FlowLabel    uint32
	SgidIndex    uint8
	HopLimit     uint8
	TrafficClass uint8
	Reserved     uint8
}

// IBUverbsAHAttr mirrors struct ib_uverbs_ah_attr.
type IBUverbsAHAttr struct {
	_           structs.HostLayout
	GRH         IBUverbsGlobalRoute
	Dlid        uint16
	SL          uint8
	SrcPathBits uint8
	StaticRate  uint8
	IsGlobal    uint8
	PortNum     uint8
	Reserved    uint8
}

// IBUverbsQPAttr mirrors struct ib_uverbs_qp_attr.
type IBUverbsQPAttr struct {
	_                structs.HostLayout
	QPAttrMask       uint32
	QPState          uint32
	CurQPState       uint32
	PathMTU          uint32
	PathMigState     uint32
	QKey             uint32
	RQPSN            uint32
	SQPSN            uint32
	DestQPNum        uint32
	QPAccessFlags    uint32
	AHAttr           IBUverbsAHAttr
	AltAHAttr        IBUverbsAHAttr
	MaxSendWR        uint32
	MaxRecvWR        uint32
	MaxSendSGE       uint32
	MaxRecvSGE       uint32
	MaxInlineData    uint32
	PKeyIndex        uint16
	AltPKeyIndex     uint16
	EnSqdAsyncNotify uint8
	SQDraining       uint8
	MaxRdAtomic      uint8
	MaxDestRdAtomic  uint8
	MinRnrTimer      uint8
	PortNum          uint8
	Timeout          uint8
	RetryCnt         uint8
	RnrRetry         uint8
	AltPortNum       uint8
	AltTimeout       uint8
	Reserved         [5]uint8
}

// IBUverbsCreateQP mirrors struct ib_uverbs_create_qp.
type IBUverbsCreateQP struct {
	_             structs.HostLayout
	Response      uint64
	UserHandle    uint64
	PDHandle      uint32
	SendCQHandle  uint32
	RecvCQHandle  uint32
	SRQHandle     uint32
	MaxSendWR     uint32
	MaxRecvWR     uint32
	MaxSendSGE    uint32
	MaxRecvSGE    uint32
	MaxInlineData uint32
	SQSigAll      uint8
	QPType        uint8
	IsSRQ         uint8
	Reserved      uint8
	// driver_data[] follows at offset 56.
}

// IBUverbsCreateQPMask mirrors enum ib_uverbs_create_qp_mask.
type IBUverbsCreateQPMask uint32

// Values of IBUverbsCreateQPMask.
const (
	IB_UVERBS_CREATE_QP_MASK_IND_TABLE IBUverbsCreateQPMask = 1 << 0
)

// Constants starting with IB_UVERBS_CREATE_QP_SUP_COMP_MASK.
const (
	IB_UVERBS_CREATE_QP_SUP_COMP_MASK = 1
)

// IBUverbsExCreateQP mirrors struct ib_uverbs_ex_create_qp.
type IBUverbsExCreateQP struct {
	_               structs.HostLayout
	UserHandle      uint64
	PDHandle        uint32
	SendCQHandle    uint32
	RecvCQHandle    uint32
	SRQHandle       uint32
	MaxSendWR       uint32
	MaxRecvWR       uint32
	MaxSendSGE      uint32
	MaxRecvSGE      uint32
	MaxInlineData   uint32
	SQSigAll        uint8
	QPType          uint8
	IsSRQ           uint8
	Reserved        uint8
	CompMask        uint32
	CreateFlags     uint32
	RWQIndTblHandle uint32
	SourceQPN       uint32
}

// IBUverbsOpenQP mirrors struct ib_uverbs_open_qp.
type IBUverbsOpenQP struct {
	_          structs.HostLayout
	Response   uint64
	UserHandle uint64
	PDHandle   uint32
	QPN        uint32
	QPType     uint8
	Reserved   [7]uint8
	// driver_data[] follows at offset 32.
}

// IBUverbsCreateQPResp mirrors struct ib_uverbs_create_qp_resp.
type IBUverbsCreateQPResp struct {
	_             structs.HostLayout
	QPHandle      uint32
	QPN           uint32
	MaxSendWR     uint32
	MaxRecvWR     uint32
	MaxSendSGE    uint32
	MaxRecvSGE    uint32
	MaxInlineData uint32
	Reserved      uint32
	// driver_data[] follows at offset 32.
}

// IBUverbsExCreateQPResp mirrors struct ib_uverbs_ex_create_qp_resp.
type IBUverbsExCreateQPResp struct {
	_              structs.HostLayout
	Base           IBUverbsCreateQPResp
	CompMask       uint32
	ResponseLength uint32
}

// IBUverbsQPDest mirrors struct ib_uverbs_qp_dest.
type IBUverbsQPDest struct {
	_            structs.HostLayout
	Dgid         [16]uint8
	FlowLabel    uint32
	Dlid         uint16
	Reserved     uint16
	SgidIndex    uint8
	HopLimit     uint8
	TrafficClass uint8
	SL           uint8
	SrcPathBits  uint8
	StaticRate   uint8
	IsGlobal     uint8
	PortNum      uint8
}

// IBUverbsQueryQP mirrors struct ib_uverbs_query_qp.
type IBUverbsQueryQP struct {
	_        structs.HostLayout
	Response uint64
	QPHandle uint32
	AttrMask uint32
	// driver_data[] follows at offset 16.
}

// IBUverbsQueryQPResp mirrors struct ib_uverbs_query_qp_resp.
type IBUverbsQueryQPResp struct {
	_               structs.HostLayout
	_               [0]uint64 // alignment of the C struct
	Dest            IBUverbsQPDest
	AltDest         IBUverbsQPDest
	MaxSendWR       uint32
	MaxRecvWR       uint32
	MaxSendSGE      uint32
	MaxRecvSGE      uint32
	MaxInlineData   uint32
	QKey            uint32
	RQPSN           uint32
	SQPSN           uint32
	DestQPNum       uint32
	QPAccessFlags   uint32
	PKeyIndex       uint16
	AltPKeyIndex    uint16
	QPState         uint8
	CurQPState      uint8
	PathMTU         uint8
	PathMigState    uint8
	SQDraining      uint8
	MaxRdAtomic     uint8
	MaxDestRdAtomic uint8
	MinRnrTimer     uint8
	PortNum         uint8
	Timeout         uint8
	RetryCnt        uint8
	RnrRetry        uint8
	AltPortNum      uint8
	AltTimeout      uint8
	SQSigAll        uint8
	Reserved        [5]uint8
	// driver_data[] follows at offset 128.
}

// IBUverbsModifyQP mirrors struct ib_uverbs_modify_qp.
type IBUverbsModifyQP struct {
	_                structs.HostLayout
	_                [0]uint64 // alignment of the C struct
	Dest             IBUverbsQPDest
	AltDest          IBUverbsQPDest
	QPHandle         uint32
	AttrMask         uint32
	QKey             uint32
	RQPSN            uint32
	SQPSN            uint32
	DestQPNum        uint32
	QPAccessFlags    uint32
	PKeyIndex        uint16
	AltPKeyIndex     uint16
	QPState          uint8
	CurQPState       uint8
	PathMTU          uint8
	PathMigState     uint8
	EnSqdAsyncNotify uint8
	MaxRdAtomic      uint8
	MaxDestRdAtomic  uint8
	MinRnrTimer      uint8
	PortNum          uint8
	Timeout          uint8
	RetryCnt         uint8
	RnrRetry         uint8
	AltPortNum       uint8
	AltTimeout       uint8
	Reserved         [2]uint8
	// driver_data[] follows at offset 112.
}

// IBUverbsExModifyQP mirrors struct ib_uverbs_ex_modify_qp.
type IBUverbsExModifyQP struct {
	_         structs.HostLayout
	Base      IBUverbsModifyQP
	RateLimit uint32
	Reserved  uint32
}

// IBUverbsExModifyQPResp mirrors struct ib_uverbs_ex_modify_qp_resp.
type IBUverbsExModifyQPResp struct {
	_              structs.HostLayout
	CompMask       uint32
	ResponseLength uint32
}

// IBUverbsDestroyQP mirrors struct ib_uverbs_destroy_qp.
type IBUverbsDestroyQP struct {
	_        structs.HostLayout
	Response uint64
	QPHandle uint32
	Reserved uint32
}

// IBUverbsDestroyQPResp mirrors struct ib_uverbs_destroy_qp_resp.
type IBUverbsDestroyQPResp struct {
	_              structs.HostLayout
	EventsReported uint32
}

// IBUverbsSGE mirrors struct ib_uverbs_sge.
type IBUverbsSGE struct {
	_      structs.HostLayout
	Addr   uint64
	Length uint32
	LKey   uint32
}

// IBUverbsWROpcode mirrors enum ib_uverbs_wr_opcode.
type IBUverbsWROpcode uint32

// Values of IBUverbsWROpcode.
const (
	IB_UVERBS_WR_RDMA_WRITE                  IBUverbsWROpcode = 0
	IB_UVERBS_WR_RDMA_WRITE_WITH_IMM         IBUverbsWROpcode = 1
	IB_UVERBS_WR_SEND                        IBUverbsWROpcode = 2
	IB_UVERBS_WR_SEND_WITH_IMM               IBUverbsWROpcode = 3
	IB_UVERBS_WR_RDMA_READ                   IBUverbsWROpcode = 4
	IB_UVERBS_WR_ATOMIC_CMP_AND_SWP          IBUverbsWROpcode = 5
	IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD        IBUverbsWROpcode = 6
	IB_UVERBS_WR_LOCAL_INV                   IBUverbsWROpcode = 7
	IB_UVERBS_WR_BIND_MW                     IBUverbsWROpcode = 8
	IB_UVERBS_WR_SEND_WITH_INV               IBUverbsWROpcode = 9
	IB_UVERBS_WR_TSO                         IBUverbsWROpcode = 10
	IB_UVERBS_WR_RDMA_READ_WITH_INV          IBUverbsWROpcode = 11
	IB_UVERBS_WR_MASKED_ATOMIC_CMP_AND_SWP   IBUverbsWROpcode = 12
	IB_UVERBS_WR_MASKED_ATOMIC_FETCH_AND_ADD IBUverbsWROpcode = 13
	IB_UVERBS_WR_FLUSH                       IBUverbsWROpcode = 14
	IB_UVERBS_WR_ATOMIC_WRITE                IBUverbsWROpcode = 15
)

// IBUverbsSendWR mirrors struct ib_uverbs_send_wr.
type IBUverbsSendWR struct {
	_         structs.HostLayout
	WRID      uint64
	NumSGE    uint32
	Opcode    uint32
	SendFlags uint32
	Ex        uint32    // union: imm_data, invalidate_rkey
	WR        [4]uint64 // union: rdma, atomic, ud
}

// IBUverbsSendWRRDMA is the unnamed struct wr.rdma of struct ib_uverbs_send_wr.
type IBUverbsSendWRRDMA struct {
	_          structs.HostLayout
	RemoteAddr uint64
	RKey       uint32
	Reserved   uint32
}

// IBUverbsSendWRAtomic is the unnamed struct wr.atomic of struct ib_uverbs_send_wr.
type IBUverbsSendWRAtomic struct {
	_          structs.HostLayout
	RemoteAddr uint64
	CompareAdd uint64
	Swap       uint64
	RKey       uint32
	Reserved   uint32
}

// IBUverbsSendWRUD is the unnamed struct wr.ud of struct ib_uverbs_send_wr.
type IBUverbsSendWRUD struct {
	_          structs.HostLayout
	AH         uint32
	RemoteQPN  uint32
	RemoteQKey uint32
	Reserved   uint32
}

// ExImmData returns a view of union member ex.imm_data.
func (p *IBUverbsSendWR) ExImmData() *uint32 { return (*uint32)(unsafe.Pointer(&p.Ex)) }

// ExInvalidateRKey returns a view of union member ex.invalidate_rkey.
func (p *IBUverbsSendWR) ExInvalidateRKey() *uint32 { return (*uint32)(unsafe.Pointer(&p.Ex)) }

// WRRDMA returns a view of union member wr.rdma.
func (p *IBUverbsSendWR) WRRDMA() *IBUverbsSendWRRDMA {
	return (*IBUverbsSendWRRDMA)(unsafe.Pointer(&p.WR))
}

// WRAtomic returns a view of union member wr.atomic.
func (p *IBUverbsSendWR) WRAtomic() *IBUverbsSendWRAtomic {
	return (*IBUverbsSendWRAtomic)(unsafe.Pointer(&p.WR))
}

// WRUD returns a view of union member wr.ud.
func (p *IBUverbsSendWR) WRUD() *IBUverbsSendWRUD { return (*IBUverbsSendWRUD)(unsafe.Pointer(&p.WR)) }

// IBUverbsPostSend mirrors struct ib_uverbs_post_send.
type IBUverbsPostSend struct {
	_        structs.HostLayout
	Response uint64
	QPHandle uint32
	WRCount  uint32
	SGECount uint32
	WQESize  uint32
	// send_wr[] follows at offset 24.
}

// IBUverbsPostSendResp mirrors struct ib_uverbs_post_send_resp.
type IBUverbsPostSendResp struct {
	_     structs.HostLayout
	BadWR uint32
}

// IBUverbsRecvWR mirrors struct ib_uverbs_recv_wr.
type IBUverbsRecvWR struct {
	_        structs.HostLayout
	WRID     uint64
	NumSGE   uint32
	Reserved uint32
}

// IBUverbsPostRecv mirrors struct ib_uverbs_post_recv.
type IBUverbsPostRecv struct {
	_        structs.HostLayout
	Response uint64
	QPHandle uint32
	WRCount  uint32
	SGECount uint32
	WQESize  uint32
	// recv_wr[] follows at offset 24.
}

// IBUverbsPostRecvResp mirrors struct ib_uverbs_post_recv_resp.
type IBUverbsPostRecvResp struct {
	_     structs.HostLayout
	BadWR uint32
}

// IBUverbsPostSRQRecv mirrors struct ib_uverbs_post_srq_recv.
type IBUverbsPostSRQRecv struct {
	_         structs.HostLayout
	Response  uint64
	SRQHandle uint32
	WRCount   uint32
	SGECount  uint32
	WQESize   uint32
	// recv[] follows at offset 24.
}

// IBUverbsPostSRQRecvResp mirrors struct ib_uverbs_post_srq_recv_resp.
type IBUverbsPostSRQRecvResp struct {
	_     structs.HostLayout
	BadWR uint32
}

// IBUverbsCreateAH mirrors struct ib_uverbs_create_ah.
type IBUverbsCreateAH struct {
	_          structs.HostLayout
	Response   uint64
	UserHandle uint64
	PDHandle   uint32
	Reserved   uint32
	Attr       IBUverbsAHAttr
	// driver_data[] follows at offset 56.
}

// IBUverbsCreateAHResp mirrors struct ib_uverbs_create_ah_resp.
type IBUverbsCreateAHResp struct {
	_        structs.HostLayout
	AHHandle uint32
	// driver_data[] follows at offset 4.
}

// IBUverbsDestroyAH mirrors struct ib_uverbs_destroy_ah.
type IBUverbsDestroyAH struct {
	_        structs.HostLayout
	AHHandle uint32
}

// IBUverbsAttachMcast mirrors struct ib_uverbs_attach_mcast.
type IBUverbsAttachMcast struct {
	_        structs.HostLayout
	_        [0]uint64 // alignment of the C struct
	GID      [16]uint8
	QPHandle uint32
	Mlid     uint16
	Reserved uint16
	// driver_data[] follows at offset 24.
}

// IBUverbsDetachMcast mirrors struct ib_uverbs_detach_mcast.
type IBUverbsDetachMcast struct {
	_        structs.HostLayout
	_        [0]uint64 // alignment of the C struct
	GID      [16]uint8
	QPHandle uint32
	Mlid     uint16
	Reserved uint16
	// driver_data[] follows at offset 24.
}

// IBUverbsFlowSpecHdr mirrors struct ib_uverbs_flow_spec_hdr.
type IBUverbsFlowSpecHdr struct {
	_        structs.HostLayout
	_        [0]uint64 // alignment of the C struct
	Type     uint32
	Size     uint16
	Reserved uint16
	// flow_spec_data[] follows at offset 8.
}

// IBUverbsFlowEthFilter mirrors struct ib_uverbs_flow_eth_filter.
type IBUverbsFlowEthFilter struct {
	_         structs.HostLayout
	DstMac    [6]uint8
	SrcMac    [6]uint8
	EtherType uint16 // big-endian
	VlanTag   uint16 // big-endian
}

// IBUverbsFlowSpecEth mirrors struct ib_uverbs_flow_spec_eth.
type IBUverbsFlowSpecEth struct {
	_    structs.HostLayout
	Hdr  IBUverbsFlowSpecHdr
	Val  IBUverbsFlowEthFilter
	Mask IBUverbsFlowEthFilter
}

// IBUverbsFlowIpv4Filter mirrors struct ib_uverbs_flow_ipv4_filter.
type IBUverbsFlowIpv4Filter struct {
	_     structs.HostLayout
	SrcIP uint32 // big-endian
	DstIP uint32 // big-endian
	Proto uint8
	Tos   uint8
	Ttl   uint8
	Flags uint8
}

// IBUverbsFlowSpecIpv4 mirrors struct ib_uverbs_flow_spec_ipv4.
type IBUverbsFlowSpecIpv4 struct {
	_    structs.HostLayout
	Hdr  IBUverbsFlowSpecHdr
	Val  IBUverbsFlowIpv4Filter
	Mask IBUverbsFlowIpv4Filter
}

// IBUverbsFlowTcpUdpFilter mirrors struct ib_uverbs_flow_tcp_udp_filter.
type IBUverbsFlowTcpUdpFilter struct {
	_       structs.HostLayout
	DstPort uint16 // big-endian
	SrcPort uint16 // big-endian
}

// IBUverbsFlowSpecTcpUdp mirrors struct ib_uverbs_flow_spec_tcp_udp.
type IBUverbsFlowSpecTcpUdp struct {
	_    structs.HostLayout
	Hdr  IBUverbsFlowSpecHdr
	Val  IBUverbsFlowTcpUdpFilter
	Mask IBUverbsFlowTcpUdpFilter
}

// IBUverbsFlowIpv6Filter mirrors struct ib_uverbs_flow_ipv6_filter.
type IBUverbsFlowIpv6Filter struct {
	_            structs.HostLayout
	SrcIP        [16]uint8
	DstIP        [16]uint8
	FlowLabel    uint32 // big-endian
	NextHdr      uint8
	TrafficClass uint8
	HopLimit     uint8
	Reserved     uint8
}

// IBUverbsFlowSpecIpv6 mirrors struct ib_uverbs_flow_spec_ipv6.
type IBUverbsFlowSpecIpv6 struct {
	_    structs.HostLayout
	Hdr  IBUverbsFlowSpecHdr
	Val  IBUverbsFlowIpv6Filter
	Mask IBUverbsFlowIpv6Filter
}

// IBUverbsFlowSpecActionTag mirrors struct ib_uverbs_flow_spec_action_tag.
type IBUverbsFlowSpecActionTag struct {
	_         structs.HostLayout
	Hdr       IBUverbsFlowSpecHdr
	TagID     uint32
	Reserved1 uint32
}

// IBUverbsFlowSpecActionDrop mirrors struct ib_uverbs_flow_spec_action_drop.
type IBUverbsFlowSpecActionDrop struct {
	_   structs.HostLayout
	Hdr IBUverbsFlowSpecHdr
}

// IBUverbsFlowSpecActionHandle mirrors struct ib_uverbs_flow_spec_action_handle.
type IBUverbsFlowSpecActionHandle struct {
	_         structs.HostLayout
	Hdr       IBUverbsFlowSpecHdr
	Handle    uint32
	Reserved1 uint32
}

// IBUverbsFlowSpecActionCount mirrors struct ib_uverbs_flow_spec_action_count.
type IBUverbsFlowSpecActionCount struct {
	_         structs.HostLayout
	Hdr       IBUverbsFlowSpecHdr
	Handle    uint32
	Reserved1 uint32
}

// IBUverbsFlowTunnelFilter mirrors struct ib_uverbs_flow_tunnel_filter.
type IBUverbsFlowTunnelFilter struct {
	_        structs.HostLayout
	TunnelID uint32 // big-endian
}

// IBUverbsFlowSpecTunnel mirrors struct ib_uverbs_flow_spec_tunnel.
type IBUverbsFlowSpecTunnel struct {
	_    structs.HostLayout
	Hdr  IBUverbsFlowSpecHdr
	Val  IBUverbsFlowTunnelFilter
	Mask IBUverbsFlowTunnelFilter
}

// IBUverbsFlowSpecEspFilter mirrors struct ib_uverbs_flow_spec_esp_filter.
type IBUverbsFlowSpecEspFilter struct {
	_   structs.HostLayout
	Spi uint32
	Seq uint32
}

// IBUverbsFlowSpecEsp mirrors struct ib_uverbs_flow_spec_esp.
type IBUverbsFlowSpecEsp struct {
	_    structs.HostLayout
	Hdr  IBUverbsFlowSpecHdr
	Val  IBUverbsFlowSpecEspFilter
	Mask IBUverbsFlowSpecEspFilter
}

// IBUverbsFlowGreFilter mirrors struct ib_uverbs_flow_gre_filter.
type IBUverbsFlowGreFilter struct {
	_          structs.HostLayout
	CKsRes0Ver uint16 // big-endian
	Protocol   uint16 // big-endian
	Key        uint32 // big-endian
}

// IBUverbsFlowSpecGre mirrors struct ib_uverbs_flow_spec_gre.
type IBUverbsFlowSpecGre struct {
	_    structs.HostLayout
	Hdr  IBUverbsFlowSpecHdr
	Val  IBUverbsFlowGreFilter
	Mask IBUverbsFlowGreFilter
}

// IBUverbsFlowMplsFilter mirrors struct ib_uverbs_flow_mpls_filter.
type IBUverbsFlowMplsFilter struct {
	_     structs.HostLayout
	Label uint32 // big-endian
}

// IBUverbsFlowSpecMpls mirrors struct ib_uverbs_flow_spec_mpls.
type IBUverbsFlowSpecMpls struct {
	_    structs.HostLayout
	Hdr  IBUverbsFlowSpecHdr
	Val  IBUverbsFlowMplsFilter
	Mask IBUverbsFlowMplsFilter
}

// IBUverbsFlowAttr mirrors struct ib_uverbs_flow_attr.
type IBUverbsFlowAttr struct {
	_          structs.HostLayout
	_          [0]uint64 // alignment of the C struct
	Type       uint32
	Size       uint16
	Priority   uint16
	NumOfSpecs uint8
	Reserved   [2]uint8
	Port       uint8
	Flags      uint32
	// flow_specs[] follows at offset 16.
}

// IBUverbsCreateFlow mirrors struct ib_uverbs_create_flow.
type IBUverbsCreateFlow struct {
	_        structs.HostLayout
	CompMask uint32
	QPHandle uint32
	FlowAttr IBUverbsFlowAttr
}

// IBUverbsCreateFlowResp mirrors struct ib_uverbs_create_flow_resp.
type IBUverbsCreateFlowResp struct {
	_          structs.HostLayout
	CompMask   uint32
	FlowHandle uint32
}

// IBUverbsDestroyFlow mirrors struct ib_uverbs_destroy_flow.
type IBUverbsDestroyFlow struct {
	_          structs.HostLayout
	CompMask   uint32
	FlowHandle uint32
}

// IBUverbsCreateSRQ mirrors struct ib_uverbs_create_srq.
type IBUverbsCreateSRQ struct {
	_          structs.HostLayout
	Response   uint64
	UserHandle uint64
	PDHandle   uint32
	MaxWR      uint32
	MaxSGE     uint32
	SRQLimit   uint32
	// driver_data[] follows at offset 32.
}

// IBUverbsCreateXsrq mirrors struct ib_uverbs_create_xsrq.
type IBUverbsCreateXsrq struct {
	_          structs.HostLayout
	Response   uint64
	UserHandle uint64
	SRQType    uint32
	PDHandle   uint32
	MaxWR      uint32
	MaxSGE     uint32
	SRQLimit   uint32
	MaxNumTags uint32
	XRCDHandle uint32
	CQHandle   uint32
	// driver_data[] follows at offset 48.
}

// IBUverbsCreateSRQResp mirrors struct ib_uverbs_create_srq_resp.
type IBUverbsCreateSRQResp struct {
	_         structs.HostLayout
	SRQHandle uint32
	MaxWR     uint32
	MaxSGE    uint32
	Srqn      uint32
	// driver_data[] follows at offset 16.
}

// IBUverbsModifySRQ mirrors struct ib_uverbs_modify_srq.
type IBUverbsModifySRQ struct {
	_         structs.HostLayout
	_         [0]uint64 // alignment of the C struct
	SRQHandle uint32
	AttrMask  uint32
	MaxWR     uint32
	SRQLimit  uint32
	// driver_data[] follows at offset 16.
}

// IBUverbsQuerySRQ mirrors struct ib_uverbs_query_srq.
type IBUverbsQuerySRQ struct {
	_         structs.HostLayout
	Response  uint64
	SRQHandle uint32
	Reserved  uint32
	// driver_data[] follows at offset 16.
}

// IBUverbsQuerySRQResp mirrors struct ib_uverbs_query_srq_resp.
type IBUverbsQuerySRQResp struct {
	_        structs.HostLayout
	MaxWR    uint32
	MaxSGE   uint32
	SRQLimit uint32
	Reserved uint32
}

// IBUverbsDestroySRQ mirrors struct ib_uverbs_destroy_srq.
type IBUverbsDestroySRQ struct {
	_         structs.HostLayout
	Response  uint64
	SRQHandle uint32
	Reserved  uint32
}

// IBUverbsDestroySRQResp mirrors struct ib_uverbs_destroy_srq_resp.
type IBUverbsDestroySRQResp struct {
	_              structs.HostLayout
	EventsReported uint32
}

// IBUverbsExCreateWQ mirrors struct ib_uverbs_ex_create_wq.
type IBUverbsExCreateWQ struct {
	_           structs.HostLayout
	CompMask    uint32
	WQType      uint32
	UserHandle  uint64
	PDHandle    uint32
	CQHandle    uint32
	MaxWR       uint32
	MaxSGE      uint32
	CreateFlags uint32
	Reserved    uint32
}

// IBUverbsExCreateWQResp mirrors struct ib_uverbs_ex_create_wq_resp.
type IBUverbsExCreateWQResp struct {
	_              structs.HostLayout
	CompMask       uint32
	ResponseLength uint32
	WQHandle       uint32
	MaxWR          uint32
	MaxSGE         uint32
	Wqn            uint32
}

// IBUverbsExDestroyWQ mirrors struct ib_uverbs_ex_destroy_wq.
type IBUverbsExDestroyWQ struct {
	_        structs.HostLayout
	CompMask uint32
	WQHandle uint32
}

// IBUverbsExDestroyWQResp mirrors struct ib_uverbs_ex_destroy_wq_resp.
type IBUverbsExDestroyWQResp struct {
	_              structs.HostLayout
	CompMask       uint32
	ResponseLength uint32
	EventsReported uint32
	Reserved       uint32
}

// IBUverbsExModifyWQ mirrors struct ib_uverbs_ex_modify_wq.
type IBUverbsExModifyWQ struct {
	_           structs.HostLayout
	AttrMask    uint32
	WQHandle    uint32
	WQState     uint32
	CurrWQState uint32
	Flags       uint32
	FlagsMask   uint32
}

// Constants starting with IB_USER_VERBS_MAX_LOG_IND_TBL_SIZE.
const (
	IB_USER_VERBS_MAX_LOG_IND_TBL_SIZE = 0x0d
)

// IBUverbsExCreateRWQIndTable mirrors struct ib_uverbs_ex_create_rwq_ind_table.
type IBUverbsExCreateRWQIndTable struct {
	_             structs.HostLayout
	CompMask      uint32
	LogIndTblSize uint32
	// wq_handles[] follows at offset 8.
}

// IBUverbsExCreateRWQIndTableResp mirrors struct ib_uverbs_ex_create_rwq_ind_table_resp.
type IBUverbsExCreateRWQIndTableResp struct {
	_              structs.HostLayout
	CompMask       uint32
	ResponseLength uint32
	IndTblHandle   uint32
	IndTblNum      uint32
}

// IBUverbsExDestroyRWQIndTable mirrors struct ib_uverbs_ex_destroy_rwq_ind_table.
type IBUverbsExDestroyRWQIndTable struct {
	_            structs.HostLayout
	CompMask     uint32
	IndTblHandle uint32
}

// IBUverbsCQModeration mirrors struct ib_uverbs_cq_moderation.
type IBUverbsCQModeration struct {
	_        structs.HostLayout
	CQCount  uint16
	CQPeriod uint16
}

// IBUverbsExModifyCQ mirrors struct ib_uverbs_ex_modify_cq.
type IBUverbsExModifyCQ struct {
	_        structs.HostLayout
	CQHandle uint32
	AttrMask uint32
	Attr     IBUverbsCQModeration
	Reserved uint32
}

// Constants starting with IB_DEVICE_NAME_MAX.
const (
	IB_DEVICE_NAME_MAX = 64
)

// IBUverbsDeviceCapFlags mirrors enum ib_uverbs_device_cap_flags.
type IBUverbsDeviceCapFlags uint64

// Values of IBUverbsDeviceCapFlags.
const (
	IB_UVERBS_DEVICE_RESIZE_MAX_WR         IBUverbsDeviceCapFlags = 1 << 0
	IB_UVERBS_DEVICE_BAD_PKEY_CNTR         IBUverbsDeviceCapFlags = 1 << 1
	IB_UVERBS_DEVICE_BAD_QKEY_CNTR         IBUverbsDeviceCapFlags = 1 << 2
	IB_UVERBS_DEVICE_RAW_MULTI             IBUverbsDeviceCapFlags = 1 << 3
	IB_UVERBS_DEVICE_AUTO_PATH_MIG         IBUverbsDeviceCapFlags = 1 << 4
	IB_UVERBS_DEVICE_CHANGE_PHY_PORT       IBUverbsDeviceCapFlags = 1 << 5
	IB_UVERBS_DEVICE_UD_AV_PORT_ENFORCE    IBUverbsDeviceCapFlags = 1 << 6
	IB_UVERBS_DEVICE_CURR_QP_STATE_MOD     IBUverbsDeviceCapFlags = 1 << 7
	IB_UVERBS_DEVICE_SHUTDOWN_PORT         IBUverbsDeviceCapFlags = 1 << 8
	IB_UVERBS_DEVICE_PORT_ACTIVE_EVENT     IBUverbsDeviceCapFlags = 1 << 10
	IB_UVERBS_DEVICE_SYS_IMAGE_GUID        IBUverbsDeviceCapFlags = 1 << 11
	IB_UVERBS_DEVICE_RC_RNR_NAK_GEN        IBUverbsDeviceCapFlags = 1 << 12
	IB_UVERBS_DEVICE_SRQ_RESIZE            IBUverbsDeviceCapFlags = 1 << 13
	IB_UVERBS_DEVICE_N_NOTIFY_CQ           IBUverbsDeviceCapFlags = 1 << 14
	IB_UVERBS_DEVICE_MEM_WINDOW            IBUverbsDeviceCapFlags = 1 << 17
	IB_UVERBS_DEVICE_UD_IP_CSUM            IBUverbsDeviceCapFlags = 1 << 18
	IB_UVERBS_DEVICE_XRC                   IBUverbsDeviceCapFlags = 1 << 20
	IB_UVERBS_DEVICE_MEM_MGT_EXTENSIONS    IBUverbsDeviceCapFlags = 1 << 21
	IB_UVERBS_DEVICE_MEM_WINDOW_TYPE_2A    IBUverbsDeviceCapFlags = 1 << 23
	IB_UVERBS_DEVICE_MEM_WINDOW_TYPE_2B    IBUverbsDeviceCapFlags = 1 << 24
	IB_UVERBS_DEVICE_RC_IP_CSUM            IBUverbsDeviceCapFlags = 1 << 25
	IB_UVERBS_DEVICE_RAW_IP_CSUM           IBUverbsDeviceCapFlags = 1 << 26
	IB_UVERBS_DEVICE_MANAGED_FLOW_STEERING IBUverbsDeviceCapFlags = 1 << 29
	IB_UVERBS_DEVICE_RAW_SCATTER_FCS       IBUverbsDeviceCapFlags = 1 << 34
	IB_UVERBS_DEVICE_PCI_WRITE_END_PADDING IBUverbsDeviceCapFlags = 1 << 36
	IB_UVERBS_DEVICE_FLUSH_GLOBAL          IBUverbsDeviceCapFlags = 1 << 38
	IB_UVERBS_DEVICE_FLUSH_PERSISTENT      IBUverbsDeviceCapFlags = 1 << 39
	IB_UVERBS_DEVICE_ATOMIC_WRITE          IBUverbsDeviceCapFlags = 1 << 40
	IB_UVERBS_DEVICE_CC_DMA_BOUNCE         IBUverbsDeviceCapFlags = 1 << 41
)

// IBUverbsRawPacketCaps mirrors enum ib_uverbs_raw_packet_caps.
type IBUverbsRawPacketCaps uint32

// Values of IBUverbsRawPacketCaps.
const (
	IB_UVERBS_RAW_PACKET_CAP_CVLAN_STRIPPING IBUverbsRawPacketCaps = 1 << 0
	IB_UVERBS_RAW_PACKET_CAP_SCATTER_FCS     IBUverbsRawPacketCaps = 1 << 1
	IB_UVERBS_RAW_PACKET_CAP_IP_CSUM         IBUverbsRawPacketCaps = 1 << 2
	IB_UVERBS_RAW_PACKET_CAP_DELAY_DROP      IBUverbsRawPacketCaps = 1 << 3
)

// IBUverbsClockInfo mirrors struct ib_uverbs_clock_info.
type IBUverbsClockInfo struct {
	_              structs.HostLayout
	Sign           uint32
	Resv           uint32
	Nsec           uint64
	Cycles         uint64
	Frac           uint64
	Mult           uint32
	Shift          uint32
	Mask           uint64
	OverflowPeriod uint64
}
