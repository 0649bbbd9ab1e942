package cm

import (
	"testing"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs"
)

// fastKeepAlive asks at once and waits long enough for an answer on a busy machine.
func fastKeepAlive() *Config {
	return &Config{CloseTimeout: quick.CloseTimeout, KeepAlive: KeepAlive{Interval: 5 * time.Millisecond, Limit: 100 * time.Millisecond}}
}

// TestKeepAliveSilentPeer: a peer that answers nothing is given up by a side that
// only receives, and by its name.
func TestKeepAliveSilentPeer(t *testing.T) {
	r := newRig(t)
	client, server := r.pair(r.listen(nil), &Dialer{Config: fastKeepAlive()})
	received := async(func() (*Message, error) { return client.Recv(testContext(t)) })
	r.verbs.HoldSends(client.qp.Number())
	_, err := get(t, received)
	wants(t, err, ErrPeerDead, ErrConnLost)
	wantsText(t, err, "no answer to a keep-alive within 100ms")
	if oe, ok := err.(*OpError); !ok || !oe.Timeout() {
		t.Errorf("%v is no time-out", err)
	}
	if server.Err() != nil {
		t.Errorf("the other side asks nothing, and ended: %v", server.Err())
	}
}

// TestKeepAliveRetriesExhausted: the device gives the peer up before the limit.
func TestKeepAliveRetriesExhausted(t *testing.T) {
	r := newRig(t)
	cfg := fastKeepAlive()
	cfg.KeepAlive.Limit = time.Hour
	client, server := r.pair(r.listen(nil), &Dialer{Config: cfg})
	r.verbs.BreakQP(server.qp.Number())
	waitEnd(t, client)
	wants(t, client.Err(), ErrPeerDead)
}

// TestKeepAliveAnswered: a peer that answers is asked again and again, with a
// request of its own that takes no operation's place and shows nowhere.
func TestKeepAliveAnswered(t *testing.T) {
	r := newRig(t)
	cfg := fastKeepAlive()
	cfg.SendDepth = 1
	cfg.KeepAlive.Limit = time.Minute // the machine may be busy
	client, server := r.pair(r.listen(nil), &Dialer{Config: cfg})
	before := r.sends()
	waitFor(t, func() bool { return r.sends() >= before+5 })
	ctx := testContext(t)
	for range 3 {
		if err := client.SendCopy(ctx, []byte("x")); err != nil {
			t.Fatal(err)
		}
		m, err := server.Recv(ctx)
		if err != nil || string(m.Data) != "x" || m.Release() != nil {
			t.Fatalf("%v, %v", m, err)
		}
	}
	if client.Err() != nil || server.Err() != nil {
		t.Errorf("%v, %v", client.Err(), server.Err())
	}
}

// TestKeepAliveBehindMessage: an operation that the peer has no receive for holds
// questions up, and the peer is not dead for it.
func TestKeepAliveBehindMessage(t *testing.T) {
	r := newRig(t)
	cfg := fastKeepAlive()
	cfg.KeepAlive.Limit = 10 * time.Millisecond
	client, server := r.pair(r.listen(nil), &Dialer{Config: cfg})
	r.verbs.HoldSends(client.qp.Number())
	ctx := testContext(t)
	sent := async(func() (int, error) { return 0, client.SendCopy(ctx, []byte("x")) })
	waitFor(t, func() bool { return r.verbs.Queued(client.qp.Number()) > 0 })
	time.Sleep(100 * time.Millisecond) // of many intervals and limits
	if client.Err() != nil {
		t.Fatal(client.Err())
	}
	r.verbs.ReleaseSends()
	if _, err := get(t, sent); err != nil {
		t.Error(err)
	}
	if _, err := server.RecvCopy(ctx, make([]byte, 1)); err != nil {
		t.Error(err)
	}
}

// TestKeepAliveQuiet: nothing is asked while messages flow, nor where it is off.
func TestKeepAliveQuiet(t *testing.T) {
	r := newRig(t)
	l := r.listen(nil)
	cfg := fastKeepAlive()
	cfg.KeepAlive.Interval = time.Hour // it looks when the test says so
	client, server := r.pair(l, &Dialer{Config: cfg})
	ctx := testContext(t)
	for range 3 {
		for from, to := range map[*Conn]*Conn{client: server, server: client} { // either is a sign of life
			if err := from.SendCopy(ctx, []byte("x")); err != nil {
				t.Fatal(err)
			}
			if _, err := to.RecvCopy(ctx, make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
			before := r.sends()
			client.checkPeer()
			if n := r.sends() - before; n != 0 {
				t.Errorf("%d questions beside a message", n)
			}
		}
		before := r.sends()
		client.checkPeer()
		client.cq.pump(false)
		if n := r.sends() - before; n != 1 {
			t.Errorf("%d questions in silence", n)
		}
	}
	off := fastKeepAlive()
	off.KeepAlive.Interval = -1
	client, _ = r.pair(l, &Dialer{Config: off})
	if client.alive.timer != nil || client.spare() != 0 {
		t.Error("a keep-alive that is off has a timer or a place in the queue")
	}
}

// TestKeepAliveIWARP: a write says nothing there, so a read of no bytes asks, if the
// peer serves any.
func TestKeepAliveIWARP(t *testing.T) {
	r := newIWARPRig(t)
	l := r.listen(nil)
	for reads, want := range map[int]abi.IBUverbsWROpcode{0: abi.IB_UVERBS_WR_RDMA_READ, -1: abi.IB_UVERBS_WR_RDMA_WRITE} {
		client, _ := r.pair(l, &Dialer{Config: &Config{LocalReads: reads, CloseTimeout: quick.CloseTimeout}})
		if q := client.question(); q.Opcode != want || len(q.SGEs) != 0 || !isProbe(&uverbs.WC{ID: q.ID}) {
			t.Errorf("reads %d: %+v", reads, q)
		}
	}
}
