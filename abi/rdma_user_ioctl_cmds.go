// This file mirrors include/uapi/rdma/rdma_user_ioctl_cmds.h.

package abi

import (
	"structs"
	"unsafe"
)

// Constants starting with RDMA_IOCTL_MAGIC.
const (
	RDMA_IOCTL_MAGIC = 0x1b
	RDMA_VERBS_IOCTL = 0xc0181b01
)

// Constants starting with UVERBS_ATTR_F_MANDATORY.
const (
	UVERBS_ATTR_F_MANDATORY    = 1 << 0
	UVERBS_ATTR_F_VALID_OUTPUT = 1 << 1
)

// IBUverbsAttr mirrors struct ib_uverbs_attr.
type IBUverbsAttr struct {
	_        structs.HostLayout
	AttrID   uint16
	Len      uint16
	Flags    uint16
	AttrData uint16 // union: enum_data, reserved
	Data     uint64 // union with data_s64
}

// IBUverbsAttrEnumData is the unnamed struct attr_data.enum_data of struct ib_uverbs_attr.
type IBUverbsAttrEnumData struct {
	_        structs.HostLayout
	ElemID   uint8
	Reserved uint8
}

// AttrDataEnumData returns a view of union member attr_data.enum_data.
func (p *IBUverbsAttr) AttrDataEnumData() *IBUverbsAttrEnumData {
	return (*IBUverbsAttrEnumData)(unsafe.Pointer(&p.AttrData))
}

// AttrDataReserved returns a view of union member attr_data.reserved.
func (p *IBUverbsAttr) AttrDataReserved() *uint16 { return (*uint16)(unsafe.Pointer(&p.AttrData)) }

// DataS64 returns a view of union member data_s64.
func (p *IBUverbsAttr) DataS64() *int64 { return (*int64)(unsafe.Pointer(&p.Data)) }

// IBUverbsIoctlHdr mirrors struct ib_uverbs_ioctl_hdr.
type IBUverbsIoctlHdr struct {
	_         structs.HostLayout
	Length    uint16
	ObjectID  uint16
	MethodID  uint16
	NumAttrs  uint16
	Reserved1 uint64
	DriverID  uint32
	Reserved2 uint32
	// attrs[] follows at offset 24.
}
