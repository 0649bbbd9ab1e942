package cm

// deregister takes all memory from the device and leaves it mapped.
func (c *Conn) deregister() error {
	c.memory.Lock()
	c.sealed = true
	c.memory.Unlock()
	var first error
	for _, r := range c.liveRegions() {
		if err := r.mr.Close(); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// unmap gives all memory back, once the device has no part in it any more.
func (c *Conn) unmap() error {
	c.unmapOnce.Do(func() {
		c.memory.Lock()
		c.unmapped = true
		c.memory.Unlock()
		for _, r := range c.liveRegions() {
			if err := r.Close(); err != nil && c.unmapErr == nil {
				c.unmapErr = err
			}
		}
		if c.qpLives {
			return // the device may write to the buffers: nobody gets them
		}
		for _, p := range c.buffers() {
			if err := c.dev.slabs.put(p); err != nil && c.unmapErr == nil {
				c.unmapErr = err
			}
		}
	})
	return c.unmapErr
}

// buffers returns the memory of this package's own.
func (c *Conn) buffers() []*piece {
	var list []*piece
	if c.recvs.buffers != nil {
		list = append(list, c.recvs.buffers)
	}
	c.sends.mu.Lock()
	defer c.sends.mu.Unlock()
	if c.sends.buffers != nil {
		list = append(list, c.sends.buffers)
	}
	return list
}

// useMemory admits the caller to the connection's memory until it calls done.
// After the end it says why not.
func (c *Conn) useMemory() (done func(), err error) {
	c.memory.RLock()
	if c.sealed {
		c.memory.RUnlock()
		return nil, c.endErr // set: tear-down begins after the end
	}
	return c.memory.RUnlock, nil
}

func (c *Conn) liveRegions() []*Region {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := make([]*Region, 0, len(c.regions))
	for r := range c.regions {
		list = append(list, r)
	}
	return list
}

// adoptRegion makes Close close r.
func (c *Conn) adoptRegion(r *Region) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.regions[r] = struct{}{}
}

// dropRegion reports whether r was still the connection's to close.
func (c *Conn) dropRegion(r *Region) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.regions[r]
	delete(c.regions, r)
	return ok
}
