package fakeverbs

import (
	"syscall"

	"github.com/purerdma/rdma/abi"
)

type ah struct {
	pd   *pd
	attr abi.IBUverbsAHAttr
}

// Unreachable is a GID for which nobody answers.
var Unreachable = [16]byte{0xfe, 0x80, 15: 0xee}

// createAH answers with the number of the handle, as soft-RoCE of 6.0 and later
// does; before it answers nothing.
func (k *Kernel) createAH(r *request) error {
	req := as[abi.IBUverbsCreateAH](r)
	p, err := find[*pd](k, req.PDHandle)
	if err != nil {
		return err
	}
	switch {
	case k.MaxAH > 0 && k.TakenAH >= k.MaxAH:
		return syscall.EINVAL // rxe_add_to_pool
	case req.Attr.IsGlobal == 0 || req.Attr.PortNum != 1:
		return syscall.EINVAL
	case ownGID(req.Attr.GRH.SgidIndex) == nil:
		return syscall.ENODATA
	case req.Attr.GRH.Dgid == Unreachable:
		return syscall.ETIMEDOUT
	}
	p.users++
	h := k.add(&ah{pd: p, attr: req.Attr})
	answer(r, abi.IBUverbsCreateAHResp{AHHandle: h})
	if !k.NoAHNumber {
		copy(r.uhwOut, bytesOf(&abi.RXECreateAHResp{AHNum: h}))
	}
	return nil
}

func ownGID(index uint8) *abi.IBUverbsGIDEntry {
	for i := range gids {
		if gids[i].GIDIndex == uint32(index) {
			return &gids[i]
		}
	}
	return nil
}

// datagram is what a receiver learns besides the message.
type datagram struct {
	from   uint32
	header [40]byte
}

// deliverDatagram drops what nobody takes, as an unreliable service does.
func (k *Kernel) deliverDatagram(q *qp, w *abi.RXESendWQE) abi.IBWCStatus {
	ud := w.WR.WRUD()
	d := datagram{from: q.qpn}
	if !k.fillHeader(q, ud, &d.header) {
		return abi.IB_WC_LOC_QP_OP_ERR
	}
	inline := w.WR.SendFlags&uint32(abi.IB_SEND_INLINE) != 0
	if !inline && !k.owns(q.pd, sendList(w), 0) {
		return abi.IB_WC_LOC_PROT_ERR
	}
	for _, to := range k.receivers(ud, [16]byte(d.header[24:])) {
		if to.typ == q.typ && to.attr.QKey == ud.RemoteQKey &&
			(to.state == uint8(abi.IB_QPS_RTR) || to.state == uint8(abi.IB_QPS_RTS)) {
			k.deliverMessage(to, w, abi.IBUverbsWROpcode(w.WR.Opcode), &d)
		}
	}
	return abi.IB_WC_SUCCESS
}

// mcastQPN is the number that stands for all members of a group.
const mcastQPN = 0xffffff

// receivers are the queue pairs that a datagram goes to.
func (k *Kernel) receivers(ud *abi.RXESendWRUD, dst [16]byte) (to []*qp) {
	if ud.RemoteQPN != mcastQPN {
		if q := k.qpByNumber(ud.RemoteQPN); q != nil {
			to = append(to, q)
		}
		return to
	}
	for _, o := range k.objects {
		if q, ok := o.(*qp); ok && q.groups[mcastGroup{gid: dst}] {
			to = append(to, q)
		}
	}
	return to
}

type mcastGroup struct {
	gid [16]byte
	lid uint16
}

func (k *Kernel) attachMcast(r *request) error {
	req := as[abi.IBUverbsAttachMcast](r)
	q, err := find[*qp](k, req.QPHandle)
	if err != nil || q.typ != abi.IB_UVERBS_QPT_UD || req.GID[0] != 0xff {
		return syscall.EINVAL
	}
	if q.groups == nil {
		q.groups = map[mcastGroup]bool{}
	}
	q.groups[mcastGroup{req.GID, req.Mlid}] = true
	return nil
}

func (k *Kernel) detachMcast(r *request) error {
	req := as[abi.IBUverbsDetachMcast](r)
	q, err := find[*qp](k, req.QPHandle)
	g := mcastGroup{req.GID, req.Mlid}
	if err != nil || !q.groups[g] {
		return syscall.EINVAL
	}
	delete(q.groups, g)
	return nil
}

// fillHeader writes an IPv6 header with the path's two ends. The path is that
// of the handle, or of the request when the handle has no number.
func (k *Kernel) fillHeader(q *qp, ud *abi.RXESendWRUD, h *[40]byte) bool {
	h[0], h[6] = 0x60, 17
	if ud.AHNum == 0 {
		if !k.NoAHNumber || ud.AV.NetworkType != abi.RXE_NETWORK_TYPE_IPV6 || ud.AV.PortNum != 1 {
			return false
		}
		src, dst := ud.AV.SgidAddrSockaddrIn6(), ud.AV.DgidAddrSockaddrIn6()
		copy(h[8:], src.Addr[:])
		copy(h[24:], dst.Addr[:])
		h[7] = ud.AV.GRH.HopLimit
		return src.Family == syscall.AF_INET6 && dst.Family == syscall.AF_INET6 && dst.Addr == ud.AV.GRH.Dgid.Raw
	}
	a, ok := k.objects[ud.AHNum].(*ah)
	if !ok || a.pd != q.pd {
		return false
	}
	copy(h[8:], bytesOf(&ownGID(a.attr.GRH.SgidIndex).GID))
	copy(h[24:], a.attr.GRH.Dgid[:])
	h[7] = a.attr.GRH.HopLimit
	return true
}

// putHeader writes the header to the start of a receive's memory and returns
// the rest.
func (d *datagram) putHeader(list []abi.RXESGE) (rest []abi.RXESGE) {
	h := d.header[:]
	for _, s := range list {
		n := copy(at(s.Addr, int(s.Length)), h)
		h = h[n:]
		if left := s.Length - uint32(n); left > 0 {
			rest = append(rest, abi.RXESGE{Addr: s.Addr + uint64(n), Length: left, LKey: s.LKey})
		}
	}
	return rest
}
