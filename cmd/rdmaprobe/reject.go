package main

import (
	"errors"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/cm"
)

// wordless tells whether a reject could be the far kernel's own as well as its
// application's: both have reason 28, and the kernel sends no data with it. It
// refuses so when the listener is bound to another address of the host
// (cma_ib_req_handler), and when a program ends, or an accept fails, after the
// request has come (rdma_destroy_id, rdma_accept). This module's programs always send
// a text.
func wordless(rej *cm.RejectError) bool {
	if rej.Reason != abi.IB_CM_REJ_CONSUMER_DEFINED {
		return false
	}
	for _, b := range rej.PrivateData {
		if b != 0 {
			return false
		}
	}
	return true
}

const wordlessAdvice = "look on the peer at the application's log, and at rdmaprobe res -v, which shows the addresses that its listeners are bound to"

// rejectRemedy says what to do about a reject; empty when its class says it.
func rejectRemedy(err error) string {
	var rej *cm.RejectError
	if errors.As(err, &rej) && wordless(rej) {
		return wordlessAdvice
	}
	return ""
}
