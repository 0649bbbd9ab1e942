package rxe

import (
	"cmp"

	"github.com/purerdma/rdma/uverbs/internal/provider"
)

// qp is the data path of a queue pair. Send and receive side share nothing,
// so their locks (held by the core) may differ.
type qp struct {
	send      sendQueue
	recvQueue // without a ring when receives are shared
	env       provider.Env
}

var _ provider.QP = (*qp)(nil)

// PostSend posts to the send ring.
func (q *qp) PostSend(wrs []provider.SendWR) (int, error) {
	for i := range wrs {
		if err := q.send.post(&wrs[i]); err != nil {
			if i > 0 {
				err = cmp.Or(q.send.flush(), err)
			}
			return i, err
		}
	}
	return len(wrs), q.send.flush()
}

// Close unmaps both rings.
func (q *qp) Close() error {
	return q.env.Unmap(q.send.ring.take(), q.recvQueue.ring.take())
}
