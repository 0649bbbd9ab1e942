package cm

import (
	"errors"
	"net"
)

// joinPD gives the connection a protection domain: that of Config.PD, or one of
// its own, so that no other peer reaches what is registered in it, whatever key
// it guesses. Queue pairs and memory work together only within one domain, so
// message buffers belong to it too.
func (c *Conn) joinPD() (err error) {
	if c.cfg.PD != nil {
		c.pd = c.cfg.PD.pd
		return nil // newConn has counted the connection
	}
	c.pd, err = c.dev.ctx.AllocPD()
	return err
}

// leavePD is for the end, after queue pair and memory.
func (c *Conn) leavePD() error {
	switch {
	case c.cfg.PD != nil:
		c.cfg.PD.drop(c)
		return nil
	case c.pd == nil:
		return nil
	}
	return c.pd.Close()
}

// deregister takes all memory from the device and leaves it mapped, because the
// application may be looking at it: at regions, and at messages.
func (c *Conn) deregister() error {
	err := c.regions.deregister(c.endErr) // set: tear-down begins after the end
	if c.buffers != nil {
		err = errors.Join(err, c.buffers.deregister())
	}
	return errors.Join(err, c.leavePD())
}

// unmap gives the message buffers back, once no message is lent. Regions are
// unmapped by their own Close.
func (c *Conn) unmap() error {
	c.mu.Lock()
	c.unmapping = true
	lent := c.lent
	c.mu.Unlock()
	if lent > 0 || c.buffers == nil {
		return nil
	}
	return c.buffers.unmap()
}

// lend counts a message that the application gets. After Close there are none.
func (c *Conn) lend() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return net.ErrClosed
	}
	c.lent++
	return nil
}

// takeBack ends a loan. The last one after Close unmaps.
func (c *Conn) takeBack() error {
	c.mu.Lock()
	c.lent--
	last := c.unmapping && c.lent == 0
	c.mu.Unlock()
	if !last {
		return nil
	}
	return c.buffers.unmap()
}
