package cm

import (
	"context"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs"
)

// complete takes a completion of this connection. The completion queue's lock
// is held; nothing may block.
func (c *Conn) complete(wc *uverbs.WC) {
	switch {
	case wc.Status == abi.IB_WC_SUCCESS:
		if wc.ID&recvBit != 0 || !c.dev.iwarp && !isProbe(wc) { // an iWARP send needs no answer
			c.alive.hear()
		}
	case wc.Status == abi.IB_WC_WR_FLUSH_ERR || isNudge(wc):
		c.suspect(signFlush, c.wcError(wc)) // a nudge says nothing of the cause
	default:
		// The queue pair is in the error state now: this is the cause, and
		// flushed requests only its consequence.
		c.suspect(signFailure, c.wcError(wc))
	}
	switch {
	case isNudge(wc):
		return
	case isProbe(wc):
		c.peerAnswered()
		return
	}
	if wc.ID&recvBit != 0 {
		c.recvs.complete(wc)
		return
	}
	c.sends.complete(wc)
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
