package uverbs

import "github.com/purerdma/rdma/uverbs/internal/provider"

// PostSend posts requests to the send queue, in order, with one doorbell for
// all. It copies the requests; it allocates nothing and keeps nothing.
//
// When a request is refused, those before it are posted and the error is a
// *[PostError] that says how many; if none was posted, it is the cause itself.
// Requests whose doorbell failed count as posted: they are in the queue.
// The cause matches [ErrQueueFull], [ErrTooManySGEs], [ErrInlineSize],
// [ErrOpcode], [ErrNoAH], [ErrNoBind], net.ErrClosed, or an errno of the doorbell
// (POST_SEND), which is syscall.EINVAL before state RTS. What the device finds out
// later arrives as a completion.
func (qp *QP) PostSend(wrs ...SendWR) error {
	qp.sendMu.Lock()
	defer qp.sendMu.Unlock()
	if qp.ring == nil {
		return qp.life.closed
	}
	for i := range wrs {
		err := wrs[i].AH.check(qp)
		if err == nil {
			err = qp.ring.PostSend(wrs[i].provider())
		}
		if err != nil {
			return qp.stopSend(i, err)
		}
	}
	if len(wrs) == 0 {
		return nil
	}
	if err := qp.ring.FlushSend(); err != nil {
		return &PostError{Posted: len(wrs), Err: err}
	}
	return nil
}

// stopSend posts the n requests before one that was refused.
func (qp *QP) stopSend(n int, err error) error {
	if n == 0 {
		return err
	}
	if flushErr := qp.ring.FlushSend(); flushErr != nil {
		err = flushErr
	}
	return &PostError{Posted: n, Err: err}
}

// PostRecv posts requests to the receive queue, in order, from state INIT on. It
// is otherwise like PostSend, errors included. A queue pair with a shared receive
// queue has none of its own and refuses.
func (qp *QP) PostRecv(wrs ...RecvWR) error {
	qp.recvMu.Lock()
	defer qp.recvMu.Unlock()
	if qp.ring == nil {
		return qp.life.closed
	}
	return postRecv(qp.ring, wrs)
}

// receiver is the receive side of a queue pair or a shared queue.
type receiver interface {
	PostRecv(*provider.RecvWR) error
	FlushRecv() error
}

func postRecv(q receiver, wrs []RecvWR) error {
	for i := range wrs {
		if err := q.PostRecv((*provider.RecvWR)(noescape(&wrs[i]))); err != nil {
			return stopRecv(q, i, err)
		}
	}
	if len(wrs) == 0 {
		return nil
	}
	if err := q.FlushRecv(); err != nil {
		return &PostError{Posted: len(wrs), Err: err}
	}
	return nil
}

// stopRecv posts the n requests before one that was refused.
func stopRecv(q receiver, n int, err error) error {
	if n == 0 {
		return err
	}
	if flushErr := q.FlushRecv(); flushErr != nil {
		err = flushErr
	}
	return &PostError{Posted: n, Err: err}
}
