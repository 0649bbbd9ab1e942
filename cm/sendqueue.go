package cm

import (
	"context"
	"fmt"
	"sync"
	"syscall"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs"
)

// A sendQueue keeps the operations that are under way, one slot each.
type sendQueue struct {
	slots []sendSlot
	free  chan uint32
	base  uint64 // of the work request IDs
}

// A sendSlot is one operation. Its memory is made once, so that an operation
// allocates nothing.
type sendSlot struct {
	wr   [1]uverbs.SendWR
	sges []uverbs.SGE
	done chan uverbs.WC // has room for the one completion

	mu        sync.Mutex
	abandoned bool // nobody waits any more; the completion frees the slot
}

func (q *sendQueue) init(key uint64, depth, maxSGE int) {
	q.base = key << keyShift
	q.slots, q.free = make([]sendSlot, depth), make(chan uint32, depth)
	for i := range q.slots {
		q.slots[i].sges = make([]uverbs.SGE, 0, maxSGE)
		q.slots[i].done = make(chan uverbs.WC, 1)
		q.free <- uint32(i)
	}
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
	if s.abandoned {
		s.abandoned = false
		q.free <- uint32(slot)
		return
	}
	select {
	case s.done <- *wc:
	default:
	}
}

// abandon gives up waiting for a slot. It reports false when the completion
// has arrived after all.
func (s *sendSlot) abandon() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.done) > 0 {
		return false
	}
	s.abandoned = true
	return true
}

// perform carries out one operation: it waits for a slot, posts, and waits
// for the completion. prepare fills the request of slot i.
func (c *Conn) perform(ctx context.Context, prepare func(i uint32, s *sendSlot) error) (uverbs.WC, error) {
	if err := c.Err(); err != nil {
		return uverbs.WC{}, err
	}
	if err := ctx.Err(); err != nil {
		return uverbs.WC{}, err // nothing is sent that nobody waits for
	}
	if c.iw.listening.Load() {
		if err := c.hearPeer(ctx); err != nil {
			return uverbs.WC{}, err
		}
	}
	i, err := await(ctx, c, c.sends.free)
	if err != nil {
		return uverbs.WC{}, err
	}
	s := &c.sends.slots[i]
	s.wr[0] = uverbs.SendWR{ID: c.sends.base | uint64(i), Flags: uverbs.SendSignaled}
	s.sges = s.sges[:0]
	if err := prepare(i, s); err != nil {
		c.sends.free <- i
		return uverbs.WC{}, err
	}
	s.wr[0].SGEs = s.sges
	if err := c.qp.PostSend(s.wr[:]...); err != nil {
		c.sends.free <- i
		return uverbs.WC{}, c.refused(ctx, err)
	}
	wc, err := await(ctx, c, s.done)
	if err != nil {
		if s.abandon() {
			return uverbs.WC{}, c.unanswered(s.wr[0].Opcode, err)
		}
		wc = <-s.done
	}
	c.sends.free <- i
	if wc.Status == abi.IB_WC_SUCCESS {
		return wc, nil
	}
	return wc, c.awaitEnd(ctx, c.wcError(&wc))
}

// refused explains why a request was not posted. On iWARP the queue pair learns of
// the connection's end first, and the event comes a moment later.
func (c *Conn) refused(ctx context.Context, err error) error {
	if ended := c.Err(); ended != nil {
		return ended
	}
	if isErrno(err, syscall.ENOTCONN) {
		c.suspect(signFlush, err)
		return c.awaitEnd(ctx, err)
	}
	return err
}

// gather puts slices into a request and returns their total length.
func (c *Conn) gather(s *sendSlot, slices []Slice) (total uint64, err error) {
	for _, sl := range slices {
		if err := sl.check(c); err != nil {
			return 0, err
		}
		if sl.n == 0 {
			continue
		}
		if len(s.sges) == cap(s.sges) {
			return 0, fmt.Errorf("%d slices: %w (Config.MaxSGE is %d)", len(slices), uverbs.ErrTooManySGEs, c.cfg.MaxSGE)
		}
		if total += uint64(sl.n); total > maxMessage {
			return 0, fmt.Errorf("%d bytes or more: at most %d fit into one operation: %w", total, uint64(maxMessage), syscall.EMSGSIZE)
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
