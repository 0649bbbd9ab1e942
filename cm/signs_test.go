package cm

import (
	"context"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/fakecm"
	"github.com/purerdma/rdma/ucma"
	"github.com/purerdma/rdma/uverbs"
)

// TestQPEvents: which asynchronous events of a queue pair are a sign of its end.
func TestQPEvents(t *testing.T) {
	r := newRig(t)
	l := r.listen(&ListenConfig{Config: quick})
	for typ, bad := range map[abi.IBEventType]bool{
		abi.IB_EVENT_QP_FATAL: true, abi.IB_EVENT_QP_REQ_ERR: true, abi.IB_EVENT_QP_ACCESS_ERR: true, abi.IB_EVENT_PATH_MIG_ERR: true,
		abi.IB_EVENT_COMM_EST: false, abi.IB_EVENT_SQ_DRAINED: false, abi.IB_EVENT_PATH_MIG: false, abi.IB_EVENT_QP_LAST_WQE_REACHED: false,
	} {
		c, _ := r.pair(l, &Dialer{Config: quick})
		c.hearQP(uverbs.AsyncEvent{Type: typ, QP: c.qp})
		if got := c.suspected() || c.Err() != nil; got != bad {
			t.Errorf("%v: a sign of the end: %v, want %v", typ, got, bad)
		}
	}
}

// TestLostEventsAreASign: of events that were lost any may have been of the connection.
func TestLostEventsAreASign(t *testing.T) {
	r := newRig(t)
	c, _ := r.pair(r.listen(&ListenConfig{Config: quick}), &Dialer{Config: quick})
	for lost := range 2 {
		c.dev.route(uverbs.AsyncEvent{Type: abi.IB_EVENT_GID_CHANGE, Port: 1, Lost: lost})
		if got := c.suspected(); got != (lost > 0) {
			t.Errorf("%d events lost: a sign %v", lost, got)
		}
	}
}

// TestSignsOfLife: what completes shows that the peer is there if the peer's device had to
// answer for it. A write over iWARP completes when TCP has taken it.
func TestSignsOfLife(t *testing.T) {
	r := newRig(t)
	c, _ := r.pair(r.listen(&ListenConfig{Config: quick}), &Dialer{Config: quick})
	c.cq.mu.Lock()
	defer c.cq.mu.Unlock()
	defer func() { c.dev.iwarp = false }()
	const noOperation = operation - 2 // delivered to nobody
	for _, tc := range []struct {
		name  string
		iwarp bool
		id    uint64
		life  bool
	}{
		{"a message", false, recvBit | noOperation, true},
		{"a message over iWARP", true, recvBit | noOperation, true},
		{"an operation", false, noOperation, true},
		{"an operation over iWARP", true, noOperation, false},
		{"a question", false, probe, false}, // counted as its answer
		{"a question over iWARP", true, probe, false},
	} {
		c.dev.iwarp = tc.iwarp
		c.alive.heard.Store(false)
		c.complete(&uverbs.WC{ID: tc.id})
		if got := c.alive.heard.Load(); got != tc.life {
			t.Errorf("%s: a sign of life: %v, want %v", tc.name, got, tc.life)
		}
	}
}

// TestSleeperArms: who waits arms the queue itself and does not wait for the timer.
func TestSleeperArms(t *testing.T) {
	r := newRig(t)
	own := *quick
	own.PrivateCQ = true
	client, _ := r.pair(r.listen(&ListenConfig{Config: &own}), &Dialer{Config: &own})
	q := client.cq
	armed := func() bool {
		q.mu.Lock()
		defer q.mu.Unlock()
		return q.armed
	}
	q.mu.Lock()
	if q.timer != nil {
		q.timer.Stop()
	}
	q.pending, q.armed = true, false // as if the timer were still running
	q.mu.Unlock()
	ctx, cancel := context.WithCancel(testContext(t))
	received := async(func() (*Message, error) { return client.Recv(ctx) })
	waitFor(t, armed)
	cancel()
	_, err := get(t, received)
	wants(t, err, context.Canceled)
}

