// This file mirrors the context, device and port part of
// include/uapi/rdma/ib_user_verbs.h.

package abi

import "structs"

// IBUverbsCQModerationCaps is struct ib_uverbs_cq_moderation_caps, limits of completion
// moderation, part of IBUverbsExQueryDeviceResp.
type IBUverbsCQModerationCaps struct {
	_                     structs.HostLayout
	MaxCQModerationCount  uint16
	MaxCQModerationPeriod uint16
	Reserved              uint32
}

// IBUverbsGetContext is struct ib_uverbs_get_context, the request of
// IB_USER_VERBS_CMD_GET_CONTEXT, which must come first on a uverbs file.
type IBUverbsGetContext struct {
	_        structs.HostLayout
	Response uint64
	// driver_data[] follows at offset 8.
}

// IBUverbsGetContextResp is struct ib_uverbs_get_context_resp, the response of
// IB_USER_VERBS_CMD_GET_CONTEXT.
type IBUverbsGetContextResp struct {
	_              structs.HostLayout
	_              [0]uint64 // alignment of the C struct
	AsyncFD        uint32
	NumCompVectors uint32
	// driver_data[] follows at offset 8.
}

// IBUverbsQueryDevice is struct ib_uverbs_query_device, the request of
// IB_USER_VERBS_CMD_QUERY_DEVICE.
type IBUverbsQueryDevice struct {
	_        structs.HostLayout
	Response uint64
	// driver_data[] follows at offset 8.
}

// IBUverbsQueryDeviceResp is struct ib_uverbs_query_device_resp, the response of
// IB_USER_VERBS_CMD_QUERY_DEVICE and the start of the extended one.
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
	DeviceCapFlags        uint32 // IBUverbsDeviceCapFlags, low half
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
	AtomicCap             uint32 // IBAtomicCap
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

// IBUverbsExQueryDevice is struct ib_uverbs_ex_query_device, the request of
// IB_USER_VERBS_EX_CMD_QUERY_DEVICE.
type IBUverbsExQueryDevice struct {
	_        structs.HostLayout
	CompMask uint32
	Reserved uint32
}

// IBUverbsOdpGeneralCapBits is enum ib_uverbs_odp_general_cap_bits, bits of
// IBUverbsOdpCaps.GeneralCaps. The names are in the uapi header of Linux 7.3, not in that
// of 6.12; the bits are older.
type IBUverbsOdpGeneralCapBits uint32

// Values of IBUverbsOdpGeneralCapBits.
const (
	IB_UVERBS_ODP_SUPPORT          IBUverbsOdpGeneralCapBits = 1 << 0
	IB_UVERBS_ODP_SUPPORT_IMPLICIT IBUverbsOdpGeneralCapBits = 1 << 1
)

// IBUverbsOdpTransportCapBits is enum ib_uverbs_odp_transport_cap_bits, bits of
// IBUverbsOdpCapsPerTransportCaps and of IBUverbsExQueryDeviceResp.XrcOdpCaps. The names
// are in the uapi header of Linux 7.3, not in that of 6.12; the bits are older.
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

// IBUverbsOdpCaps is struct ib_uverbs_odp_caps, on-demand paging abilities, part of
// IBUverbsExQueryDeviceResp.
type IBUverbsOdpCaps struct {
	_                structs.HostLayout
	GeneralCaps      uint64
	PerTransportCaps IBUverbsOdpCapsPerTransportCaps
	Reserved         uint32
}

// IBUverbsOdpCapsPerTransportCaps is the unnamed struct per_transport_caps of struct
// ib_uverbs_odp_caps: IBUverbsOdpTransportCapBits per transport.
type IBUverbsOdpCapsPerTransportCaps struct {
	_         structs.HostLayout
	RCOdpCaps uint32
	UCOdpCaps uint32
	UDOdpCaps uint32
}

// IBUverbsRssCaps is struct ib_uverbs_rss_caps, receive side scaling abilities, part of
// IBUverbsExQueryDeviceResp. SupportedQpts has bit 1<<type set for each QP type.
type IBUverbsRssCaps struct {
	_                          structs.HostLayout
	SupportedQpts              uint32
	MaxRWQIndirectionTables    uint32
	MaxRWQIndirectionTableSize uint32
	Reserved                   uint32
}

