// This file mirrors the whole of include/uapi/rdma/rdma_user_ioctl_cmds.h. It is the
// envelope of every verbs ioctl.

package abi

import (
	"structs"
	"unsafe"
)

// RDMA_VERBS_IOCTL is the one ioctl request of a uverbs device; its argument is an
// IBUverbsIoctlHdr.
const (
	RDMA_IOCTL_MAGIC = 0x1b
	RDMA_VERBS_IOCTL = 0xc0181b01
)

// Bits of IBUverbsAttr.Flags. A kernel that does not know a mandatory attribute refuses
// the call with EOPNOTSUPP; VALID_OUTPUT is set by the kernel on output it wrote.
const (
	UVERBS_ATTR_F_MANDATORY    = 1 << 0
	UVERBS_ATTR_F_VALID_OUTPUT = 1 << 1
)

// IBUverbsAttr is struct ib_uverbs_attr, one attribute of a verbs ioctl. Data is the
// address of the payload, or the payload itself when Len is at most 8; objects are named
// by number, files by descriptor in DataS64.
type IBUverbsAttr struct {
	_        structs.HostLayout
	AttrID   uint16
	Len      uint16
	Flags    uint16 // UVERBS_ATTR_F_*
	AttrData uint16 // union: enum_data, reserved
	Data     uint64 // union with data_s64
}

// IBUverbsAttrEnumData is the unnamed struct attr_data.enum_data of struct ib_uverbs_attr:
// the chosen alternative of an enum attribute.
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

// IBUverbsIoctlHdr is struct ib_uverbs_ioctl_hdr, the argument of RDMA_VERBS_IOCTL. Length
// counts the bytes of header and attributes, NumAttrs the attributes that follow.
type IBUverbsIoctlHdr struct {
	_         structs.HostLayout
	Length    uint16
	ObjectID  uint16
	MethodID  uint16
	NumAttrs  uint16
	Reserved1 uint64
	DriverID  uint32 // RDMADriverID
	Reserved2 uint32
	// attrs[] follows at offset 24.
}
