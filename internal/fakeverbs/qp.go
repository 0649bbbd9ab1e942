package fakeverbs

import (
	"syscall"

	"github.com/purerdma/rdma/abi"
)

type qp struct {
	user       uint64
	pd         *pd
	send, recv *cq
	sq, rq     *ring // rq is nil with a shared queue
	srq        *srq
	xrcd       *xrcd
	table      *wqTable
	typ        abi.IBUverbsQPType
	flags      uint32
	source     uint32
	sigAll     bool
	qpn        uint32
	state      uint8
	attr       abi.IBUverbsModifyQP // what all MODIFY_QP together have set
	rate       uint32
	busy       bool // a request is being carried out
	cap        abi.IBUverbsQPCap
	groups     map[mcastGroup]bool
	counters   []*compCounter
	counted    uint32 // kinds of requests that a counter counts
}

// sourceQPN is IB_QP_CREATE_SOURCE_QPN, which only write commands carry.
const sourceQPN = 1 << 10

func (k *Kernel) createQPNative(r *request) error {
	c := abi.IBUverbsQPCap{}
	copy(bytesOf(&c), r.input(8))
	req := abi.IBUverbsExCreateQP{
		UserHandle: r.u64(7), PDHandle: uint32(r.u64(2)), SendCQHandle: uint32(r.u64(4)), RecvCQHandle: uint32(r.u64(5)),
		MaxSendWR: c.MaxSendWR, MaxRecvWR: c.MaxRecvWR, MaxSendSGE: c.MaxSendSGE, MaxRecvSGE: c.MaxRecvSGE,
		MaxInlineData: c.MaxInlineData, QPType: uint8(r.u64(9)), CreateFlags: r.u32(10), SourceQPN: r.u32(11),
	}
	isTarget := req.QPType == uint8(abi.IB_UVERBS_QPT_XRC_TGT)
	if isTarget != (r.attr(1) != nil) || isTarget && (r.attr(2) != nil || r.attr(4) != nil || r.attr(5) != nil) {
		return syscall.EINVAL
	}
	if isTarget {
		req.PDHandle = uint32(r.u64(1))
	}
	if r.attr(3) != nil {
		req.IsSRQ, req.SRQHandle = 1, uint32(r.u64(3))
	}
	if r.attr(6) != nil {
		req.CompMask, req.RWQIndTblHandle = 1, uint32(r.u64(6))
	}
	if req.CreateFlags&sourceQPN != 0 {
		return syscall.EINVAL
	}
	if r.attr(11) != nil {
		req.CreateFlags |= sourceQPN
	}
	if req.CreateFlags&uint32(abi.IB_UVERBS_QP_CREATE_SQ_SIG_ALL) != 0 {
		req.SQSigAll = 1
	}
	h, q, err := k.createQP(r, &req)
	if err != nil {
		return err
	}
	r.attr(0).Data = uint64(h)
	put(r, 13, c)
	put(r, 14, q.qpn)
	return nil
}

func (k *Kernel) createQPWrite(r *request) error {
	req := as[abi.IBUverbsCreateQP](r)
	x := abi.IBUverbsExCreateQP{
		UserHandle: req.UserHandle, PDHandle: req.PDHandle, SendCQHandle: req.SendCQHandle, RecvCQHandle: req.RecvCQHandle,
		SRQHandle: req.SRQHandle, MaxSendWR: req.MaxSendWR, MaxRecvWR: req.MaxRecvWR, MaxSendSGE: req.MaxSendSGE,
		MaxRecvSGE: req.MaxRecvSGE, MaxInlineData: req.MaxInlineData, QPType: req.QPType, IsSRQ: req.IsSRQ, SQSigAll: req.SQSigAll,
	}
	h, q, err := k.createQP(r, &x)
	if err != nil {
		return err
	}
	answer(r, q.answer(h, &x))
	return nil
}

func (k *Kernel) createQPEx(r *request) error {
	req := as[abi.IBUverbsExCreateQP](r)
	if req.CompMask&^1 != 0 || req.Reserved != 0 || req.SourceQPN != 0 && req.CreateFlags&sourceQPN == 0 {
		return syscall.EINVAL
	}
	h, q, err := k.createQP(r, req)
	if err != nil {
		return err
	}
	answer(r, abi.IBUverbsExCreateQPResp{Base: q.answer(h, req), ResponseLength: uint32(sizeOf[abi.IBUverbsExCreateQPResp]())})
	return nil
}

func (q *qp) answer(h uint32, req *abi.IBUverbsExCreateQP) abi.IBUverbsCreateQPResp {
	return abi.IBUverbsCreateQPResp{
		QPHandle: h, QPN: q.qpn, MaxSendWR: req.MaxSendWR, MaxRecvWR: req.MaxRecvWR,
		MaxSendSGE: req.MaxSendSGE, MaxRecvSGE: req.MaxRecvSGE, MaxInlineData: req.MaxInlineData,
	}
}

// openQP opens a target of XRC of the same domain.
func (k *Kernel) openQP(r *request) error {
	req := as[abi.IBUverbsOpenQP](r)
	x, err := find[*xrcd](k, req.PDHandle)
	from := k.qpByNumber(req.QPN)
	if err != nil || from == nil || from.xrcd != x || req.QPType != uint8(abi.IB_UVERBS_QPT_XRC_TGT) {
		return syscall.EINVAL
	}
	x.users++
	answer(r, abi.IBUverbsCreateQPResp{QPHandle: k.add(&qp{user: req.UserHandle, xrcd: x, typ: from.typ}), QPN: req.QPN})
	return nil
}

