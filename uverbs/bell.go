package uverbs

import (
	"errors"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/devfile"
	"github.com/purerdma/rdma/internal/offheap"
	"github.com/purerdma/rdma/uverbs/internal/provider"
)

// The commands of the data path: POST_SEND without requests, which makes the
// kernel look at a ring, and REQ_NOTIFY_CQ. They are built once per object in
// off-heap memory, in both forms, and then only sent, so that ringing allocates
// nothing. They never change, so any goroutine may send them. A bell belongs to
// its object and is freed after it.
//
// write(2) is preferred even where other commands use ioctl, because the
// kernel does less work for it; ioctl remains where write is refused because
// the process changed its credentials (EACCES) or by a sandbox (EPERM).

// bell is one prebuilt command of one object.
type bell struct {
	c     *Context
	slot  []byte // bellSize bytes off-heap; nil without a command
	frame []byte // for write(2)
	hdr   unsafe.Pointer
	name  string
}

// send gives the kernel a command to arm a queue, for which rxe_req_notify_cq and
// siw_req_notify_cq set a flag. Its error path allocates.
func (b *bell) send() error {
	if b.c.bells.refused.Load() {
		return b.otherwise(syscall.EACCES)
	}
	err := b.c.file.Ring(b.frame)
	if err != nil {
		err = b.otherwise(err)
	}
	return err
}

// otherwise uses ioctl after an error of write(2) that says that write(2) is refused.
func (b *bell) otherwise(err error) error {
	c := b.c
	if c.style == StyleWrite || err != syscall.EACCES && err != syscall.EPERM {
		return b.failed(err)
	}
	c.bells.refused.Store(true)
	if err := c.file.Ioctl(abi.RDMA_VERBS_IOCTL, b.hdr); err != nil {
		return b.failed(err)
	}
	return nil
}

func (b *bell) failed(err error) error {
	if b.c.file.Closed() {
		return b.c.life.closed
	}
	if err == syscall.EACCES {
		err = errors.Join(err, devfile.ErrCredentialsChanged)
	}
	return b.c.fail(b.name, "", err)
}

// free gives the command's memory back, when its object is gone.
func (b *bell) free() {
	if b.slot != nil {
		b.c.bells.put(b.slot)
		b.slot = nil
	}
}

// forDriver returns the bell as one for a driver that rings while mu is locked without
// a deferred unlock (QP.PostSend).
func (b *bell) forDriver(mu *sync.Mutex) *provider.QPBell {
	q := &provider.QPBell{Command: b.frame}
	q.Short, q.Long = b.c.file.Ringers()
	again := func(n int, err error) error {
		if err == nil && n != len(b.frame) {
			err = syscall.EIO
		}
		err = b.otherwise(err)
		if b.c.bells.refused.Load() {
			q.Short, q.Long = refuser{}, refuser{} // at once, next time
		}
		return err
	}
	q.Again = again
	if b.c.file.MayPanic() {
		q.Short, q.Long = guardedFile{q.Short, mu}, guardedFile{q.Long, mu}
		q.Again = func(n int, err error) (after error) {
			unlockIfPanic(mu, func() { after = again(n, err) })
			return after
		}
	}
	if b.c.bells.refused.Load() {
		q.Short, q.Long = refuser{}, refuser{}
	}
	return q
}

// guardedFile is the device file of a kernel of a test, which may panic.
type guardedFile struct {
	devfile.Ringer
	mu *sync.Mutex
}

// Ring unlocks what its caller will not, when it does not return.
func (f guardedFile) Ring(p []byte) (n int, err error) {
	unlockIfPanic(f.mu, func() { n, err = f.Ringer.Ring(p) })
	return n, err
}

// unlockIfPanic unlocks when do does not return.
func unlockIfPanic(mu *sync.Mutex, do func()) {
	returned := false
	defer func() {
		if !returned {
			mu.Unlock()
		}
	}()
	do()
	returned = true
}

// refuser is in the place of a device file that refuses write(2).
type refuser struct{}

// Ring refuses.
func (refuser) Ring([]byte) (int, error) { return 0, syscall.EACCES }

