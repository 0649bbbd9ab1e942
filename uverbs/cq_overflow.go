package uverbs

import "github.com/purerdma/rdma/abi"

// MaxOutstanding returns how many requests can be outstanding at a time on all the
// queues that complete here: send and receive queues of queue pairs, shared receive
// queues, work queues. With fewer [CQ.Entries] the queue may overflow, which it only
// does not if some sends are unsignaled or the program posts less. The kernel does
// not look at this: it reports the overflow when it has happened.
func (cq *CQ) MaxOutstanding() int {
	n := 0
	shared := make(map[*SRQ]struct{})
	for _, o := range cq.c.registry.all() {
		switch o := o.(type) {
		case *QP:
			if o.cfg.SendCQ == cq {
				n += o.cap.MaxSendWR
			}
			switch {
			case o.cfg.RecvCQ != cq:
			case o.cfg.SRQ != nil:
				shared[o.cfg.SRQ] = struct{}{}
			default:
				n += o.cap.MaxRecvWR
			}
		case *SRQ:
			if o.cfg.CQ == cq { // an XRC queue has its own
				shared[o] = struct{}{}
			}
		case *WQ:
			if o.cq == cq {
				n += o.maxWR
			}
		}
	}
	for srq := range shared {
		n += srq.MaxWR()
	}
	return n
}

// failed records an overflow.
func (cq *CQ) failed(event abi.IBEventType) { cq.end(cq.overflow(event)) }

// overflow describes one.
func (cq *CQ) overflow(event abi.IBEventType) *CQError {
	return &CQError{
		CQ: cq.life.name, Device: cq.c.dev.Name, Event: event,
		Entries: cq.Entries(), Outstanding: cq.MaxOutstanding(),
	}
}
