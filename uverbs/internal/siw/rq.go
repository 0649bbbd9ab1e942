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