// newSendBell builds the command that makes the kernel look at a send queue. The
// kernel insists on a request size of at least its struct's even for no requests
// (ib_uverbs_post_send).
func (c *Context) newSendBell(qp uint32) (bell, error) {
	req := abi.IBUverbsPostSend{QPHandle: qp, WQESize: uint32(size[abi.IBUverbsSendWR]())}
	return c.newBell(&cmdPostSend, offheap.BytesOf(&req))
}

// armBell arms a completion queue in either way.
type armBell struct{ any, solicited bell }

var _ provider.CQBell = (*armBell)(nil)

// Arm asks for an event.
func (b *armBell) Arm(solicitedOnly bool) error {
	if solicitedOnly {
		return b.solicited.send()
	}
	return b.any.send()
}

func (b *armBell) prepare(c *Context, cq uint32) (err error) {
	req := abi.IBUverbsReqNotifyCQ{CQHandle: cq}
	if b.any, err = c.newBell(&cmdReqNotifyCQ, offheap.BytesOf(&req)); err != nil {
		return err
	}
	req.SolicitedOnly = 1
	if b.solicited, err = c.newBell(&cmdReqNotifyCQ, offheap.BytesOf(&req)); err != nil {
		b.any.free()
	}
	return err
}

func (b *armBell) free() {
	b.any.free()
	b.solicited.free()
}

// newBell builds a command from the bytes of its core struct.
func (c *Context) newBell(m *writeCmd, core []byte) (bell, error) {
	slot, err := c.bells.get()
	if err != nil {
		return bell{}, c.fail(m.name, "", err)
	}
	frame, rest := slot[:cmdHdrSize+m.in], slot[roundUp(cmdHdrSize+m.in, 8):]
	resp, rest := rest[:m.out], rest[roundUp(m.out, 8):]
	body := frame[cmdHdrSize:]
	copy(body, core)
	hdr := (*abi.IBUverbsCmdHdr)(unsafe.Pointer(&frame[0]))
	*hdr = abi.IBUverbsCmdHdr{Command: m.num, InWords: words(len(frame), 4), OutWords: words(m.out, 4)}
	if m.out > 0 {
		*(*uint64)(unsafe.Pointer(&body[0])) = offheap.AddrBytes(resp)
	}
	return bell{c: c, slot: slot, frame: frame, hdr: c.bellIoctl(m, rest, body, resp), name: m.name}, nil
}

// bellIoctl builds the INVOKE_WRITE form in mem.
func (c *Context) bellIoctl(m *writeCmd, mem, body, resp []byte) unsafe.Pointer {
	i := &ioctlCall{m: &methodInvokeWrite}
	const slots = 3
	_ = mem[ioctlHdrSize+slots*ioctlAttrSize-1]
	i.hdr = (*abi.IBUverbsIoctlHdr)(unsafe.Pointer(&mem[0]))
	i.attrs = unsafe.Slice((*abi.IBUverbsAttr)(unsafe.Pointer(&mem[ioctlHdrSize])), slots)[:0]
	i.hdr.ObjectID, i.hdr.MethodID = i.m.object, i.m.id
	i.u64(uint16(abi.UVERBS_ATTR_WRITE_CMD), uint64(m.number()))
	i.in(uint16(abi.UVERBS_ATTR_CORE_IN), body)
	i.out(uint16(abi.UVERBS_ATTR_CORE_OUT), resp)
	return i.seal(c.dev.DriverID)
}

func roundUp(n, to int) int { return (n + to - 1) / to * to }

const bellSize = 128

// bells is the memory of a context's bells.
type bells struct {
	refused atomic.Bool // the kernel refuses write(2)

	mu     sync.Mutex
	blocks []*offheap.Block
	free   [][]byte
}

// get returns zeroed off-heap memory for one command.
func (s *bells) get() ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.free); n > 0 {
		p := s.free[n-1]
		s.free = s.free[:n-1]
		return p, nil
	}
	b, err := offheap.Get()
	if err != nil {
		return nil, err
	}
	s.blocks = append(s.blocks, b)
	for range offheap.BlockSize/bellSize - 1 {
		s.free = append(s.free, b.AllocBytes(bellSize))
	}
	return b.AllocBytes(bellSize), nil
}

func (s *bells) put(slot []byte) {
	clear(slot)
	s.mu.Lock()
	s.free = append(s.free, slot)
	s.mu.Unlock()
}

// release gives all memory back, when no object is left.
func (s *bells) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.blocks {
		b.Release()
	}
	s.blocks, s.free = nil, nil
}
