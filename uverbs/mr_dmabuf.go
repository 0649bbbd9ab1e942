package uverbs

import (
	"cmp"
	"fmt"

	"github.com/purerdma/rdma/abi"
)

// RegDMABuf registers length bytes, from offset, of a DMA buffer that another
// driver exported as a descriptor, such as memory of a GPU (REG_DMABUF_MR, Linux
// 5.12, ioctl interface only). addr is the address that requests and peers use
// for the first byte; it must have the same offset within a page as offset. The
// descriptor may be closed afterwards. Memory and Bytes of the region are nil.
//
// The error is an *[Error]; it matches errors.ErrUnsupported where kernel or
// driver cannot, as soft-RoCE, and syscall.EBADF or EINVAL when fd is no such
// buffer.
func (pd *PD) RegDMABuf(fd int, offset uint64, length int, addr uint64, access Access) (*MR, error) {
	c, what := pd.c, fmt.Sprintf("DMA buffer %d, %d bytes from %d, access %#x", fd, length, offset, uint32(access))
	err := cmp.Or(checkAccess(access), checkAddr(offset, addr))
	switch {
	case length <= 0 || !fits32(fd):
		return nil, c.fail(methodRegDMABufMR.name, what, errInvalid)
	case err != nil:
		return nil, c.fail(methodRegDMABufMR.name, what, err)
	}
	mr := &MR{pd: pd, addr: addr, length: length}
	return mr.create([]*life{&pd.life}, func() error {
		i, err := c.nativeOnly(&methodRegDMABufMR, what)
		if err != nil {
			return err
		}
		defer i.release()
		handle := i.result(uint16(abi.UVERBS_ATTR_REG_DMABUF_MR_HANDLE))
		i.object(uint16(abi.UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE), pd.handle)
		i.u64(uint16(abi.UVERBS_ATTR_REG_DMABUF_MR_OFFSET), offset)
		i.u64(uint16(abi.UVERBS_ATTR_REG_DMABUF_MR_LENGTH), uint64(length))
		i.u64(uint16(abi.UVERBS_ATTR_REG_DMABUF_MR_IOVA), addr)
		i.u32(uint16(abi.UVERBS_ATTR_REG_DMABUF_MR_FD), uint32(fd))
		i.u32(uint16(abi.UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS), uint32(c.forKernel(access)))
		lkey := i.outU32(uint16(abi.UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY))
		rkey := i.outU32(uint16(abi.UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY))
		if err := c.ioctl(i, what); err != nil {
			return err
		}
		mr.handle, mr.lkey, mr.rkey = uint32(handle.Data), *lkey, *rkey
		return nil
	})
}
