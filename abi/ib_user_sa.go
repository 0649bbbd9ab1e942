// This file mirrors the whole of include/uapi/rdma/ib_user_sa.h. Path and service records
// as the RDMA CM reports them.

package abi

import "structs"

// Bits of IBPathRecData.Flags: the use of a path and its direction.
const (
	IB_PATH_GMP             = 1
	IB_PATH_PRIMARY         = 1 << 1
	IB_PATH_ALTERNATE       = 1 << 2
	IB_PATH_OUTBOUND        = 1 << 3
	IB_PATH_INBOUND         = 1 << 4
	IB_PATH_INBOUND_REVERSE = 1 << 5
	IB_PATH_BIDIRECTIONAL   = 40
)

// IBPathRecData is struct ib_path_rec_data, one path record in the wire format of subnet
// administration (64 bytes, big-endian), the element of RDMA_USER_CM_QUERY_PATH and
// RDMA_OPTION_IB_PATH.
type IBPathRecData struct {
	_        structs.HostLayout
	Flags    uint32
	Reserved uint32
	PathRec  [16]uint32
}

// IBUserPathRec is struct ib_user_path_rec, a path record with fields, part of
// RDMAUCMQueryRouteResp.
type IBUserPathRec struct {
	_                      structs.HostLayout
	Dgid                   [16]uint8
	Sgid                   [16]uint8
	Dlid                   uint16 // big-endian
	Slid                   uint16 // big-endian
	RawTraffic             uint32
	FlowLabel              uint32 // big-endian
	Reversible             uint32
	MTU                    uint32
	PKey                   uint16 // big-endian
	HopLimit               uint8
	TrafficClass           uint8
	NumbPath               uint8
	SL                     uint8
	MTUSelector            uint8
	RateSelector           uint8
	Rate                   uint8
	PacketLifeTimeSelector uint8
	PacketLifeTime         uint8
	Preference             uint8
}

// IBUserServiceRec is struct ib_user_service_rec, a service record, the element of
// RDMA_USER_CM_QUERY_IB_SERVICE. Linux 7.3 has it, 6.12 has not.
type IBUserServiceRec struct {
	_        structs.HostLayout
	ID       uint64 // big-endian
	GID      [16]uint8
	PKey     uint16 // big-endian
	Reserved [2]uint8
	Lease    uint32 // big-endian
	Key      [16]uint8
	Name     [64]uint8
	Data8    [16]uint8
	Data16   [8]uint16 // big-endian
	Data32   [4]uint32 // big-endian
	Data64   [2]uint64 // big-endian
}
