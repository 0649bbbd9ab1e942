package cm

import (
	"context"
	"fmt"
	"net"
	"syscall"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/ucma"
)

// errNoRoom is the error of a user event that nobody has room for.
const errNoRoom = syscall.ENOBUFS

// errRawChannel is the error of steps that wait, on an ID whose events go
// elsewhere.
var errRawChannel = fmt.Errorf("the ID's events go to EventChannel.NextEvent, so a step cannot wait for them; "+
	"use the method of the same name that begins with Start: %w", syscall.EINVAL)

// deliver takes an event from the channel's goroutine. It reports false when
// the ID is closed.
func (id *ID) deliver(ev *ucma.Event) bool {
	id.delivery.Lock()
	defer id.delivery.Unlock()
	id.mu.Lock()
	handler, dead := id.handler, id.dead
	group := id.groups[ev.UID]
	id.note(ev)
	id.mu.Unlock()
	if dead {
		return false
	}
	if group != nil {
		group.see(ev)
	} else if handler != nil && handler(ev) {
		return true
	}
	return id.enqueue(&entry{Event: ev, id: id, group: group})
}

// note keeps what later calls ask for. The caller holds mu.
func (id *ID) note(ev *ucma.Event) {
	id.noteRefusal(ev.Type)
	switch ev.Type {
	case abi.RDMA_CM_EVENT_CONNECT_RESPONSE, abi.RDMA_CM_EVENT_ESTABLISHED:
		if ev.ECE != (ucma.ECE{}) {
			id.ece = ev.ECE
		}
	case abi.RDMA_CM_EVENT_ADDR_ERROR:
		id.settled = false
	}
}

// deliverUser is deliver for an event of this process. It reports false when
// too many wait.
func (id *ID) deliverUser(ev *ucma.Event) bool {
	id.delivery.Lock()
	defer id.delivery.Unlock()
	id.mu.Lock()
	handler, c, dead := id.handler, id.channel, id.dead
	waiting := id.events.count(id, isUser)
	id.mu.Unlock()
	if c.raw != nil {
		waiting = c.raw.count(id, isUser)
	}
	if dead || waiting >= maxUser {
		return false
	}
	return handler != nil && handler(ev) || id.enqueue(&entry{Event: ev, id: id})
}

func isUser(t abi.RDMACMEventType) bool { return t == abi.RDMA_CM_EVENT_USER }

// enqueue keeps an event for whoever asks: for the ID, or for the channel in
// raw mode. The caller holds delivery and has seen that the ID is not dead.
func (id *ID) enqueue(e *entry) bool {
	if e.Type == abi.RDMA_CM_EVENT_CONNECT_REQUEST {
		// The new ID is on the channel that its request came through, also
		// if the listener moves to another one.
		child, err := id.adopt(e.Event)
		if err != nil {
			return false
		}
		e.request = child
	}
	ok, dropped := id.push(e)
	id.dropped.Add(uint64(dropped))
	if ok {
		return true
	}
	id.dropped.Add(1)
	id.refuse(e.request, refusedBusy)
	return true
}

// push appends to the right queue. Only requests are refused.
func (id *ID) push(e *entry) (ok bool, dropped int) {
	id.mu.Lock()
	defer id.mu.Unlock()
	if raw := id.channel.raw; raw != nil {
		return raw.push(e)
	}
	ok, dropped = id.events.push(e)
	id.wakeLocked()
	return ok, dropped
}

// setHandler lets fn see each event first, in the channel's goroutine; fn must
// not block and reports whether it took the event. Events that were queued
// before are offered to fn now, except requests, which have an ID already.
func (id *ID) setHandler(fn func(*ucma.Event) bool) {
	id.delivery.Lock()
	defer id.delivery.Unlock()
	id.mu.Lock()
	id.handler = fn
	queued := id.events
	id.events = nil
	id.mu.Unlock()
	var kept queue
	for _, e := range queued {
		if e.request != nil || e.group != nil || !fn(e.Event) {
			kept = append(kept, e)
		}
	}
	id.mu.Lock()
	defer id.mu.Unlock()
	id.events = kept // the ID has not died meanwhile: that needs delivery
	id.wakeLocked()
}

// wake makes waiters look again.
func (id *ID) wake() {
	id.mu.Lock()
	defer id.mu.Unlock()
	id.wakeLocked()
}

func (id *ID) wakeLocked() {
	close(id.changed)
	id.changed = make(chan struct{})
}

// take removes the first queued event that want accepts. The channel returned
// with it closes at the next change.
func (id *ID) take(want func(*ucma.Event) bool) (*entry, <-chan struct{}) {
	id.mu.Lock()
	defer id.mu.Unlock()
	e, _ := id.events.removeFirst(func(e *entry) bool { return want(e.Event) })
	return e, id.changed
}

// wait returns the next event that want accepts.
func (id *ID) wait(ctx context.Context, want func(*ucma.Event) bool) (*ucma.Event, error) {
	e, err := id.waitEntry(ctx, nil, want)
	if err != nil {
		return nil, err
	}
	return e.Event, nil
}

// waitEntry is wait that gives up, with neither entry nor error, when other is
// closed. A nil other never is.
func (id *ID) waitEntry(ctx context.Context, other <-chan struct{}, want func(*ucma.Event) bool) (*entry, error) {
	for {
		e, changed := id.take(want)
		switch {
		case e != nil:
			return e, nil
		case id.isClosed():
			return nil, net.ErrClosed
		}
		if err := id.Channel().waitable(); err != nil {
			return nil, err
		}
		select {
		case <-changed:
		case <-other:
			return nil, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// forgetStale drops queued events that would be taken for the outcome of the
// next step, although they came before it.
func (id *ID) forgetStale(match func(abi.RDMACMEventType) bool) {
	id.mu.Lock()
	defer id.mu.Unlock()
	stale := id.events.removeAll(func(e *entry) bool { return match(e.Type) })
	id.dropped.Add(uint64(len(stale)))
}

// NextEvent returns the ID's next event that no step has taken, whatever it
// is (rdma_get_cm_event): disconnection, device removal, address change, user
// events, events that this package does not know. Only connection requests are
// left to NextRequest. Use it when no step of the ID is under way.
func (id *ID) NextEvent(ctx context.Context) (ucma.Event, error) {
	ev, err := id.wait(ctx, func(ev *ucma.Event) bool { return !isRequest(ev.Type) })
	if err != nil {
		return ucma.Event{}, err
	}
	return *ev, nil
}

// waitable returns why no event of an ID will come to the ID, or nil.
func (c *EventChannel) waitable() error {
	if c.raw != nil {
		return errRawChannel
	}
	if err := c.err(); err != nil {
		return fmt.Errorf("event channel: %w", err)
	}
	return nil
}
