package cm

import (
	"context"
	"sync"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs"
)

// completions is the state of reading a connection's completion queue.
// Whoever waits reads it, on behalf of all.
type completions struct {
	mu       sync.Mutex
	batch    [16]uverbs.WC
	armed    bool // the next completion wakes the completion channel
	sleepers int  // goroutines that need to be woken
}

// recvBit marks the work request IDs of receives; the rest is the slot.
const recvBit = 1 << 63

// pump reads what has completed. With arm it also makes the next completion
// raise an event, and reads once more, because a completion that slipped in
// before raises none.
func (c *Conn) pump(arm bool) {
	c.completions.mu.Lock()
	defer c.completions.mu.Unlock()
	c.pumpLocked(arm)
}

func (c *Conn) pumpLocked(arm bool) {
	c.drain()
	if !arm || c.completions.armed {
		return
	}
	if err := c.cq.Arm(); err != nil {
		c.end(err)
		return
	}
	c.completions.armed = true
	c.drain()
}

// drain takes everything off the queue. The caller holds completions.mu.
func (c *Conn) drain() {
	for {
		n, err := c.cq.Poll(c.completions.batch[:])
		for i := range n {
			c.complete(&c.completions.batch[i])
		}
		if err != nil {
			c.end(err)
			return
		}
		if n < len(c.completions.batch) {
			return
		}
	}
}

// completionEvent runs in the goroutine of the device's completion channel.
func (c *Conn) completionEvent() {
	c.completions.mu.Lock()
	defer c.completions.mu.Unlock()
	c.completions.armed = false
	c.pumpLocked(c.completions.sleepers > 0)
}

// complete hands one completion to whom it belongs.
func (c *Conn) complete(wc *uverbs.WC) {
	if wc.Status != abi.IB_WC_SUCCESS && wc.Status != abi.IB_WC_WR_FLUSH_ERR {
		// The queue pair is in the error state now: this is the cause, and
		// flushed requests only its consequence.
		c.end(wc.Err())
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
	c.pump(false)
	select {
	case v = <-ready:
		return v, nil
	default:
	}
	if err := ctx.Err(); err != nil {
		return v, err
	}
	c.sleep(1)
	defer c.sleep(-1)
	c.pump(true)
	select {
	case v = <-ready:
		return v, nil
	case <-ctx.Done():
		return v, ctx.Err()
	case <-c.ended:
	}
	// What completed before the end still counts, even if nobody has read it.
	c.pump(false)
	select {
	case v = <-ready:
		return v, nil
	default:
		return v, c.endErr
	}
}

func (c *Conn) sleep(n int) {
	c.completions.mu.Lock()
	c.completions.sleepers += n
	c.completions.mu.Unlock()
}
