package cm

import (
	"context"
	"fmt"
	"sync"
	"syscall"

	"github.com/purerdma/rdma/abi"
)

// A rawQueue keeps the events of a channel in raw mode. A nil one is that of a
// channel that is not.
type rawQueue struct {
	mu      sync.Mutex
	events  queue
	changed chan struct{} // closed and replaced with each change
	broken  error         // no more events will come
}

// isRaw reports whether the channel is in raw mode; nil is the process-wide one.
func (c *EventChannel) isRaw() bool { return c != nil && c.raw != nil }

// errRawConn refuses listeners and dials of the connection level: nobody would see their
// events.
var errRawConn = fmt.Errorf("a channel in raw mode gives its events to NextEvent; listeners and connections need one of NewEventChannel, or none: %w", syscall.EINVAL)

func newRawQueue() *rawQueue { return &rawQueue{changed: make(chan struct{})} }

func (r *rawQueue) push(e *entry) (ok bool, dropped int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	ok, dropped = r.events.push(e)
	r.wakeLocked()
	return ok, dropped
}

func (r *rawQueue) wakeLocked() {
	close(r.changed)
	r.changed = make(chan struct{})
}

// count returns how many events of an ID match.
func (r *rawQueue) count(id *ID, match func(abi.RDMACMEventType) bool) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.events.count(id, match)
}

// drop takes the events of an ID out.
func (r *rawQueue) drop(id *ID) queue {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.events.removeAll(func(e *entry) bool { return e.id == id })
}

// fail ends all waits.
func (r *rawQueue) fail(err error) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.broken = err
	r.wakeLocked()
}

// NextEvent returns the next event of a channel in raw mode, and the ID it is
// about: for CONNECT_REQUEST the listener, with the new ID in Event.Request
// (rdma_get_cm_event for all IDs of a channel). Events of an ID come in the
// order of the kernel's reports, and none after its Close. Concurrent callers
// share the events.
//
// The error is ctx's when it ends first, matches net.ErrClosed after Close, and
// syscall.EINVAL on a channel that is not in raw mode.
func (c *EventChannel) NextEvent(ctx context.Context) (*ID, Event, error) {
	r := c.raw
	if r == nil {
		return nil, Event{}, errNotRaw
	}
	for {
		r.mu.Lock()
		e, ok := r.events.removeFirst(func(*entry) bool { return true })
		changed, broken := r.changed, r.broken
		r.mu.Unlock()
		switch {
		case ok:
			return e.id, e.event(), nil
		case broken != nil:
			return nil, Event{}, fmt.Errorf("event channel: %w", broken)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, Event{}, ctx.Err()
		}
	}
}

var errNotRaw = fmt.Errorf("the channel was not opened with NewRawEventChannel: its events go to its IDs: %w", syscall.EINVAL)
