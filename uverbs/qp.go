package uverbs

import (
	"fmt"
	"sync"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/offheap"
	"github.com/purerdma/rdma/uverbs/internal/provider"
)

// QPCap are the limits of a queue pair. The kernel may give more than was
// asked for.
type QPCap struct {
	MaxSendWR  int // requests outstanding in the send queue
	MaxRecvWR  int // requests outstanding in the receive queue
	MaxSendSGE int // scatter/gather entries of a send request
	MaxRecvSGE int // scatter/gather entries of a receive request
	MaxInline  int // bytes of inline data of a send request
}

// QPConfig says what a queue pair shall be. It must not be changed by others
// while CreateQP runs.
type QPConfig struct {
	// Type is IB_UVERBS_QPT_RC (also when zero), _UC, _UD, ….
	Type abi.IBUverbsQPType

	// SendCQ and RecvCQ receive the completions; they may be the same queue.
	// Both are needed.
	SendCQ, RecvCQ *CQ

	// SRQ, if not nil, is where the queue pair takes its receives from. It then
	// has no receive queue, and the limits for that are ignored.
	SRQ *SRQ

	// Cap are the limits asked for. A limit of zero is zero, except that
	// SGE limits of zero become one.
	Cap QPCap

	// SignalAll makes every send request complete, as if SendSignaled were
	// set.
	SignalAll bool
}

// A QP is a queue pair: requests are posted to its send and receive queue and
// complete in its completion queues. All methods are safe for concurrent use;
// posts to one queue are serialised.
type QP struct {
	life   life
	c      *Context
	pd     *PD
	cfg    QPConfig
	cap    QPCap
	key    uint64
	handle uint32
	qpn    uint32

	// sendMu and recvMu each guard one queue, and ring against Close.
	sendMu sync.Mutex
	recvMu sync.Mutex
	ring   provider.QP // nil after Close
	gone   provider.QP // what ring was, once the kernel has destroyed the object
	bell   sendBell

	groupMu sync.Mutex
	groups  map[group]struct{} // multicast groups; guarded by groupMu
}

// CreateQP creates a queue pair (QP_CREATE). It starts in state RESET, in
// which it takes no requests. The error is an *[Error]; it matches
// [ErrNoProvider] on a device without a data path in this module, and
// syscall.EINVAL when a limit is above the device's.
func (pd *PD) CreateQP(cfg QPConfig) (*QP, error) {
	c := pd.c
	if c.drv == nil {
		return nil, &Error{Op: methodQPCreate.name, Device: c.dev.Name, Err: c.noDrv}
	}
	if err := cfg.complete(c); err != nil {
		return nil, err
	}
	qp := &QP{c: c, pd: pd, cfg: cfg, key: newKey()}
	parents := []*life{&pd.life, &cfg.SendCQ.life}
	if cfg.RecvCQ != cfg.SendCQ {
		parents = append(parents, &cfg.RecvCQ.life)
	}
	if cfg.SRQ != nil {
		parents = append(parents, &cfg.SRQ.life)
	}
	if err := qp.life.begin(c.dev.Name, "new QP", parents...); err != nil {
		return nil, err
	}
	if err := qp.create(); err != nil {
		err = c.withLimits(err, qp.cfg.exceeded)
		qp.life.abandon()
		return nil, err
	}
	c.registry.put(qp.key, qp) // no event can come before the QP leaves RESET
	return qp, nil
}

