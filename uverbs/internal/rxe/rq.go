package rxe

import "github.com/purerdma/rdma/uverbs/internal/provider"

// recvQueue is a ring of receive requests.
type recvQueue struct {
	ring ring
	prod uint32 // next slot to write, always masked
	sges uint32 // entries that one request may have
}

func (q *recvQueue) post(wr *provider.RecvWR) error {
	length, err := sgeLength(wr.SGEs, q.sges)
	if err != nil {
		return err
	}
	if q.ring.full(q.prod) {
		return provider.ErrQueueFull
	}
	encodeRecv(&q.ring, q.prod, wr, length)
	q.prod = q.ring.next(q.prod)
	return nil
}

// posted is how many requests the kernel has not taken yet.
func (q *recvQueue) posted() uint32 { return (q.prod - q.ring.cons.Load()) & q.ring.mask }

// flush publishes the requests. No doorbell: rxe_resp.c check_resource looks
// at the ring when a message arrives.
func (q *recvQueue) flush() { q.ring.prod.Store(q.prod) }
