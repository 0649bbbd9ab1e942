package fakeverbs

import (
	"encoding/binary"
	"syscall"

	"github.com/purerdma/rdma/abi"
)

type pd struct{ users int }

type mr struct {
	pd      *pd
	start   uint64 // in the process
	addr    uint64 // as requests name it
	length  uint64
	access  uint32
	windows int // bound to it
	hint    *dmaHint
	dm      *dm
}

type cq struct {
	user    uint64
	channel *file
	ring    *ring
	armed   bool
	users   int

	moderation abi.IBUverbsCQModeration
}

type qp struct {
	user       uint64
	pd         *pd
	send, recv *cq
	sq, rq     *ring // rq is nil with a shared queue
	srq        *srq
	typ        abi.IBUverbsQPType
	qpn        uint32
	state      uint8
	qkey       uint32
	attr       abi.IBUverbsModifyQP // the last MODIFY_QP
	dest       uint32               // the peer's number, once it was set
	rate       uint32
	groups     map[mcastGroup]bool
}

// add gives an object the smallest free handle, from 1 (alloc_uobj).
func (k *Kernel) add(o any) uint32 {
	h := uint32(1)
	for k.objects[h] != nil {
		h++
	}
	k.objects[h], k.owners[h] = o, k.scratch.f
	return h
}

func find[T any](k *Kernel, h uint32) (t T, err error) {
	t, ok := k.objects[h].(T)
	if !ok {
		return t, syscall.EINVAL
	}
	return t, nil
}

func (k *Kernel) getContext(r *request) error {
	if r.f.context {
		return syscall.EINVAL
	}
	r.f.context = true
	if r.attrs != nil && r.name == "GET_CONTEXT" && r.in == nil {
		put(r, 0, uint32(4))
		put(r, 1, uint64(abi.IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS))
		return nil
	}
	answer(r, abi.IBUverbsGetContextResp{AsyncFD: uint32(k.newFD(asyncFile)), NumCompVectors: 4})
	return nil
}

func (k *Kernel) allocAsync(r *request) error {
	*r.attr(0).DataS64() = int64(k.newFD(asyncFile))
	return nil
}

func (k *Kernel) createChannel(r *request) error {
	answer(r, abi.IBUverbsCreateCompChannelResp{FD: uint32(k.newFD(channelFile))})
	return nil
}

func (k *Kernel) allocPD(r *request) error {
	answer(r, abi.IBUverbsAllocPDResp{PDHandle: k.add(&pd{})})
	return nil
}

// MaxMR is the largest region that the fake registers; more is ENOMEM.
const MaxMR = 1 << 30

func (k *Kernel) regMR(r *request) error {
	m, err := k.checkMR(as[abi.IBUverbsRegMR](r))
	if err != nil {
		return err
	}
	m.pd.users++
	h := k.add(m)
	answer(r, abi.IBUverbsRegMRResp{MRHandle: h, LKey: h << 8, RKey: h<<8 | 1})
	return nil
}

func (k *Kernel) createCQNative(r *request) error {
	fd := -1
	if a := r.attr(3); a != nil {
		fd = int(*a.DataS64())
	}
	h, n, err := k.createCQ(r, r.u32(1), r.u64(2), fd, r.u32(4))
	if err != nil {
		return err
	}
	r.attr(0).Data = uint64(h)
	put(r, 6, n)
	return nil
}

func (k *Kernel) createCQWrite(r *request) error {
	req := as[abi.IBUverbsCreateCQ](r)
	h, n, err := k.createCQ(r, req.CQE, req.UserHandle, int(req.CompChannel), req.CompVector)
	if err != nil {
		return err
	}
	answer(r, abi.IBUverbsCreateCQResp{CQHandle: h, CQE: n})
	return nil
}

// MaxCQE is the largest completion queue of the fake.
const MaxCQE = 1 << 16

func (k *Kernel) createCQ(r *request, entries uint32, user uint64, fd int, vector uint32) (h, n uint32, err error) {
	if entries == 0 || entries > MaxCQE || vector >= 4 {
		return 0, 0, syscall.EINVAL
	}
	q := &cq{user: user}
	if fd >= 0 {
		if q.channel = k.fileOf(fd, channelFile); q.channel == nil {
			return 0, 0, syscall.EBADF
		}
	}
	q.ring = k.newRing(entries, sizeOf[abi.IBUverbsWC]())
	copy(r.uhwOut, bytesOf(&abi.RXECreateCQResp{Mi: q.ring.info}))
	return k.add(q), q.ring.mask, nil
}

