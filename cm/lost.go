package cm

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs"
)

// explainWithin is how long a connection with a first sign of its end waits for
// the event that explains it: the queue pair of a peer that was killed fails
// some milliseconds before the connection manager says that the peer has gone.
var explainWithin = 250 * time.Millisecond

// A sign says that a connection may be of no more use, and not yet why. Later
// ones tell more than earlier ones.
type sign int

const (
	signPort    sign = iota // its port is down, or events were lost: perhaps nothing has happened
	signFlush               // a request was flushed, or refused by a queue pair in the error state
	signEvent               // an asynchronous event of the queue pair
	signFailure             // a failed request
	signs
)

// A suspicion is what is known of a connection's end before it is certain.
type suspicion struct {
	mu    sync.Mutex
	first [signs]error // the first of each
	timer *time.Timer  // runs while there are signs

	// settled is closed when they turn out to mean nothing; nil without signs.
	settled chan struct{}
}

// strongest returns the sign that tells most; the caller holds mu.
func (s *suspicion) strongest() (sign, error) {
	for i := signs - 1; i >= 0; i-- {
		if s.first[i] != nil {
			return i, s.first[i]
		}
	}
	return -1, nil
}

// suspect notes a sign of the connection's end. If no event explains it in
// explainWithin, the connection ends with what queue pair and port tell. It
// does not block.
func (c *Conn) suspect(what sign, err error) {
	if c.Err() != nil {
		return
	}
	s := &c.doubt
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.first[what] == nil {
		s.first[what] = err
	}
	if s.timer == nil {
		s.settled = make(chan struct{})
		s.timer = time.AfterFunc(c.explainTime(), func() { background.verdicts.run(c.conclude) })
	}
}

// explainTime is how long the connection waits for the event. On iWARP every end begins
// with flushed requests: TCP tells the queue pair, and the event follows through two
// work queues (siw_qp_llp_close, cm_event_handler of iwcm.c).
func (c *Conn) explainTime() time.Duration {
	if c.dev.iwarp {
		return 3 * explainWithin
	}
	return explainWithin
}

// suspected reports whether there are signs of the connection's end.
func (c *Conn) suspected() bool {
	c.doubt.mu.Lock()
	defer c.doubt.mu.Unlock()
	_, err := c.doubt.strongest()
	return err != nil
}

// conclude ends a connection whose end no event has explained, unless it works.
func (c *Conn) conclude() {
	s := &c.doubt
	for c.Err() == nil {
		s.mu.Lock()
		what, err := s.strongest()
		s.mu.Unlock()
		if cause := c.diagnose(what, err); cause != nil {
			c.finish(cause)
			return
		}
		s.mu.Lock()
		if now, _ := s.strongest(); now == what { // nothing was added meanwhile
			s.first, s.timer = [signs]error{}, nil
			close(s.settled)
			s.settled = nil
			s.mu.Unlock()
			return
		}
		s.mu.Unlock()
	}
}

// diagnose returns what ended the connection, from its strongest sign and the
// states of device, port and queue pair; nil if it works.
func (c *Conn) diagnose(what sign, err error) error {
	select {
	case <-c.dev.ctx.Removed():
		return ErrDeviceRemoved
	default:
	}
	if what == signFailure && answered(err) {
		return err
	}
	if down := c.portDown(); down != nil {
		return down
	}
	switch what {
	case signPort:
		if attr, queryErr := c.qp.Query(); queryErr != nil || attr.State != abi.IB_QPS_ERR {
			return nil
		}
		return &brokenQP{qpn: c.qp.Number(), recvSize: c.cfg.RecvSize, err: err}
	case signFlush:
		if c.dev.iwarp {
			return &endedTCP{err} // of which the late event says no more
		}
		return &brokenQP{qpn: c.qp.Number(), recvSize: c.cfg.RecvSize, err: err}
	}
	return err
}

// answered reports whether a failed request had an answer of the peer, so that
// the port is not to blame.
func answered(err error) bool {
	var ce *uverbs.CompletionError
	if !errors.As(err, &ce) {
		return false
	}
	switch ce.Status {
	case abi.IB_WC_REM_ACCESS_ERR, abi.IB_WC_REM_INV_REQ_ERR, abi.IB_WC_REM_OP_ERR, abi.IB_WC_RNR_RETRY_EXC_ERR, abi.IB_WC_LOC_LEN_ERR:
		return true
	}
	return false
}

// refusedHere reports whether a failed request is a receive: the peer has sent what
// this side could not take. The peer's refusals may be its death: of a process that
// is killed the memory goes first, and the connection after it.
func refusedHere(err error) bool {
	var re *requestError
	return errors.As(err, &re) && re.recv
}

