package uverbs

import (
	"fmt"
	"math"
	"os"

	"github.com/purerdma/rdma/abi"
)

// An MR is a memory region: memory that the device may use under a local key
// and, if the access flags say so, peers under a remote key. Without
// AccessOnDemand the memory's pages are pinned while the region exists. Methods
// are safe for concurrent use, except beside [MR.Rereg].
type MR struct {
	life       life
	pd         *PD
	mem        *Memory // nil when it is no Memory of this process
	start      uint64  // address in this process
	addr       uint64  // address for requests and peers
	length     int
	handle     uint32
	lkey, rkey uint32
	hint       *DMAHint // or nil
	imported   bool
}

// RegMR registers all of a memory (REG_MR).
//
// The error is an *[Error]. syscall.ENOMEM and syscall.EPERM mostly mean that
// RLIMIT_MEMLOCK does not allow to pin so much; the error then has the numbers.
// Access flags that the device does not have match errors.ErrUnsupported, or
// syscall.EINVAL where the kernel cannot tell.
func (pd *PD) RegMR(mem *Memory, access Access) (*MR, error) {
	n := 0
	if mem != nil {
		n = mem.Len()
	}
	return pd.RegMRRange(mem, 0, n, access)
}

// RegMRRange registers length bytes of a memory from offset, as RegMR does and
// with its errors, and syscall.EINVAL for a range outside of the memory. The
// device's pinning is in whole pages.
func (pd *PD) RegMRRange(mem *Memory, offset, length int, access Access) (*MR, error) {
	if err := pd.checkRange(mem, offset, length); err != nil {
		return nil, err
	}
	addr := mem.Addr() + uint64(offset)
	if access&AccessZeroBased != 0 {
		addr &= uint64(os.Getpagesize() - 1)
	}
	return pd.RegMRAt(mem, offset, length, addr, access)
}

// RegMRAt is RegMRRange with an address of the caller's choice for the first
// byte: requests and peers use it in place of the memory's own. It must have the
// same offset within a page; the error matches syscall.EINVAL if not. On a device
// whose driver has no such addresses (soft-iWARP), one that differs from the
// memory's own matches errors.ErrUnsupported.
func (pd *PD) RegMRAt(mem *Memory, offset, length int, addr uint64, access Access) (*MR, error) {
	if err := pd.checkRange(mem, offset, length); err != nil {
		return nil, err
	}
	start := mem.Addr() + uint64(offset)
	if err := checkAddr(start, addr); err != nil {
		return nil, pd.c.fail(cmdRegMR.name, mem.life.name, err)
	}
	mr := &MR{pd: pd, mem: mem, start: start, addr: addr, length: length}
	return mr.create([]*life{&pd.life, &mem.life}, func() error { return mr.register(access) })
}

func (pd *PD) checkRange(mem *Memory, offset, length int) error {
	switch {
	case mem == nil:
		return pd.c.fail(cmdRegMR.name, "", invalid("no memory given"))
	case offset < 0 || length <= 0 || offset > mem.Len()-length:
		return pd.c.fail(cmdRegMR.name, fmt.Sprintf("%d bytes from %d of %s", length, offset, mem.life.name), errInvalid)
	}
	return nil
}

// create makes the region a child of others while call asks the kernel for it.
func (mr *MR) create(parents []*life, call func() error) (*MR, error) {
	device := mr.pd.c.dev.Name
	if err := mr.life.begin(device, fmt.Sprintf("new MR of %d bytes", mr.length), parents...); err != nil {
		return nil, err
	}
	if err := call(); err != nil {
		mr.life.unregister()
		return nil, err
	}
	mr.life.settle(device, mr.name())
	return mr, nil
}

func (mr *MR) name() string { return fmt.Sprintf("MR %#x of %d bytes", mr.lkey, mr.length) }

// PD returns the protection domain the region belongs to.
func (mr *MR) PD() *PD { return mr.pd }

// Memory returns the memory that is registered, or nil for a region of other
// memory: a DMA buffer, device memory, a whole address space, an imported region.
func (mr *MR) Memory() *Memory { return mr.mem }

// LKey returns the key for scatter/gather entries.
func (mr *MR) LKey() uint32 { return mr.lkey }

// RKey returns the key a peer needs, together with an address. Kernels differ
// in what it is when no access flag admits peers.
func (mr *MR) RKey() uint32 { return mr.rkey }

// Addr returns the address of the first byte, for scatter/gather entries and
// for peers.
func (mr *MR) Addr() uint64 { return mr.addr }

// Len returns the number of bytes registered.
func (mr *MR) Len() int { return mr.length }

// Handle returns the kernel's handle of the region within its context.
func (mr *MR) Handle() uint32 { return mr.handle }

// Bytes returns the registered bytes, or nil where Memory does and when the memory
// is closed, after which the slice must not be used.
func (mr *MR) Bytes() []byte {
	if mr.mem == nil {
		return nil
	}
	all := mr.mem.Bytes()
	if all == nil {
		return nil
	}
	lo := int(mr.start - mr.mem.Addr())
	return all[lo : lo+mr.length : lo+mr.length]
}

// SGE returns a scatter/gather entry for n bytes of the region from offset. It
// panics, as slicing does, when that is outside the region, and when n is more
// than an entry can say, 2^32-1.
func (mr *MR) SGE(offset, n int) SGE {
	if offset < 0 || n < 0 || uint64(n) > math.MaxUint32 || offset > mr.length-n {
		panic(fmt.Sprintf("uverbs: entry of %d bytes from %d of %s", n, offset, mr.life.name))
	}
	return SGE{Addr: mr.addr + uint64(offset), Length: uint32(n), LKey: mr.lkey}
}

// String returns key and size.
func (mr *MR) String() string { return mr.life.name }

// Close ends the registration (MR_DESTROY, DEREG_MR), after [Context.Abandon] with
// the kernel's context. The memory remains; it is closed on its own, afterwards. Of
// an imported region only this process lets go. While memory windows are bound to
// the region the kernel refuses, and the error matches syscall.EINVAL (soft-RoCE) or EBUSY: close them, or bind them to
// something else, and then the region again. Close may be called more than once
// and from any goroutine.
func (mr *MR) Close() error {
	return mr.life.close(func() error {
		if mr.imported {
			return nil
		}
		return mr.pd.c.destroyObject(&methodMRDestroy, uint16(abi.UVERBS_ATTR_DESTROY_MR_HANDLE),
			&cmdDeregMR, mr.handle, mr.life.name)
	}, nil)
}
