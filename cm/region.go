package cm

import (
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/purerdma/rdma/uverbs"
)

// A Region is memory that the connection's device may read and write, and
// that the peer may too once it was told a descriptor ([Region.Remote]). It
// lives outside the Go heap, and is mapped from Alloc to Close, whatever ends
// meanwhile. Methods are safe for concurrent use.
//
// Peers reach a region only through connections of its protection domain. That
// of Conn.Alloc is the connection's own, unless Config.PD names a shared one;
// that of PD.Alloc is reached through every connection with that PD.
type Region struct {
	owner  *regionSet
	mem    *uverbs.Memory
	reg    *registration
	access Access
	use    regionUse
	left   bool // the owner has ended; guarded by owner.mu

	closing sync.Mutex  // held by the one Close that is at work
	closed  atomic.Bool // set under closing
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
// and counts against RLIMIT_MEMLOCK.
//
// The caller closes the region. When the connection ends before, the device and
// so the peer reach the region no more and it is not locked any longer, but it
// stays mapped, and may be read and written, until its own Close.
//
// The error matches what ended the connection, syscall.EINVAL when n is not
// positive, and otherwise is that of [uverbs.NewMemory] or [uverbs.PD.RegMR].
func (c *Conn) Alloc(n int, access Access) (*Region, error) {
	r, err := c.regions.alloc(c.pd, n, access)
	if err != nil {
		return nil, c.opError("alloc", err)
	}
	return r, nil
}

// Close takes the memory from the device and unmaps it, in this order. Slices of it
// must not be touched afterwards. It may be called more than once and from any
// goroutine.
//
// While an operation of a connection that works is under way on the region, Close
// does nothing: the error matches syscall.EBUSY. [Conn.Drain] waits for
// operations whose context has ended.
func (r *Region) Close() error {
	r.closing.Lock()
	defer r.closing.Unlock()
	if !r.closed.Swap(true) { // no operation begins from here on
		if err := r.use.check(r.Len()); err != nil {
			r.closed.Store(false)
			return err
		}
	}
	if err := r.reg.end(); err != nil {
		return err
	}
	r.owner.forget(r)
	return r.mem.Close()
}

// Len returns the size in bytes.
func (r *Region) Len() int { return r.mem.Len() }

// Bytes returns the memory itself, nil after Close. A slice that was returned
// before must not be touched after Close.
func (r *Region) Bytes() []byte {
	if r.closed.Load() {
		return nil
	}
	return r.mem.Bytes()
}

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
	return RemoteMemory{Addr: r.reg.mr.Addr(), Len: uint64(r.Len()), RKey: r.reg.mr.RKey(), Access: r.access}
}

// A Slice is part of a region: what operations send, receive, read and write.
// It is a value; the zero Slice is empty.
type Slice struct {
	r   *Region
	off int
	n   int
}

// Bytes returns the memory itself, nil after the region's Close. A slice that
// was returned before must not be touched after that.
func (s Slice) Bytes() []byte {
	if s.r == nil {
		return nil
	}
	all := s.r.Bytes()
	if all == nil {
		return nil
	}
	return all[s.off : s.off+s.n : s.off+s.n]
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
	mr := s.r.reg.mr
	return uverbs.SGE{Addr: mr.Addr() + uint64(s.off), Length: uint32(s.n), LKey: mr.LKey()}
}

// check refuses memory that is closed, or not the connection's to use, before
// the device does, with an error that kills the connection. Memory of another
// connection is refused also within one protection domain: it would go when
// that one ends.
func (s Slice) check(c *Conn) error {
	switch {
	case s.r == nil:
		return nil
	case s.r.closed.Load():
		return fmt.Errorf("memory of a closed region: %w", net.ErrClosed)
	case s.r.owner == &c.regions, c.cfg.PD != nil && s.r.owner == &c.cfg.PD.regions:
		return nil
	}
	return fmt.Errorf("memory belongs to another connection or PD: for memory that several connections use "+
		"see OpenPD, PD.Alloc and Config.PD: %w", syscall.EINVAL)
}
