package fakeverbs

import (
	"sync/atomic"
	"unsafe"

	"github.com/purerdma/rdma/abi"
)

// deliver carries out a request between two queue pairs of this kernel, if the
// queue pair has a peer; without one every request succeeds and does nothing.
// There is no waiting for receives: a send without one fails, as after the
// last RNR retry.
func (k *Kernel) deliver(q *qp, w *abi.RXESendWQE) abi.IBWCStatus {
	if q.typ == abi.IB_UVERBS_QPT_UD {
		return k.deliverDatagram(q, w)
	}
	op := abi.IBUverbsWROpcode(w.WR.Opcode)
	switch op {
	case abi.IB_UVERBS_WR_BIND_MW:
		return k.bind(q, w)
	case abi.IB_UVERBS_WR_LOCAL_INV:
		return k.invalidate(q, w.WR.Ex)
	}
	if q.attr.DestQPNum == 0 {
		return abi.IB_WC_SUCCESS
	}
	to := k.qpByNumber(q.attr.DestQPNum)
	if to == nil || to.state != uint8(abi.IB_QPS_RTR) && to.state != uint8(abi.IB_QPS_RTS) {
		return abi.IB_WC_RETRY_EXC_ERR
	}
	inline := w.WR.SendFlags&uint32(abi.IB_SEND_INLINE) != 0
	if !inline && !k.owns(q.pd, sendList(w), localAccess(op)) {
		return abi.IB_WC_LOC_PROT_ERR
	}
	switch {
	case op == abi.IB_UVERBS_WR_SEND, op == abi.IB_UVERBS_WR_SEND_WITH_IMM:
		return k.deliverMessage(to, w, op, nil)
	case isAtomic(op):
		return k.deliverAtomic(to, w, op)
	default:
		return k.deliverRDMA(to, w, op)
	}
}

func (k *Kernel) qpByNumber(qpn uint32) *qp {
	for _, o := range k.objects {
		if q, ok := o.(*qp); ok && q.qpn == qpn {
			return q
		}
	}
	return nil
}

// deliverMessage uses up one receive of the peer. A write with immediate
// leaves the receive's memory alone; a datagram has a header before its data.
func (k *Kernel) deliverMessage(to *qp, w *abi.RXESendWQE, op abi.IBUverbsWROpcode, d *datagram) abi.IBWCStatus {
	rq := to.rq
	if to.srq != nil {
		rq = to.srq.ring
	}
	cons := rq.hdr.ConsumerIndex
	if cons == atomic.LoadUint32(&rq.hdr.ProducerIndex) {
		return abi.IB_WC_RNR_RETRY_EXC_ERR
	}
	r := (*abi.RXERecvWQE)(rq.slot(cons))
	wc := abi.IBUverbsWC{WRID: r.WRID, Opcode: uint32(abi.IB_WC_RECV), ByteLen: w.DMA.Length, QPNum: to.qpn}
	if op == abi.IB_UVERBS_WR_RDMA_WRITE_WITH_IMM {
		wc.Opcode = uint32(abi.IB_WC_RECV_RDMA_WITH_IMM)
	} else {
		list := sges(unsafe.Pointer(r), sizeOf[abi.RXERecvWQE](), r.DMA.NumSGE)
		if d != nil {
			wc.SrcQP, wc.ByteLen = d.from, wc.ByteLen+uint32(len(d.header))
		}
		switch {
		case r.DMA.Length < wc.ByteLen && d != nil:
			return abi.IB_WC_REM_INV_REQ_ERR // is dropped
		case r.DMA.Length < wc.ByteLen:
			return k.refuse(to, abi.IB_WC_REM_INV_REQ_ERR, abi.IB_WC_REM_INV_REQ_ERR)
		case !k.owns(to.recvPD(), list, abi.IB_UVERBS_ACCESS_LOCAL_WRITE):
			return k.refuse(to, abi.IB_WC_LOC_QP_OP_ERR, abi.IB_WC_REM_OP_ERR)
		}
		if d != nil {
			wc.WCFlags, list = uint32(abi.IB_WC_GRH), d.putHeader(list)
		}
		copyList(list, w, false)
	}
	if op == abi.IB_UVERBS_WR_SEND_WITH_IMM || op == abi.IB_UVERBS_WR_RDMA_WRITE_WITH_IMM {
		wc.WCFlags, wc.Ex = wc.WCFlags|uint32(abi.IB_WC_WITH_IMM), w.WR.Ex
	}
	atomic.StoreUint32(&rq.hdr.ConsumerIndex, (cons+1)&rq.mask)
	if to.srq != nil {
		k.taken(to.srq)
	}
	k.pushWC(to.recv, &wc, w.WR.SendFlags&uint32(abi.IB_SEND_SOLICITED) != 0)
	return abi.IB_WC_SUCCESS
}

