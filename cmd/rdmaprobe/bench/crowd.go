package bench

import (
	"runtime"
	"sync"
)

// A crowd is the loops of a process that measure at the same time.
type crowd struct {
	mu              sync.Mutex
	polling, others int
	before          int             // GOMAXPROCS before the first
	set             func(n int) int // runtime.GOMAXPROCS
}

var loops = crowd{set: runtime.GOMAXPROCS}

// enter is called when a loop begins, and what it returns when it has ended.
//
// While all loops poll, the Go scheduler has no more processors than there are loops.
// An idle one is of no use to them and costs time: whenever a loop begins a new slice
// (package timeslice), the scheduler wakes a thread to look for work there, which
// competes with what the loop waits for, and takes the loop over at times.
//
// A loop that waits in the kernel needs the idle one. Without it the runtime's monitor
// takes the processor from who has been in a system call for 20 microseconds.
func (c *crowd) enter(m Mode) (leave func()) {
	count := &c.others
	if m == Poll {
		count = &c.polling
	}
	c.change(count, 1)
	return func() { c.change(count, -1) }
}

func (c *crowd) change(count *int, by int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.polling+c.others == 0 {
		c.before = c.set(0)
	}
	*count += by
	n := c.before
	if c.others == 0 && c.polling > 0 {
		n = min(n, c.polling)
	}
	if n != c.set(0) { // which stops the world, but for 0
		c.set(n)
	}
}
