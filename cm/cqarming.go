package cm

import (
	"errors"
	"net"
	"time"
)

// A shared queue is armed also while nobody waits for a message, so that the
// failure of an idle connection is noticed. While messages flow and nobody
// sleeps, that is not done after each event, which would cost a system call and
// a wake-up a message, but once in armWithin.
const armWithin = 100 * time.Millisecond

// After a refused REQ_NOTIFY the queue is read every armRetry, and armed again; its
// connections are lost when it cannot be armed for armPatience.
const (
	armRetry    = 10 * time.Millisecond
	armPatience = time.Second
)

// arming is what a shared queue needs to be armed by time. The queue's lock
// guards it.
type arming struct {
	timer     *time.Timer
	pending   bool      // timer runs
	refusedAt time.Time // of the first refusal since the queue was armed last
}

// armLater makes the queue be read and armed in armWithin, or in armRetry, unless
// that is to happen already. The caller holds mu.
func (q *sharedCQ) armLater(d time.Duration) {
	if q.armed || q.failed != nil || q.pending && d >= armWithin {
		return
	}
	q.pending = true
	if q.timer == nil {
		q.timer = time.AfterFunc(d, q.armNow)
		return
	}
	q.timer.Reset(d)
}

// armNow reads and arms the queue if it has connections.
func (q *sharedCQ) armNow() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.pending = false
	if q.failed == nil && len(q.free) < len(q.members) {
		q.pumpLocked(true)
	}
}

// armRefused takes the error of REQ_NOTIFY, which is the queue's end only when
// the device is gone, or the error stays. The caller holds mu.
func (q *sharedCQ) armRefused(err error) {
	now := time.Now()
	if q.refusedAt.IsZero() {
		q.refusedAt = now
	}
	if errors.Is(err, ErrDeviceRemoved) || errors.Is(err, net.ErrClosed) || now.Sub(q.refusedAt) > armPatience {
		q.fail(err)
		return
	}
	q.armLater(armRetry)
}

// close ends the timer and closes the queue, which has no connections any more.
func (q *sharedCQ) close() error {
	q.mu.Lock()
	if q.failed == nil {
		q.failed = net.ErrClosed
	}
	if q.timer != nil {
		q.timer.Stop()
	}
	q.mu.Unlock()
	return q.cq.Close()
}
