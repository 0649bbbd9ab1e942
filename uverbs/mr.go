package uverbs

import (
	"fmt"
	"syscall"

	"github.com/purerdma/rdma/abi"
)

// Access says what a memory region or a queue pair allows. Reading by the own
// device is always allowed.
type Access = abi.IBUverbsAccessFlags

// Access flags. Those that let a peer write or run atomic operations need
// AccessLocalWrite too.
const (
	AccessLocalWrite   = abi.IB_UVERBS_ACCESS_LOCAL_WRITE   // the own device may write: receives, reads
	AccessRemoteWrite  = abi.IB_UVERBS_ACCESS_REMOTE_WRITE  // peers may write
	AccessRemoteRead   = abi.IB_UVERBS_ACCESS_REMOTE_READ   // peers may read
	AccessRemoteAtomic = abi.IB_UVERBS_ACCESS_REMOTE_ATOMIC // peers may run atomic operations
)

// An MR is a memory region: memory that the device may use under a local key
// and, if the access flags say so, peers under a remote key. The memory's
// pages are pinned while the region exists.
type MR struct {
	life       life
	pd         *PD
	mem        *Memory
	addr       uint64
	length     int
	handle     uint32
	lkey, rkey uint32
}

// RegMR registers all of a memory (REG_MR).
//
// The error is an *[Error]. syscall.ENOMEM and syscall.EPERM mostly mean that
// RLIMIT_MEMLOCK does not allow to pin so much; the error then has the numbers.
// syscall.EINVAL and errors.ErrUnsupported come from access flags that the
// device does not have.
func (pd *PD) RegMR(mem *Memory, access Access) (*MR, error) {
	return pd.RegMRRange(mem, 0, mem.Len(), access)
}

// RegMRRange registers length bytes of a memory from offset, as RegMR does.
// The device's pinning is in whole pages.
func (pd *PD) RegMRRange(mem *Memory, offset, length int, access Access) (*MR, error) {
	if offset < 0 || length <= 0 || offset > mem.Len()-length {
		object := fmt.Sprintf("bytes %d to %d of %s", offset, offset+length, mem.life.name)
		return nil, pd.c.fail(cmdRegMR.name, object, syscall.EINVAL)
	}
	mr := &MR{pd: pd, mem: mem, addr: mem.Addr() + uint64(offset), length: length}
	name := fmt.Sprintf("new MR of %d bytes", length)
	if err := mr.life.begin(pd.c.dev.Name, name, &pd.life, &mem.life); err != nil {
		return nil, err
	}
	if err := mr.register(access); err != nil {
		mr.life.abandon()
		return nil, err
	}
	mr.life.settle(pd.c.dev.Name, fmt.Sprintf("MR %#x of %d bytes", mr.lkey, length))
	return mr, nil
}

func (mr *MR) register(access Access) error {
	c := mr.pd.c
	w, err := newWrite(&cmdRegMR, make([]byte, c.payload.RegMRIn), c.payload.RegMROut)
	if err != nil {
		return c.fail(cmdRegMR.name, "", err)
	}
	defer w.release()
	req := reqOf[abi.IBUverbsRegMR](w)
	req.Start, req.Length, req.HcaVa = mr.addr, uint64(mr.length), mr.addr
	req.PDHandle, req.AccessFlags = mr.pd.handle, uint32(access)
	if err := c.writeRaw(w); err != nil {
		return &Error{
			Op: cmdRegMR.name, Object: fmt.Sprintf("%d bytes, access %#x", mr.length, uint32(access)),
			Device: c.dev.Name, Hint: memlockHint(err, mr.length), Err: err,
		}
	}
	resp := respOf[abi.IBUverbsRegMRResp](w)
	mr.handle, mr.lkey, mr.rkey = resp.MRHandle, resp.LKey, resp.RKey
	return nil
}

// PD returns the protection domain the region belongs to.
func (mr *MR) PD() *PD { return mr.pd }

// Memory returns the memory that is registered.
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

// Bytes returns the registered bytes. The slice must not be used after the
// memory is closed.
func (mr *MR) Bytes() []byte {
	lo := int(mr.addr - mr.mem.Addr())
	return mr.mem.Bytes()[lo : lo+mr.length : lo+mr.length]
}

// SGE returns a scatter/gather entry for n bytes of the region from offset. It
// panics, as slicing does, when that is outside the region.
func (mr *MR) SGE(offset, n int) SGE {
	if offset < 0 || n < 0 || offset > mr.length-n {
		panic(fmt.Sprintf("uverbs: entry [%d:%d] of %s", offset, offset+n, mr.life.name))
	}
	return SGE{Addr: mr.addr + uint64(offset), Length: uint32(n), LKey: mr.lkey}
}

// String returns key and size.
func (mr *MR) String() string { return mr.life.name }

// Close ends the registration (MR_DESTROY, DEREG_MR). The memory remains; it is
// closed on its own, afterwards. Close may be called more than once and from
// any goroutine.
func (mr *MR) Close() error {
	return mr.life.close(func() error {
		return mr.pd.c.destroyObject(&methodMRDestroy, uint16(abi.UVERBS_ATTR_DESTROY_MR_HANDLE),
			&cmdDeregMR, mr.handle, mr.life.name)
	}, nil)
}
