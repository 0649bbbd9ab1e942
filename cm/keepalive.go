package cm

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs"
)

// A KeepAlive says how a connection on which nothing happens makes sure of its
// peer. Without one an idle receiver never learns that the peer's host has died or
// that the path to it is cut: a queue pair that sends nothing waits for no answer.
//
// The peer is asked by an RDMA write of no bytes, over iWARP by a read of no bytes
// if the peer serves reads. The peer's device answers; its program sees nothing,
// needs no receive for it and no memory. Nothing is asked while operations complete
// or messages arrive, nor while operations are outstanding, which the device itself
// repeats until it gives the peer up (Config.RetryCount, Config.ACKTimeout). The
// question has a place of its own in the send queue, for which a connection whose
// SendDepth is the device's limit has no room: it asks nothing.
type KeepAlive struct {
	// Interval is how long nothing has to happen before the peer is asked. 0
	// means 30 seconds, negative never.
	Interval time.Duration

	// Limit is how long the answer may take before the connection ends with
	// ErrPeerDead; it ends earlier when the device gives up repeating the
	// question. 0 means 30 seconds.
	Limit time.Duration
}

// Defaults of KeepAlive: a peer that has died is noticed within a minute, at the
// price of one packet each way in half a minute of silence.
const (
	defaultKeepAlive      = 30 * time.Second
	defaultKeepAliveLimit = 30 * time.Second
)

func (k *KeepAlive) resolve() {
	if k.Interval == 0 {
		k.Interval = defaultKeepAlive
	}
	if k.Limit <= 0 {
		k.Limit = defaultKeepAliveLimit
	}
}

// keepAlive is the state of a connection's questions.
type keepAlive struct {
	heard atomic.Bool // something completed since the last look

	mu    sync.Mutex
	timer *time.Timer
	asked bool // a question is under way
	ended bool
}

// probe marks the work request of a question: no operation has that slot, nor has
// a nudge.
const probe = operation - 1

func isProbe(wc *uverbs.WC) bool { return wc.ID&(recvBit|operation) == probe }

// startKeepAlive begins to look after an established connection.
func (c *Conn) startKeepAlive() {
	if c.cfg.KeepAlive.Interval < 0 {
		return
	}
	k := &c.alive
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.ended {
		k.timer = time.AfterFunc(c.cfg.KeepAlive.Interval, func() { background.verdicts.run(c.checkPeer) })
	}
}

// stopKeepAlive is for a connection that has ended.
func (c *Conn) stopKeepAlive() {
	c.alive.mu.Lock()
	defer c.alive.mu.Unlock()
	c.alive.ended = true
	if c.alive.timer != nil {
		c.alive.timer.Stop()
	}
}

// hear notes a sign of life. It is on the path of each message.
func (k *keepAlive) hear() {
	if !k.heard.Load() {
		k.heard.Store(true)
	}
}

// peerAnswered notes the answer to a question.
func (c *Conn) peerAnswered() {
	k := &c.alive
	k.mu.Lock()
	defer k.mu.Unlock()
	k.asked = false
	if !k.ended {
		k.timer.Reset(c.cfg.KeepAlive.Interval)
	}
}

// checkPeer asks the peer if nothing has happened for a while, and gives it up
// when it has not answered.
func (c *Conn) checkPeer() {
	k := &c.alive
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.ended {
		return
	}
	// Behind an operation that waits for a receive of the peer a question is not
	// sent, and says nothing.
	quiet := !k.heard.Swap(false) && len(c.sends.free) == len(c.sends.slots)
	switch {
	case quiet && k.asked:
		c.suspect(signFailure, &silentPeer{limit: c.cfg.KeepAlive.Limit})
		return
	case quiet:
		if err := c.qp.PostSend(c.question()); err != nil {
			c.suspect(signPort, err) // which looks at the queue pair
			break
		}
		k.asked = true
	}
	if k.asked {
		k.timer.Reset(c.cfg.KeepAlive.Limit)
		return
	}
	k.timer.Reset(c.cfg.KeepAlive.Interval)
}

// question is a request without data that the peer's device answers. An iWARP write
// has no answer: it completes when TCP has taken it.
func (c *Conn) question() uverbs.SendWR {
	wr := uverbs.SendWR{ID: c.sends.base | probe, Opcode: abi.IB_UVERBS_WR_RDMA_WRITE, Flags: uverbs.SendSignaled}
	if c.dev.iwarp {
		wr.RKey = 1
		if c.localReads > 0 {
			wr.Opcode = abi.IB_UVERBS_WR_RDMA_READ
		}
	}
	return wr
}

// silentPeer is a peer that has not answered a keep-alive.
type silentPeer struct{ limit time.Duration }

// Error says for how long.
func (e *silentPeer) Error() string {
	return fmt.Sprintf("%v: no answer to a keep-alive within %v", ErrPeerDead, e.limit)
}

// Is matches ErrPeerDead.
func (e *silentPeer) Is(target error) bool { return target == ErrPeerDead }

// Timeout is true.
func (e *silentPeer) Timeout() bool { return true }
