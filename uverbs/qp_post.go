package uverbs

import (
	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs/internal/provider"
)

// PostSend posts requests to the send queue, in order, with one doorbell for
// all. It copies the requests; it allocates nothing and keeps nothing.
//
// When a request is refused, those before it are posted and the error is a
// *[PostError] that says how many; if none was posted, it is the cause itself.
// Requests whose doorbell failed count as posted: they are in the queue.
// The cause matches [ErrQueueFull], [ErrTooManySGEs], [ErrInlineSize],
// [ErrOpcode], [ErrNoAH], [ErrNoBind], net.ErrClosed, or an errno of the doorbell
// (POST_SEND), which is syscall.EINVAL before state RTS and then names the state. What the device finds out
// later arrives as a completion.
func (qp *QP) PostSend(wrs ...SendWR) error {
	if qp.cfg.Type == abi.IB_UVERBS_QPT_UD {
		return qp.postDatagrams(wrs)
	}
	// The lock is released without a deferred call, which costs 28 instructions, for
	// nothing under it can panic (provider.QP).
	qp.sendMu.Lock()
	n, err := qp.ring.PostSend(sendList(wrs))
	qp.sendMu.Unlock()
	if err != nil {
		return postError(n, qp.explainPost(err))
	}
	return nil
}

// postDatagrams posts requests up to the first whose address handle the queue pair
// cannot use.
func (qp *QP) postDatagrams(wrs []SendWR) error {
	var refused error
	for i := range wrs {
		if refused = wrs[i].AH.check(qp); refused != nil {
			wrs = wrs[:i]
			break
		}
	}
	qp.sendMu.Lock()
	n, err := qp.ring.PostSend(sendList(wrs))
	qp.sendMu.Unlock()
	if err == nil {
		err = refused
	}
	return postError(n, qp.explainPost(err))
}

// postError says how many requests were posted, if any.
func postError(n int, err error) error {
	if n == 0 || err == nil {
		return err
	}
	return &PostError{Posted: n, Err: err}
}

// PostRecv posts requests to the receive queue, in order, from state INIT on. It
// is otherwise like PostSend, errors included. A queue pair with a shared receive
// queue has none of its own and refuses.
func (qp *QP) PostRecv(wrs ...RecvWR) error {
	qp.recvMu.Lock()
	n, err := qp.ring.PostRecv(recvList(wrs))
	qp.recvMu.Unlock() // not deferred, as in PostSend
	if err != nil {
		return postError(n, err)
	}
	return nil
}

// ended is the data path of a queue pair that has been closed: in the place of the
// driver's, so that posting need not look whether there is one.
type ended struct {
	ringless
	err error
}

// PostSend refuses.
func (e ended) PostSend(provider.List[provider.SendWR]) (int, error) { return 0, e.err }

// PostRecv refuses.
func (e ended) PostRecv(provider.List[provider.RecvWR]) (int, error) { return 0, e.err }