func (k *Kernel) deliverRDMA(to *qp, w *abi.RXESendWQE, op abi.IBUverbsWROpcode) abi.IBWCStatus {
	p, need := w.WR.WRRDMA(), remoteAccess(op)
	if !to.admits(op, need) {
		return k.refuse(to, 0, abi.IB_WC_REM_INV_REQ_ERR)
	}
	var remote []byte
	if w.DMA.Length > 0 { // nobody looks at the key of an empty request (check_rkey)
		var ok bool
		if remote, ok = k.reachRemote(to, p.RemoteAddr, w.DMA.Length, p.RKey, need); !ok {
			return k.refuse(to, 0, abi.IB_WC_REM_ACCESS_ERR)
		}
	}
	list := [1]abi.RXESGE{{Addr: uint64(uintptr(unsafe.Pointer(unsafe.SliceData(remote)))), Length: uint32(len(remote))}}
	switch op {
	case abi.IB_UVERBS_WR_RDMA_READ:
		copyList(list[:], w, true)
	case abi.IB_UVERBS_WR_RDMA_WRITE:
		copyList(list[:], w, false)
	case abi.IB_UVERBS_WR_RDMA_WRITE_WITH_IMM:
		copyList(list[:], w, false)
		return k.deliverMessage(to, w, op, nil)
	default:
		return abi.IB_WC_LOC_QP_OP_ERR
	}
	return abi.IB_WC_SUCCESS
}

func (k *Kernel) deliverAtomic(to *qp, w *abi.RXESendWQE, op abi.IBUverbsWROpcode) abi.IBWCStatus {
	p, need := w.WR.WRAtomic(), remoteAccess(op)
	if !to.admits(op, need) {
		return k.refuse(to, 0, abi.IB_WC_REM_INV_REQ_ERR)
	}
	b, ok := k.reachRemote(to, p.RemoteAddr, 8, p.RKey, need)
	switch {
	case !ok:
		return k.refuse(to, 0, abi.IB_WC_REM_ACCESS_ERR)
	case p.RemoteAddr%8 != 0: // RESPST_ERR_MISALIGNED_ATOMIC
		return k.refuse(to, 0, abi.IB_WC_REM_ACCESS_ERR)
	}
	word := (*uint64)(unsafe.Pointer(&b[0]))
	old := *word
	switch {
	case op == abi.IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD:
		*word += p.CompareAdd
	case old == p.CompareAdd:
		*word = p.Swap
	}
	copyOwn(w, bytesOf(&old), true)
	return abi.IB_WC_SUCCESS
}

// sendList is the memory of a send request.
func sendList(w *abi.RXESendWQE) []abi.RXESGE {
	return sges(unsafe.Pointer(w), sizeOf[abi.RXESendWQE](), w.DMA.NumSGE)
}

// sges views the entries behind a request.
func sges(request unsafe.Pointer, size int, n uint32) []abi.RXESGE {
	return unsafe.Slice((*abi.RXESGE)(unsafe.Add(request, size)), n)
}

// copyList copies between a list of memory and the request's own memory: to
// the request's (a read), or from it.
func copyList(list []abi.RXESGE, w *abi.RXESendWQE, toOwn bool) {
	off := 0
	for _, s := range list {
		n := min(int(s.Length), int(w.DMA.Length)-off)
		if n <= 0 {
			return
		}
		copyOwnAt(w, off, at(s.Addr, n), toOwn)
		off += n
	}
}

func copyOwn(w *abi.RXESendWQE, b []byte, toOwn bool) { copyOwnAt(w, 0, b, toOwn) }

// copyOwnAt copies between b and the request's memory from offset off.
func copyOwnAt(w *abi.RXESendWQE, off int, b []byte, toOwn bool) {
	if w.WR.SendFlags&uint32(abi.IB_SEND_INLINE) != 0 {
		copy(b, unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(w), sizeOf[abi.RXESendWQE]()+off)), len(b)))
		return
	}
	for _, s := range sges(unsafe.Pointer(w), sizeOf[abi.RXESendWQE](), w.DMA.NumSGE) {
		if off >= int(s.Length) {
			off -= int(s.Length)
			continue
		}
		own := at(s.Addr, int(s.Length))[off:]
		off = 0
		n := 0
		if toOwn {
			n = copy(own, b)
		} else {
			n = copy(b, own)
		}
		if b = b[n:]; len(b) == 0 {
			return
		}
	}
}
