package rxe

import "github.com/purerdma/rdma/uverbs/internal/provider"

// qp is the data path of a queue pair. Send and receive side share nothing,
// so their locks (held by the core) may differ.
type qp struct {
	sendQueue
	recvQueue // noRing when receives are shared
	env       provider.Env
}

var _ provider.QP = (*qp)(nil)

// Close unmaps both rings.
func (q *qp) Close() error {
	return q.env.Unmap(q.sendQueue.ring.take(), q.recvQueue.ring.take())
}
