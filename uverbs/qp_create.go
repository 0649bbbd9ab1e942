package uverbs

import (
	"fmt"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/offheap"
	"github.com/purerdma/rdma/uverbs/internal/provider"
)

// complete fills in defaults and refuses what cannot work.
func (cfg *QPConfig) complete(c *Context) error {
	if cfg.Type == 0 {
		cfg.Type = abi.IB_UVERBS_QPT_RC
	}
	if cfg.CreateFlags&abi.IB_UVERBS_QP_CREATE_SQ_SIG_ALL != 0 { // no flag of CREATE_QP_EX
		cfg.SignalAll = true
		cfg.CreateFlags &^= abi.IB_UVERBS_QP_CREATE_SQ_SIG_ALL
	}
	needSend, needRecv := true, true
	switch {
	case cfg.Type == abi.IB_UVERBS_QPT_XRC_TGT:
		needSend, needRecv = false, false
		cfg.Cap, cfg.SendCQ, cfg.RecvCQ = QPCap{}, nil, nil
	case cfg.Type == abi.IB_UVERBS_QPT_XRC_INI, cfg.WQTable != nil:
		needRecv = false
		cfg.Cap.MaxRecvWR, cfg.Cap.MaxRecvSGE, cfg.RecvCQ = 0, 0, nil
	}
	var cause string
	switch {
	case needSend && cfg.SendCQ == nil || needRecv && cfg.RecvCQ == nil:
		cause = "a queue pair needs a send and a receive CQ"
	case (cfg.Type == abi.IB_UVERBS_QPT_XRC_TGT) != (cfg.XRCD != nil):
		cause = "an XRC domain goes with type XRC_TGT, and must be given then"
	case cfg.SourceQPN > maxQPN:
		cause = "numbers of queue pairs have 24 bits"
	case cfg.foreign(c):
		cause = "PD, CQs, SRQ, XRC domain and work queues belong to different contexts"
	}
	if cause != "" {
		return c.fail(methodQPCreate.name, "", invalid("%s", cause))
	}
	if needSend {
		cfg.Cap.MaxSendSGE = max(cfg.Cap.MaxSendSGE, 1)
	}
	if needRecv {
		cfg.Cap.MaxRecvSGE = max(cfg.Cap.MaxRecvSGE, 1)
	}
	if cfg.SRQ != nil {
		cfg.Cap.MaxRecvWR, cfg.Cap.MaxRecvSGE = 0, 0
	}
	return nil
}

// foreign reports whether something belongs to another context.
func (cfg *QPConfig) foreign(c *Context) bool {
	return cfg.SendCQ != nil && cfg.SendCQ.c != c || cfg.RecvCQ != nil && cfg.RecvCQ.c != c ||
		cfg.SRQ != nil && cfg.SRQ.c != c || cfg.XRCD != nil && cfg.XRCD.c != c || cfg.WQTable != nil && cfg.WQTable.c != c
}

// parents are the objects that the queue pair needs, besides its domain.
func (cfg *QPConfig) parents() (all []*life) {
	if cfg.SendCQ != nil {
		all = append(all, &cfg.SendCQ.life)
	}
	if cfg.RecvCQ != nil && cfg.RecvCQ != cfg.SendCQ {
		all = append(all, &cfg.RecvCQ.life)
	}
	if cfg.SRQ != nil {
		all = append(all, &cfg.SRQ.life)
	}
	if cfg.XRCD != nil {
		all = append(all, &cfg.XRCD.life)
	}
	if cfg.WQTable != nil {
		all = append(all, &cfg.WQTable.life)
	}
	return all
}

// setup asks the driver for its part. A target of XRC has no rings, so no driver
// has a part in it.
func (qp *QP) setup() (*provider.QPSetup, error) {
	if qp.cfg.Type == abi.IB_UVERBS_QPT_XRC_TGT {
		done := func(*provider.QPBell, uint32, provider.QPCap, []byte) (provider.QP, error) { return ringless{}, nil }
		return &provider.QPSetup{Done: done}, nil
	}
	flags := uint32(qp.cfg.CreateFlags)
	if qp.cfg.SourceQPN != 0 {
		flags |= qpCreateSourceQPN
	}
	return qp.c.drv.SetupQP(provider.QPRequest{
		Type: uint32(qp.cfg.Type), Flags: flags, Cap: qp.cfg.Cap.provider(), HasSRQ: qp.cfg.SRQ != nil,
		SignalAll: qp.cfg.SignalAll,
	})
}

// ringless is the data path of a queue pair that has none.
type ringless struct{}

// PostSend refuses.
func (ringless) PostSend(wrs provider.List[provider.SendWR]) (int, error) { return 0, refuse(wrs.N) }

// PostRecv refuses.
func (ringless) PostRecv(wrs provider.List[provider.RecvWR]) (int, error) { return 0, refuse(wrs.N) }

// Close has nothing to unmap.
func (ringless) Close() error { return nil }

