package rxe

import (
	"sync/atomic"

	"github.com/purerdma/rdma/uverbs/internal/provider"
)

// noRing is in the place of a ring that is not there (any more): nothing is in it,
// and there is no room. So who looks for requests or for room need not look whether
// there is a ring first.
var noRing = ring{prod: &nowhere, cons: &nowhere}

// nowhere is both indices of noRing. Nobody writes it.
var nowhere atomic.Uint32

// next is the index after i.
func (r *ring) next(i uint32) uint32 { return (i + 1) & r.mask }

// full reports whether a producer at index prod may not add a request. One slot
// always stays free to tell a full ring from an empty one (rxe_queue.h
// queue_full), which newRing's limit of mask does. The load is the acquire that
// lets the slot be overwritten after the kernel gave it back.
func (r *ring) full(prod uint32) bool {
	return (prod-r.cons.Load())&r.mask >= r.limit
}

// atMost lowers the number of requests that fit to what the kernel reported:
// 5.10 and 6.1 round the ring up but report the number asked for, so that
// without this a queue would be full at different counts on different kernels.
func (r *ring) atMost(requests uint32) { r.limit = min(requests, r.mask) }

// close unmaps the ring. The second call does nothing.
func (r *ring) close(env provider.Env) error { return env.Unmap(r.take()) }

// take returns the mapping, for the caller to unmap, and nil the second time.
func (r *ring) take() []byte {
	mem := r.mem
	r.mem = nil
	return mem
}
