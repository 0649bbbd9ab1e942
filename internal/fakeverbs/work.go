package fakeverbs

import (
	"math"
	"sync/atomic"
	"syscall"
	"unsafe"

	"github.com/purerdma/rdma/abi"
)

// notify is what raises an event of a completion queue.
type notify uint8

const (
	notifyNever notify = iota
	notifySolicited
	notifyNext
)

// pushWC adds a completion and raises an event if one was asked for. One that
// does not fit is lost, and raises CQ_ERR (rxe_cq_post).
func (k *Kernel) pushWC(q *cq, wc *abi.IBUverbsWC, solicited bool) {
	prod := atomic.LoadUint32(&q.ring.hdr.ProducerIndex)
	if (prod+1)&q.ring.mask == atomic.LoadUint32(&q.ring.hdr.ConsumerIndex)&q.ring.mask {
		k.raise(q.user, abi.IB_EVENT_CQ_ERR)
		return
	}
	*(*abi.IBUverbsWC)(q.ring.slot(prod)) = *wc
	atomic.StoreUint32(&q.ring.hdr.ProducerIndex, (prod+1)&q.ring.mask)
	if q.channel != nil && (q.notify == notifyNext || q.notify == notifySolicited && solicited) {
		q.notify = notifyNever
		q.channel.push(event{element: q.user})
	}
}

func (k *Kernel) reqNotify(r *request) error {
	req := *as[abi.IBUverbsReqNotifyCQ](r)
	if k.OnNotify != nil {
		k.mu.Unlock()
		k.OnNotify()
		k.mu.Lock()
	}
	q, err := find[*cq](k, req.CQHandle)
	if err != nil {
		return err
	}
	if n := &k.faults.refusals; n.left > 0 {
		n.left--
		return n.errno
	}
	switch { // a request for any completion stays one (rxe_req_notify_cq)
	case req.SolicitedOnly == 0:
		q.notify = notifyNext
	case q.notify != notifyNext:
		q.notify = notifySolicited
	}
	return nil
}

// postSend is the doorbell: every request of the ring is carried out at once,
// unless a test holds it. It allocates nothing.
func (k *Kernel) postSend(r *request) error {
	req := as[abi.IBUverbsPostSend](r)
	q, err := find[*qp](k, req.QPHandle)
	if err != nil {
		return err
	}
	if k.CheckState && q.state < uint8(abi.IB_QPS_RTS) { // rxe_post_send
		return syscall.EINVAL
	}
	if req.WRCount != 0 || int(req.WQESize) < sizeOf[abi.IBUverbsSendWR]() {
		return syscall.EINVAL
	}
	if d := k.faults.doorbell; d.errno != 0 {
		if !d.lasts {
			k.faults.doorbell = doorbell{}
		}
		k.work(q, d.taken)
		return d.errno
	}
	k.work(q, math.MaxInt)
	return nil
}

// postRecv is a doorbell that soft-RoCE does not need.
func (k *Kernel) postRecv(r *request) error {
	_, err := find[*qp](k, as[abi.IBUverbsPostRecv](r).QPHandle)
	return err
}

// work carries out at most so many requests of a send queue, up to the first that
// is held back. After a failure those that follow are flushed, and the posted
// receives too (rxe_qp_error).
func (k *Kernel) work(q *qp, most int) {
	if q.sq == nil || q.busy {
		return
	}
	q.busy = true
	for range most {
		cons := q.sq.hdr.ConsumerIndex
		if cons == atomic.LoadUint32(&q.sq.hdr.ProducerIndex) {
			break
		}
		w := (*abi.RXESendWQE)(q.sq.slot(cons))
		status := abi.IB_WC_WR_FLUSH_ERR
		if q.state != uint8(abi.IB_QPS_ERR) {
			if k.holds(q, w) {
				break
			}
			status = k.transmit(q, w)
		}
		if status != abi.IB_WC_SUCCESS {
			q.state = uint8(abi.IB_QPS_ERR)
		}
		if status != abi.IB_WC_SUCCESS || q.sigAll || w.WR.SendFlags&uint32(abi.IB_SEND_SIGNALED) != 0 {
			k.pushWC(q.send, &abi.IBUverbsWC{
				WRID: w.WR.WRID, Status: uint32(status), Opcode: uint32(sendOpcode[w.WR.Opcode]), ByteLen: w.DMA.Length, QPNum: q.qpn,
			}, false)
		}
		atomic.StoreUint32(&q.sq.hdr.ConsumerIndex, (cons+1)&q.sq.mask)
	}
	q.busy = false
	if q.state == uint8(abi.IB_QPS_ERR) {
		k.flushRecvs(q)
	}
}

// transmit delivers a request while the port works.
func (k *Kernel) transmit(q *qp, w *abi.RXESendWQE) abi.IBWCStatus {
	if k.faults.portDown {
		return k.faults.downStatus
	}
	return k.deliver(q, w)
}

// breakQP puts a queue pair into ERROR and flushes what is posted. One whose
// request is being carried out does so afterwards.
func (k *Kernel) breakQP(q *qp) {
	q.state = uint8(abi.IB_QPS_ERR)
	k.work(q, math.MaxInt)
	if q.sq == nil {
		k.flushRecvs(q)
	}
}

// flushRecvs completes the posted receives of a queue pair's own queue; those of
// a shared one stay.
func (k *Kernel) flushRecvs(q *qp) {
	if q.rq == nil || q.recv == nil {
		return
	}
	for q.rq.hdr.ConsumerIndex != atomic.LoadUint32(&q.rq.hdr.ProducerIndex) {
		k.takeRecv(q, abi.IB_WC_WR_FLUSH_ERR)
	}
}

// takeRecv completes the first posted receive with a failure.
func (k *Kernel) takeRecv(q *qp, status abi.IBWCStatus) {
	cons := q.rq.hdr.ConsumerIndex
	r := (*abi.RXERecvWQE)(unsafe.Pointer(q.rq.slot(cons)))
	wc := abi.IBUverbsWC{WRID: r.WRID, Status: uint32(status), Opcode: uint32(abi.IB_WC_RECV), QPNum: q.qpn}
	atomic.StoreUint32(&q.rq.hdr.ConsumerIndex, (cons+1)&q.rq.mask)
	k.pushWC(q.recv, &wc, status != abi.IB_WC_WR_FLUSH_ERR)
}

// refuse is what a responder does with a request that it may not serve: its queue
// pair goes to ERROR, its posted receives are flushed, and the requester is told
// (do_class_ac_error). status is that of the receive that was being filled; 0
// stands for none.
func (k *Kernel) refuse(to *qp, status, told abi.IBWCStatus) abi.IBWCStatus {
	if status != 0 && to.rq != nil {
		k.takeRecv(to, status)
	}
	k.breakQP(to)
	return told
}
