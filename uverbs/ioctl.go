package uverbs

import (
	"fmt"
	"unsafe"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/offheap"
)

const (
	ioctlHdrSize  = int(unsafe.Sizeof(abi.IBUverbsIoctlHdr{}))
	ioctlAttrSize = int(unsafe.Sizeof(abi.IBUverbsAttr{}))
)

// ioctlCall is one call of a native method under construction, in off-heap
// memory: the header, the attributes right behind it, then what they point to.
// Values are set by attribute id and checked against the method's schema; a
// mismatch is a bug in this package and panics.
type ioctlCall struct {
	m     *method
	b     *offheap.Block
	hdr   *abi.IBUverbsIoctlHdr
	attrs []abi.IBUverbsAttr // room for all of the schema
}

// newIoctl starts a call. The caller releases it.
func newIoctl(m *method) (*ioctlCall, error) {
	b, err := offheap.Get()
	if err != nil {
		return nil, err
	}
	c := &ioctlCall{m: m, b: b}
	n := m.slots()
	raw := b.AllocBytes(ioctlHdrSize + n*ioctlAttrSize)
	c.hdr = (*abi.IBUverbsIoctlHdr)(unsafe.Pointer(unsafe.SliceData(raw)))
	first := (*abi.IBUverbsAttr)(unsafe.Pointer(unsafe.SliceData(raw[ioctlHdrSize:])))
	c.attrs = unsafe.Slice(first, n)[:0]
	c.hdr.ObjectID, c.hdr.MethodID = m.object, m.id
	return c, nil
}

func (c *ioctlCall) release() { c.b.Release() }

// add appends an attribute. All are mandatory: a kernel that does not know one
// must refuse the call (EPROTONOSUPPORT) rather than do something else.
func (c *ioctlCall) add(id uint16, kinds ...attrKind) *abi.IBUverbsAttr {
	c.check(id, kinds)
	c.attrs = append(c.attrs, abi.IBUverbsAttr{AttrID: id, Flags: abi.UVERBS_ATTR_F_MANDATORY})
	return &c.attrs[len(c.attrs)-1]
}

func (c *ioctlCall) check(id uint16, kinds []attrKind) {
	s := c.m.spec(id)
	if c.m.uhw && id == abi.UVERBS_ATTR_UHW_IN {
		s = &specUHWIn
	}
	if c.m.uhw && id == abi.UVERBS_ATTR_UHW_OUT {
		s = &specUHWOut
	}
	if s == nil || len(c.attrs) == cap(c.attrs) {
		panic(fmt.Sprintf("uverbs: method %s has no attribute %#x left", c.m.name, id))
	}
	for _, k := range kinds {
		if s.kind == k {
			return
		}
	}
	panic(fmt.Sprintf("uverbs: attribute %s of method %s is of kind %d", s.name, c.m.name, s.kind))
}

func (c *ioctlCall) object(id uint16, handle uint32) {
	c.add(id, kindObject).Data = uint64(handle)
}

func (c *ioctlCall) fd(id uint16, fd int) { *c.add(id, kindFD).DataS64() = int64(fd) }

// events makes the events of a new object come to the context that creates it.
// Without, the kernel sends them to the first that was opened, which is another
// where a context is imported (ib_uverbs_get_async_event).
func (c *ioctlCall) events(id uint16, ctx *Context) {
	if ctx.imported {
		c.fd(id, ctx.asyncFD)
	}
}

// result adds an attribute in which the kernel returns a handle or descriptor.
func (c *ioctlCall) result(id uint16) *abi.IBUverbsAttr {
	return c.add(id, kindNewObject, kindNewFD)
}

// u32 and u64 values sit at the start of the 8 data bytes, in host order; the
// kernel copies them from there whatever the byte order.
func (c *ioctlCall) u32(id uint16, v uint32) {
	a := c.add(id, kindU32)
	a.Len = 4
	*(*uint32)(unsafe.Pointer(&a.Data)) = v
}

func (c *ioctlCall) u64(id uint16, v uint64) {
	a := c.add(id, kindU64)
	a.Len, a.Data = 8, v
}

// choice adds one of the values of an enumeration that has no data
// (UVERBS_ATTR_ENUM_IN).
func (c *ioctlCall) choice(id uint16, v uint8) { c.add(id, kindChoice).AttrDataEnumData().ElemID = v }

// in adds off-heap bytes; up to 8 travel inside the attribute, as the kernel
// demands (uverbs_attr_ptr_is_inline). Nothing is added for no bytes.
func (c *ioctlCall) in(id uint16, p []byte) {
	if len(p) == 0 {
		return
	}
	a := c.add(id, kindIn)
	a.Len = uint16(len(p))
	if len(p) <= 8 {
		copy(unsafe.Slice((*byte)(unsafe.Pointer(&a.Data)), 8), p)
		return
	}
	a.Data = offheap.AddrBytes(p)
}

// out adds an off-heap buffer for the kernel to write to.
func (c *ioctlCall) out(id uint16, p []byte) {
	if len(p) == 0 {
		return
	}
	a := c.add(id, kindOut)
	a.Len, a.Data = uint16(len(p)), offheap.AddrBytes(p)
}

// outU32 and outU64 add an output of the block itself.
func (c *ioctlCall) outU32(id uint16) *uint32 {
	p := offheap.Alloc[uint32](c.b)
	c.out(id, offheap.BytesOf(p))
	return p
}

func (c *ioctlCall) outU64(id uint16) *uint64 {
	p := offheap.Alloc[uint64](c.b)
	c.out(id, offheap.BytesOf(p))
	return p
}

// uhwIn copies the driver's own bytes into the block and adds them.
func (c *ioctlCall) uhwIn(p []byte) {
	if len(p) == 0 {
		return
	}
	q := c.b.AllocBytes(len(p))
	copy(q, p)
	c.in(abi.UVERBS_ATTR_UHW_IN, q)
}

// uhwOut adds room for the driver's answer.
func (c *ioctlCall) uhwOut(n int) []byte {
	p := c.b.AllocBytes(n)
	c.out(abi.UVERBS_ATTR_UHW_OUT, p)
	return p
}

// seal completes the header and returns the address for the ioctl.
func (c *ioctlCall) seal(driver abi.RDMADriverID) unsafe.Pointer {
	c.hdr.NumAttrs = uint16(len(c.attrs))
	c.hdr.Length = uint16(ioctlHdrSize + len(c.attrs)*ioctlAttrSize)
	c.hdr.DriverID = uint32(driver)
	return unsafe.Pointer(c.hdr)
}