// IBUverbsTmCaps is struct ib_uverbs_tm_caps, tag matching abilities, part of
// IBUverbsExQueryDeviceResp. Sizes are in bytes, Flags is an IBTmCapFlags.
type IBUverbsTmCaps struct {
	_              structs.HostLayout
	MaxRndvHdrSize uint32
	MaxNumTags     uint32
	Flags          uint32
	MaxOps         uint32
	MaxSGE         uint32
	Reserved       uint32
}

// IBUverbsExQueryDeviceResp is struct ib_uverbs_ex_query_device_resp, the response of
// IB_USER_VERBS_EX_CMD_QUERY_DEVICE. ResponseLength tells how many bytes the kernel
// filled.
type IBUverbsExQueryDeviceResp struct {
	_                structs.HostLayout
	Base             IBUverbsQueryDeviceResp
	CompMask         uint32
	ResponseLength   uint32
	OdpCaps          IBUverbsOdpCaps
	TimestampMask    uint64
	HcaCoreClock     uint64 // kHz
	DeviceCapFlagsEx uint64 // IBUverbsDeviceCapFlags
	RssCaps          IBUverbsRssCaps
	MaxWQTypeRQ      uint32
	RawPacketCaps    uint32 // IBUverbsRawPacketCaps
	TmCaps           IBUverbsTmCaps
	CQModerationCaps IBUverbsCQModerationCaps
	MaxDmSize        uint64
	XrcOdpCaps       uint32
	Reserved         uint32
}

// IBUverbsQueryPort is struct ib_uverbs_query_port, the request of
// IB_USER_VERBS_CMD_QUERY_PORT.
type IBUverbsQueryPort struct {
	_        structs.HostLayout
	Response uint64
	PortNum  uint8
	Reserved [7]uint8
	// driver_data[] follows at offset 16.
}

// IBUverbsQueryPortResp is struct ib_uverbs_query_port_resp, the response of
// IB_USER_VERBS_CMD_QUERY_PORT.
type IBUverbsQueryPortResp struct {
	_             structs.HostLayout
	PortCapFlags  uint32 // IBUverbsQueryPortCapFlags
	MaxMsgSz      uint32
	BadPKeyCntr   uint32
	QKeyViolCntr  uint32
	GIDTblLen     uint32
	PKeyTblLen    uint16
	LID           uint16
	SMLID         uint16
	State         uint8 // IBPortState
	MaxMTU        uint8 // IBMTU
	ActiveMTU     uint8 // IBMTU
	LMC           uint8
	MaxVLNum      uint8
	SMSL          uint8
	SubnetTimeout uint8
	InitTypeReply uint8
	ActiveWidth   uint8 // IBPortWidth
	ActiveSpeed   uint8 // IBPortSpeed
	PhysState     uint8 // IBPortPhysState
	LinkLayer     uint8 // RDMALinkLayer
	Flags         uint8 // IBUverbsQueryPortFlags
	Reserved      uint8
}

// Size of an RDMA device name with its final zero byte.
const (
	IB_DEVICE_NAME_MAX = 64
)

// IBUverbsDeviceCapFlags is enum ib_uverbs_device_cap_flags, bits of
// IBUverbsQueryDeviceResp.DeviceCapFlags (low half) and
// IBUverbsExQueryDeviceResp.DeviceCapFlagsEx. Old kernels may set the bits in the gaps;
// they mean nothing to user space.
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

// IBUverbsRawPacketCaps is enum ib_uverbs_raw_packet_caps, bits of
// IBUverbsExQueryDeviceResp.RawPacketCaps.
type IBUverbsRawPacketCaps uint32

// Values of IBUverbsRawPacketCaps.
const (
	IB_UVERBS_RAW_PACKET_CAP_CVLAN_STRIPPING IBUverbsRawPacketCaps = 1 << 0
	IB_UVERBS_RAW_PACKET_CAP_SCATTER_FCS     IBUverbsRawPacketCaps = 1 << 1
	IB_UVERBS_RAW_PACKET_CAP_IP_CSUM         IBUverbsRawPacketCaps = 1 << 2
	IB_UVERBS_RAW_PACKET_CAP_DELAY_DROP      IBUverbsRawPacketCaps = 1 << 3
)

// IBUverbsClockInfo is struct ib_uverbs_clock_info, a page that a driver shares read-only
// so that user space can turn device time stamps into system time. Read Sign first and
// again at the end: an odd or changed value means the kernel was writing. Times are in
// nanoseconds. Linux 7.3 has it, 6.12 has not.
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
