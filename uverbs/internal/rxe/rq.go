package rxe

import (
	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs/internal/provider"
)

// recvQueue is a ring of receive requests, or noRing.
type recvQueue struct {
	ring ring
	prod uint32 // next slot to write, always masked
	sges uint32 // entries that one request may have
}

// PostRecv posts requests up to the first that is refused. The kernel does not look
// at them before the shared producer index moves past them. No doorbell: rxe_resp.c
// check_resource looks at the ring when a message arrives.
//
// The requests are written here and not by a function of their own, which would be
// a call for each.
func (q *recvQueue) PostRecv(wrs provider.List[provider.RecvWR]) (int, error) {
	if wrs.N == 0 {
		return 0, nil
	}
	wr := wrs.First
	for left := wrs.N; ; {
		sges := wr.SGEs // once, so that what is checked is what is used
		if uint64(len(sges)) > uint64(q.sges) {
			return q.stop(wrs.N-left, q.refuse(provider.ErrTooManySGEs))
		}
		if q.ring.full(q.prod) {
			return q.stop(wrs.N-left, q.refuse(provider.ErrQueueFull))
		}
		slot := q.ring.at(q.prod)
		length := putSGEs(slot, recvWQESize, sges)
		if length > maxMessage {
			return q.stop(wrs.N-left, errMessageSize)
		}
		w := (*abi.RXERecvWQE)(slot)
		*w = abi.RXERecvWQE{}
		w.WRID = wr.ID
		w.DMA.Length, w.DMA.Resid, w.DMA.NumSGE = uint32(length), uint32(length), uint32(len(sges))
		q.prod = q.ring.next(q.prod)
		if left--; left == 0 {
			break
		}
		wr = provider.After(wr)
	}
	q.ring.prod.Store(q.prod)
	return wrs.N, nil
}

// stop ends a list of which n requests are written and the next is refused.
func (q *recvQueue) stop(n int, err error) (int, error) {
	if n > 0 {
		q.ring.prod.Store(q.prod)
	}
	return n, err
}

// refuse returns why a request is refused, which is another reason where the queue
// pair has a shared queue.
func (q *recvQueue) refuse(err error) error {
	if q.ring.mem == nil {
		return errNoReceiveRing
	}
	return err
}

// posted is how many requests the kernel has not taken yet.
func (q *recvQueue) posted() uint32 { return (q.prod - q.ring.cons.Load()) & q.ring.mask }
