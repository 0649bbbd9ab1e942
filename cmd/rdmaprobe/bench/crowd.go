package bench

import (
	"os"
	"runtime"
	"sync"
)

// A crowd is the loops of a process that measure at the same time.
type crowd struct {
	mu              sync.Mutex
	polling, others int
	before          int             // GOMAXPROCS before the first
	set             func(n int) int // runtime.GOMAXPROCS
	reset           func(n int)     // what undoes it
}

var loops = crowd{set: runtime.GOMAXPROCS, reset: resetProcessors}

// resetProcessors lets the runtime follow changes of the processor quota again, which
// GOMAXPROCS ends, unless the user has said how many there shall be.
func resetProcessors(n int) {
	if os.Getenv("GOMAXPROCS") != "" {
		runtime.GOMAXPROCS(n)
		return
	}
	runtime.SetDefaultGOMAXPROCS()
}

// enter is called when a loop begins, and what it returns when it has ended.
//
// While all loops poll, the Go scheduler has no more processors than there are loops.
// An idle one is of no use to them and costs time: whenever a loop begins a new slice
// (package timeslice), the scheduler wakes a thread to look for work there, which
// competes with what the loop waits for, and takes the loop over at times.
//
// A loop that waits in the kernel needs the idle one. Without it the runtime's monitor
// takes the processor from who has been in a system call for 20 microseconds. (Of the
// doorbell of a small message it does not know: provider.QPBell.)
//
// Goroutines beside the loops run when one begins a new slice, some 100 times a second.
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
	switch now := c.set(0); { // to change it stops the world
	case n == now:
	case n == c.before:
		c.reset(n)
	default:
		c.set(n)
	}
}
