package uverbs

import (
	"fmt"

	"github.com/purerdma/rdma/abi"
)

// A DM is memory inside the device: peers and the device's own requests reach it
// through a memory region without crossing the bus. Where the process can map it
// is the driver's matter, and no driver in this module does.
type DM struct {
	life   life
	c      *Context
	length int
	handle uint32
}

// AllocDM allocates device memory (DM_ALLOC, Linux 4.17, ioctl interface only).
// align is the logarithm of the alignment of its address, 0 for any. The error is
// an *[Error]; it matches errors.ErrUnsupported where kernel or driver cannot, as
// soft-RoCE, and syscall.ENOMEM when the device has no more.
func (c *Context) AllocDM(length int, align uint32) (*DM, error) {
	dm := &DM{c: c, length: length}
	what := fmt.Sprintf("new device memory of %d bytes", length)
	if length <= 0 {
		return nil, c.fail(methodDMAlloc.name, what, errInvalid)
	}
	if err := dm.life.begin(c.dev.Name, what, &c.life); err != nil {
		return nil, err
	}
	if err := dm.create(align); err != nil {
		dm.life.unregister()
		return nil, err
	}
	dm.life.settle(c.dev.Name, fmt.Sprintf("device memory %d of %d bytes", dm.handle, length))
	return dm, nil
}

func (dm *DM) create(align uint32) error {
	i, err := dm.c.nativeOnly(&methodDMAlloc, dm.life.name)
	if err != nil {
		return err
	}
	defer i.release()
	handle := i.result(uint16(abi.UVERBS_ATTR_ALLOC_DM_HANDLE))
	i.u64(uint16(abi.UVERBS_ATTR_ALLOC_DM_LENGTH), uint64(dm.length))
	i.u32(uint16(abi.UVERBS_ATTR_ALLOC_DM_ALIGNMENT), align)
	if err := dm.c.ioctl(i, dm.life.name); err != nil {
		return err
	}
	dm.handle = uint32(handle.Data)
	return nil
}

// RegDM registers length bytes of device memory from offset (DM_MR_REG).
// Addresses in such a region count from 0: AccessZeroBased, which is added to
// access. Memory and Bytes of the region are nil. The device memory must stay
// open until the region is closed. The error is an *[Error], with syscall.EINVAL for
// a range outside of the device memory.
func (pd *PD) RegDM(dm *DM, offset, length int, access Access) (*MR, error) {
	c := pd.c
	if dm == nil || dm.c != c {
		return nil, c.fail(methodDMMRReg.name, "", invalid("no device memory of the same context is given"))
	}
	what, err := fmt.Sprintf("%d bytes from %d of %s", length, offset, dm.life.name), checkAccess(access)
	if err == nil && (offset < 0 || length <= 0 || offset > dm.length-length) {
		err = errInvalid
	}
	if err != nil {
		return nil, c.fail(methodDMMRReg.name, what, err)
	}
	mr := &MR{pd: pd, length: length}
	return mr.create([]*life{&pd.life, &dm.life}, func() error {
		i, err := c.nativeOnly(&methodDMMRReg, what)
		if err != nil {
			return err
		}
		defer i.release()
		handle := i.result(uint16(abi.UVERBS_ATTR_REG_DM_MR_HANDLE))
		i.u64(uint16(abi.UVERBS_ATTR_REG_DM_MR_OFFSET), uint64(offset))
		i.u64(uint16(abi.UVERBS_ATTR_REG_DM_MR_LENGTH), uint64(length))
		i.object(uint16(abi.UVERBS_ATTR_REG_DM_MR_PD_HANDLE), pd.handle)
		i.u32(uint16(abi.UVERBS_ATTR_REG_DM_MR_ACCESS_FLAGS), uint32(c.forKernel(access|AccessZeroBased)))
		i.object(uint16(abi.UVERBS_ATTR_REG_DM_MR_DM_HANDLE), dm.handle)
		lkey := i.outU32(uint16(abi.UVERBS_ATTR_REG_DM_MR_RESP_LKEY))
		rkey := i.outU32(uint16(abi.UVERBS_ATTR_REG_DM_MR_RESP_RKEY))
		if err := c.ioctl(i, what); err != nil {
			return err
		}
		mr.handle, mr.lkey, mr.rkey = uint32(handle.Data), *lkey, *rkey
		return nil
	})
}

// Len returns the size in bytes.
func (dm *DM) Len() int { return dm.length }

// Handle returns the kernel's handle of the memory within its context.
func (dm *DM) Handle() uint32 { return dm.handle }

// String returns "device memory", the handle and the size.
func (dm *DM) String() string { return dm.life.name }

// Close gives the memory back to the device (DM_FREE). While regions use it, it
// returns a *[BusyError] that names them. It may be called more than once and
// from any goroutine.
func (dm *DM) Close() error {
	return dm.life.close(func() error {
		return dm.c.destroyNative(&methodDMFree, uint16(abi.UVERBS_ATTR_FREE_DM_HANDLE), dm.handle, dm.life.name)
	}, nil)
}
