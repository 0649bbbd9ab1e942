package bench

import (
	"context"
	"errors"
	"net"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/purerdma/rdma/uverbs"
)

// A waiter takes completions off a queue the way its mode says, for the one loop of
// a side. It allocates nothing.
type waiter struct {
	mode    Mode
	spin    time.Duration
	stopped *atomic.Bool
	ctx     context.Context
	slice   time.Time // when the loop's slice of time began; see breathe
}

// looks is how many polls come between two looks at the clock and at the flag.
const looks = 64

// take returns at least one completion, the first failure among them, or errStopped.
func (w *waiter) take(cq *uverbs.CQ, wcs []uverbs.WC) (int, error) {
	n, err := w.await(cq, wcs)
	if err != nil {
		return n, err
	}
	return n, failed(wcs[:n])
}

// await is take that does not look at what it takes.
func (w *waiter) await(cq *uverbs.CQ, wcs []uverbs.WC) (int, error) {
	if w.stopped.Load() {
		return 0, errStopped // also while there is something to take each time
	}
	w.breathe()
	if w.mode != Event {
		if n, err := w.poll(cq, wcs); n > 0 || err != nil {
			return n, err
		}
	}
	n, err := cq.Wait(w.ctx, wcs)
	if err != nil && (errors.Is(err, context.Canceled) || errors.Is(err, net.ErrClosed)) {
		err = errStopped
	}
	return n, err
}

// poll looks until something comes, or for as long as the mode says: then it
// returns 0.
func (w *waiter) poll(cq *uverbs.CQ, wcs []uverbs.WC) (int, error) {
	var end time.Time
	for {
		for range looks {
			if n, err := cq.Poll(wcs); n > 0 || err != nil {
				return n, err
			}
		}
		if w.stopped.Load() {
			return 0, errStopped
		}
		w.breathe()
		if w.mode != Adaptive {
			continue
		}
		if end.IsZero() {
			end = time.Now().Add(w.spin)
		} else if time.Now().After(end) {
			return 0, nil
		}
	}
}

// slice is how long a loop goes on before it lets the scheduler begin a new slice
// of time: little less than the 10 ms between two looks of the runtime's monitor.
const slice = 8 * time.Millisecond

// breathe begins a new slice now and then. After 10 milliseconds of one the
// runtime's monitor would send a signal, or take the processor away if the loop is in
// a system call just then, and be busy looking for a while: a thread that competes
// with what the loop waits for. For the same reason the loop is not bound to its
// thread, where each new slice costs two changes of thread.
func (w *waiter) breathe() {
	if now := time.Now(); now.Sub(w.slice) > slice {
		runtime.Gosched()
		w.slice = now
	}
}

// failed returns the first failure among completions.
func failed(wcs []uverbs.WC) error {
	for i := range wcs {
		if err := wcs[i].Err(); err != nil {
			return err
		}
	}
	return nil
}