// portDown returns an error that names the connection's port if that is down.
// Kernels before 6.12 say of it that a local key is wrong (soft-RoCE takes every
// packet that it cannot send for that).
func (c *Conn) portDown() error {
	attr, err := c.dev.ctx.QueryPort(int(c.port))
	if err != nil || attr.State == uverbs.PortActive || attr.State == uverbs.PortActiveDefer {
		return nil
	}
	return &PortError{Device: c.Device(), Port: int(c.port), State: attr.State}
}

// A PortError is a connection whose port is down. A port that is up again within a
// quarter of a second harms no connection that got through that time; one that stays
// down ends its connections, although the devices' own repetitions might outlast it.
type PortError struct {
	Device string
	Port   int
	State  uverbs.PortState
}

// Error names port and remedy.
func (e *PortError) Error() string {
	return fmt.Sprintf("port %d of %s is down (state %v): look at the cable, or at the network interface with ip link", e.Port, e.Device, e.State)
}

// endedTCP is the end of an iWARP connection that the queue pair told of first.
type endedTCP struct{ err error }

// Error is the text of ErrPeerClosed.
func (e *endedTCP) Error() string { return ErrPeerClosed.Error() }

// Unwrap returns ErrPeerClosed and the first sign.
func (e *endedTCP) Unwrap() []error { return []error{ErrPeerClosed, e.err} }

// brokenQP is a queue pair that the device took to the error state without
// saying why.
type brokenQP struct {
	qpn      uint32
	recvSize int
	err      error
}

// Error says what takes a queue pair there.
func (e *brokenQP) Error() string {
	return fmt.Sprintf("queue pair %#x is in the error state and its device did not say why; usually this side refused what the peer asked for: "+
		"a wrong or closed remote key, an address outside of the region, a right that the region lacks, "+
		"or a message longer than Config.RecvSize (%d bytes)", e.qpn, e.recvSize)
}

// Unwrap returns the first sign.
func (e *brokenQP) Unwrap() error { return e.err }

// explain ends the connection with what an event says. It does not block.
func (c *Conn) explain(cause error) {
	c.cq.pump(false) // what failed before is part of the story
	c.finish(cause)
}

// finish ends the connection with a cause and the request that failed first, if
// one did.
func (c *Conn) finish(cause error) {
	c.doubt.mu.Lock()
	first := c.doubt.first[signFailure]
	if first == nil {
		first = c.doubt.first[signEvent]
	}
	c.doubt.mu.Unlock()
	if cause == ErrPeerClosed && refusedHere(first) {
		cause = first // why the peer ended the connection: no orderly end, no io.EOF
	}
	if first == cause {
		first = nil
	}
	c.end(&lostError{cause: cause, first: first})
}

// end makes err the reason for all waiting and later operations to fail. Only
// the first reason counts.
func (c *Conn) end(err error) {
	c.endOnce.Do(func() {
		var lost *lostError
		if !errors.Is(err, net.ErrClosed) && !errors.As(err, &lost) {
			err = &lostError{cause: err}
		}
		c.endErr = err
		close(c.ended)
	})
	c.stopKeepAlive()
	c.doubt.mu.Lock()
	defer c.doubt.mu.Unlock()
	if c.doubt.timer != nil {
		c.doubt.timer.Stop()
	}
}

// A lostError is the end of a connection that its own side did not ask for.
type lostError struct {
	cause error
	first error // the request that failed first, or the event, where the cause is another
}

// Error names the cause, and what failed before the peer ended the connection:
// it may be the peer's reason.
func (e *lostError) Error() string {
	if e.first == nil || !errors.Is(e.cause, ErrPeerClosed) {
		return e.cause.Error()
	}
	return fmt.Sprintf("%v; before that: %v", e.cause, e.first)
}

// Is matches ErrConnLost.
func (e *lostError) Is(target error) bool { return target == ErrConnLost }

// Unwrap returns the cause, and what failed first.
func (e *lostError) Unwrap() []error {
	if e.first == nil {
		return []error{e.cause}
	}
	return []error{e.cause, e.first}
}

// Timeout reports whether the peer did not answer in time.
func (e *lostError) Timeout() bool { return isTimeout(e.cause) }

// awaitEnd returns why the connection ended, of which err was a sign; err itself
// if ctx ends first, or the connection turns out to work.
func (c *Conn) awaitEnd(ctx context.Context, err error) error {
	c.doubt.mu.Lock()
	settled := c.doubt.settled
	c.doubt.mu.Unlock()
	if settled == nil { // as it has turned out, or it has ended before the sign
		if ended := c.Err(); ended != nil {
			return ended
		}
		return err
	}
	select {
	case <-c.ended:
		return c.endErr
	case <-ctx.Done():
	case <-settled:
	}
	return err
}