// TestNoGoodbyeOfRemovedDevice: through a device that was removed no goodbye is sent,
// whatever its port says.
func TestNoGoodbyeOfRemovedDevice(t *testing.T) {
	r := newRig(t)
	var goodbyes, destroyed atomic.Int32
	r.cm.Before = func(c fakecm.Call) error {
		switch {
		case c.Op != "write":
		case c.Cmd == abi.RDMA_USER_CM_CMD_DISCONNECT:
			goodbyes.Add(1)
		case c.Cmd == abi.RDMA_USER_CM_CMD_DESTROY_ID:
			destroyed.Add(1)
		}
		return nil
	}
	client, server := r.pair(r.listen(nil), &Dialer{Config: quick})
	before := destroyed.Load()
	r.cm.RemoveDevice(fakecm.DefaultDevice.Index)
	waitEnd(t, client)
	waitEnd(t, server)
	waitFor(t, func() bool { return destroyed.Load() >= before+2 })
	if n := goodbyes.Load(); n != 0 {
		t.Errorf("%d goodbyes", n)
	}
}

// TestAcceptWithoutItsACKTimeout: an accept whose time-out the kernel refuses fails, and
// does not go on with another.
func TestAcceptWithoutItsACKTimeout(t *testing.T) {
	r := newRig(t)
	cfg := *quick
	cfg.ACKTimeout = time.Second
	l := r.listen(&ListenConfig{Config: &cfg})
	dialed := r.dialInto(l, 1)
	req, err := l.Accept(testContext(t))
	if err != nil {
		t.Fatal(err)
	}
	r.cm.Before = func(c fakecm.Call) error {
		if c.Cmd == abi.RDMA_USER_CM_CMD_SET_OPTION {
			return syscall.ENOMEM
		}
		return nil
	}
	_, err = req.Accept(testContext(t), nil)
	wants(t, err, syscall.ENOMEM)
	_, err = get(t, dialed)
	wants(t, err, ErrRejected)
}

// TestClosedIDLeavesItsChannel: a channel keeps nothing of IDs that are closed.
func TestClosedIDLeavesItsChannel(t *testing.T) {
	r := newRig(t)
	ch, err := NewEventChannel(&ucma.Options{Kernel: r.cm})
	if err != nil {
		t.Fatal(err)
	}
	defer ch.Close()
	for range 3 {
		id, err := NewID(&IDOptions{Channel: ch})
		if err != nil {
			t.Fatal(err)
		}
		if err := id.Close(); err != nil {
			t.Fatal(err)
		}
	}
	ch.mu.Lock()
	defer ch.mu.Unlock()
	if n := len(ch.ids); n != 0 {
		t.Errorf("%d IDs", n)
	}
}

// TestRemoteLength: an operation takes all of what the descriptor names, and not a byte
// more, which is refused before the peer's device would refuse it.
func TestRemoteLength(t *testing.T) {
	r := newRig(t)
	client, server := r.pair(r.listen(&ListenConfig{Config: quick}), &Dialer{Config: quick})
	far, near := alloc(t, server, 128, RemoteRead|RemoteWrite), alloc(t, client, 128, 0)
	part, err := far.Remote().Slice(0, 64)
	if err != nil {
		t.Fatal(err)
	}
	ctx := testContext(t)
	for n, want := range map[int]error{63: nil, 64: nil, 65: syscall.EMSGSIZE, 128: syscall.EMSGSIZE} {
		for name, err := range map[string]error{
			"write": client.Write(ctx, part, near.Slice(0, n)),
			"read":  client.Read(ctx, part, near.Slice(0, n)),
		} {
			if want == nil && err != nil {
				t.Errorf("%s of %d bytes: %v", name, n, err)
			}
			if want != nil {
				wants(t, err, want)
			}
		}
	}
	if err := client.Err(); err != nil {
		t.Errorf("the connection ended: %v", err)
	}
}

// TestReleasedMessage: a message that was released names no memory any more.
func TestReleasedMessage(t *testing.T) {
	r := newRig(t)
	client, server := r.pair(r.listen(&ListenConfig{Config: quick}), &Dialer{Config: quick})
	ctx := testContext(t)
	if err := client.SendCopy(ctx, []byte("x")); err != nil {
		t.Fatal(err)
	}
	m, err := server.Recv(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := m.Release(); err != nil || m.Data != nil {
			t.Errorf("%v, data %q", err, m.Data)
		}
	}
}