// complete fills in defaults and refuses what cannot work.
func (cfg *QPConfig) complete(c *Context) error {
	if cfg.SendCQ == nil || cfg.RecvCQ == nil {
		return c.fail(methodQPCreate.name, "", fmt.Errorf("a queue pair needs a send and a receive CQ: %w", errInvalid))
	}
	if cfg.SendCQ.c != c || cfg.RecvCQ.c != c || cfg.SRQ != nil && cfg.SRQ.c != c {
		return c.fail(methodQPCreate.name, "", fmt.Errorf("PD, CQs and SRQ belong to different contexts: %w", errInvalid))
	}
	if cfg.Type == 0 {
		cfg.Type = abi.IB_UVERBS_QPT_RC
	}
	cfg.Cap.MaxSendSGE = max(cfg.Cap.MaxSendSGE, 1)
	cfg.Cap.MaxRecvSGE = max(cfg.Cap.MaxRecvSGE, 1)
	if cfg.SRQ != nil {
		cfg.Cap.MaxRecvWR, cfg.Cap.MaxRecvSGE = 0, 0
	}
	return nil
}

// create lets driver and kernel build the queue pair, and undoes what it did
// when one of them fails.
func (qp *QP) create() error {
	req := provider.QPRequest{Type: uint32(qp.cfg.Type), Cap: qp.cfg.Cap.provider(), HasSRQ: qp.cfg.SRQ != nil}
	setup, err := qp.c.drv.SetupQP(req)
	if err != nil {
		return qp.c.fail(methodQPCreate.name, qp.life.name, err)
	}
	uhwOut := make([]byte, setup.UHWOutLen)
	if err := qp.createKernel(setup.UHWIn, uhwOut); err != nil {
		abort(setup.Abort)
		return err
	}
	qp.life.settle(qp.c.dev.Name, fmt.Sprintf("QP %#x", qp.qpn))
	if err = qp.bell.prepare(qp.c, qp.handle); err != nil {
		abort(setup.Abort)
	} else {
		qp.ring, err = setup.Done(&qp.bell, qp.qpn, qp.cap.provider(), uhwOut)
		if err == nil {
			return nil
		}
		qp.bell.free()
	}
	_ = qp.destroyKernel() // the failure that brought us here is reported
	return qp.c.fail(methodQPCreate.name, qp.life.name, err)
}

// abort runs the driver's clean-up, which it may not have.
func abort(f func()) {
	if f != nil {
		f()
	}
}