// refuse is the answer to n requests: none is an empty list, which is no error.
func refuse(n int) error {
	if n == 0 {
		return nil
	}
	return ErrOpcode
}

func (qp *QP) createKernel(uhwIn, uhwOut []byte) error {
	switch cfg := &qp.cfg; {
	case qp.c.native():
		return qp.createNative(uhwIn, uhwOut)
	case cfg.CreateFlags != 0 || cfg.SourceQPN != 0 || cfg.WQTable != nil:
		return qp.createExWrite(uhwIn, uhwOut)
	}
	return qp.createWrite(uhwIn, uhwOut)
}

func (qp *QP) createNative(uhwIn, uhwOut []byte) error {
	i, err := newIoctl(&methodQPCreate)
	if err != nil {
		return qp.c.fail(methodQPCreate.name, qp.life.name, err)
	}
	defer i.release()
	handle := i.result(uint16(abi.UVERBS_ATTR_CREATE_QP_HANDLE))
	qp.addObjects(i)
	i.u64(uint16(abi.UVERBS_ATTR_CREATE_QP_USER_HANDLE), qp.key)
	req := offheap.Alloc[abi.IBUverbsQPCap](i.b)
	*req = qp.cfg.Cap.kernel()
	i.in(uint16(abi.UVERBS_ATTR_CREATE_QP_CAP), offheap.BytesOf(req))
	i.u64(uint16(abi.UVERBS_ATTR_CREATE_QP_TYPE), uint64(qp.cfg.Type))
	i.events(uint16(abi.UVERBS_ATTR_CREATE_QP_EVENT_FD), qp.c)
	flags := qp.cfg.CreateFlags
	if qp.cfg.SignalAll {
		flags |= abi.IB_UVERBS_QP_CREATE_SQ_SIG_ALL
	}
	if flags != 0 {
		i.u32(uint16(abi.UVERBS_ATTR_CREATE_QP_FLAGS), uint32(flags))
	}
	if qp.cfg.SourceQPN != 0 {
		i.u32(uint16(abi.UVERBS_ATTR_CREATE_QP_SOURCE_QPN), qp.cfg.SourceQPN)
	}
	resp := offheap.Alloc[abi.IBUverbsQPCap](i.b)
	i.out(uint16(abi.UVERBS_ATTR_CREATE_QP_RESP_CAP), offheap.BytesOf(resp))
	qpn := i.outU32(uint16(abi.UVERBS_ATTR_CREATE_QP_RESP_QP_NUM))
	i.uhwIn(uhwIn)
	out := i.uhwOut(len(uhwOut))
	if err := qp.c.ioctlRaw(i); err != nil {
		return qp.c.fail(methodQPCreate.name, qp.cfg.describe(), err)
	}
	qp.handle, qp.qpn, qp.cap = uint32(handle.Data), *qpn, capFromKernel(*resp)
	copy(uhwOut, out)
	return nil
}

// addObjects names what the queue pair is made on. A target of XRC has a domain
// of its own kind and must not name the other.
func (qp *QP) addObjects(i *ioctlCall) {
	cfg := &qp.cfg
	if cfg.XRCD != nil {
		i.object(uint16(abi.UVERBS_ATTR_CREATE_QP_XRCD_HANDLE), cfg.XRCD.handle)
	} else {
		i.object(uint16(abi.UVERBS_ATTR_CREATE_QP_PD_HANDLE), qp.pd.handle)
		i.object(uint16(abi.UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE), cfg.SendCQ.handle)
	}
	if cfg.RecvCQ != nil {
		i.object(uint16(abi.UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE), cfg.RecvCQ.handle)
	}
	if cfg.SRQ != nil {
		i.object(uint16(abi.UVERBS_ATTR_CREATE_QP_SRQ_HANDLE), cfg.SRQ.handle)
	}
	if cfg.WQTable != nil {
		i.object(uint16(abi.UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE), cfg.WQTable.handle)
	}
}

// request is the core struct of CREATE_QP_EX, of which CREATE_QP has the first
// members.
func (qp *QP) request() abi.IBUverbsExCreateQP {
	cfg, k := &qp.cfg, qp.cfg.Cap.kernel()
	req := abi.IBUverbsExCreateQP{
		UserHandle: qp.key, PDHandle: qp.pd.handle, QPType: uint8(cfg.Type),
		MaxSendWR: k.MaxSendWR, MaxRecvWR: k.MaxRecvWR, MaxSendSGE: k.MaxSendSGE, MaxRecvSGE: k.MaxRecvSGE,
		MaxInlineData: k.MaxInlineData, CreateFlags: uint32(cfg.CreateFlags),
	}
	if cfg.XRCD != nil {
		req.PDHandle = cfg.XRCD.handle // create_qp takes it for that of the XRC domain
	}
	if cfg.SendCQ != nil {
		req.SendCQHandle = cfg.SendCQ.handle
	}
	if cfg.RecvCQ != nil {
		req.RecvCQHandle = cfg.RecvCQ.handle
	}
	if cfg.SRQ != nil {
		req.IsSRQ, req.SRQHandle = 1, cfg.SRQ.handle
	}
	if cfg.SignalAll {
		req.SQSigAll = 1
	}
	if cfg.SourceQPN != 0 {
		req.CreateFlags |= qpCreateSourceQPN
		req.SourceQPN = cfg.SourceQPN
	}
	if cfg.WQTable != nil {
		req.CompMask, req.RWQIndTblHandle = uint32(abi.IB_UVERBS_CREATE_QP_MASK_IND_TABLE), cfg.WQTable.handle
	}
	return req
}

