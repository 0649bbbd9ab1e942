package cm

import (
	"context"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs"
)

// complete takes a completion of this connection. The completion queue's lock
// is held; nothing may block.
func (c *Conn) complete(wc *uverbs.WC) {
	if isNudge(wc) {
		return // it fails when the connection ends, of which the event tells why
	}
	if wc.Status != abi.IB_WC_SUCCESS && wc.Status != abi.IB_WC_WR_FLUSH_ERR {
		// The queue pair is in the error state now: this is the cause, and
		// flushed requests only its consequence.
		c.end(wcError(wc))
	}
	if wc.ID&recvBit != 0 {
		c.recvs.complete(wc)
		return
	}
	c.sends.complete(wc)
}

// wcError returns a failed request as an error that names the operation's slot
// alone; the key says nothing to anybody.
func wcError(wc *uverbs.WC) error {
	own := *wc
	own.ID &= operation
	return own.Err()
}

// await returns what comes out of ready. Until then it reads completions, and
// sleeps when there are none.
func await[T any](ctx context.Context, c *Conn, ready <-chan T) (v T, err error) {
	select {
	case v = <-ready:
		return v, nil
	default:
	}
	c.cq.pump(false)
	select {
	case v = <-ready:
		return v, nil
	default:
	}
	if err := ctx.Err(); err != nil {
		return v, err
	}
	c.cq.sleep(1)
	defer c.cq.sleep(-1)
	c.cq.pump(true)
	select {
	case v = <-ready:
		return v, nil
	case <-ctx.Done():
		return v, ctx.Err()
	case <-c.ended:
	}
	// What completed before the end still counts, even if nobody has read it.
	c.cq.pump(false)
	select {
	case v = <-ready:
		return v, nil
	default:
		return v, c.endErr
	}
}