// MaxQPWR is the largest queue of a queue pair of the fake.
const MaxQPWR = 1 << 14

func (k *Kernel) createQP(r *request, req *abi.IBUverbsExCreateQP) (uint32, *qp, error) {
	q := &qp{user: req.UserHandle, typ: abi.IBUverbsQPType(req.QPType), flags: req.CreateFlags, source: req.SourceQPN, sigAll: req.SQSigAll != 0}
	special := q.typ == abi.IB_UVERBS_QPT_RAW_PACKET || q.flags&^uint32(abi.IB_UVERBS_QP_CREATE_SQ_SIG_ALL) != 0
	if special && !k.Hardware {
		return 0, nil, syscall.EOPNOTSUPP
	}
	if req.MaxSendWR > MaxQPWR || req.MaxRecvWR > MaxQPWR {
		return 0, nil, syscall.EINVAL
	}
	if err := k.attach(q, req); err != nil {
		return 0, nil, err
	}
	q.join()
	if q.xrcd == nil {
		k.addRings(r, q, req)
	}
	q.cap = abi.IBUverbsQPCap{
		MaxSendWR: req.MaxSendWR, MaxRecvWR: req.MaxRecvWR, MaxSendSGE: req.MaxSendSGE,
		MaxRecvSGE: req.MaxRecvSGE, MaxInlineData: req.MaxInlineData,
	}
	h := k.add(q)
	q.qpn = h + 16
	return h, q, nil
}

// attach finds what the queue pair is made on.
func (k *Kernel) attach(q *qp, req *abi.IBUverbsExCreateQP) (err error) {
	if req.IsSRQ != 0 {
		if q.srq, err = find[*srq](k, req.SRQHandle); err != nil {
			return err
		}
	}
	if q.typ == abi.IB_UVERBS_QPT_XRC_TGT {
		q.xrcd, err = find[*xrcd](k, req.PDHandle)
		return err
	}
	if k.MaxInline != 0 && req.MaxInlineData > k.MaxInline {
		return syscall.EINVAL // rxe_qp_chk_cap
	}
	if q.pd, err = find[*pd](k, req.PDHandle); err != nil {
		return err
	}
	if q.send, err = find[*cq](k, req.SendCQHandle); err != nil {
		return err
	}
	switch {
	case req.CompMask&1 != 0:
		if req.MaxRecvWR != 0 || req.MaxRecvSGE != 0 || req.IsSRQ != 0 {
			return syscall.EINVAL
		}
		q.table, err = find[*wqTable](k, req.RWQIndTblHandle)
	case q.typ != abi.IB_UVERBS_QPT_XRC_INI:
		q.recv, err = find[*cq](k, req.RecvCQHandle)
	case req.IsSRQ != 0:
		return syscall.EINVAL
	}
	return err
}

// addRings makes the rings and tells where they are.
func (k *Kernel) addRings(r *request, q *qp, req *abi.IBUverbsExCreateQP) {
	q.sq = k.newRing(req.MaxSendWR, sizeOf[abi.RXESendWQE]()+max(16*int(req.MaxSendSGE), int(req.MaxInlineData)))
	resp := abi.RXECreateQPResp{SQMi: q.sq.info}
	if q.srq == nil {
		q.rq = k.newRing(req.MaxRecvWR, sizeOf[abi.RXERecvWQE]()+16*int(req.MaxRecvSGE))
		resp.RQMi = q.rq.info
	}
	copy(r.uhwOut, bytesOf(&resp))
}

// join and leave count the queue pair as a user of what it is made on.
func (q *qp) join() { q.count(1) }

func (q *qp) leave() {
	q.count(-1)
	for _, n := range q.counters {
		n.users--
	}
}

func (q *qp) count(n int) {
	if q.pd != nil {
		q.pd.users += n
	}
	if q.send != nil {
		q.send.users += n
	}
	if q.recv != nil {
		q.recv.users += n
	}
	if q.srq != nil {
		q.srq.users += n
	}
	if q.xrcd != nil {
		q.xrcd.users += n
	}
	if q.table != nil {
		q.table.users += n
	}
}

// QPMade is what a queue pair was created with.
type QPMade struct {
	Type        abi.IBUverbsQPType
	Flags       uint32
	SourceQPN   uint32
	XRCD, Table bool
}

// QPMade tells how a queue pair was created, and CQFlags a completion queue.
func (k *Kernel) QPMade(handle uint32) QPMade {
	k.mu.Lock()
	defer k.mu.Unlock()
	q, ok := k.objects[handle].(*qp)
	if !ok {
		return QPMade{}
	}
	return QPMade{q.typ, q.flags, q.source, q.xrcd != nil, q.table != nil}
}

// CQFlags tells the flags that a completion queue was created with.
func (k *Kernel) CQFlags(handle uint32) abi.IBUverbsExCreateCQFlags {
	k.mu.Lock()
	defer k.mu.Unlock()
	q, ok := k.objects[handle].(*cq)
	if !ok {
		return 0
	}
	return abi.IBUverbsExCreateCQFlags(q.flags)
}
