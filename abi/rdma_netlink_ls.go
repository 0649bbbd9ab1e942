// This file mirrors the local service part of include/uapi/rdma/rdma_netlink.h. The kernel
// asks a user space daemon (ibacm) for path records.

package abi

import "structs"

// Operations of client RDMA_NL_LS.
const (
	RDMA_NL_LS_OP_RESOLVE     = 0
	RDMA_NL_LS_OP_SET_TIMEOUT = 1
	RDMA_NL_LS_OP_IP_RESOLVE  = 2
	RDMA_NL_LS_NUM_OPS        = 3
)

// Netlink message flag of an answer that failed.
const (
	RDMA_NL_LS_F_ERR = 0x0100
)

// What the path will be used for, the value of RDMALsResolveHeader.PathUse.
const (
	LS_RESOLVE_PATH_USE_ALL            = 0
	LS_RESOLVE_PATH_USE_UNIDIRECTIONAL = 1
	LS_RESOLVE_PATH_USE_GMP            = 2
	LS_RESOLVE_PATH_USE_MAX            = 3
)

// Size of RDMALsResolveHeader.DeviceName.
const (
	LS_DEVICE_NAME_MAX = 64
)

// RDMALsResolveHeader is struct rdma_ls_resolve_header, the header of a RESOLVE message.
type RDMALsResolveHeader struct {
	_          structs.HostLayout
	DeviceName [64]uint8
	PortNum    uint8
	PathUse    uint8
}

// RDMALsIPResolveHeader is struct rdma_ls_ip_resolve_header, the header of an IP_RESOLVE
// message.
type RDMALsIPResolveHeader struct {
	_       structs.HostLayout
	Ifindex uint32
}

// Flag in the attribute type of local service messages, and the mask of the type itself as
// a 16-bit value (in C the mask is an int with all high bits set).
const (
	RDMA_NLA_F_MANDATORY = 1 << 13
	RDMA_NLA_TYPE_MASK   = 0x1fff
)

// Attributes of local service messages.
const (
	LS_NLA_TYPE_UNSPEC      = 0
	LS_NLA_TYPE_PATH_RECORD = 1  // IBPathRecData
	LS_NLA_TYPE_TIMEOUT     = 2  // u32
	LS_NLA_TYPE_SERVICE_ID  = 3  // u64
	LS_NLA_TYPE_DGID        = 4  // RDMANlaLsGID
	LS_NLA_TYPE_SGID        = 5  // RDMANlaLsGID
	LS_NLA_TYPE_TCLASS      = 6  // u8
	LS_NLA_TYPE_PKEY        = 7  // u16
	LS_NLA_TYPE_QOS_CLASS   = 8  // u16
	LS_NLA_TYPE_IPV4        = 9  // u32, big-endian
	LS_NLA_TYPE_IPV6        = 10 // [16]byte
	LS_NLA_TYPE_MAX         = 11
)

// RDMANlaLsGID is struct rdma_nla_ls_gid, the payload of a GID attribute.
type RDMANlaLsGID struct {
	_   structs.HostLayout
	GID [16]uint8
}