func (k *Kernel) resizeCQ(r *request) error {
	req := as[abi.IBUverbsResizeCQ](r)
	q, err := find[*cq](k, req.CQHandle)
	if err != nil {
		return err
	}
	if req.CQE == 0 || req.CQE > MaxCQE || req.CQE < q.ring.count() || len(r.uhwOut) < sizeOf[abi.RXEResizeCQResp]() {
		return syscall.EINVAL
	}
	q.ring = k.resize(q.ring, req.CQE)
	answer(r, abi.IBUverbsResizeCQResp{CQE: q.ring.mask})
	copy(r.uhwOut, bytesOf(&abi.RXEResizeCQResp{Mi: q.ring.info}))
	return nil
}

func (k *Kernel) modifyCQ(r *request) error {
	req := as[abi.IBUverbsExModifyCQ](r)
	q, err := find[*cq](k, req.CQHandle)
	switch {
	case !k.Moderation:
		return syscall.EOPNOTSUPP
	case err != nil || req.AttrMask == 0 || req.Reserved != 0:
		return syscall.EINVAL
	case req.AttrMask > uint32(abi.IB_CQ_MODERATE):
		return syscall.EOPNOTSUPP
	}
	q.moderation = req.Attr
	return nil
}

// ModerationOf tells what a completion queue was last asked for.
func (k *Kernel) ModerationOf(handle uint32) (count, microseconds uint16) {
	k.mu.Lock()
	defer k.mu.Unlock()
	q, ok := k.objects[handle].(*cq)
	if !ok {
		return 0, 0
	}
	return q.moderation.CQCount, q.moderation.CQPeriod
}

func (k *Kernel) createQPNative(r *request) error {
	c := abi.IBUverbsQPCap{}
	copy(bytesOf(&c), r.input(8))
	h, q, err := k.createQP(r, uint32(r.u64(2)), uint32(r.u64(4)), uint32(r.u64(5)), uint32(r.u64(3)), r.u64(7), c)
	if err != nil {
		return err
	}
	q.typ = abi.IBUverbsQPType(r.u64(9))
	r.attr(0).Data = uint64(h)
	put(r, 13, c)
	put(r, 14, q.qpn)
	return nil
}

func (k *Kernel) createQPWrite(r *request) error {
	req := as[abi.IBUverbsCreateQP](r)
	c := abi.IBUverbsQPCap{
		MaxSendWR: req.MaxSendWR, MaxRecvWR: req.MaxRecvWR, MaxSendSGE: req.MaxSendSGE,
		MaxRecvSGE: req.MaxRecvSGE, MaxInlineData: req.MaxInlineData,
	}
	if req.IsSRQ == 0 {
		req.SRQHandle = 0
	}
	h, q, err := k.createQP(r, req.PDHandle, req.SendCQHandle, req.RecvCQHandle, req.SRQHandle, req.UserHandle, c)
	if err != nil {
		return err
	}
	q.typ = abi.IBUverbsQPType(req.QPType)
	answer(r, abi.IBUverbsCreateQPResp{
		QPHandle: h, QPN: q.qpn, MaxSendWR: c.MaxSendWR, MaxRecvWR: c.MaxRecvWR,
		MaxSendSGE: c.MaxSendSGE, MaxRecvSGE: c.MaxRecvSGE, MaxInlineData: c.MaxInlineData,
	})
	return nil
}

// MaxQPWR is the largest queue of a queue pair of the fake.
const MaxQPWR = 1 << 14

func (k *Kernel) createQP(r *request, pdH, sendH, recvH, srqH uint32, user uint64, c abi.IBUverbsQPCap) (uint32, *qp, error) {
	p, err := find[*pd](k, pdH)
	if err != nil {
		return 0, nil, err
	}
	send, err := find[*cq](k, sendH)
	if err != nil {
		return 0, nil, err
	}
	recv, err := find[*cq](k, recvH)
	if err != nil || c.MaxSendWR > MaxQPWR || c.MaxRecvWR > MaxQPWR {
		return 0, nil, syscall.EINVAL
	}
	var shared *srq // handle 0 is none: the fake's start at 1
	if srqH != 0 {
		if shared, err = find[*srq](k, srqH); err != nil {
			return 0, nil, err
		}
	}
	p.users++
	send.users++
	recv.users++
	q := &qp{user: user, pd: p, send: send, recv: recv}
	q.sq = k.newRing(c.MaxSendWR, sizeOf[abi.RXESendWQE]()+max(16*int(c.MaxSendSGE), int(c.MaxInlineData)))
	resp := abi.RXECreateQPResp{SQMi: q.sq.info}
	if shared != nil {
		shared.users++
		q.srq = shared
	} else {
		q.rq = k.newRing(c.MaxRecvWR, sizeOf[abi.RXERecvWQE]()+16*int(c.MaxRecvSGE))
		resp.RQMi = q.rq.info
	}
	copy(r.uhwOut, bytesOf(&resp))
	h := k.add(q)
	q.qpn = h + 16
	return h, q, nil
}

