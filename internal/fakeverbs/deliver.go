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
	switch abi.IBUverbsWROpcode(w.WR.Opcode) {
	case abi.IB_UVERBS_WR_BIND_MW:
		return k.bind(q, w)
	case abi.IB_UVERBS_WR_LOCAL_INV:
		return k.invalidate(w.WR.Ex)
	}
	if q.dest == 0 {
		return abi.IB_WC_SUCCESS
	}
	to := k.qpByNumber(q.dest)
	if to == nil || to.state != uint8(abi.IB_QPS_RTR) && to.state != uint8(abi.IB_QPS_RTS) {
		return abi.IB_WC_RETRY_EXC_ERR
	}
	inline := w.WR.SendFlags&uint32(abi.IB_SEND_INLINE) != 0
	if !inline && !k.owns(sendList(w)) {
		return abi.IB_WC_LOC_PROT_ERR
	}
	switch op := abi.IBUverbsWROpcode(w.WR.Opcode); op {
	case abi.IB_UVERBS_WR_SEND, abi.IB_UVERBS_WR_SEND_WITH_IMM:
		return k.deliverMessage(to, w, op, nil)
	case abi.IB_UVERBS_WR_ATOMIC_CMP_AND_SWP, abi.IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD:
		return k.deliverAtomic(w, op)
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

// reach returns the remote memory that a key admits.
func (k *Kernel) reach(addr uint64, n, rkey uint32) ([]byte, bool) {
	base, length, start := uint64(0), uint64(0), uint64(0)
	switch o := k.objects[rkey>>8].(type) {
	case *mr:
		base, length, start = o.addr, o.length, o.start
	case *mw:
		if o.key != rkey || o.mr == nil {
			return nil, false
		}
		base, length, start = o.addr, o.length, o.mr.start+o.addr-o.mr.addr
	}
	if addr < base || uint64(n) > length || addr-base > length-uint64(n) {
		return nil, false
	}
	return at(start+addr-base, int(n)), true
}

// owns checks the local keys of a request's memory.
func (k *Kernel) owns(list []abi.RXESGE) bool {
	for _, s := range list {
		if _, ok := k.reach(s.Addr, s.Length, s.LKey); !ok {
			return false
		}
	}
	return true
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
		case r.DMA.Length < wc.ByteLen:
			return abi.IB_WC_REM_INV_REQ_ERR
		case !k.owns(list):
			return abi.IB_WC_REM_OP_ERR
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
	to.recv.pushWC(&wc)
	return abi.IB_WC_SUCCESS
}

func (k *Kernel) deliverRDMA(to *qp, w *abi.RXESendWQE, op abi.IBUverbsWROpcode) abi.IBWCStatus {
	p := w.WR.WRRDMA()
	remote, ok := k.reach(p.RemoteAddr, w.DMA.Length, p.RKey)
	if !ok {
		return abi.IB_WC_REM_ACCESS_ERR
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

func (k *Kernel) deliverAtomic(w *abi.RXESendWQE, op abi.IBUverbsWROpcode) abi.IBWCStatus {
	p := w.WR.WRAtomic()
	b, ok := k.reach(p.RemoteAddr, 8, p.RKey)
	if !ok || p.RemoteAddr%8 != 0 {
		return abi.IB_WC_REM_ACCESS_ERR
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
