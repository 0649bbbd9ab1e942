package cm

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/ucma"
)

// An ID is one communication identifier of the connection manager, what C
// calls an rdma_cm_id. Its methods are the steps of a connection; each returns
// when the kernel has answered. An ID takes one step at a time, but Close may
// come at any moment, from any goroutine.
//
// A step that fails because its context ended leaves the kernel in the middle
// of it: the ID can only be closed then.
type ID struct {
	uid     uint64
	channel *EventChannel
	release func() // gives the process-wide channel back; nil if the channel is the caller's

	// gate is read-locked by commands and locked by Close: the kernel reuses
	// a handle at once, so a command racing with the destruction could hit
	// somebody else's ID.
	gate   sync.RWMutex
	handle uint32
	closed bool

	// delivery is held while an event goes to the handler or the queue, so
	// that a new handler misses none. It is taken before mu.
	delivery sync.Mutex

	mu      sync.Mutex
	events  []ucma.Event          // delivered, not yet taken
	changed chan struct{}         // closed and replaced with each change
	handler func(ucma.Event) bool // takes events before they are queued
	onLost  func(error)           // called when no more events will come
	dead    bool                  // closed: nothing is queued any more
}

// An IDOptions says how an ID is made. A nil pointer means all defaults.
type IDOptions struct {
	// PortSpace is the kind of service: RDMA_PS_TCP (the default, for 0)
	// for reliable connections, RDMA_PS_UDP for datagrams, RDMA_PS_IPOIB,
	// RDMA_PS_IB.
	PortSpace abi.RDMAUCMPortSpace

	// QPType is IB_UVERBS_QPT_…, only for RDMA_PS_IB; 0 means RC.
	QPType uint8

	// Channel delivers the ID's events; nil means the process-wide one.
	Channel *EventChannel
}

// NewID makes an ID in the network namespace of the calling thread (kernel
// command CREATE_ID). Errors match os.ErrNotExist when the connection
// manager's device is missing and os.ErrPermission when it is denied.
func NewID(opts *IDOptions) (*ID, error) {
	var o IDOptions
	if opts != nil {
		o = *opts
	}
	if o.PortSpace == 0 {
		o.PortSpace = abi.RDMA_PS_TCP
	}
	if o.QPType == 0 {
		o.QPType = uint8(abi.IB_UVERBS_QPT_RC)
	}
	id, err := newID(o.Channel)
	if err != nil {
		return nil, err
	}
	id.handle, err = id.channel.ch.CreateID(id.uid, o.PortSpace, o.QPType)
	if err != nil {
		if id.release != nil {
			id.release()
		}
		return nil, err
	}
	// Now that it has a handle Close can find it. No event comes before the
	// first command.
	id.channel.add(id)
	return id, nil
}

// newID makes the Go half of an ID.
func newID(channel *EventChannel) (*ID, error) {
	id := &ID{uid: lastUID.Add(1), channel: channel, changed: make(chan struct{})}
	if channel == nil {
		var err error
		if id.channel, id.release, err = acquireShared(); err != nil {
			return nil, err
		}
	}
	return id, nil
}

// adopt makes an ID of the handle that a connection request brought. The
// kernel drops all its events until Accept gives it a uid.
func (id *ID) adopt(handle uint32) (*ID, error) {
	child := &ID{uid: lastUID.Add(1), channel: id.channel, handle: handle, changed: make(chan struct{})}
	if id.release != nil {
		var ok bool
		if child.release, ok = id.channel.share(); !ok {
			return nil, net.ErrClosed
		}
	}
	child.channel.add(child)
	return child, nil
}

// Close destroys the ID (kernel command DESTROY_ID). A connected peer is told,
// a waiting request is rejected, blocked steps return. It blocks only while
// the kernel finishes work in progress on the ID.
func (id *ID) Close() error {
	id.gate.Lock()
	if id.closed {
		id.gate.Unlock()
		return nil
	}
	id.closed = true
	_, err := id.channel.ch.DestroyID(id.handle)
	id.gate.Unlock()
	if errors.Is(err, net.ErrClosed) {
		err = nil // the channel was closed before, and took the ID along
	}
	id.forget()
	return err
}

