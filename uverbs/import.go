package uverbs

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"syscall"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/devfile"
)

// Export returns a descriptor of the context, to be sent to another process
// (SCM_RIGHTS) for [ImportContext] there. The caller closes it. The kernel keeps
// the context and all its objects while any process has a descriptor open.
//
// The error matches errors.ErrUnsupported on other systems than Linux.
func (c *Context) Export() (*os.File, error) {
	var n int
	var dupErr error
	err := c.file.WithFD(func(fd int) { n, dupErr = dupFD(fd) })
	if err = cmp.Or(err, dupErr); err != nil {
		return nil, c.fail("export", "", err)
	}
	return os.NewFile(uintptr(n), c.file.Path()), nil
}

// ImportContext makes a context of a descriptor that came from [Context.Export],
// mostly of another process (QUERY_CONTEXT, Linux 5.9, and ASYNC_EVENT_ALLOC).
// Both contexts are one in the kernel, so handles of objects mean the same in
// both: [Context.ImportPD] and [PD.ImportMR] take objects over by handle. What
// each creates is its own: events of it come to its own context, and it must
// close it. The descriptor stays the caller's.
//
// The error is an *[Error] or of discovery; it matches [ErrNoDevice] when the
// descriptor is of no RDMA device, syscall.EINVAL when it is one without a
// context, and errors.ErrUnsupported on a kernel without these methods.
func ImportContext(fd int) (*Context, error) {
	if !fits32(fd) { // the kernel would look at its lower half
		return nil, &Error{Op: "import", Object: fmt.Sprintf("descriptor %d", fd), Err: syscall.EBADF}
	}
	d, err := deviceOfFD(fd)
	if err != nil {
		return nil, err
	}
	n, err := dupFD(fd)
	if err != nil {
		return nil, &Error{Op: "import", Device: d.Name, Err: err}
	}
	return ImportOn(nil, d, n)
}

// ImportOn is [ImportContext] on another kernel than the running one, for tests
// of this module with a fake. It takes fd over.
func ImportOn(k devfile.Kernel, d *Device, fd int) (*Context, error) {
	before := lastUEvent()
	f, err := devfile.Adopt(k, fd, d.CharDev.Path+" (imported)")
	if err != nil {
		return nil, &Error{Op: "import", Device: d.Name, Err: err}
	}
	c := newContext(d, f, StyleIoctl)
	c.imported = true
	if err := c.start(); err != nil {
		c.undoStart()
		return nil, err
	}
	if k == nil {
		removals.add(c, before)
	}
	return c, nil
}

// queryContext is getContext of a context that is there. A driver that has
// nothing to tell a newcomer about it has no such method, and none here needs an
// answer; the kernel then answers EOPNOTSUPP only if the context is there.
func (c *Context) queryContext() (asyncFD int, err error) {
	i, err := newIoctl(&methodQueryContext)
	if err != nil {
		return -1, c.fail(methodQueryContext.name, "", err)
	}
	defer i.release()
	vectors := i.outU32(uint16(abi.UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS))
	support := i.outU64(uint16(abi.UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT))
	switch err := c.ioctl(i, ""); {
	case errors.Is(err, syscall.EOPNOTSUPP):
		*support = uint64(abi.IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS) // older than this method
	case err != nil:
		return -1, err
	}
	c.vectors, c.coreSupport = int(*vectors), *support
	return c.allocAsyncFD()
}

// ImportPD takes over a protection domain by its handle ([PD.Handle]). The kernel
// cannot tell whether there is such a domain; the first use of a wrong one fails.
// Close of an imported domain lets go of it only here.
func (c *Context) ImportPD(handle uint32) (*PD, error) {
	pd := &PD{c: c, handle: handle, shared: true}
	if err := pd.life.begin(c.dev.Name, fmt.Sprintf("PD %d (imported)", handle), &c.life); err != nil {
		return nil, err
	}
	return pd, nil
}

// ImportMR takes over a memory region of the domain by its handle ([MR.Handle];
// QUERY_MR, Linux 5.9, ioctl interface only). Its memory is that of the process
// that registered it: Memory and Bytes are nil. Close lets go of the region only
// here. The error is an *[Error], with syscall.ENOENT or EINVAL when there is no
// such region.
func (pd *PD) ImportMR(handle uint32) (*MR, error) {
	c, what := pd.c, fmt.Sprintf("MR with handle %d", handle)
	mr := &MR{pd: pd, handle: handle, imported: true}
	return mr.create([]*life{&pd.life}, func() error {
		i, err := c.nativeOnly(&methodQueryMR, what)
		if err != nil {
			return err
		}
		defer i.release()
		i.object(uint16(abi.UVERBS_ATTR_QUERY_MR_HANDLE), handle)
		lkey := i.outU32(uint16(abi.UVERBS_ATTR_QUERY_MR_RESP_LKEY))
		rkey := i.outU32(uint16(abi.UVERBS_ATTR_QUERY_MR_RESP_RKEY))
		length := i.outU64(uint16(abi.UVERBS_ATTR_QUERY_MR_RESP_LENGTH))
		addr := i.outU64(uint16(abi.UVERBS_ATTR_QUERY_MR_RESP_IOVA))
		if err := c.ioctl(i, what); err != nil {
			return err
		}
		mr.lkey, mr.rkey, mr.addr = *lkey, *rkey, *addr
		mr.length = int(min(*length, math.MaxInt)) // of RegMRImplicit: all ones
		return nil
	})
}
