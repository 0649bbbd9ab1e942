package uverbs

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/devfile"
	"github.com/purerdma/rdma/internal/offheap"
)

// The commands of the data path: POST_SEND and POST_RECV without requests,
// which make the kernel look at a ring, and REQ_NOTIFY_CQ. They are built once
// per object in off-heap memory, in both forms, and then only sent, so that
// ringing allocates nothing. They never change, so any goroutine may send them.
//
// write(2) is preferred even where other commands use ioctl, because the
// kernel does less work for it; ioctl remains where write is refused because
// the process changed its credentials (EACCES) or by a sandbox (EPERM).

const (
	bellSize = 128

	// maxHandle bounds the tables of commands. The kernel hands out the
	// smallest free handles, so a larger one is no handle.
	maxHandle = 1 << 22
)

// bell is one prebuilt command.
type bell struct {
	slot  []byte // bellSize bytes off-heap
	frame []byte // for write(2)
	hdr   unsafe.Pointer
	name  string
}

// ringBell sends a command. Its error path allocates.
func (c *Context) ringBell(b *bell) error {
	if c.style == StyleWrite || !c.bells.refused.Load() {
		err := c.file.TryWrite(b.frame)
		if err == nil {
			return nil
		}
		if c.style == StyleWrite || err != syscall.EACCES && err != syscall.EPERM {
			return c.ringFailed(b, err)
		}
		c.bells.refused.Store(true)
	}
	if err := c.file.Ioctl(abi.RDMA_VERBS_IOCTL, b.hdr); err != nil {
		return c.ringFailed(b, err)
	}
	return nil
}

func (c *Context) ringFailed(b *bell, err error) error {
	if c.file.Closed() {
		return c.life.closed
	}
	if err == syscall.EACCES {
		err = errors.Join(err, devfile.ErrCredentialsChanged)
	}
	return c.fail(b.name, "", err)
}

// bells owns the prebuilt commands of a context: one set per object handle.
type bells struct {
	refused atomic.Bool // the kernel refuses write(2)

	send, recv, arm, armSolicited bellTable

	mu     sync.Mutex
	blocks []*offheap.Block
	free   [][]byte
}

// slot returns zeroed off-heap memory for one command.
func (s *bells) slot() ([]byte, error) {
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

func (s *bells) giveBack(b *bell) {
	if b == nil {
		return
	}
	clear(b.slot)
	s.mu.Lock()
	s.free = append(s.free, b.slot)
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

// addBell builds a command for the object with the given handle.
func (c *Context) addBell(t *bellTable, handle uint32, m *writeCmd, core []byte) error {
	if handle >= maxHandle {
		return c.fail(m.name, fmt.Sprintf("handle %#x", handle), syscall.ERANGE)
	}
	b, err := c.newBell(m, core)
	if err != nil {
		return err
	}
	c.bells.giveBack(t.swap(handle, b))
	return nil
}

// dropBell frees the command of an object that is gone.
func (c *Context) dropBell(t *bellTable, handle uint32) { c.bells.giveBack(t.swap(handle, nil)) }

// ring sends the command of an object.
func (c *Context) ring(t *bellTable, handle uint32) error {
	b := t.get(handle)
	if b == nil {
		return c.life.closed
	}
	return c.ringBell(b)
}

// newBell builds a command from the bytes of its core struct.
func (c *Context) newBell(m *writeCmd, core []byte) (*bell, error) {
	slot, err := c.bells.slot()
	if err != nil {
		return nil, c.fail(m.name, "", err)
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
	return &bell{slot: slot, frame: frame, hdr: c.bellIoctl(m, rest, body, resp), name: m.name}, nil
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

// bellTable finds a command by the handle of its object. Reading takes no
// lock. Handles are small (alloc_uobj takes them from xa_alloc), so a slice
// serves; it only grows.
type bellTable struct {
	mu sync.Mutex
	v  atomic.Pointer[[]atomic.Pointer[bell]]
}

func (t *bellTable) get(handle uint32) *bell {
	v := t.v.Load()
	if v == nil || int(handle) >= len(*v) {
		return nil
	}
	return (*v)[handle].Load()
}

// swap puts b in the place of handle and returns what was there.
func (t *bellTable) swap(handle uint32, b *bell) *bell {
	t.mu.Lock()
	defer t.mu.Unlock()
	v := t.v.Load()
	if v == nil || int(handle) >= len(*v) {
		if b == nil {
			return nil
		}
		v = t.grow(int(handle) + 1)
	}
	return (*v)[handle].Swap(b)
}

// grow replaces the slice by a longer one. Readers of the old one find each
// object that existed when they looked.
func (t *bellTable) grow(n int) *[]atomic.Pointer[bell] {
	n = max(n, 64)
	old := t.v.Load()
	if old != nil {
		n = max(n, 2*len(*old))
	}
	v := make([]atomic.Pointer[bell], n)
	if old != nil {
		for i := range *old {
			v[i].Store((*old)[i].Load())
		}
	}
	t.v.Store(&v)
	return &v
}
