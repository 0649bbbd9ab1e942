// This file mirrors the flow steering part of include/uapi/rdma/ib_user_verbs.h. Each
// specification starts with IBUverbsFlowSpecHdr (in C a union of that struct with its
// three fields) and holds a value and a mask.

package abi

import "structs"

// IBUverbsFlowSpecHdr is struct ib_uverbs_flow_spec_hdr, the start of every flow
// specification. Type is an IBFlowSpecType, Size the size of the whole specification in
// bytes.
type IBUverbsFlowSpecHdr struct {
	_        structs.HostLayout
	_        [0]uint64 // alignment of the C struct
	Type     uint32
	Size     uint16
	Reserved uint16
	// flow_spec_data[] follows at offset 8.
}

// IBUverbsFlowEthFilter is struct ib_uverbs_flow_eth_filter, the Ethernet fields to match.
type IBUverbsFlowEthFilter struct {
	_         structs.HostLayout
	DstMac    [6]uint8
	SrcMac    [6]uint8
	EtherType uint16 // big-endian
	VlanTag   uint16 // big-endian
}

// IBUverbsFlowSpecEth is struct ib_uverbs_flow_spec_eth, a match on Ethernet
// (IB_FLOW_SPEC_ETH).
type IBUverbsFlowSpecEth struct {
	_    structs.HostLayout
	Hdr  IBUverbsFlowSpecHdr
	Val  IBUverbsFlowEthFilter
	Mask IBUverbsFlowEthFilter
}

// IBUverbsFlowIpv4Filter is struct ib_uverbs_flow_ipv4_filter, the IPv4 fields to match.
type IBUverbsFlowIpv4Filter struct {
	_     structs.HostLayout
	SrcIP uint32 // big-endian
	DstIP uint32 // big-endian
	Proto uint8
	Tos   uint8
	Ttl   uint8
	Flags uint8
}

// IBUverbsFlowSpecIpv4 is struct ib_uverbs_flow_spec_ipv4, a match on IPv4
// (IB_FLOW_SPEC_IPV4).
type IBUverbsFlowSpecIpv4 struct {
	_    structs.HostLayout
	Hdr  IBUverbsFlowSpecHdr
	Val  IBUverbsFlowIpv4Filter
	Mask IBUverbsFlowIpv4Filter
}

// IBUverbsFlowTcpUdpFilter is struct ib_uverbs_flow_tcp_udp_filter, the TCP or UDP fields
// to match.
type IBUverbsFlowTcpUdpFilter struct {
	_       structs.HostLayout
	DstPort uint16 // big-endian
	SrcPort uint16 // big-endian
}

// IBUverbsFlowSpecTcpUdp is struct ib_uverbs_flow_spec_tcp_udp, a match on TCP or UDP
// (IB_FLOW_SPEC_TCP, IB_FLOW_SPEC_UDP).
type IBUverbsFlowSpecTcpUdp struct {
	_    structs.HostLayout
	Hdr  IBUverbsFlowSpecHdr
	Val  IBUverbsFlowTcpUdpFilter
	Mask IBUverbsFlowTcpUdpFilter
}

// IBUverbsFlowIpv6Filter is struct ib_uverbs_flow_ipv6_filter, the IPv6 fields to match.
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

// IBUverbsFlowSpecIpv6 is struct ib_uverbs_flow_spec_ipv6, a match on IPv6
// (IB_FLOW_SPEC_IPV6).
type IBUverbsFlowSpecIpv6 struct {
	_    structs.HostLayout
	Hdr  IBUverbsFlowSpecHdr
	Val  IBUverbsFlowIpv6Filter
	Mask IBUverbsFlowIpv6Filter
}

// IBUverbsFlowSpecActionTag is struct ib_uverbs_flow_spec_action_tag, the action of
// tagging the completion (IB_FLOW_SPEC_ACTION_TAG).
type IBUverbsFlowSpecActionTag struct {
	_         structs.HostLayout
	Hdr       IBUverbsFlowSpecHdr
	TagID     uint32
	Reserved1 uint32
}

// IBUverbsFlowSpecActionDrop is struct ib_uverbs_flow_spec_action_drop, the action of
// dropping the packet (IB_FLOW_SPEC_ACTION_DROP).
type IBUverbsFlowSpecActionDrop struct {
	_   structs.HostLayout
	Hdr IBUverbsFlowSpecHdr
}

// IBUverbsFlowSpecActionHandle is struct ib_uverbs_flow_spec_action_handle, the use of a
// flow action object (IB_FLOW_SPEC_ACTION_HANDLE).
type IBUverbsFlowSpecActionHandle struct {
	_         structs.HostLayout
	Hdr       IBUverbsFlowSpecHdr
	Handle    uint32
	Reserved1 uint32
}

