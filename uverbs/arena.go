package uverbs

import (
	"fmt"
	"math"
	"os"
	"slices"
	"sync"
)

// ArenaConfig says where an arena takes memory from. The zero value is usable.
type ArenaConfig struct {
	// Access of the memory regions; AccessLocalWrite is added to it.
	Access Access

	// ChunkSize is how many bytes are mapped and registered at once; 0 becomes
	// 1 MiB. It is rounded up to whole pages. A buffer of more than a quarter of
	// it gets memory and a region of its own.
	ChunkSize int

	// Limit is the most the arena maps; 0 means no limit. It bounds what is
	// pinned, which RLIMIT_MEMLOCK bounds too.
	Limit int

	// HugePageSize, TransparentHuge and Shared are those of [MemoryConfig].
	HugePageSize    int
	TransparentHuge bool
	Shared          bool
}

// An Arena lends pieces of registered memory of one protection domain. It
// registers large chunks and so saves a system call, and whole pages, for each
// small buffer. Methods are safe for concurrent use.
type Arena struct {
	life life
	pd   *PD
	cfg  ArenaConfig

	mu     sync.Mutex
	chunks []*chunk // the oldest is tried first
	live   map[*Buffer]struct{}
	mapped int
}

const (
	defaultChunk = 1 << 20
	ownShare     = 4 // buffers above this fraction of a chunk get their own

	// bufferAlign keeps buffers in different cache lines, and atomics aligned.
	bufferAlign = 64

	// maxRoom leaves room to round sizes up; no machine has so much memory.
	maxRoom = math.MaxInt / 4
)

// NewArena makes an arena that is still empty: the first Alloc asks the kernel
// for memory. The error matches syscall.EINVAL for a size that is negative or
// absurdly large, and net.ErrClosed when the protection domain is closed.
func (pd *PD) NewArena(cfg ArenaConfig) (*Arena, error) {
	if cfg.ChunkSize < 0 || cfg.Limit < 0 || cfg.HugePageSize < 0 || max(cfg.ChunkSize, cfg.HugePageSize) > maxRoom {
		return nil, pd.c.fail("new arena", pd.life.name, invalid("ChunkSize %d, Limit %d, HugePageSize %d", cfg.ChunkSize, cfg.Limit, cfg.HugePageSize))
	}
	if cfg.ChunkSize == 0 {
		cfg.ChunkSize = defaultChunk
	}
	cfg.Access |= AccessLocalWrite
	a := &Arena{pd: pd, cfg: cfg, live: make(map[*Buffer]struct{})}
	a.cfg.ChunkSize = a.pages(cfg.ChunkSize)
	if err := a.life.begin(pd.c.dev.Name, "arena of "+pd.life.name, &pd.life); err != nil {
		return nil, err
	}
	return a, nil
}

// pages rounds up to whole pages.
func (a *Arena) pages(n int) int { return roundUp(n, max(a.cfg.HugePageSize, os.Getpagesize())) }

// PD returns the protection domain of the arena.
func (a *Arena) PD() *PD { return a.pd }

// Mapped returns how many bytes the arena holds at present, lent or not.
func (a *Arena) Mapped() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.mapped
}

// Alloc lends n zeroed bytes, at an address that is a multiple of 64. It makes a
// system call only when no chunk has room; finding room takes time that grows
// with the number of gaps between buffers.
//
// The error matches syscall.EINVAL when n is not positive or absurdly large,
// [ErrArenaFull] when the arena's limit is reached, net.ErrClosed after
// [Context.Abandon], and is otherwise that of [AllocMemory] or [PD.RegMR].
func (a *Arena) Alloc(n int) (*Buffer, error) {
	if n <= 0 || n > maxRoom {
		return nil, a.pd.c.fail("allocate", fmt.Sprintf("%d bytes of %s", n, a.life.name), errInvalid)
	}
	if err := a.life.enter(); err != nil {
		return nil, err
	}
	defer a.life.leave()
	a.mu.Lock()
	defer a.mu.Unlock()
	// The kernel may still have queue pairs of an abandoned context, which write to
	// buffers that were given back since.
	if l := &a.pd.c.life; l.isEnding() {
		return nil, l.closed
	}
	room := roundUp(n, bufferAlign)
	c, at, err := a.find(room)
	if err != nil {
		return nil, err
	}
	b := &Buffer{arena: a, chunk: c, at: at, room: room}
	b.whole = Slice{buf: b, mr: c.mr, off: at, n: n}
	a.live[b] = struct{}{}
	return b, nil
}

