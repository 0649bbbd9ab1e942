package provider

import (
	"runtime"
	"sync/atomic"
	"time"
)

// A Latch is a lock that is held for less time than it takes to go to sleep, but for
// the rare changes of a queue. So who finds it held lets others run and tries again, as
// in C, and locking takes a dozen instructions less than with a sync.Mutex.
type Latch struct {
	Held uint32 // 1 while it is; only by sync/atomic
}

// Lock takes the lock.
func (l *Latch) Lock() {
	if atomic.SwapUint32(&l.Held, 1) != 0 {
		l.Wait()
	}
}

// Wait takes the lock when it becomes free. It sleeps if that takes long, up to a
// millisecond at a time: who has it may need the processor, or be in a system call that
// changes the queue.
//
// Nobody hands the lock over. Who wants to change a queue that others poll without a
// pause finds it free soon, though, as they hold it for part of their time only, also
// when a single processor interrupts them somewhere.
//
//go:noinline
func (l *Latch) Wait() {
	pause := 20 * time.Microsecond
	for tries := 0; atomic.SwapUint32(&l.Held, 1) != 0; tries++ {
		if tries < 100 {
			runtime.Gosched()
		} else {
			time.Sleep(pause)
			pause = min(2*pause, time.Millisecond)
		}
	}
}

// Unlock releases the lock.
func (l *Latch) Unlock() { atomic.StoreUint32(&l.Held, 0) }

// A Gate is the lock under which a completion queue is polled, and the end of that.
// Drivers embed it. They take it in Poll, which for the core would be one more call:
// as it is, the core's own Poll is so small that the compiler puts it in place.
//
// Fields are for a Poll in which the methods are spelled out: of each that the compiler
// puts in place a NOP remains.
type Gate struct {
	Latch
	Why error // the error of End, or nil
}

// End makes Poll return err when it finds nothing. The caller holds the lock.
func (g *Gate) End(err error) { g.Why = err }

// Ended returns the error of End, or nil. The caller holds the lock.
func (g *Gate) Ended() error { return g.Why }
