package cm

import "context"

// Drain returns when the device has done with the memory of all operations that
// returned before their requests had completed, which is when their context ended
// ([OpError.Posted]): the memory may then be used again, and its region closed. An
// operation that is drained may have been carried out. Operations of other
// goroutines that still wait are theirs to wait for.
//
// After the end of the connection the requests are flushed first. Drain may be
// called at any time and from any goroutine, and returns nil at once when nothing is
// left, as after Close. The error is that of ctx, in an *[OpError].
func (c *Conn) Drain(ctx context.Context) error {
	return c.opErrorOrNil("drain", c.drain(ctx))
}

func (c *Conn) drain(ctx context.Context) error {
	none := c.sends.left.wait()
	if none == nil {
		return nil
	}
	_ = c.qp.PostSend() // if the last doorbell failed, it is rung again
	c.cq.sleep(1)
	defer c.cq.sleep(-1)
	c.cq.pump(true)
	for ended := c.ended; ; {
		select {
		case <-none:
			return nil
		default:
		}
		select {
		case <-none:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-ended:
			ended = nil
			_ = c.qp.ToError() // fails when it is gone, and then nothing is left
			c.cq.pump(true)
		}
	}
}

// lose is for a queue pair that the kernel has destroyed: what was under way has
// ended, and no completion will say so.
func (q *sendQueue) lose() {
	for i := range q.slots {
		if q.slots[i].lose() {
			q.left.add(-1)
		}
	}
}

// lose reports whether the operation was one that nobody waits for.
func (s *sendSlot) lose() (abandoned bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	abandoned = s.abandoned
	s.lost, s.abandoned = true, false
	s.leaveRegions()
	return abandoned
}
