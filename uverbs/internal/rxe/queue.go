package rxe

import "github.com/purerdma/rdma/uverbs/internal/provider"

// next is the index after i.
func (r *ring) next(i uint32) uint32 { return (i + 1) & r.mask }

// full reports whether a producer at index prod has no slot left. One slot
// stays free to tell a full ring from an empty one (rxe_queue.h queue_full).
// The load is the acquire that lets the slot be overwritten after the kernel
// gave it back.
func (r *ring) full(prod uint32) bool {
	return (prod+1-r.cons.Load())&r.mask == 0
}

// close unmaps the ring. The second call does nothing.
func (r *ring) close(env provider.Env) error {
	if r.mem == nil {
		return nil
	}
	mem := r.mem
	r.mem = nil
	return env.Unmap(mem)
}
