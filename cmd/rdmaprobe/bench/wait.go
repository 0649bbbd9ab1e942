package bench

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"time"

	"github.com/purerdma/rdma/internal/timeslice"
	"github.com/purerdma/rdma/uverbs"
)

// A waiter takes completions off a queue the way its mode says, for the one loop of
// a side, which is not bound to its thread: there each new slice would cost two
// changes of thread. It allocates nothing.
type waiter struct {
	mode    Mode
	spin    time.Duration
	stopped *atomic.Bool
	ctx     context.Context
	slice   timeslice.Slice
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
	w.slice.Breathe()
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
		w.slice.Breathe()
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

// failed returns the first failure among completions.
func failed(wcs []uverbs.WC) error {
	for i := range wcs {
		if err := wcs[i].Err(); err != nil {
			return err
		}
	}
	return nil
}
