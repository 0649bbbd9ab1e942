package cm

import (
	"context"
	"errors"
	"fmt"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs"
)

// A requestError is a failed request of a connection. It says what the device's
// verdict means for the side that it is about, in terms of what a program sets.
type requestError struct {
	failed *uverbs.CompletionError
	recv   bool
	why    string
}

// wcError returns a failed request as an error that names the operation's slot
// alone; the key says nothing to anybody.
func (c *Conn) wcError(wc *uverbs.WC) error {
	own := *wc
	own.ID &= operation
	e := &requestError{recv: wc.ID&recvBit != 0}
	e.failed, _ = own.Err().(*uverbs.CompletionError)
	if e.why = c.sendFailure(wc.Status); e.recv {
		e.why = c.recvFailure(wc.Status)
	}
	if e.why == "" {
		e.why = e.failed.Likely()
	}
	return e
}

// sendFailure says what a status of the send queue means here; "" for one that
// means what it always does.
func (c *Conn) sendFailure(status abi.IBWCStatus) string {
	switch status {
	case abi.IB_WC_REM_INV_REQ_ERR:
		return fmt.Sprintf("the peer's device refused the request: a message longer than the peer's Config.RecvSize (here that is %d), "+
			"or an operation that is not enabled there", c.cfg.RecvSize)
	case abi.IB_WC_REM_OP_ERR: // soft-RoCE of 5.10 says so instead
		return fmt.Sprintf("the peer's device could not carry it out: a message longer than the peer's Config.RecvSize (here that is %d), "+
			"or memory of its receive that is wrong", c.cfg.RecvSize)
	case abi.IB_WC_RNR_RETRY_EXC_ERR:
		return "the peer has no receive posted: its program does not release messages (Message.Release) or does not receive, " +
			"or its Config.RecvDepth is less than what is sent to it at a time"
	}
	return ""
}

// recvFailure is sendFailure for the receive queue: its failures are requests of
// the peer that this side refused.
func (c *Conn) recvFailure(status abi.IBWCStatus) string {
	switch status {
	case abi.IB_WC_LOC_LEN_ERR, abi.IB_WC_REM_INV_REQ_ERR: // soft-RoCE says the latter on both sides
		return fmt.Sprintf("the peer's message is longer than this side's Config.RecvSize, which is %d", c.cfg.RecvSize)
	case abi.IB_WC_LOC_QP_OP_ERR: // soft-RoCE of 5.10
		return fmt.Sprintf("the peer's message does not fit the receive: it is longer than this side's Config.RecvSize, which is %d, "+
			"or the peer asked for something that this queue pair cannot do", c.cfg.RecvSize)
	case abi.IB_WC_REM_ACCESS_ERR, abi.IB_WC_LOC_ACCESS_ERR:
		return "this side refused a write of the peer: wrong or closed remote key, address outside of the region, or a right that it lacks"
	}
	return ""
}

// Error tells side, status, queue pair and what it means.
func (e *requestError) Error() string {
	side := "request"
	if e.recv {
		side = "receive"
	}
	return fmt.Sprintf("%s %#x on QP %#x: %v (status %d, vendor code %#x): %s",
		side, e.failed.ID, e.failed.QPN, e.failed.Status, uint32(e.failed.Status), e.failed.VendorErr, e.why)
}

// Is matches ErrPeerDead when the peer's device has not answered.
func (e *requestError) Is(target error) bool {
	return target == ErrPeerDead &&
		(e.failed.Status == abi.IB_WC_RETRY_EXC_ERR || e.failed.Status == abi.IB_WC_RESP_TIMEOUT_ERR)
}

// Unwrap returns the *uverbs.CompletionError.
func (e *requestError) Unwrap() error { return e.failed }

// unanswered explains why the context of an operation that the device has ended
// first: the peer's device has not confirmed it.
func (c *Conn) unanswered(opcode abi.IBUverbsWROpcode, err error) error {
	if !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	n := len(c.sends.slots) - len(c.sends.free)
	switch opcode {
	case abi.IB_UVERBS_WR_SEND, abi.IB_UVERBS_WR_SEND_WITH_IMM, abi.IB_UVERBS_WR_RDMA_WRITE_WITH_IMM:
		return fmt.Errorf("%d operations wait for the peer: it has no receive posted (does its program release messages? "+
			"its Config.RecvDepth may be too small), or does not answer: %w", n, err)
	}
	return fmt.Errorf("%d operations wait for the peer, which does not answer, or has no receive posted for a message before this one: %w", n, err)
}

// checkReads refuses a read or an atomic on a connection that may have none: the
// device would keep it, and everything behind it, for ever.
func (c *Conn) checkReads() error {
	switch {
	case c.localReads > 0:
		return nil
	case c.cfg.LocalReads == 0:
		return fmt.Errorf("Config.LocalReads is negative, so this side may not read or use atomics: %w", errNoReads)
	case c.dev.maxInitiate == 0:
		return fmt.Errorf("%s cannot read or use atomics: %w", c.Device(), errNoReads)
	}
	return fmt.Errorf("the peer serves no reads and atomics (its Config.PeerReads; C: responder_resources): %w", errNoReads)
}
