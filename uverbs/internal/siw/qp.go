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

func (q *qp) PostSend(wr *provider.SendWR) error { return q.send.post(wr) }

func (q *qp) FlushSend() error { return q.send.flush() }

func (q *qp) PostRecv(wr *provider.RecvWR) error {
	if q.hasSRQ {
		return errNoReceiveRing
	}
	return q.recv.post(wr)
}

func (q *qp) FlushRecv() error {
	q.recv.publish()
	return nil
}

// Close unmaps both rings.
func (q *qp) Close() error {
	return q.env.Unmap(q.send.ring.take(), q.recv.ring.take())
}