func (k *Kernel) modifyQP(r *request) error {
	req := as[abi.IBUverbsModifyQP](r)
	q, err := find[*qp](k, req.QPHandle)
	if err != nil {
		return err
	}
	if req.AttrMask&^(1<<21-1) != 0 {
		return syscall.EOPNOTSUPP
	}
	if err := q.checkModify(req); err != nil {
		return err
	}
	q.attr = *req
	if req.AttrMask&uint32(abi.IB_QP_DEST_QPN) != 0 {
		q.dest = req.DestQPNum
	}
	if req.AttrMask&uint32(abi.IB_QP_QKEY) != 0 {
		q.qkey = req.QKey
	}
	if req.AttrMask&uint32(abi.IB_QP_STATE) != 0 {
		q.state = req.QPState
	}
	return nil
}

func (k *Kernel) modifyQPEx(r *request) error {
	req := as[abi.IBUverbsExModifyQP](r)
	q, err := find[*qp](k, req.Base.QPHandle)
	if err != nil {
		return err
	}
	q.attr, q.rate = req.Base, req.RateLimit
	return nil
}

func (k *Kernel) queryQP(r *request) error {
	q, err := find[*qp](k, as[abi.IBUverbsQueryQP](r).QPHandle)
	if err != nil {
		return err
	}
	a := &q.attr
	answer(r, abi.IBUverbsQueryQPResp{
		Dest: a.Dest, QPState: q.state, DestQPNum: a.DestQPNum, PathMTU: a.PathMTU, RQPSN: a.RQPSN,
		SQPSN: a.SQPSN, PortNum: a.PortNum, Timeout: a.Timeout, RetryCnt: a.RetryCnt, RnrRetry: a.RnrRetry,
		MaxRdAtomic: a.MaxRdAtomic, MaxDestRdAtomic: a.MaxDestRdAtomic, QPAccessFlags: a.QPAccessFlags,
	})
	return nil
}

func (k *Kernel) destroyNative(r *request) error { return k.destroy(uint32(r.u64(0))) }

func (k *Kernel) destroyByHandle(r *request) error {
	return k.destroy(binary.NativeEndian.Uint32(r.in))
}

func (k *Kernel) destroyWithAnswer(r *request) error {
	return k.destroy(binary.NativeEndian.Uint32(r.in[8:]))
}

// destroy refuses what is in use, as the reference counts of the kernel do.
func (k *Kernel) destroy(h uint32) error {
	switch o := k.objects[h].(type) {
	case *pd:
		if o.users > 0 {
			return syscall.EBUSY
		}
	case *mr:
		if o.windows > 0 {
			return syscall.EINVAL // rxe_dereg_mr
		}
		if o.hint != nil {
			o.hint.users--
		}
		if o.dm != nil {
			o.dm.users--
		}
		o.pd.users--
	case *dmaHint:
		if o.users > 0 {
			return syscall.EBUSY
		}
	case *mw:
		o.unbind()
		o.pd.users--
	case *ah:
		o.pd.users--
	case *cq:
		if o.users > 0 {
			return syscall.EBUSY
		}
	case *qp:
		if len(o.groups) > 0 {
			return syscall.EBUSY
		}
		o.pd.users--
		o.send.users--
		o.recv.users--
		if o.srq != nil {
			o.srq.users--
		}
	case *srq:
		if o.users > 0 {
			return syscall.EBUSY
		}
		o.pd.users--
		if o.cq != nil {
			o.cq.users--
		}
	case *xrcd:
	default:
		if err := k.destroyHardware(o); err != nil {
			return err
		}
	}
	delete(k.objects, h)
	return nil
}
