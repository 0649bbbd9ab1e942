package uverbs

import (
	"context"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/purerdma/rdma/internal/timeslice"
)

// Arm asks for one event at the next completion (REQ_NOTIFY_CQ). Completions
// that are in the queue already cause none: after Arm, poll once more before
// sleeping. [CQ.Wait] does all that. Arm allocates nothing.
//
// Without a channel there are no events; the error then matches
// syscall.EINVAL.
func (cq *CQ) Arm() error { return cq.arm(false) }

// ArmSolicited is Arm for completions of receives that the sender marked
// SendSolicited, and for failures.
func (cq *CQ) ArmSolicited() error { return cq.arm(true) }

func (cq *CQ) arm(solicitedOnly bool) error {
	if cq.channel == nil {
		return cq.c.fail(cmdReqNotifyCQ.name, cq.life.name+" without completion channel", syscall.EINVAL)
	}
	if err := cq.life.enter(); err != nil {
		return err
	}
	defer cq.life.leave()
	return cq.ring.Arm(solicitedOnly)
}

// event runs in the channel's goroutine, or in the waiter's that reads the channel.
func (cq *CQ) event() {
	cq.signal()
	if cq.notify != nil {
		cq.notify()
	}
}

func (cq *CQ) signal() {
	select {
	case cq.wake <- struct{}{}:
	default:
	}
}

// woken takes the token of an event, if there is one.
func (cq *CQ) woken() bool {
	select {
	case <-cq.wake:
		return true
	default:
		return false
	}
}

// end records why nothing will complete any more, and wakes waiters for good.
func (cq *CQ) end(err error) {
	cq.errMu.Lock()
	defer cq.errMu.Unlock()
	if cq.err == nil {
		cq.err = err
		close(cq.errored)
		cq.interrupt()
	}
}

func (cq *CQ) failure() error {
	cq.errMu.Lock()
	defer cq.errMu.Unlock()
	return cq.err
}

// Wait takes up to len(wcs) completions off the queue, waiting until there is
// at least one: it polls for as long as CQConfig.Spin says, arms, polls again
// and sleeps.
//
// The error is ctx's when it ends first; it matches net.ErrClosed after Close,
// [ErrDeviceRemoved] when the device is gone, even if Poll would still find
// completions, and is a *[CQError] when the queue overflowed. It matches
// syscall.EINVAL when wcs is empty, and without a channel unless the queue spins
// for ever. A spinning waiter makes no system call.
func (cq *CQ) Wait(ctx context.Context, wcs []WC) (int, error) {
	if len(wcs) == 0 { // which nothing would ever fill
		return 0, cq.c.fail("wait", cq.life.name, invalid("no room for a completion"))
	}
	if isClosed(cq.c.gone) {
		// A device that waits for its last user still completes requests, and
		// who only ever polled would not learn that it is to end.
		return 0, cq.c.removed(cq.life.name)
	}
	n, err := cq.Poll(wcs)
	if n > 0 || err != nil {
		return n, err
	}
	if d := cq.spinning.Load(); d != 0 {
		if n, err := cq.spin(ctx, wcs, time.Duration(d)); n > 0 || err != nil {
			return n, err
		}
	}
	cq.waiters.Add(1)
	defer cq.passOn()
	for {
		if err := cq.Arm(); err != nil {
			return 0, err
		}
		if n, err := cq.Poll(wcs); n > 0 || err != nil {
			cq.channel.drain()
			return n, err
		}
		if err := cq.sleep(ctx); err != nil {
			return 0, err
		}
		// Poll before arming again: one system call less per event.
		if n, err := cq.Poll(wcs); n > 0 || err != nil {
			return n, err
		}
	}
}

// passOn wakes another waiter when one leaves: one event may stand for more
// completions than one waiter takes.
func (cq *CQ) passOn() {
	if cq.waiters.Add(-1) > 0 {
		cq.signal()
		cq.interrupt() // it may have begun to lead meanwhile
	}
}

// SpinForever makes [CQ.Wait] poll and never sleep.
const SpinForever time.Duration = -1

// SetSpin changes CQConfig.Spin for later calls of Wait; waiters that spin for
// ever go on until they end. Negative values are SpinForever.
func (cq *CQ) SetSpin(d time.Duration) { cq.spinning.Store(int64(max(d, SpinForever))) }

// spinRound is how often spin polls between looks at the clock and at what ends
// the wait, which take longer than a poll.
const spinRound = 32

// spinners is how many goroutines spin.
var spinners atomic.Int32

// spin polls until there is a completion, the wait ends, or d has passed.
func (cq *CQ) spin(ctx context.Context, wcs []WC, d time.Duration) (int, error) {
	spinners.Add(1)
	defer spinners.Add(-1)
	start, processors := time.Now(), int32(runtime.GOMAXPROCS(0))
	yielded := start
	for {
		for range spinRound {
			if n, err := cq.Poll(wcs); n > 0 || err != nil {
				return n, err
			}
		}
		if err := cq.ended(ctx); err != nil {
			return 0, err
		}
		now := time.Now()
		if d > 0 && now.Sub(start) >= d {
			return 0, nil
		}
		// Where all processors spin, whoever is to cause the completion needs one.
		// Where one is idle, each call would wake a thread to look for work.
		if spinners.Load() >= processors || now.Sub(yielded) > timeslice.Length {
			runtime.Gosched()
			yielded = now
		}
	}
}

// ended returns why waiting makes no sense any more, or nil. It looks at one channel
// after the other, because a select of all would lock each.
func (cq *CQ) ended(ctx context.Context) error {
	switch {
	case isClosed(ctx.Done()):
		return cq.c.fail("wait", cq.life.name, ctx.Err())
	case cq.life.isEnding():
		return cq.life.closed
	case isClosed(cq.errored):
		return cq.failure()
	case isClosed(cq.c.gone):
		return cq.c.removed(cq.life.name)
	case cq.channel != nil && cq.channel.isDone():
		return cq.channel.failure()
	}
	return nil
}

// isClosed also takes nil, which is never closed.
func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// sleep returns nil after an event.
func (cq *CQ) sleep(ctx context.Context) error {
	select {
	case <-cq.channel.turn(): // mostly, where waiters read
		return cq.channel.leadFor(ctx, cq)
	default:
	}
	select {
	case <-cq.wake:
		return nil
	case <-cq.channel.turn():
		return cq.channel.leadFor(ctx, cq)
	case <-ctx.Done():
	case <-cq.life.done:
	case <-cq.errored:
	case <-cq.c.gone:
	case <-cq.channel.done:
	}
	return cq.ended(ctx)
}