func (qp *QP) createKernel(uhwIn, uhwOut []byte) error {
	if qp.c.native() {
		return qp.createNative(uhwIn, uhwOut)
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
	i.object(uint16(abi.UVERBS_ATTR_CREATE_QP_PD_HANDLE), qp.pd.handle)
	i.object(uint16(abi.UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE), qp.cfg.SendCQ.handle)
	i.object(uint16(abi.UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE), qp.cfg.RecvCQ.handle)
	if qp.cfg.SRQ != nil {
		i.object(uint16(abi.UVERBS_ATTR_CREATE_QP_SRQ_HANDLE), qp.cfg.SRQ.handle)
	}
	i.u64(uint16(abi.UVERBS_ATTR_CREATE_QP_USER_HANDLE), qp.key)
	req := offheap.Alloc[abi.IBUverbsQPCap](i.b)
	*req = qp.cfg.Cap.kernel()
	i.in(uint16(abi.UVERBS_ATTR_CREATE_QP_CAP), offheap.BytesOf(req))
	i.u64(uint16(abi.UVERBS_ATTR_CREATE_QP_TYPE), uint64(qp.cfg.Type))
	if qp.cfg.SignalAll {
		i.u32(uint16(abi.UVERBS_ATTR_CREATE_QP_FLAGS), uint32(abi.IB_UVERBS_QP_CREATE_SQ_SIG_ALL))
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

func (qp *QP) createWrite(uhwIn, uhwOut []byte) error {
	w, err := newWrite(&cmdCreateQP, uhwIn, len(uhwOut))
	if err != nil {
		return qp.c.fail(cmdCreateQP.name, qp.life.name, err)
	}
	defer w.release()
	req := reqOf[abi.IBUverbsCreateQP](w)
	req.UserHandle, req.PDHandle = qp.key, qp.pd.handle
	req.SendCQHandle, req.RecvCQHandle = qp.cfg.SendCQ.handle, qp.cfg.RecvCQ.handle
	k := qp.cfg.Cap.kernel()
	req.MaxSendWR, req.MaxRecvWR = k.MaxSendWR, k.MaxRecvWR
	req.MaxSendSGE, req.MaxRecvSGE, req.MaxInlineData = k.MaxSendSGE, k.MaxRecvSGE, k.MaxInlineData
	req.QPType = uint8(qp.cfg.Type)
	if qp.cfg.SRQ != nil {
		req.IsSRQ, req.SRQHandle = 1, qp.cfg.SRQ.handle
	}
	if qp.cfg.SignalAll {
		req.SQSigAll = 1
	}
	if err := qp.c.writeRaw(w); err != nil {
		return qp.c.fail(cmdCreateQP.name, qp.cfg.describe(), err)
	}
	resp := respOf[abi.IBUverbsCreateQPResp](w)
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

// Context returns the context the queue pair belongs to.
func (qp *QP) Context() *Context { return qp.c }

// PD returns the queue pair's protection domain.
func (qp *QP) PD() *PD { return qp.pd }

// SendCQ returns where send requests complete.
func (qp *QP) SendCQ() *CQ { return qp.cfg.SendCQ }

// RecvCQ returns where receive requests complete.
func (qp *QP) RecvCQ() *CQ { return qp.cfg.RecvCQ }

// SRQ returns the shared receive queue, or nil.
func (qp *QP) SRQ() *SRQ { return qp.cfg.SRQ }

// Type returns the kind of queue pair.
func (qp *QP) Type() abi.IBUverbsQPType { return qp.cfg.Type }

// Cap returns the limits that the kernel gave.
func (qp *QP) Cap() QPCap { return qp.cap }

// Number returns the queue pair number, 24 bits, by which peers address it.
func (qp *QP) Number() uint32 { return qp.qpn }

// Handle returns the kernel's handle of the queue pair within its context.
func (qp *QP) Handle() uint32 { return qp.handle }

// String returns "QP " and the number in hexadecimal.
func (qp *QP) String() string { return qp.life.name }

// Close destroys the queue pair (QP_DESTROY); it leaves multicast groups before.
// Requests that have not completed
// never will; memory they use is no longer touched when Close returns. It may
// be called more than once and from any goroutine.
func (qp *QP) Close() error { return qp.life.close(qp.destroy, qp.release) }

// destroy keeps doorbells out while the kernel destroys the object, which it
// would otherwise refuse with EBUSY, and ends posting before anybody can ring
// for the queue pair that gets the handle next.
func (qp *QP) destroy() error {
	qp.sendMu.Lock()
	defer qp.sendMu.Unlock()
	qp.recvMu.Lock()
	defer qp.recvMu.Unlock()
	if err := qp.leaveGroups(); err != nil {
		return err
	}
	if err := qp.destroyKernel(); err != nil {
		return err
	}
	qp.bell.free()
	qp.ring, qp.gone = nil, qp.ring
	return nil
}

// release frees the rings of a queue pair that the kernel has destroyed.
func (qp *QP) release() error {
	qp.c.registry.drop(qp.key)
	return qp.gone.Close()
}

func (qp *QP) destroyKernel() error {
	if qp.c.native() {
		i, err := newIoctl(&methodQPDestroy)
		if err != nil {
			return qp.c.fail(methodQPDestroy.name, qp.life.name, err)
		}
		defer i.release()
		i.object(uint16(abi.UVERBS_ATTR_DESTROY_QP_HANDLE), qp.handle)
		i.outU32(uint16(abi.UVERBS_ATTR_DESTROY_QP_RESP)) // an event count that only C needs
		return destroyed(qp.c.ioctl(i, qp.life.name))
	}
	w, err := newWrite(&cmdDestroyQP, nil, 0)
	if err != nil {
		return qp.c.fail(cmdDestroyQP.name, qp.life.name, err)
	}
	defer w.release()
	reqOf[abi.IBUverbsDestroyQP](w).QPHandle = qp.handle
	return destroyed(qp.c.write(w, qp.life.name))
}
