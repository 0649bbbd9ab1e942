package cm

import (
	"sync"

	"github.com/purerdma/rdma/uverbs"
)

// slabs is the registered memory of a device from which connections get their
// message buffers. Registering is a system call and pins memory, so several
// connections share one registration.
type slabs struct {
	pd *uverbs.PD

	mu   sync.Mutex
	list []*slab
}

// A slab is one registration, cut into pieces of equal size.
type slab struct {
	mem  *uverbs.Memory
	mr   *uverbs.MR
	size int   // of a piece
	free []int // offsets of pieces that nobody has
	lent int
}

// A piece is one connection's part of a slab.
type piece struct {
	slab *slab
	off  int
}

// largestSlab is the most pieces of a slab. The first slab of a size has one,
// and each further one twice as many, so that programs with few connections
// pin little.
const largestSlab = 16

// get lends a piece of n bytes.
func (s *slabs) get(n int) (*piece, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	pieces := 1
	for _, sl := range s.list {
		if sl.size != n {
			continue
		}
		if len(sl.free) > 0 {
			return sl.lend(), nil
		}
		pieces = min(2*sl.lent, largestSlab)
	}
	sl, err := s.add(n, pieces)
	if err != nil && pieces > 1 {
		sl, err = s.add(n, 1) // near the limit of locked memory
	}
	if err != nil {
		return nil, err
	}
	return sl.lend(), nil
}

func (s *slabs) add(size, pieces int) (*slab, error) {
	mem, err := uverbs.NewMemory(size * pieces)
	if err != nil {
		return nil, err
	}
	mr, err := s.pd.RegMR(mem, uverbs.AccessLocalWrite)
	if err != nil {
		_ = mem.Close()
		return nil, err
	}
	sl := &slab{mem: mem, mr: mr, size: size}
	for i := range pieces {
		sl.free = append(sl.free, (pieces-1-i)*size)
	}
	s.list = append(s.list, sl)
	return sl, nil
}

func (sl *slab) lend() *piece {
	off := sl.free[len(sl.free)-1]
	sl.free = sl.free[:len(sl.free)-1]
	sl.lent++
	return &piece{slab: sl, off: off}
}

// put takes a piece back that neither the device nor the application uses any
// more. A slab nobody uses goes.
func (s *slabs) put(p *piece) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	sl := p.slab
	clear(p.bytes(0, sl.size)) // no message of one connection reaches another
	sl.free = append(sl.free, p.off)
	sl.lent--
	if sl.lent > 0 {
		return nil
	}
	for i := range s.list {
		if s.list[i] == sl {
			s.list = append(s.list[:i], s.list[i+1:]...)
			break
		}
	}
	return sl.release()
}

// release gives memory back in the only safe order. Closing a region twice is
// harmless.
func (sl *slab) release() error {
	if err := sl.mr.Close(); err != nil {
		return err
	}
	return sl.mem.Close()
}

// deregister takes all memory from the device and leaves mapped what is lent.
func (s *slabs) deregister() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, sl := range s.list {
		_ = sl.mr.Close() // fails only with the device, which takes the region along
	}
}

// bytes returns n bytes from off of the piece.
func (p *piece) bytes(off, n int) []byte {
	lo := p.off + off
	return p.slab.mem.Bytes()[lo : lo+n : lo+n]
}

// sge is n bytes from off as the device takes them.
func (p *piece) sge(off, n int) uverbs.SGE { return p.slab.mr.SGE(p.off+off, n) }
