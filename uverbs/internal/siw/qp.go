package siw

import "github.com/purerdma/rdma/uverbs/internal/provider"

// qp is the data path of a queue pair. Send and receive side share nothing, so
// their locks (held by the core) may differ.
type qp struct {
	send   sendQueue
	recv   recvQueue // without a ring when no receives were asked for
	hasSRQ bool
	env    provider.Env
}

var _ provider.QP = (*qp)(nil)

// PostSend posts to the send ring.
func (q *qp) PostSend(wrs provider.List[provider.SendWR]) (int, error) { return q.send.postAll(wrs) }

// PostRecv posts to the receive ring, if there is one.
func (q *qp) PostRecv(wrs provider.List[provider.RecvWR]) (int, error) {
	if q.hasSRQ {
		if wrs.N == 0 {
			return 0, nil
		}
		return 0, errNoReceiveRing
	}
	return q.recv.postAll(wrs)
}

// Close unmaps both rings.
func (q *qp) Close() error {
	return q.env.Unmap(q.send.ring.take(), q.recv.ring.take())
}
