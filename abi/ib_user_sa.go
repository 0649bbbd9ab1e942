// This file mirrors include/uapi/rdma/ib_user_sa.h.

package abi

import (
	"structs"
)

// Constants starting with IB_PATH_GMP.
const (
	IB_PATH_GMP             = 1
	IB_PATH_PRIMARY         = 1 << 1
	IB_PATH_ALTERNATE       = 1 << 2
	IB_PATH_OUTBOUND        = 1 << 3
	IB_PATH_INBOUND         = 1 << 4
	IB_PATH_INBOUND_REVERSE = 1 << 5
	IB_PATH_BIDIRECTIONAL   = 40
)

// IBPathRecData mirrors struct ib_path_rec_data.
type IBPathRecData struct {
	_        structs.HostLayout
	Flags    uint32
	Reserved uint32
	PathRec  [16]uint32
}

// IBUserPathRec mirrors struct ib_user_path_rec.
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

// IBUserServiceRec mirrors struct ib_user_service_rec.
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
