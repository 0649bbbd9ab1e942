package siw

import (
	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs/internal/provider"
)

// recvQueue is a ring of receive requests, of a queue pair or shared by several.
type recvQueue struct {
	producer
	sges uint32 // entries that one request may have
}

// postAll posts requests up to the first that is refused, and hands them over. The
// kernel looks at the ring when a message arrives.
func (q *recvQueue) postAll(wrs provider.List[provider.RecvWR]) (n int, err error) {
	for wr := wrs.First; n < wrs.N; wr = provider.After(wr) {
		if err = q.post(wr); err != nil {
			break
		}
		if n++; n == wrs.N {
			break
		}
	}
	q.publish()
	return n, err
}

// post checks a request and writes it to the next element.
func (q *recvQueue) post(wr *provider.RecvWR) error {
	if err := checkSGEs(wr.SGEs, q.sges); err != nil {
		return err
	}
	if q.ring.mem == nil || q.full() {
		return provider.ErrQueueFull
	}
	w := q.ring.rqe(q.prod)
	w.ID = wr.ID
	n := copy(entries(&w.SGE[0])[:], wr.SGEs)
	q.put(requestWord(abi.SIW_WQE_VALID, n, abi.SIW_OP_RECEIVE))
	return nil
}
