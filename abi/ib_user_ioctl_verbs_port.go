// This file mirrors the port and GID part of include/uapi/rdma/ib_user_ioctl_verbs.h.

package abi

import "structs"

// IBUverbsQueryPortCapFlags is enum ib_uverbs_query_port_cap_flags, bits of
// IBUverbsQueryPortResp.PortCapFlags (the CapabilityMask of PortInfo). IP_BASED_GIDS is
// the kernel's own.
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

// IBUverbsQueryPortFlags is enum ib_uverbs_query_port_flags, bits of
// IBUverbsQueryPortResp.Flags.
type IBUverbsQueryPortFlags uint32

// Values of IBUverbsQueryPortFlags.
const (
	IB_UVERBS_QPF_GRH_REQUIRED IBUverbsQueryPortFlags = 1 << 0
)

// IBUverbsQueryPortRespEx is struct ib_uverbs_query_port_resp_ex, the response of
// UVERBS_METHOD_QUERY_PORT. ActiveSpeedEx is newer than Linux 6.1 (there part of Reserved)
// and holds speeds that do not fit the legacy field.
type IBUverbsQueryPortRespEx struct {
	_             structs.HostLayout
	LegacyResp    IBUverbsQueryPortResp
	PortCapFlags2 uint16
	Reserved      [2]uint8
	ActiveSpeedEx uint32
}

// IBUverbsGIDType is enum ib_uverbs_gid_type, the type of a GID table entry.
type IBUverbsGIDType uint32

// Values of IBUverbsGIDType.
const (
	IB_UVERBS_GID_TYPE_IB      IBUverbsGIDType = 0
	IB_UVERBS_GID_TYPE_ROCE_V1 IBUverbsGIDType = 1
	IB_UVERBS_GID_TYPE_ROCE_V2 IBUverbsGIDType = 2
)

// IBUverbsGIDEntry is struct ib_uverbs_gid_entry, one GID with its index, port, type and
// network device.
type IBUverbsGIDEntry struct {
	_             structs.HostLayout
	GID           [2]uint64
	GIDIndex      uint32
	PortNum       uint32
	GIDType       uint32 // IBUverbsGIDType
	NetdevIfindex uint32 // 0 if there is no network device
}
