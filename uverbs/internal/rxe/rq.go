package rxe

import (
	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs/internal/provider"
)

// recvQueue is a ring of receive requests.
type recvQueue struct {
	ring ring
	prod uint32 // next slot to write, always masked
	sges uint32 // entries that one request may have
}

// PostRecv posts requests up to the first that is refused. No doorbell: rxe_resp.c
// check_resource looks at the ring when a message arrives.
func (q *recvQueue) PostRecv(wrs []provider.RecvWR) (int, error) {
	switch {
	case len(wrs) == 0:
		return 0, nil
	case q.ring.mem == nil: // the queue pair has a shared queue
		return 0, errNoReceiveRing
	}
	for i := range wrs {
		if err := q.post(&wrs[i]); err != nil {
			q.show()
			return i, err
		}
	}
	q.show()
	return len(wrs), nil
}

// show lets the kernel see the requests.
func (q *recvQueue) show() { q.ring.prod.Store(q.prod) }

// post checks a request and writes it to the next slot, which the kernel does not
// look at before the shared producer index moves past it.
func (q *recvQueue) post(wr *provider.RecvWR) error {
	sges := wr.SGEs // once, so that what is checked is what is used
	if uint64(len(sges)) > uint64(q.sges) {
		return provider.ErrTooManySGEs
	}
	if q.ring.full(q.prod) {
		return provider.ErrQueueFull
	}
	slot := q.ring.slot(q.prod)
	length := putSGEs(slot, recvWQESize, sges)
	if length > maxMessage {
		return errMessageSize
	}
	w := (*abi.RXERecvWQE)(slot)
	*w = abi.RXERecvWQE{}
	w.WRID = wr.ID
	w.DMA.Length, w.DMA.Resid, w.DMA.NumSGE = uint32(length), uint32(length), uint32(len(sges))
	q.prod = q.ring.next(q.prod)
	return nil
}

// posted is how many requests the kernel has not taken yet.
func (q *recvQueue) posted() uint32 { return (q.prod - q.ring.cons.Load()) & q.ring.mask }
