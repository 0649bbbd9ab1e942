package bench

import (
	"fmt"

	"github.com/purerdma/rdma/uverbs"
)

// receives is how many receives each queue pair has posted; none unless something
// arrives.
func (r *request) receives() int {
	switch {
	case r.Op == Send:
		return int(r.RecvDepth)
	case r.both():
		return 1 // the report
	}
	return 0
}

// entries are what the completion queues of a side hold. One more than can be under way:
// a queue that is full loses what comes.
func (r *request) entries(depth int) (send, recv int) {
	send, recv = depth*int(r.QPs)+1, r.receives()*int(r.QPs)+1
	if r.both() {
		return send + recv - 1, 0 // one queue for both
	}
	return send, recv
}

// fit makes a request fit the device before anything is made there: fewer receives are
// posted, if that is allowed, down to least on each queue pair. Sends are never fewer: they
// are what is measured.
func (r *request) fit(device string, attr *uverbs.DeviceAttr, depth, least int) error {
	if r.Op == Send {
		others := 1 // entries that are not for receives
		if r.both() {
			others += max(depth, r.serverDepth()) * int(r.QPs)
		}
		room := max((attr.MaxCQE-others)/int(r.QPs), min(least, int(r.RecvDepth)))
		r.RecvDepth = uint16(max(1, min(int(r.RecvDepth), room, max(attr.MaxQPWR, least))))
	}
	send, recv := r.entries(depth)
	if need := max(send, recv); need > attr.MaxCQE {
		return fmt.Errorf("%d queue pairs need a completion queue of %d entries for what is under way: %s has %d at most; "+
			"fewer queue pairs or less depth", r.QPs, need, device, attr.MaxCQE)
	}
	if need := max(depth, r.receives()); need > attr.MaxQPWR {
		return fmt.Errorf("a queue pair with %d requests under way: %s has %d at most; less depth", need, device, attr.MaxQPWR)
	}
	return nil
}
