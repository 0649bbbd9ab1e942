package uverbs

// FreeBells returns how many commands of the context's own memory are free.
func FreeBells(c *Context) int {
	c.bells.mu.Lock()
	defer c.bells.mu.Unlock()
	return len(c.bells.free)
}

// SetSysfs makes a device look for /sys below a folder of a test.
func SetSysfs(d *Device, root string) {
	h := realHost()
	h.root = root
	d.host = h
}

// PassOn is what a waiter does when it leaves.
func PassOn(cq *CQ) {
	cq.waiters.Add(1)
	cq.passOn()
}

// Drain takes the events that nobody sleeps for.
func Drain(ch *CompChannel) { ch.drain() }
