package cm

import (
	"fmt"
	"net"
	"sync/atomic"
	"syscall"

	"github.com/purerdma/rdma/uverbs"
)

// A Region is memory that the connection's device may read and write, and
// that the peer may too once it was told a descriptor ([Region.Remote]). It
// lives outside the Go heap.
type Region struct {
	conn   *Conn
	mem    *uverbs.Memory
	mr     *uverbs.MR
	access Access
	closed atomic.Bool
}

// Access says what the peer may do with a region. Local operations may always
// read and write it.
type Access uint32

// Access rights of the peer.
const (
	RemoteRead   Access = Access(uverbs.AccessRemoteRead)
	RemoteWrite  Access = Access(uverbs.AccessRemoteWrite)
	RemoteAtomic Access = Access(uverbs.AccessRemoteAtomic)
)

// Alloc makes a region of n zeroed bytes with the given rights for the peer; 0
// is for local use only. The memory is locked in RAM, whole pages at a time,
// and counts against RLIMIT_MEMLOCK. The caller closes the region; closing the
// connection closes what is left.
func (c *Conn) Alloc(n int, access Access) (*Region, error) {
	done, err := c.useMemory()
	if err != nil {
		return nil, c.opError("alloc", err)
	}
	defer done()
	r, err := c.dev.alloc(n, access)
	if err != nil {
		return nil, c.opError("alloc", err)
	}
	r.conn = c
	c.adoptRegion(r)
	return r, nil
}

// alloc makes a region that no connection owns yet.
func (d *device) alloc(n int, access Access) (*Region, error) {
	mem, err := uverbs.NewMemory(n)
	if err != nil {
		return nil, err
	}
	mr, err := d.pd.RegMRRange(mem, 0, n, uverbs.Access(access)|uverbs.AccessLocalWrite)
	if err != nil {
		_ = mem.Close()
		return nil, err
	}
	return &Region{mem: mem, mr: mr, access: access}, nil
}

// Close takes the memory from the device and unmaps it. Operations that still
// use it fail. Slices of it must not be touched afterwards.
func (r *Region) Close() error {
	// Tear-down waits for this, or it would find the device still in use.
	r.conn.memory.RLock()
	defer r.conn.memory.RUnlock()
	if !r.conn.dropRegion(r) {
		return nil
	}
	r.closed.Store(true)
	return r.release()
}

// release gives memory back in the only safe order: first the kernel object,
// then the mapping.
func (r *Region) release() error {
	if err := r.mr.Close(); err != nil {
		return err
	}
	return r.mem.Close()
}

// Len returns the size in bytes.
func (r *Region) Len() int { return r.mr.Len() }

// Bytes returns the memory itself. It must not be touched after Close.
func (r *Region) Bytes() []byte { return r.mem.Bytes()[:r.Len():r.Len()] }

// All returns the whole region as a slice for operations.
func (r *Region) All() Slice { return Slice{r: r, n: r.Len()} }

// Slice returns n bytes from off. It panics when they are not inside the
// region, as slicing does.
func (r *Region) Slice(off, n int) Slice {
	if off < 0 || n < 0 || off > r.Len() || n > r.Len()-off {
		panic(fmt.Sprintf("cm: slice [%d:+%d] of a region of %d bytes", off, n, r.Len()))
	}
	return Slice{r: r, off: off, n: n}
}

// Remote returns the descriptor that lets the peer reach the region, as far
// as its access rights go.
func (r *Region) Remote() RemoteMemory {
	return RemoteMemory{Addr: r.mr.Addr(), Len: uint64(r.Len()), RKey: r.mr.RKey(), Access: r.access}
}

// A Slice is part of a region: what operations send, receive, read and write.
// It is a value; the zero Slice is empty.
type Slice struct {
	r   *Region
	off int
	n   int
}

// Bytes returns the memory itself. It must not be touched after the region is
// closed.
func (s Slice) Bytes() []byte {
	if s.r == nil {
		return nil
	}
	return s.r.Bytes()[s.off : s.off+s.n : s.off+s.n]
}

// Len returns the number of bytes.
func (s Slice) Len() int { return s.n }

// Remote returns the descriptor of just this part.
func (s Slice) Remote() RemoteMemory {
	if s.r == nil {
		return RemoteMemory{}
	}
	m := s.r.Remote()
	m.Addr += uint64(s.off)
	m.Len = uint64(s.n)
	return m
}

// sge is the slice as the device takes it.
func (s Slice) sge() uverbs.SGE {
	return uverbs.SGE{Addr: s.r.mr.Addr() + uint64(s.off), Length: uint32(s.n), LKey: s.r.mr.LKey()}
}

// check refuses memory that is closed or of another device before the device
// does, with an error that kills the connection.
func (s Slice) check(c *Conn) error {
	switch {
	case s.r == nil:
		return nil
	case s.r.closed.Load():
		return fmt.Errorf("memory of a closed region: %w", net.ErrClosed)
	case s.r.conn == c:
		return nil
	case s.r.conn.dev != c.dev:
		return fmt.Errorf("memory belongs to device %s, the connection to %s: %w",
			s.r.conn.dev.name(), c.dev.name(), syscall.EINVAL)
	case s.r.conn.isClosed():
		return fmt.Errorf("memory of a closed connection: %w", net.ErrClosed)
	}
	return nil
}