// qpCreateSourceQPN is IB_QP_CREATE_SOURCE_QPN of include/rdma/ib_verbs.h, which
// the native method sets itself.
const qpCreateSourceQPN = 1 << 10

func (qp *QP) createWrite(uhwIn, uhwOut []byte) error {
	w, err := newWrite(&cmdCreateQP, uhwIn, len(uhwOut))
	if err != nil {
		return qp.c.fail(cmdCreateQP.name, qp.life.name, err)
	}
	defer w.release()
	x, req := qp.request(), reqOf[abi.IBUverbsCreateQP](w)
	req.UserHandle, req.PDHandle = x.UserHandle, x.PDHandle
	req.SendCQHandle, req.RecvCQHandle, req.SRQHandle = x.SendCQHandle, x.RecvCQHandle, x.SRQHandle
	req.MaxSendWR, req.MaxRecvWR = x.MaxSendWR, x.MaxRecvWR
	req.MaxSendSGE, req.MaxRecvSGE, req.MaxInlineData = x.MaxSendSGE, x.MaxRecvSGE, x.MaxInlineData
	req.SQSigAll, req.QPType, req.IsSRQ = x.SQSigAll, x.QPType, x.IsSRQ
	return qp.createdByWrite(w, respOf[abi.IBUverbsCreateQPResp](w), uhwOut)
}

func (qp *QP) createExWrite(uhwIn, uhwOut []byte) error {
	w, err := newWrite(&cmdExCreateQP, uhwIn, len(uhwOut))
	if err != nil {
		return qp.c.fail(cmdExCreateQP.name, qp.life.name, err)
	}
	defer w.release()
	*reqOf[abi.IBUverbsExCreateQP](w) = qp.request()
	return qp.createdByWrite(w, &respOf[abi.IBUverbsExCreateQPResp](w).Base, uhwOut)
}

func (qp *QP) createdByWrite(w *writeCall, resp *abi.IBUverbsCreateQPResp, uhwOut []byte) error {
	if err := qp.c.writeRaw(w); err != nil {
		return qp.c.fail(w.m.name, qp.cfg.describe(), err)
	}
	qp.handle, qp.qpn = resp.QPHandle, resp.QPN
	qp.cap = capFromKernel(abi.IBUverbsQPCap{
		MaxSendWR: resp.MaxSendWR, MaxRecvWR: resp.MaxRecvWR,
		MaxSendSGE: resp.MaxSendSGE, MaxRecvSGE: resp.MaxRecvSGE, MaxInlineData: resp.MaxInlineData,
	})
	copy(uhwOut, w.uhwResp())
	return nil
}

// describe says for an error what was asked for.
func (cfg *QPConfig) describe() string {
	return fmt.Sprintf("new QP: type %d, %d+%d requests, %d+%d entries, %d bytes inline", uint32(cfg.Type),
		cfg.Cap.MaxSendWR, cfg.Cap.MaxRecvWR, cfg.Cap.MaxSendSGE, cfg.Cap.MaxRecvSGE, cfg.Cap.MaxInline)
}

func (k QPCap) kernel() abi.IBUverbsQPCap {
	return abi.IBUverbsQPCap{
		MaxSendWR: uint32(k.MaxSendWR), MaxRecvWR: uint32(k.MaxRecvWR),
		MaxSendSGE: uint32(k.MaxSendSGE), MaxRecvSGE: uint32(k.MaxRecvSGE), MaxInlineData: uint32(k.MaxInline),
	}
}

func capFromKernel(k abi.IBUverbsQPCap) QPCap {
	return QPCap{
		MaxSendWR: int(k.MaxSendWR), MaxRecvWR: int(k.MaxRecvWR),
		MaxSendSGE: int(k.MaxSendSGE), MaxRecvSGE: int(k.MaxRecvSGE), MaxInline: int(k.MaxInlineData),
	}
}

func (k QPCap) provider() provider.QPCap {
	return provider.QPCap{
		MaxSendWR: uint32(k.MaxSendWR), MaxRecvWR: uint32(k.MaxRecvWR),
		MaxSendSGE: uint32(k.MaxSendSGE), MaxRecvSGE: uint32(k.MaxRecvSGE), MaxInline: uint32(k.MaxInline),
	}
}
