package rxe

import (
	"encoding/binary"
	"unsafe"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs/internal/provider"
)

// encodeMore writes what requests of some opcodes have: immediate data or a key,
// and what names remote memory, a memory window or, for a datagram, the peer. The
// kernel sends iova, which it moves along, and takes the address in the request
// only to start over (rxe_req.c req_retry).
func encodeMore(w *abi.RXESendWQE, op opFlags, wr *provider.SendWR) error {
	switch {
	case op&opImm != 0:
		w.WR.Ex = swapNet(wr.Imm)
	case op&opInvalidate != 0:
		w.WR.Ex = wr.InvalidateKey
	}
	switch {
	case op&opRDMA != 0:
		encodeRDMA(w, wr)
	case op&opAtomic != 0:
		return encodeAtomic(w, wr)
	case op&opFlush != 0:
		p := w.WR.WRFlush()
		p.RemoteAddr, p.RKey = wr.RemoteAddr, wr.RKey
		p.Type, p.Level = uint8(wr.FlushType), uint8(wr.FlushCoverage)
		w.Iova = wr.RemoteAddr
	case op&opBind != 0:
		return encodeBind(w, wr.Bind)
	case op&opUD != 0:
		return encodePeer(w, wr)
	}
	return nil
}

// encodeRDMA writes where a read or write goes.
func encodeRDMA(w *abi.RXESendWQE, wr *provider.SendWR) {
	p := w.WR.WRRDMA()
	p.RemoteAddr, p.RKey = wr.RemoteAddr, wr.RKey
	w.Iova = wr.RemoteAddr
}

// encodeAtomic makes a check that validate_send_wr of rxe_verbs.c makes for kernel
// users only.
func encodeAtomic(w *abi.RXESendWQE, wr *provider.SendWR) error {
	if wr.RemoteAddr%8 != 0 {
		return errAtomicAlign
	}
	p := w.WR.WRAtomic()
	p.RemoteAddr, p.RKey = wr.RemoteAddr, wr.RKey
	p.CompareAdd, p.Swap = wr.CompareAdd, wr.Swap
	w.Iova = wr.RemoteAddr
	return nil
}

// encodeBind writes what a memory window is bound to.
func encodeBind(w *abi.RXESendWQE, b *provider.Bind) error {
	if b == nil {
		return provider.ErrNoBind
	}
	p := w.WR.WRMW()
	p.Addr, p.Length, p.Access = b.Addr, b.Length, uint32(b.Access)
	p.MRLKey, p.MWRKey, p.RKey = b.LKey, b.WindowKey, b.NewKey
	return nil
}

// encodePeer writes where a datagram goes.
func encodePeer(w *abi.RXESendWQE, wr *provider.SendWR) error {
	handle := wr.AH
	if handle == nil {
		return provider.ErrNoAH
	}
	to, ok := handle.Driver.(*ah)
	if !ok { // a handle that no CreateAH made
		return provider.ErrNoAH
	}
	p := w.WR.WRUD()
	p.RemoteQPN, p.RemoteQKey = wr.RemoteQPN, wr.RemoteQKey
	if p.AHNum = to.num; to.num == 0 {
		p.AV = to.av
	}
	return nil
}

// encodeInline copies data into the slot, if there is any, and returns its length.
// There are no entries then, and a flag says where it is (rxe_req.c finish_packet,
// fill_packet in 5.10). An atomic write's data is there without the flag.
func encodeInline(r *ring, slot unsafe.Pointer, op opFlags, data []byte) uint64 {
	if op&opList != 0 {
		(*abi.RXESendWQE)(slot).WR.SendFlags |= provider.SendInline
	}
	return uint64(copy(r.inline(slot), data))
}

// swapNet converts between host and network byte order; immediate data is
// __be32 in requests.
func swapNet(v uint32) uint32 {
	var b [4]byte
	binary.NativeEndian.PutUint32(b[:], v)
	return binary.BigEndian.Uint32(b[:])
}
