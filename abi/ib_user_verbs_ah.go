// This file mirrors the address handle and multicast part of
// include/uapi/rdma/ib_user_verbs.h.

package abi

import "structs"

// IBUverbsGlobalRoute is struct ib_uverbs_global_route, the global part of an address
// (what becomes the GRH). FlowLabel is in host byte order.
type IBUverbsGlobalRoute struct {
	_            structs.HostLayout
	Dgid         [16]uint8
	FlowLabel    uint32
	SgidIndex    uint8
	HopLimit     uint8
	TrafficClass uint8
	Reserved     uint8
}

// IBUverbsAHAttr is struct ib_uverbs_ah_attr, an address vector. RoCE uses only the GRH,
// PortNum and SL.
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

// IBUverbsCreateAH is struct ib_uverbs_create_ah, the request of
// IB_USER_VERBS_CMD_CREATE_AH.
type IBUverbsCreateAH struct {
	_          structs.HostLayout
	Response   uint64
	UserHandle uint64
	PDHandle   uint32
	Reserved   uint32
	Attr       IBUverbsAHAttr
	// driver_data[] follows at offset 56.
}

// IBUverbsCreateAHResp is struct ib_uverbs_create_ah_resp, the response of
// IB_USER_VERBS_CMD_CREATE_AH.
type IBUverbsCreateAHResp struct {
	_        structs.HostLayout
	AHHandle uint32
	// driver_data[] follows at offset 4.
}

// IBUverbsDestroyAH is struct ib_uverbs_destroy_ah, the request of
// IB_USER_VERBS_CMD_DESTROY_AH.
type IBUverbsDestroyAH struct {
	_        structs.HostLayout
	AHHandle uint32
}

// IBUverbsAttachMcast is struct ib_uverbs_attach_mcast, the request of
// IB_USER_VERBS_CMD_ATTACH_MCAST.
type IBUverbsAttachMcast struct {
	_        structs.HostLayout
	_        [0]uint64 // alignment of the C struct
	GID      [16]uint8
	QPHandle uint32
	Mlid     uint16
	Reserved uint16
	// driver_data[] follows at offset 24.
}

// IBUverbsDetachMcast is struct ib_uverbs_detach_mcast, the request of
// IB_USER_VERBS_CMD_DETACH_MCAST.
type IBUverbsDetachMcast struct {
	_        structs.HostLayout
	_        [0]uint64 // alignment of the C struct
	GID      [16]uint8
	QPHandle uint32
	Mlid     uint16
	Reserved uint16
	// driver_data[] follows at offset 24.
}
