package cm

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/purerdma/rdma/uverbs"
)

// A sharedCQ is a completion queue of many connections. Whoever waits reads
// it, on behalf of all.
type sharedCQ struct {
	cq *uverbs.CQ

	mu       sync.Mutex
	batch    [32]uverbs.WC
	armed    bool // the next completion wakes the completion channel
	sleepers int  // goroutines that need to be woken
	failed   error
	arming

	members []member // by slot
	free    []uint32 // slots without connection
	room    int      // entries not promised to a connection
}

// A member is a connection's place in a shared queue. Its key marks the work
// requests of the connection, and differs from the keys of those who had the
// place before: their last completions may still be in the queue.
type member struct {
	conn *Conn
	key  uint64
}

// A work request ID is made of the member's key and the operation's slot.
//
//	bit 63        a receive
//	bits 62 to 32 the key: 11 bits of generation, 20 bits of slot
//	bits 31 to 0  the operation
const (
	recvBit   = 1 << 63
	slotBits  = 20
	genBits   = 11
	keyShift  = 32
	slotMask  = 1<<slotBits - 1
	keyMask   = 1<<(slotBits+genBits) - 1
	operation = 1<<keyShift - 1
)

// Sizes of shared queues in entries: the first one is small, for programs with
// few connections; each further one is larger, up to what common devices have.
const (
	firstCQ   = 1 << 10
	largestCQ = 1 << 14
)

// add gives a connection a place, if there is room for so many requests.
func (q *sharedCQ) add(c *Conn, requests int) (key uint64, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.room < requests || q.failed != nil {
		return 0, false
	}
	if len(q.free) == 0 {
		if len(q.members) > slotMask {
			return 0, false
		}
		q.free = append(q.free, uint32(len(q.members)))
		// Keys begin anywhere, so that memory of an earlier queue makes no
		// sense in this one.
		q.members = append(q.members, member{key: uint64(rand.Uint32N(1<<genBits))<<slotBits | uint64(len(q.members))})
	}
	slot := q.free[len(q.free)-1]
	q.free = q.free[:len(q.free)-1]
	q.room -= requests
	q.members[slot].conn = c
	q.armLater(armWithin)
	return q.members[slot].key, true
}

// remove takes a connection out, whose queue pair is gone already: what it
// left in the queue is read now and reaches nobody.
func (q *sharedCQ) remove(c *Conn, key uint64, requests int) (empty bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	slot := uint32(key & slotMask)
	q.members[slot].conn = nil
	q.members[slot].key = (key + 1<<slotBits) & keyMask
	_ = q.drain() // a failed queue has failed its members already
	q.free = append(q.free, slot)
	q.room += requests
	return len(q.free) == len(q.members)
}

// pump reads what has completed. With arm it also makes the next completion
// raise an event, and reads once more, because a completion that slipped in
// before raises none.
func (q *sharedCQ) pump(arm bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.pumpLocked(arm)
}

func (q *sharedCQ) pumpLocked(arm bool) {
	if err := q.drain(); err != nil {
		q.fail(err)
		return
	}
	if !arm || q.armed {
		return
	}
	if err := q.cq.Arm(); err != nil {
		q.armRefused(err)
		return
	}
	q.armed, q.refusedAt = true, time.Time{}
	if err := q.drain(); err != nil {
		q.fail(err)
	}
}

// drain takes everything off the queue. The caller holds mu.
func (q *sharedCQ) drain() error {
	for {
		n, err := q.cq.Poll(q.batch[:])
		for i := range n {
			q.complete(&q.batch[i])
		}
		if err != nil || n < len(q.batch) {
			return err
		}
	}
}

// complete hands one completion to its connection. IDs come back through
// memory shared with the kernel, so they are checked.
func (q *sharedCQ) complete(wc *uverbs.WC) {
	key := wc.ID >> keyShift & keyMask
	slot := key & slotMask
	if slot >= uint64(len(q.members)) {
		return
	}
	if m := &q.members[slot]; m.conn != nil && m.key == key {
		m.conn.complete(wc)
	}
}

// fail ends all connections of a queue that does not work any more.
func (q *sharedCQ) fail(err error) {
	q.failed = err
	for i := range q.members {
		if c := q.members[i].conn; c != nil {
			c.finish(err)
		}
	}
}

// event runs in the goroutine of the device's completion channel.
func (q *sharedCQ) event() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.armed = false
	q.pumpLocked(q.sleepers > 0)
	q.armLater(armWithin)
}

// sleep changes the number of goroutines that need to be woken.
func (q *sharedCQ) sleep(n int) {
	q.mu.Lock()
	q.sleepers += n
	q.mu.Unlock()
}

// join gives a connection a place in a completion queue with room for its
// requests: one of the device's, a new one if they are full, or one of its
// own.
func (d *device) join(c *Conn, requests int, private bool) (*sharedCQ, uint64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if private {
		q, err := d.newCQ(requests)
		if err != nil {
			return nil, 0, err
		}
		key, _ := q.add(c, requests)
		return q, key, nil
	}
	for _, q := range d.cqs {
		if key, ok := q.add(c, requests); ok {
			return q, key, nil
		}
	}
	q, err := d.newCQ(nextCQ(len(d.cqs), requests, d.maxCQE))
	if err != nil {
		return nil, 0, err
	}
	d.cqs = append(d.cqs, q)
	key, _ := q.add(c, requests)
	return q, key, nil
}

// nextCQ is the size of the next shared queue of a device that has so many and
// makes none larger than most, for a connection with so many requests.
func nextCQ(queues, requests, most int) int {
	size := firstCQ
	for ; queues > 0 && size < largestCQ; queues-- {
		size *= 4
	}
	return max(min(size, largestCQ, most), requests)
}

// leave takes a connection out of its queue. Empty queues go, except one that
// waits for the next connection.
func (d *device) leave(q *sharedCQ, c *Conn, key uint64, requests int) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if empty := q.remove(c, key, requests); !empty {
		return nil
	}
	for i, other := range d.cqs {
		if other != q {
			continue
		}
		if i == 0 {
			return nil // closed with the device
		}
		d.cqs = append(d.cqs[:i], d.cqs[i+1:]...)
		break
	}
	return q.close()
}

func (d *device) newCQ(entries int) (*sharedCQ, error) {
	q := &sharedCQ{}
	var err error
	q.cq, err = d.ctx.CreateCQ(uverbs.CQConfig{Entries: entries, Channel: d.ch, Notify: q.event})
	if err != nil {
		return nil, fmt.Errorf("completion queue of %d entries: %w", entries, err)
	}
	q.room = entries
	return q, nil
}