// find returns a piece of a chunk with room, or of a new one.
func (a *Arena) find(room int) (*chunk, int, error) {
	size := a.cfg.ChunkSize
	if room > size/ownShare {
		size = a.pages(room)
	} else {
		for _, c := range a.chunks {
			if !c.lives() {
				continue
			}
			if at, ok := c.take(room); ok {
				return c, at, nil
			}
		}
	}
	a.sweep()
	c, err := a.grow(size)
	if err != nil {
		return nil, 0, err
	}
	at, _ := c.take(room) // a new chunk is large enough
	return c, at, nil
}

// sweep tries again to give dead chunks back that nobody uses.
func (a *Arena) sweep() {
	for _, c := range slices.Clone(a.chunks) {
		if !c.lives() && c.empty() {
			_ = a.drop(c) // Close tries again, and says why not
		}
	}
}

// grow maps and registers a chunk.
func (a *Arena) grow(size int) (*chunk, error) {
	if a.cfg.Limit > 0 && a.mapped+size > a.cfg.Limit {
		return nil, a.pd.c.fail("allocate", a.life.name,
			fmt.Errorf("%w: %d bytes are mapped, %d more are needed, Limit is %d", ErrArenaFull, a.mapped, size, a.cfg.Limit))
	}
	mem, err := AllocMemory(MemoryConfig{
		Size: size, HugePageSize: a.cfg.HugePageSize, TransparentHuge: a.cfg.TransparentHuge,
		Shared: a.cfg.Shared, Name: "rdma-arena",
	})
	if err != nil {
		return nil, err
	}
	mr, err := a.pd.RegMR(mem, a.cfg.Access)
	if err != nil {
		_ = mem.Close() // nothing uses it; the first failure is the one to tell
		return nil, err
	}
	c := newChunk(mem, mr)
	a.chunks = append(a.chunks, c)
	a.mapped += size
	return c, nil
}

// giveBack takes a buffer back. It keeps one empty chunk of the usual size, so
// that a buffer lent and returned in turn costs no registration.
func (a *Arena) giveBack(b *Buffer) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.live, b)
	b.chunk.put(b.at, b.room)
	usual := b.chunk.lives() && b.chunk.size() == a.cfg.ChunkSize
	if !b.chunk.empty() || usual && !a.hasSpare(b.chunk) {
		return nil
	}
	return a.drop(b.chunk)
}

// hasSpare reports whether a chunk other than c is empty, of the usual size, and
// can be lent from.
func (a *Arena) hasSpare(c *chunk) bool {
	return slices.ContainsFunc(a.chunks, func(x *chunk) bool {
		return x != c && x.lives() && x.empty() && x.size() == a.cfg.ChunkSize
	})
}

// drop gives an empty chunk back to the system. When that fails the chunk stays,
// and Close of the arena tries again.
func (a *Arena) drop(c *chunk) error {
	if err := c.close(); err != nil {
		return err
	}
	a.chunks = slices.DeleteFunc(a.chunks, func(x *chunk) bool { return x == c })
	a.mapped -= c.size()
	return nil
}

// String returns "arena of " and the protection domain.
func (a *Arena) String() string { return a.life.name }

// Close ends the registrations and unmaps the memory. While buffers are lent,
// it returns a *[BusyError] that names them. It may be called more than once
// and from any goroutine.
func (a *Arena) Close() error {
	if err := a.busy(); err != nil {
		return err
	}
	return a.life.close(a.destroy, nil)
}

// busy names the buffers that are lent, up to a number one can read.
func (a *Arena) busy() error {
	const named = 8
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.live) == 0 {
		return nil
	}
	e := &BusyError{Device: a.pd.c.dev.Name, Object: a.life.name}
	for b := range a.live {
		if len(e.Users) == named {
			e.Users = append(e.Users, fmt.Sprintf("%d more buffers", len(a.live)-named))
			break
		}
		e.Users = append(e.Users, fmt.Sprintf("a buffer of %d bytes", b.whole.n))
	}
	return e
}

// destroy runs when nobody allocates any more; a buffer may have been lent just
// before.
func (a *Arena) destroy() error {
	if err := a.busy(); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for len(a.chunks) > 0 {
		if err := a.drop(a.chunks[0]); err != nil {
			return err
		}
	}
	return nil
}