// forget removes the ID from its channel, wakes its waiters, refuses the
// requests that nobody took, and gives the channel back.
func (id *ID) forget() {
	id.channel.remove(id)
	id.mu.Lock()
	id.dead = true
	left := id.events
	id.events = nil
	id.mu.Unlock()
	id.lose(net.ErrClosed)
	for _, ev := range left {
		id.channel.refuse(ev)
	}
	if id.release != nil {
		id.release()
	}
}

// lose wakes waiters and tells the owner that no more events will come.
func (id *ID) lose(err error) {
	id.wake()
	id.mu.Lock()
	lost := id.onLost
	id.mu.Unlock()
	if lost != nil {
		lost(err)
	}
}

// setOnLost makes fn be called when the ID is closed or its channel breaks,
// perhaps more than once and at once.
func (id *ID) setOnLost(fn func(error)) {
	id.mu.Lock()
	id.onLost = fn
	dead := id.dead
	id.mu.Unlock()
	switch err := id.channel.err(); {
	case dead:
		fn(net.ErrClosed)
	case err != nil:
		fn(fmt.Errorf("event channel: %w", err))
	}
}

// do runs a command on the ID's handle unless the ID is closed.
func (id *ID) do(cmd func(ch *ucma.Channel, handle uint32) error) error {
	id.gate.RLock()
	defer id.gate.RUnlock()
	if id.closed {
		return net.ErrClosed
	}
	return removalError(cmd(id.channel.ch, id.handle))
}

// deliver takes an event from the channel's goroutine. It reports false when
// the ID is closed.
func (id *ID) deliver(ev ucma.Event) bool {
	id.delivery.Lock()
	defer id.delivery.Unlock()
	id.mu.Lock()
	handler, dead := id.handler, id.dead
	id.mu.Unlock()
	switch {
	case dead:
		return false
	case handler != nil && handler(ev):
		return true
	}
	id.mu.Lock()
	defer id.mu.Unlock()
	if id.dead {
		return false
	}
	id.events = append(id.events, ev)
	id.wakeLocked()
	return true
}

// setHandler lets fn see each event first, in the channel's goroutine; fn must
// not block and reports whether it took the event. Events that were queued
// before are offered to fn now.
func (id *ID) setHandler(fn func(ucma.Event) bool) {
	id.delivery.Lock()
	defer id.delivery.Unlock()
	id.mu.Lock()
	id.handler = fn
	queued := id.events
	id.events = nil
	id.mu.Unlock()
	var kept []ucma.Event
	for _, ev := range queued {
		if !fn(ev) {
			kept = append(kept, ev)
		}
	}
	id.mu.Lock()
	dead := id.dead
	if !dead {
		id.events = kept
		id.wakeLocked()
	}
	id.mu.Unlock()
	if dead {
		for _, ev := range kept {
			id.channel.refuse(ev)
		}
	}
}

func (id *ID) isClosed() bool {
	// TryRLock fails only while Close holds the gate, that is, when closed.
	if !id.gate.TryRLock() {
		return true
	}
	defer id.gate.RUnlock()
	return id.closed
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
func (id *ID) take(want func(ucma.Event) bool) (ucma.Event, bool, <-chan struct{}) {
	id.mu.Lock()
	defer id.mu.Unlock()
	for i, ev := range id.events {
		if want(ev) {
			id.events = append(id.events[:i], id.events[i+1:]...)
			return ev, true, id.changed
		}
	}
	return ucma.Event{}, false, id.changed
}

// wait returns the next event that want accepts.
func (id *ID) wait(ctx context.Context, want func(ucma.Event) bool) (ucma.Event, error) {
	for {
		ev, ok, changed := id.take(want)
		switch {
		case ok:
			return ev, nil
		case id.isClosed():
			return ucma.Event{}, net.ErrClosed
		}
		if err := id.channel.err(); err != nil {
			return ucma.Event{}, fmt.Errorf("event channel: %w", err)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ucma.Event{}, ctx.Err()
		}
	}
}

// NextEvent returns the ID's next event that no step has taken, whatever it
// is: disconnection, device removal, address change, events that this package
// does not know. Use it when no step of the ID is under way.
func (id *ID) NextEvent(ctx context.Context) (ucma.Event, error) {
	return id.wait(ctx, func(ucma.Event) bool { return true })
}
