package uverbs

import (
	"fmt"
	"unsafe"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/offheap"
)

// maxAdvised is how many entries fit the memory of one command.
const maxAdvised = offheap.BlockSize / 2 / int(unsafe.Sizeof(SGE{}))

// AdviseMR tells the kernel what will be done with parts of on-demand regions of
// the domain (ADVISE_MR, Linux 5.0, ioctl interface only):
// IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH and _PREFETCH_WRITE fetch pages for reading
// or writing, _PREFETCH_NO_FAULT (5.11) only those that are in memory. With flush
// the call returns when that is done; otherwise it goes on in the background, and
// failures are not told. At most 128 entries.
//
// The error is an *[Error]; it matches errors.ErrUnsupported where kernel or
// driver cannot, as soft-RoCE before Linux 6.18 or for a kind of advice,
// syscall.EINVAL for keys that are not of such regions, and syscall.EFAULT for
// addresses without memory.
func (pd *PD) AdviseMR(advice abi.IBUverbsAdviseMRAdvice, flush bool, sges ...SGE) error {
	if err := pd.life.enter(); err != nil {
		return err
	}
	defer pd.life.leave()
	c, what := pd.c, fmt.Sprintf("advice %d on %d entries", uint32(advice), len(sges))
	if len(sges) == 0 || len(sges) > maxAdvised {
		return c.fail(methodAdviseMR.name, what, errInvalid)
	}
	i, err := c.nativeOnly(&methodAdviseMR, what)
	if err != nil {
		return err
	}
	defer i.release()
	i.object(uint16(abi.UVERBS_ATTR_ADVISE_MR_PD_HANDLE), pd.handle)
	i.u64(uint16(abi.UVERBS_ATTR_ADVISE_MR_ADVICE), uint64(advice))
	flags := uint32(0)
	if flush {
		flags = uint32(abi.IB_UVERBS_ADVISE_MR_FLAG_FLUSH)
	}
	i.u32(uint16(abi.UVERBS_ATTR_ADVISE_MR_FLAGS), flags)
	list := i.b.AllocBytes(len(sges) * size[SGE]())
	copy(unsafe.Slice((*SGE)(unsafe.Pointer(unsafe.SliceData(list))), len(sges)), sges)
	i.in(uint16(abi.UVERBS_ATTR_ADVISE_MR_SGE_LIST), list)
	return c.ioctl(i, what)
}
