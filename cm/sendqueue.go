package cm

import (
	"fmt"
	"sync"
	"syscall"

	"github.com/purerdma/rdma/uverbs"
)

// A sendQueue keeps the operations that are under way, one slot each.
type sendQueue struct {
	slots []sendSlot
	free  chan uint32
	base  uint64 // of the work request IDs
	left  tally  // operations that nobody waits for and that the device has not done with
}

// A sendSlot is one operation. Its memory is made once, so that an operation
// allocates nothing.
type sendSlot struct {
	wr   [1]uverbs.SendWR
	sges []uverbs.SGE
	done chan uverbs.WC // has room for the one completion

	mu        sync.Mutex
	parts     []part // of regions; the device has them until the completion
	abandoned bool   // nobody waits any more; the completion frees the slot
	lost      bool   // the queue pair is gone; no completion frees the slot
}

func (q *sendQueue) init(key uint64, depth, maxSGE int) {
	q.base = key << keyShift
	q.slots, q.free = make([]sendSlot, depth), make(chan uint32, depth)
	for i := range q.slots {
		q.slots[i].sges = make([]uverbs.SGE, 0, maxSGE)
		q.slots[i].parts = make([]part, 0, maxSGE)
		q.slots[i].done = make(chan uverbs.WC, 1)
		q.free <- uint32(i)
	}
}

// put gives a slot back whose request the device has not, or not any more.
func (q *sendQueue) put(i uint32) {
	s := &q.slots[i]
	s.mu.Lock()
	s.leaveRegions()
	s.mu.Unlock()
	q.free <- i
}

// complete delivers a completion. It does not block: a slot has one operation
// at a time. IDs come back through memory shared with the kernel, so they are
// checked.
func (q *sendQueue) complete(wc *uverbs.WC) {
	slot := wc.ID & operation
	if slot >= uint64(len(q.slots)) {
		return
	}
	s := &q.slots[slot]
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lost {
		return
	}
	if s.abandoned {
		s.abandoned = false
		s.leaveRegions()
		q.free <- uint32(slot)
		q.left.add(-1)
		return
	}
	select {
	case s.done <- *wc:
	default:
	}
}

// abandon gives up waiting for a slot. It reports false when the completion
// has arrived after all.
func (q *sendQueue) abandon(s *sendSlot) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.done) > 0 {
		return false
	}
	if s.lost {
		return true
	}
	s.abandoned = true
	s.keepRegions()
	q.left.add(1)
	return true
}

// gather puts slices into a request and returns their total length.
func (c *Conn) gather(s *sendSlot, slices []Slice) (total uint64, err error) {
	for _, sl := range slices {
		if sl.n == 0 {
			if err := sl.check(c); err != nil {
				return 0, err
			}
			continue
		}
		if len(s.sges) == cap(s.sges) {
			return 0, fmt.Errorf("%d slices: %w (Config.MaxSGE is %d)", len(slices), uverbs.ErrTooManySGEs, c.cfg.MaxSGE)
		}
		if total += uint64(sl.n); total > maxMessage {
			return 0, fmt.Errorf("%d bytes or more: at most %d fit into one operation: %w", total, uint64(maxMessage), syscall.EMSGSIZE)
		}
		if err := s.enterRegion(c, sl); err != nil {
			return 0, err
		}
		s.sges = append(s.sges, sl.sge())
	}
	return total, nil
}

// maxMessage is the longest message that the drivers take: one byte less than the
// InfiniBand transport has, because kernels keep the length in an int.
const maxMessage = 1<<31 - 1

// copyOut puts Go memory into a request: into the request itself when it is
// short, else into the slot's own piece of registered memory.
func (c *Conn) copyOut(i uint32, s *sendSlot, p []byte) error {
	if len(p) <= c.cfg.MaxInline {
		s.wr[0].Inline = p
		return nil
	}
	if len(p) > c.cfg.RecvSize {
		return fmt.Errorf("message of %d bytes: Config.RecvSize is %d: %w", len(p), c.cfg.RecvSize, syscall.EMSGSIZE)
	}
	leave, err := c.regions.enter()
	if err != nil {
		return err
	}
	defer leave()
	mr, err := c.buffers.forSend()
	if err != nil {
		return err
	}
	off := int(i) * c.cfg.RecvSize
	copy(mr.Bytes()[off:], p)
	s.sges = append(s.sges, mr.SGE(off, len(p)))
	return nil
}