// IBUverbsFlowSpecActionCount is struct ib_uverbs_flow_spec_action_count, the use of a
// counters object (IB_FLOW_SPEC_ACTION_COUNT).
type IBUverbsFlowSpecActionCount struct {
	_         structs.HostLayout
	Hdr       IBUverbsFlowSpecHdr
	Handle    uint32
	Reserved1 uint32
}

// IBUverbsFlowTunnelFilter is struct ib_uverbs_flow_tunnel_filter, the VXLAN network to
// match.
type IBUverbsFlowTunnelFilter struct {
	_        structs.HostLayout
	TunnelID uint32 // big-endian
}

// IBUverbsFlowSpecTunnel is struct ib_uverbs_flow_spec_tunnel, a match on a VXLAN tunnel
// (IB_FLOW_SPEC_VXLAN_TUNNEL).
type IBUverbsFlowSpecTunnel struct {
	_    structs.HostLayout
	Hdr  IBUverbsFlowSpecHdr
	Val  IBUverbsFlowTunnelFilter
	Mask IBUverbsFlowTunnelFilter
}

// IBUverbsFlowSpecEspFilter is struct ib_uverbs_flow_spec_esp_filter, the ESP fields to
// match.
type IBUverbsFlowSpecEspFilter struct {
	_   structs.HostLayout
	Spi uint32
	Seq uint32
}

// IBUverbsFlowSpecEsp is struct ib_uverbs_flow_spec_esp, a match on ESP
// (IB_FLOW_SPEC_ESP).
type IBUverbsFlowSpecEsp struct {
	_    structs.HostLayout
	Hdr  IBUverbsFlowSpecHdr
	Val  IBUverbsFlowSpecEspFilter
	Mask IBUverbsFlowSpecEspFilter
}

// IBUverbsFlowGreFilter is struct ib_uverbs_flow_gre_filter, the GRE fields to match.
// CKsRes0Ver is the first 16 bits of the GRE header.
type IBUverbsFlowGreFilter struct {
	_          structs.HostLayout
	CKsRes0Ver uint16 // big-endian
	Protocol   uint16 // big-endian
	Key        uint32 // big-endian
}

// IBUverbsFlowSpecGre is struct ib_uverbs_flow_spec_gre, a match on GRE
// (IB_FLOW_SPEC_GRE).
type IBUverbsFlowSpecGre struct {
	_    structs.HostLayout
	Hdr  IBUverbsFlowSpecHdr
	Val  IBUverbsFlowGreFilter
	Mask IBUverbsFlowGreFilter
}

// IBUverbsFlowMplsFilter is struct ib_uverbs_flow_mpls_filter, the MPLS label to match:
// the whole 32-bit label stack entry.
type IBUverbsFlowMplsFilter struct {
	_     structs.HostLayout
	Label uint32 // big-endian
}

// IBUverbsFlowSpecMpls is struct ib_uverbs_flow_spec_mpls, a match on MPLS
// (IB_FLOW_SPEC_MPLS).
type IBUverbsFlowSpecMpls struct {
	_    structs.HostLayout
	Hdr  IBUverbsFlowSpecHdr
	Val  IBUverbsFlowMplsFilter
	Mask IBUverbsFlowMplsFilter
}

// IBUverbsFlowAttr is struct ib_uverbs_flow_attr, a flow rule: NumOfSpecs specifications
// of different sizes follow. Type is an IBFlowAttrType, Flags an IBFlowFlags.
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

// IBUverbsCreateFlow is struct ib_uverbs_create_flow, the request of
// IB_USER_VERBS_EX_CMD_CREATE_FLOW.
type IBUverbsCreateFlow struct {
	_        structs.HostLayout
	CompMask uint32
	QPHandle uint32
	FlowAttr IBUverbsFlowAttr
}

// IBUverbsCreateFlowResp is struct ib_uverbs_create_flow_resp, the response of
// IB_USER_VERBS_EX_CMD_CREATE_FLOW.
type IBUverbsCreateFlowResp struct {
	_          structs.HostLayout
	CompMask   uint32
	FlowHandle uint32
}

// IBUverbsDestroyFlow is struct ib_uverbs_destroy_flow, the request of
// IB_USER_VERBS_EX_CMD_DESTROY_FLOW.
type IBUverbsDestroyFlow struct {
	_          structs.HostLayout
	CompMask   uint32
	FlowHandle uint32
}
