package cm

import (
	"context"
	"testing"

	"github.com/purerdma/rdma/uverbs"
)

// TestSharedCQMembers: completions reach the connection whose key they carry,
// and nobody when the key is of an earlier holder of the place, or of none.
func TestSharedCQMembers(t *testing.T) {
	r := newRig(t)
	l := r.listen(nil)
	client, server := r.pair(l, &Dialer{Config: quick})
	if client.cq != server.cq || client.key == server.key {
		t.Fatalf("queues %p and %p, keys %#x and %#x", client.cq, server.cq, client.key, server.key)
	}
	q := client.cq
	slots := len(client.sends.free)
	q.mu.Lock()
	for _, key := range []uint64{
		(client.key + 1<<slotBits) & keyMask, // another generation
		client.key&^slotMask | 500,           // no such slot
		keyMask,
	} {
		q.complete(&uverbs.WC{ID: key << keyShift})
		q.complete(&uverbs.WC{ID: recvBit | key<<keyShift})
	}
	q.mu.Unlock()
	if len(client.sends.slots[0].done)+len(server.sends.slots[0].done) != 0 || len(client.sends.free) != slots {
		t.Error("a completion with a foreign key was delivered")
	}
	old := client.key
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	next, _ := r.pair(l, &Dialer{Config: quick})
	if next.key == old {
		t.Errorf("key %#x was used again at once", old)
	}
}

// TestSharedCQRoom: a full queue gets a second one beside it, and queues go
// with their last connection.
func TestSharedCQRoom(t *testing.T) {
	r := newRig(t)
	cfg := *quick
	cfg.SendDepth, cfg.RecvDepth, cfg.RecvSize = firstCQ-8, 8, 64
	l := r.listen(nil)
	a, _ := r.pair(l, &Dialer{Config: &cfg})
	b, _ := r.pair(l, &Dialer{Config: &cfg})
	if a.cq == b.cq {
		t.Fatal("two connections in a queue that has room for one")
	}
	ctx := context.Background()
	for _, c := range []*Conn{a, b} {
		if err := c.SendCopy(ctx, []byte("x")); err != nil {
			t.Error(err)
		}
	}
	private := cfg
	private.PrivateCQ = true
	p, _ := r.pair(l, &Dialer{Config: &private})
	if p.cq == a.cq || p.cq == b.cq || len(p.cq.members) != 1 {
		t.Error("a private queue has other members")
	}
}

// TestSharedCQRoomComesBack: the room of connections that have gone is for others, so
// that one queue serves any number of connections, one after the other.
func TestSharedCQRoomComesBack(t *testing.T) {
	r := newRig(t)
	cfg := *quick
	cfg.SendDepth, cfg.RecvDepth, cfg.RecvSize = firstCQ/4, 8, 64
	l := r.listen(nil)
	stays, _ := r.pair(l, &Dialer{Config: quick}) // keeps the queue
	room := func() int {
		stays.cq.mu.Lock()
		defer stays.cq.mu.Unlock()
		return stays.cq.room
	}
	before := room()
	for n := range 8 {
		c, server := r.pair(l, &Dialer{Config: &cfg})
		if c.cq != stays.cq {
			t.Fatalf("connection %d is in another queue", n)
		}
		closed := async(func() (int, error) { return 0, server.Close() })
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := get(t, closed); err != nil {
			t.Fatal(err)
		}
	}
	if n := r.count("cq"); n != 1 || room() != before {
		t.Errorf("%d completion queues with room for %d, %d before", n, room(), before)
	}
}

// TestEventArmsForSleepers: an event arms the queue again at once while somebody sleeps,
// be it one, and else leaves that to the timer.
func TestEventArmsForSleepers(t *testing.T) {
	r := newRig(t)
	client, _ := r.pair(r.listen(nil), &Dialer{Config: quick})
	q := client.cq
	for sleepers := range 3 {
		q.sleep(sleepers)
		q.event()
		q.mu.Lock()
		armed := q.armed
		q.mu.Unlock()
		q.sleep(-sleepers)
		if armed != (sleepers > 0) {
			t.Errorf("%d sleepers: armed %v", sleepers, armed)
		}
	}
}
