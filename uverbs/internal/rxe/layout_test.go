package rxe

import (
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"github.com/purerdma/rdma/abi"
)

// TestLayoutOfAllKernels compares the abi structs with offsetof as gcc printed
// it for rdma_user_rxe.h of 5.10.223, 6.1.187 and 7.3.4 on amd64: all three
// gave these numbers. The address vector is member av of struct rxe_send_wqe
// in 5.10 and wr.wr.ud.av later.
func TestLayoutOfAllKernels(t *testing.T) {
	var (
		w  abi.RXESendWQE
		at abi.RXESendWRAtomic
		rd abi.RXESendWRRDMA
		ud abi.RXESendWRUD
		r  abi.RXERecvWQE
		c  abi.RXECreateQPResp
	)
	union := unsafe.Offsetof(w.WR) + unsafe.Offsetof(w.WR.WR)
	got := map[string]uintptr{
		"send.size":        unsafe.Sizeof(w),
		"send.wr_id":       unsafe.Offsetof(w.WR.WRID),
		"send.opcode":      unsafe.Offsetof(w.WR.Opcode),
		"send.send_flags":  unsafe.Offsetof(w.WR.SendFlags),
		"send.ex":          unsafe.Offsetof(w.WR.Ex),
		"rdma.remote_addr": union + unsafe.Offsetof(rd.RemoteAddr),
		"rdma.rkey":        union + unsafe.Offsetof(rd.RKey),
		"atomic.remote":    union + unsafe.Offsetof(at.RemoteAddr),
		"atomic.compare":   union + unsafe.Offsetof(at.CompareAdd),
		"atomic.swap":      union + unsafe.Offsetof(at.Swap),
		"atomic.rkey":      union + unsafe.Offsetof(at.RKey),
		"ud.remote_qpn":    union + unsafe.Offsetof(ud.RemoteQPN),
		"ud.remote_qkey":   union + unsafe.Offsetof(ud.RemoteQKey),
		"ud.av":            union + unsafe.Offsetof(ud.AV),
		"send.status":      unsafe.Offsetof(w.Status),
		"send.state":       unsafe.Offsetof(w.State),
		"send.iova":        unsafe.Offsetof(w.Iova),
		"send.mask":        unsafe.Offsetof(w.Mask),
		"send.ssn":         unsafe.Offsetof(w.Ssn),
		"send.has_rd":      unsafe.Offsetof(w.HasRdAtomic),
		"send.length":      unsafe.Offsetof(w.DMA) + unsafe.Offsetof(w.DMA.Length),
		"send.resid":       unsafe.Offsetof(w.DMA) + unsafe.Offsetof(w.DMA.Resid),
		"send.cur_sge":     unsafe.Offsetof(w.DMA) + unsafe.Offsetof(w.DMA.CurSGE),
		"send.num_sge":     unsafe.Offsetof(w.DMA) + unsafe.Offsetof(w.DMA.NumSGE),
		"send.sge_offset":  unsafe.Offsetof(w.DMA) + unsafe.Offsetof(w.DMA.SGEOffset),
		"recv.size":        unsafe.Sizeof(r),
		"recv.wr_id":       unsafe.Offsetof(r.WRID),
		"recv.length":      unsafe.Offsetof(r.DMA) + unsafe.Offsetof(r.DMA.Length),
		"recv.resid":       unsafe.Offsetof(r.DMA) + unsafe.Offsetof(r.DMA.Resid),
		"recv.num_sge":     unsafe.Offsetof(r.DMA) + unsafe.Offsetof(r.DMA.NumSGE),
		"qp_resp.size":     unsafe.Sizeof(c),
		"qp_resp.rq_mi":    unsafe.Offsetof(c.RQMi),
		"qp_resp.sq_mi":    unsafe.Offsetof(c.SQMi),
		"cq_resp.size":     unsafe.Sizeof(abi.RXECreateCQResp{}),
		"av.size":          unsafe.Sizeof(abi.RXEAV{}),
	}
	want := map[string]uintptr{
		"send.size": 208, "send.wr_id": wqeID, "send.opcode": wqeOpcode, "send.send_flags": wqeFlags, "send.ex": wqeEx,
		"rdma.remote_addr": wqeRemote, "rdma.rkey": wqeRKey,
		"atomic.remote": wqeRemote, "atomic.compare": wqeCompare, "atomic.swap": wqeSwap, "atomic.rkey": wqeAtomKey,
		"ud.remote_qpn": 24, "ud.remote_qkey": 28, "ud.av": 56,
		"send.status": 144, "send.state": 148, "send.iova": wqeIova, "send.mask": 160, "send.ssn": 176, "send.has_rd": 180,
		"send.length": wqeLength, "send.resid": wqeResid, "send.cur_sge": 192, "send.num_sge": wqeNumSGE, "send.sge_offset": 200,
		"recv.size": rwqeSize, "recv.wr_id": rwqeID, "recv.length": rwqeLength, "recv.resid": rwqeResid, "recv.num_sge": rwqeNumSGE,
		"qp_resp.size": 32, "qp_resp.rq_mi": 0, "qp_resp.sq_mi": 16, "cq_resp.size": 16, "av.size": 88,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("layout (-C +Go):\n%s", diff)
	}
}

func TestQueueHeaderLayout(t *testing.T) {
	var h abi.RXEQueueBuf
	got := []uintptr{
		unsafe.Offsetof(h.Log2ElemSize), unsafe.Offsetof(h.IndexMask),
		unsafe.Offsetof(h.ProducerIndex), unsafe.Offsetof(h.ConsumerIndex), unsafe.Sizeof(h),
	}
	want := []uintptr{hdrLog2, hdrMask, hdrProd, hdrCons, hdrSize}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("struct rxe_queue_buf (-C +Go):\n%s", diff)
	}
}
