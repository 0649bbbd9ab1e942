package rxe

import (
	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs/internal/provider"
)

// encodeSend writes a checked request into a slot. All of struct rxe_send_wqe
// is written, because the kernel keeps its own state there (status, state,
// packet numbers, has_rd_atomic, the dma cursor) and takes zero as the start
// (wqe_state_posted is 0).
func encodeSend(r *ring, slot uint32, op opFlags, wr *provider.SendWR, length uint32) {
	w := r.sendWQE(slot)
	*w = abi.RXESendWQE{}
	w.WR.WRID = wr.ID
	w.WR.Opcode = uint32(wr.Opcode)
	w.WR.SendFlags = wr.Flags &^ provider.SendInline
	switch {
	case op&opImm != 0:
		w.WR.Ex = swapNet(wr.Imm)
	case op&opInvalidate != 0:
		w.WR.Ex = wr.InvalidateKey
	}
	encodeRemote(w, op, wr)
	w.DMA.Length = length
	w.DMA.Resid = length
	switch {
	case op&opAtomicWrite != 0:
		copy(r.inline(slot), wr.Inline)
	case isInline(wr):
		// Data in the slot: no entries, and the flag says where it is
		// (rxe_req.c finish_packet, fill_packet in 5.10).
		w.WR.SendFlags |= provider.SendInline
		copy(r.inline(slot), wr.Inline)
	default:
		w.DMA.NumSGE = uint32(len(wr.SGEs))
		copy(r.sges(slot, sendWQESize), wr.SGEs)
	}
}

// encodeRemote writes the part of a request that names remote memory, a memory
// window or, for a datagram, the peer. The kernel sends iova, which it moves along, and takes the address in the
// request only to start over (rxe_req.c req_retry).
func encodeRemote(w *abi.RXESendWQE, op opFlags, wr *provider.SendWR) {
	switch {
	case op&opRDMA != 0:
		p := w.WR.WRRDMA()
		p.RemoteAddr, p.RKey = wr.RemoteAddr, wr.RKey
		w.Iova = wr.RemoteAddr
	case op&opAtomic != 0:
		p := w.WR.WRAtomic()
		p.RemoteAddr, p.RKey = wr.RemoteAddr, wr.RKey
		p.CompareAdd, p.Swap = wr.CompareAdd, wr.Swap
		w.Iova = wr.RemoteAddr
	case op&opFlush != 0:
		p := w.WR.WRFlush()
		p.RemoteAddr, p.RKey = wr.RemoteAddr, wr.RKey
		p.Type, p.Level = uint8(wr.FlushType), uint8(wr.FlushCoverage)
		w.Iova = wr.RemoteAddr
	case op&opBind != 0:
		p, b := w.WR.WRMW(), wr.Bind
		p.Addr, p.Length, p.Access = b.Addr, b.Length, uint32(b.Access)
		p.MRLKey, p.MWRKey, p.RKey = b.LKey, b.WindowKey, b.NewKey
	case op&opUD != 0:
		p := w.WR.WRUD()
		p.RemoteQPN, p.RemoteQKey = wr.RemoteQPN, wr.RemoteQKey
		to := wr.AH.Driver.(*ah)
		if p.AHNum = to.num; to.num == 0 {
			p.AV = to.av
		}
	}
}

// encodeRecv writes a checked receive request into a slot.
func encodeRecv(r *ring, slot uint32, wr *provider.RecvWR, length uint32) {
	w := r.recvWQE(slot)
	*w = abi.RXERecvWQE{}
	w.WRID = wr.ID
	w.DMA.Length = length
	w.DMA.Resid = length
	w.DMA.NumSGE = uint32(len(wr.SGEs))
	copy(r.sges(slot, recvWQESize), wr.SGEs)
}
