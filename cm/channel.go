package cm

import (
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/ucma"
)

// lastUID numbers IDs. The kernel carries the number in each event; it is
// never used twice in a process, so an event that was on its way when its ID
// was destroyed can reach nobody else.
var lastUID atomic.Uint64

// An EventChannel delivers the events of its IDs. One goroutine reads it and
// drains it at once: the kernel counts unfetched connection requests against a
// listener's backlog and drops requests silently beyond it.
//
// Most programs never make one; an ID without a channel of its own uses the
// process-wide one.
type EventChannel struct {
	ch     *ucma.Channel
	serial uint64        // orders channels, for locking two of them
	done   chan struct{} // closed when the reader has ended
	raw    *rawQueue     // takes all events, in raw mode; else nil

	// fetch is held from the moment an event leaves the kernel until it is
	// delivered, so that Migrate can find a moment at which none is between.
	fetch sync.Mutex

	mu     sync.Mutex
	ids    map[uint64]*ID // by the number of the ID or of its group
	broken error          // why the reader ended, once it has

	destroying tally // DESTROY_ID, waiting and under way

	dropped atomic.Uint64
	orphans atomic.Uint64
	heldUp  atomic.Uint64
	failed  atomic.Uint64

	users int // IDs that keep a process-wide channel open; guarded by shared.mu
}

// NewEventChannel opens the connection manager (rdma_create_event_channel).
// opts may be nil. Each event goes to its ID, whose steps wait for it.
func NewEventChannel(opts *ucma.Options) (*EventChannel, error) {
	return openChannel(opts, nil)
}

// NewRawEventChannel opens the connection manager for a program that drives
// many IDs from one goroutine: all events of the channel's IDs go to
// [EventChannel.NextEvent]. Steps of such IDs are begun with the methods named
// Start…; those that wait are refused.
func NewRawEventChannel(opts *ucma.Options) (*EventChannel, error) {
	return openChannel(opts, newRawQueue())
}

// lastSerial numbers channels.
var lastSerial atomic.Uint64

func openChannel(opts *ucma.Options, raw *rawQueue) (*EventChannel, error) {
	ch, err := ucma.Open(opts)
	if err != nil {
		return nil, err
	}
	c := &EventChannel{
		ch: ch, raw: raw, serial: lastSerial.Add(1),
		done: make(chan struct{}), ids: make(map[uint64]*ID),
	}
	go c.read()
	return c, nil
}

// Close closes the channel and every ID that is still on it, and returns when
// its goroutine has ended (rdma_destroy_event_channel). It waits two seconds at most
// for the kernel to destroy the IDs, which goes on in the background then.
func (c *EventChannel) Close() error {
	deadline := patience()
	c.closeIDs(deadline)
	c.setBroken(net.ErrClosed) // also if what follows has to wait
	closed := newCall()
	background.destroys.run(func() { // it waits for calls under way
		err := c.ch.Close()
		<-c.done
		closed.finish(err)
	})
	if !closed.within(deadline) {
		return nil
	}
	c.fetch.Lock() // Migrate delivers too, and may find orphans
	defer c.fetch.Unlock()
	c.destroying.within(deadline)
	return closed.err
}

// closeIDs destroys all IDs of the channel at once.
func (c *EventChannel) closeIDs(deadline time.Time) {
	ids := c.snapshot()
	calls := make([]*call, len(ids))
	for i, id := range ids {
		calls[i] = id.startClose(c, deadline)
	}
	for i, d := range calls {
		if d != nil {
			_ = ids[i].finishClose(d, deadline)
		}
	}
}

// Dropped returns the number of events that arrived for IDs that were
// destroyed meanwhile.
func (c *EventChannel) Dropped() uint64 { return c.dropped.Load() }

// read fetches events until the channel is closed.
func (c *EventChannel) read() {
	defer close(c.done)
	c.fail(c.ch.ServeEvents(context.Background(), &c.fetch, c.dispatch))
}

// dispatch hands an event to its ID. It must not block. fetch is held.
func (c *EventChannel) dispatch(ev *ucma.Event) {
	c.mu.Lock()
	id := c.ids[ev.UID]
	c.mu.Unlock()
	if id != nil && id.deliver(ev) {
		return
	}
	c.dropped.Add(1)
	if ev.Type == abi.RDMA_CM_EVENT_CONNECT_REQUEST {
		// Its listener was closed between the kernel's queueing of the request and
		// our looking at it.
		c.orphans.Add(1)
		c.destroy(ev.ID, refusedUnheard, newCall())
	}
}

// fail ends all waits on the channel's IDs.
func (c *EventChannel) fail(err error) {
	c.setBroken(err)
	for _, id := range c.snapshot() {
		id.lose(fmt.Errorf("event channel: %w", err))
	}
	c.raw.fail(err)
}

// setBroken says why no more events will come.
func (c *EventChannel) setBroken(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken == nil {
		c.broken = err
	}
}

func (c *EventChannel) snapshot() []*ID {
	c.mu.Lock()
	defer c.mu.Unlock()
	ids := make([]*ID, 0, len(c.ids))
	for uid, id := range c.ids {
		if uid == id.uid { // not a group
			ids = append(ids, id)
		}
	}
	return ids
}

// add routes the events with a number to an ID.
func (c *EventChannel) add(uid uint64, id *ID) {
	c.mu.Lock()
	c.ids[uid] = id
	c.mu.Unlock()
}

func (c *EventChannel) remove(uid uint64) {
	c.mu.Lock()
	delete(c.ids, uid)
	c.mu.Unlock()
}

// err returns why no more events will come, or nil.
func (c *EventChannel) err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.broken
}

// shared is the process-wide channel. It lives as long as IDs use it.
var shared struct {
	mu sync.Mutex
	ch *EventChannel
}

// acquireShared returns the process-wide channel and what gives it back. One
// whose reader has ended is left to the IDs that are on it.
func acquireShared() (*EventChannel, func(), error) {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.ch == nil || shared.ch.err() != nil {
		ch, err := NewEventChannel(&ucma.Options{Kernel: host.kernel})
		if err != nil {
			return nil, nil, err
		}
		shared.ch = ch
	}
	shared.ch.users++
	return shared.ch, sync.OnceFunc(shared.ch.unshare), nil
}

// share adds a user to a process-wide channel that has some, and returns what
// takes that back. It reports false when the last one has just left.
func (c *EventChannel) share() (release func(), ok bool) {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if c.users == 0 {
		return nil, false
	}
	c.users++
	return sync.OnceFunc(c.unshare), true
}

// unshare closes a process-wide channel with its last user, so that an idle
// process holds no descriptor and no goroutine. The lock is not held
// meanwhile, because the reader, whose end Close awaits, takes it for each new
// request.
func (c *EventChannel) unshare() {
	shared.mu.Lock()
	c.users--
	last := c.users == 0
	if last && shared.ch == c {
		shared.ch = nil
	}
	shared.mu.Unlock()
	if last {
		_ = c.Close()
	}
}
