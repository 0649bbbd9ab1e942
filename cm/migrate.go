package cm

import "net"

// Migrate moves the ID to another event channel, together with its events that
// nobody has taken (rdma_migrate_id; kernel command MIGRATE_ID). nil means the
// process-wide channel. When it returns, all later events come through the new
// channel, in order and none twice. IDs of requests that were made before stay
// where they are. Steps that wait go on waiting, unless the new channel is in
// raw mode.
//
// The error matches net.ErrClosed when the ID or one of the channels is
// closed; the ID is then where it was.
func (id *ID) Migrate(to *EventChannel) error {
	var release func()
	if to == nil {
		var err error
		if to, release, err = acquireShared(); err != nil {
			return err
		}
	}
	old, err := id.migrate(to, release)
	if old != nil {
		old() // with no lock held: it may close the channel
	}
	return err
}

// migrate returns what gives back the channel that the ID does not use: the
// old one, or after an error the new one.
func (id *ID) migrate(to *EventChannel, release func()) (unused func(), err error) {
	id.gate.Lock() // no command, no Close
	defer id.gate.Unlock()
	if id.closed.Load() {
		return release, net.ErrClosed
	}
	from := id.channel
	if from == to {
		return release, nil
	}
	unlock := lockFetch(from, to)
	defer unlock()
	// Both ways at once, so that no event is lost whatever the outcome.
	uids := id.numbers()
	for _, uid := range uids {
		to.add(uid, id)
	}
	if _, err := to.ch.MigrateID(from.ch, id.handle); err != nil {
		for _, uid := range uids {
			to.remove(uid)
		}
		return release, err
	}
	for _, uid := range uids {
		from.remove(uid)
	}
	unused = id.moveEvents(to, release)
	to.drain(from, id.uid)
	id.wake()
	return unused, nil
}

// numbers returns the numbers of the ID's events: its own, and its groups'.
func (id *ID) numbers() []uint64 {
	id.mu.Lock()
	defer id.mu.Unlock()
	uids := []uint64{id.uid}
	for uid := range id.groups {
		uids = append(uids, uid)
	}
	return uids
}

// moveEvents makes to the ID's channel and takes along what waits in this
// process.
func (id *ID) moveEvents(to *EventChannel, release func()) (unused func()) {
	id.delivery.Lock()
	defer id.delivery.Unlock()
	id.mu.Lock()
	defer id.mu.Unlock()
	waiting := append(id.channel.raw.drop(id), id.events...)
	id.events = nil
	unused, id.release = id.release, release
	id.channel = to
	for _, e := range waiting {
		if to.raw != nil {
			to.raw.push(e)
		} else {
			id.events.push(e)
		}
	}
	return unused
}

// lockFetch locks two channels' fetching in an order that all callers keep.
func lockFetch(a, b *EventChannel) (unlock func()) {
	if a.serial > b.serial {
		a, b = b, a
	}
	a.fetch.Lock()
	b.fetch.Lock()
	return func() {
		b.fetch.Unlock()
		a.fetch.Unlock()
	}
}

// drain delivers what the kernel has for c. Moving events to a channel does
// not wake its reader (ucma_migrate_id has no wake_up). A request that was
// waiting moves without the ID that it brings, which follows here. The caller
// holds fetch.
func (c *EventChannel) drain(from *EventChannel, listener uint64) {
	for {
		ev, err := c.ch.TryGetEvent()
		if err != nil {
			return // nothing more, or the reader will find out too
		}
		if ev.UID == listener && isRequest(ev.Type) {
			_, _ = c.ch.MigrateID(from.ch, ev.ID) // fails when it came after the move, and is here
		}
		c.dispatch(&ev)
	}
}
