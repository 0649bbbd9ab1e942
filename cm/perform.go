package cm

import (
	"context"
	"errors"
	"syscall"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs"
)

// A postedError is the end of an operation whose request the device got: it may
// have been carried out, or may still be.
type postedError struct{ err error }

// Error is the text of the cause.
func (e *postedError) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e *postedError) Unwrap() error { return e.err }

// perform carries out one operation: it waits for a slot, posts, and waits
// for the completion. prepare fills the request of slot i. When the request was
// posted, an error is a *postedError.
func (c *Conn) perform(ctx context.Context, prepare func(i uint32, s *sendSlot) error) (uverbs.WC, error) {
	i, s, err := c.prepare(ctx, prepare)
	if err != nil {
		return uverbs.WC{}, err
	}
	posted, err := c.post(ctx, s)
	if !posted {
		c.sends.put(i)
		return uverbs.WC{}, err
	}
	opcode := s.wr[0].Opcode // the slot may be another's after abandon
	var wc uverbs.WC
	if err == nil {
		wc, err = await(ctx, c, s.done)
	}
	if err != nil {
		if c.sends.abandon(s) {
			return uverbs.WC{}, &postedError{c.unanswered(opcode, err)}
		}
		wc = <-s.done
	}
	c.sends.put(i)
	if wc.Status == abi.IB_WC_SUCCESS {
		return wc, nil
	}
	return wc, &postedError{c.awaitEnd(ctx, c.wcError(&wc))}
}

// prepare takes a slot and fills its request.
func (c *Conn) prepare(ctx context.Context, fill func(i uint32, s *sendSlot) error) (uint32, *sendSlot, error) {
	if err := c.Err(); err != nil {
		return 0, nil, err
	}
	if err := ctx.Err(); err != nil {
		return 0, nil, err // nothing is sent that nobody waits for
	}
	if c.iw.listening.Load() {
		if err := c.hearPeer(ctx); err != nil {
			return 0, nil, err
		}
	}
	i, err := await(ctx, c, c.sends.free)
	if err != nil {
		return 0, nil, err
	}
	s := &c.sends.slots[i]
	s.wr[0] = uverbs.SendWR{ID: c.sends.base | uint64(i), Flags: uverbs.SendSignaled}
	s.sges = s.sges[:0]
	if err := fill(i, s); err != nil {
		c.sends.put(i)
		return 0, nil, err
	}
	s.wr[0].SGEs = s.sges
	return i, s, nil
}

// post gives a slot's request to the device. posted reports whether it is in the
// queue, also beside an error: the device takes it with the next doorbell, so that
// the slot must not be used again before its completion.
func (c *Conn) post(ctx context.Context, s *sendSlot) (posted bool, err error) {
	err = c.qp.PostSend(s.wr[:]...)
	if err == nil {
		return true, nil
	}
	var rung *uverbs.PostError
	if !errors.As(err, &rung) {
		return false, c.refused(ctx, err)
	}
	return true, c.ringAgain(ctx, s, rung.Err)
}

// ringPause is the first pause before a doorbell that failed is rung again; each
// further one is twice as long, up to ringPauseMost.
const (
	ringPause     = time.Millisecond
	ringPauseMost = 100 * time.Millisecond
)

// ringAgain rings for a request in the queue that the device was not told of. What
// may pass, such as a lack of memory, is tried until ctx or the connection ends, or
// the doorbell of another operation has done it. After anything else the connection
// is of no more use: nobody knows when the device would find the request.
func (c *Conn) ringAgain(ctx context.Context, s *sendSlot, err error) error {
	for pause := ringPause; passes(err); pause = min(2*pause, ringPauseMost) {
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		case <-c.ended:
			return c.endErr
		}
		if len(s.done) > 0 {
			return nil
		}
		if err = c.qp.PostSend(); err == nil {
			return nil
		}
	}
	if ended := c.Err(); ended != nil {
		return ended
	}
	sign := signFailure
	if isErrno(err, syscall.ENOTCONN) {
		sign = signFlush
	}
	c.suspect(sign, err)
	return c.awaitEnd(ctx, err)
}

// passes reports whether a doorbell that failed may succeed when it is rung again
// (ib_uverbs_post_send allocates memory).
func passes(err error) bool {
	return isErrno(err, syscall.ENOMEM) || isErrno(err, syscall.EAGAIN) || isErrno(err, syscall.EINTR) || isErrno(err, syscall.EBUSY)
}

// refused explains why a request was not posted. On iWARP the queue pair learns of
// the connection's end first, and the event comes a moment later.
func (c *Conn) refused(ctx context.Context, err error) error {
	if ended := c.Err(); ended != nil {
		return ended
	}
	if isErrno(err, syscall.ENOTCONN) || errors.Is(err, ErrDeviceRemoved) {
		c.suspect(signFlush, err)
		return c.awaitEnd(ctx, err)
	}
	return err
}
