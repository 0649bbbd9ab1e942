package uverbs

import (
	"fmt"
	"syscall"

	"github.com/purerdma/rdma/abi"
)

// A CompletionError is a request that failed, as its completion says.
type CompletionError struct {
	ID        uint64
	Status    abi.IBWCStatus
	Opcode    abi.IBWCOpcode // often not known for failed requests
	QPN       uint32
	VendorErr uint32
}

// Err returns nil for a completion without failure, else a *[CompletionError].
func (wc *WC) Err() error {
	if wc.Status == abi.IB_WC_SUCCESS {
		return nil
	}
	return &CompletionError{
		ID: wc.ID, Status: wc.Status, Opcode: wc.Opcode, QPN: wc.QPN, VendorErr: wc.VendorErr,
	}
}

// Error tells status, queue pair and the likely causes.
func (e *CompletionError) Error() string {
	s := fmt.Sprintf("request %#x on QP %#x: %v (status %d, vendor code %#x)",
		e.ID, e.QPN, e.Status, uint32(e.Status), e.VendorErr)
	if l := e.Likely(); l != "" {
		s += ": " + l
	}
	return s
}

// Timeout reports whether the peer did not answer in time.
func (e *CompletionError) Timeout() bool {
	return e.Status == abi.IB_WC_RETRY_EXC_ERR || e.Status == abi.IB_WC_RESP_TIMEOUT_ERR ||
		e.Status == abi.IB_WC_RNR_RETRY_EXC_ERR
}

// Flushed reports whether the request was never carried out, because the queue
// pair went to the error state for another reason.
func (e *CompletionError) Flushed() bool { return e.Status == abi.IB_WC_WR_FLUSH_ERR }

// Is makes errors.Is match the errno that fits the status best.
func (e *CompletionError) Is(target error) bool {
	switch target {
	case syscall.ETIMEDOUT:
		return e.Timeout()
	case syscall.ECANCELED:
		return e.Flushed()
	case syscall.EACCES:
		return e.Status == abi.IB_WC_LOC_PROT_ERR || e.Status == abi.IB_WC_LOC_ACCESS_ERR ||
			e.Status == abi.IB_WC_REM_ACCESS_ERR
	}
	return false
}

// Likely names the usual causes of the status, the most frequent first; empty
// for a status that has no usual cause.
func (e *CompletionError) Likely() string { return likely[e.Status] }

var likely = map[abi.IBWCStatus]string{
	abi.IB_WC_LOC_LEN_ERR:        "the message was longer than the receive posted for it, or longer than the device's limit",
	abi.IB_WC_LOC_QP_OP_ERR:      "the request does not fit the queue pair: its type, its state, or a limit it was created with",
	abi.IB_WC_LOC_PROT_ERR:       "an entry's local key is wrong, was closed, belongs to another PD, or does not cover the address; or the region lacks AccessLocalWrite",
	abi.IB_WC_WR_FLUSH_ERR:       "not carried out: the queue pair is in the error state, because an earlier request failed, the peer disconnected or it was closed",
	abi.IB_WC_MW_BIND_ERR:        "the memory window or its region does not allow the binding",
	abi.IB_WC_BAD_RESP_ERR:       "the peer answered something that does not fit the request",
	abi.IB_WC_LOC_ACCESS_ERR:     "the peer's write with immediate did not fit the local region's access",
	abi.IB_WC_REM_INV_REQ_ERR:    "the peer refused the request: the message is longer than its receive, or the operation is not enabled there (access flags of its queue pair, reads or atomics outstanding)",
	abi.IB_WC_REM_ACCESS_ERR:     "the peer's region does not allow it: wrong or closed remote key, address outside the region, missing access flag, or an atomic address that is no multiple of 8",
	abi.IB_WC_REM_OP_ERR:         "the peer could not carry it out, often because its own receive entry is wrong",
	abi.IB_WC_RETRY_EXC_ERR:      "no answer after all repetitions: peer gone or not ready, wrong GID or route, path MTU too large, or UDP port 4791 filtered",
	abi.IB_WC_RNR_RETRY_EXC_ERR:  "the peer had no receive posted after all repetitions (RNRRetry)",
	abi.IB_WC_LOC_RDD_VIOL_ERR:   "the reliable datagram domains differ",
	abi.IB_WC_REM_INV_RD_REQ_ERR: "the peer refused the reliable datagram message",
	abi.IB_WC_REM_ABORT_ERR:      "the peer aborted the operation",
	abi.IB_WC_FATAL_ERR:          "the device failed; see its asynchronous events and the kernel log",
	abi.IB_WC_RESP_TIMEOUT_ERR:   "the peer's response took too long",
	abi.IB_WC_GENERAL_ERR:        "a failure without a code of its own; see the vendor code and the kernel log",
}

// A CQError is a completion queue that no longer works: more requests
// completed than it has entries. Completions were lost; close it and its queue
// pairs.
type CQError struct {
	CQ     string
	Device string
	Event  abi.IBEventType

	Entries     int // of the queue; 0 if unknown
	Outstanding int // see CQ.MaxOutstanding
}

// Error names queue, event, numbers and remedy.
func (e *CQError) Error() string {
	text := fmt.Sprintf("%s: %s overflowed (%v)", e.Device, e.CQ, e.Event)
	if e.Outstanding > e.Entries {
		return fmt.Sprintf("%s: it has %d entries, and the queues attached to it can have %d requests outstanding; "+
			"create it with that many entries, or attach less", text, e.Entries, e.Outstanding)
	}
	return text + ": create it with room for all outstanding requests"
}
