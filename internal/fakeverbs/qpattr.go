package fakeverbs

import (
	"syscall"

	"github.com/purerdma/rdma/abi"
)

func (k *Kernel) modifyQP(r *request) error {
	req := as[abi.IBUverbsModifyQP](r)
	if req.AttrMask&^(1<<21-1) != 0 {
		return syscall.EOPNOTSUPP
	}
	return k.modify(req, 0)
}

func (k *Kernel) modifyQPEx(r *request) error {
	req := as[abi.IBUverbsExModifyQP](r)
	if req.Base.AttrMask&^(1<<21-1|uint32(abi.IB_QP_RATE_LIMIT)) != 0 {
		return syscall.EOPNOTSUPP
	}
	return k.modify(&req.Base, req.RateLimit)
}

// modify refuses what ib_uverbs_modify_qp and rxe_qp_chk_attr refuse, or merges
// the attributes that the mask names with those that are set.
func (k *Kernel) modify(req *abi.IBUverbsModifyQP, rate uint32) error {
	q, err := find[*qp](k, req.QPHandle)
	if err != nil {
		return err
	}
	if err := q.checkPorts(req); err != nil {
		return err
	}
	if err := q.checkModify(req); err != nil {
		return err
	}
	mask := abi.IBQPAttrMask(req.AttrMask)
	if mask&abi.IB_QP_MAX_QP_RD_ATOMIC != 0 && req.MaxRdAtomic > MaxReads ||
		mask&abi.IB_QP_PATH_MTU != 0 && (req.PathMTU == 0 || req.PathMTU > maxMTU) {
		return syscall.EINVAL
	}
	q.merge(req, mask)
	if mask&abi.IB_QP_RATE_LIMIT != 0 {
		q.rate = rate
	}
	if mask&abi.IB_QP_STATE != 0 {
		q.state = req.QPState
		if q.state == uint8(abi.IB_QPS_ERR) {
			k.breakQP(q)
		}
	}
	return nil
}

// checkPorts is what modify_qp of uverbs_cmd.c looks at before the driver does.
func (q *qp) checkPorts(req *abi.IBUverbsModifyQP) error {
	mask := abi.IBQPAttrMask(req.AttrMask)
	switch {
	case mask&abi.IB_QP_PORT != 0 && req.PortNum != 1,
		mask&abi.IB_QP_AV != 0 && req.Dest.PortNum != 1,
		mask&abi.IB_QP_ALT_PATH != 0 && (req.AltPortNum != 1 || req.AltDest.PortNum != req.AltPortNum):
		return syscall.EINVAL
	}
	return nil
}

// merge sets what the mask names and nothing else.
func (q *qp) merge(req *abi.IBUverbsModifyQP, mask abi.IBQPAttrMask) {
	a := &q.attr
	for _, f := range []struct {
		bit  abi.IBQPAttrMask
		take func()
	}{
		{abi.IB_QP_EN_SQD_ASYNC_NOTIFY, func() { a.EnSqdAsyncNotify = req.EnSqdAsyncNotify }},
		{abi.IB_QP_ACCESS_FLAGS, func() { a.QPAccessFlags = req.QPAccessFlags }},
		{abi.IB_QP_PKEY_INDEX, func() { a.PKeyIndex = req.PKeyIndex }},
		{abi.IB_QP_PORT, func() { a.PortNum = req.PortNum }},
		{abi.IB_QP_QKEY, func() { a.QKey = req.QKey }},
		{abi.IB_QP_AV, func() { a.Dest = req.Dest }},
		{abi.IB_QP_PATH_MTU, func() { a.PathMTU = req.PathMTU }},
		{abi.IB_QP_TIMEOUT, func() { a.Timeout = req.Timeout }},
		{abi.IB_QP_RETRY_CNT, func() { a.RetryCnt = req.RetryCnt }},
		{abi.IB_QP_RNR_RETRY, func() { a.RnrRetry = req.RnrRetry }},
		{abi.IB_QP_RQ_PSN, func() { a.RQPSN = req.RQPSN }},
		{abi.IB_QP_MAX_QP_RD_ATOMIC, func() { a.MaxRdAtomic = req.MaxRdAtomic }},
		{abi.IB_QP_ALT_PATH, func() {
			a.AltDest, a.AltPortNum, a.AltPKeyIndex, a.AltTimeout = req.AltDest, req.AltPortNum, req.AltPKeyIndex, req.AltTimeout
		}},
		{abi.IB_QP_MIN_RNR_TIMER, func() { a.MinRnrTimer = req.MinRnrTimer }},
		{abi.IB_QP_SQ_PSN, func() { a.SQPSN = req.SQPSN }},
		{abi.IB_QP_MAX_DEST_RD_ATOMIC, func() { a.MaxDestRdAtomic = req.MaxDestRdAtomic }},
		{abi.IB_QP_PATH_MIG_STATE, func() { a.PathMigState = req.PathMigState }},
		{abi.IB_QP_DEST_QPN, func() { a.DestQPNum = req.DestQPNum }},
	} {
		if mask&f.bit != 0 {
			f.take()
		}
	}
}

// queryQP answers with every field, in the one form that the command has; it
// comes as a write(2) and inside an ioctl.
func (k *Kernel) queryQP(r *request) error {
	q, err := find[*qp](k, as[abi.IBUverbsQueryQP](r).QPHandle)
	if err != nil {
		return err
	}
	answer(r, q.attributes())
	return nil
}

func (q *qp) attributes() abi.IBUverbsQueryQPResp {
	a := &q.attr
	resp := abi.IBUverbsQueryQPResp{
		Dest: a.Dest, AltDest: a.AltDest,
		MaxSendWR: q.cap.MaxSendWR, MaxRecvWR: q.cap.MaxRecvWR, MaxSendSGE: q.cap.MaxSendSGE,
		MaxRecvSGE: q.cap.MaxRecvSGE, MaxInlineData: q.cap.MaxInlineData,
		QKey: a.QKey, RQPSN: a.RQPSN, SQPSN: a.SQPSN, DestQPNum: a.DestQPNum, QPAccessFlags: a.QPAccessFlags,
		PKeyIndex: a.PKeyIndex, AltPKeyIndex: a.AltPKeyIndex, QPState: q.state, CurQPState: q.state,
		PathMTU: a.PathMTU, PathMigState: a.PathMigState, MaxRdAtomic: a.MaxRdAtomic, MaxDestRdAtomic: a.MaxDestRdAtomic,
		MinRnrTimer: a.MinRnrTimer, PortNum: a.PortNum, Timeout: a.Timeout, RetryCnt: a.RetryCnt, RnrRetry: a.RnrRetry,
		AltPortNum: a.AltPortNum, AltTimeout: a.AltTimeout,
	}
	if q.sigAll {
		resp.SQSigAll = 1
	}
	return resp
}
