package uverbs

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/purerdma/rdma/abi"
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
	// Type is IB_UVERBS_QPT_RC (also when zero), _UC, _UD; on devices that
	// have them _RAW_PACKET (needs CAP_NET_RAW), _XRC_INI, _XRC_TGT.
	Type abi.IBUverbsQPType

	// SendCQ and RecvCQ receive the completions; they may be the same queue.
	// Both are needed, except that _XRC_INI and a queue pair with WQTable have
	// no RecvCQ, and _XRC_TGT has neither.
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

	// CreateFlags are IB_UVERBS_QP_CREATE_…: no multicast loopback, checksums
	// with the data, …. IB_UVERBS_QP_CREATE_SQ_SIG_ALL is the same as SignalAll.
	CreateFlags abi.IBUverbsQPCreateFlags

	// SourceQPN, if not 0, is the number that packets of a datagram queue pair
	// carry in place of its own. It needs CAP_NET_RAW.
	SourceQPN uint32

	// XRCD is the domain of a queue pair of type _XRC_TGT, which receives for
	// the shared receive queues of the domain.
	XRCD *XRCD

	// WQTable spreads what a queue pair of type _RAW_PACKET receives over
	// several queues.
	WQTable *WQTable
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

	// sendMu and recvMu each guard one queue, and ring against Close. The kernel may be
	// at work under the first.
	sendMu sync.Mutex
	recvMu provider.Latch
	ring   provider.QP // refuses after Close
	gone   provider.QP // what ring was, once the kernel has destroyed the object
	bell   bell

	port atomic.Uint32 // as Modify was told last; 0 before

	groupMu sync.Mutex
	groups  map[group]struct{} // multicast groups; guarded by groupMu
}

// CreateQP creates a queue pair (QP_CREATE, CREATE_QP, CREATE_QP_EX). It starts
// in state RESET, in which it takes no requests. The error is an *[Error]; it
// matches [ErrNoProvider] on a device without a data path in this module,
// syscall.EINVAL when a limit is above the device's, and errors.ErrUnsupported
// for types and flags that device or driver do not have.
func (pd *PD) CreateQP(cfg QPConfig) (*QP, error) {
	qp, err := pd.createQP(cfg)
	if err != nil {
		return nil, pd.explainInline(err, cfg)
	}
	return qp, nil
}

// createQP is CreateQP without trying how much inline data the device takes.
func (pd *PD) createQP(cfg QPConfig) (*QP, error) {
	c := pd.c
	if c.drv == nil {
		return nil, &Error{Op: methodQPCreate.name, Device: c.dev.Name, Err: c.noDrv}
	}
	if k := &cfg.Cap; !fits32(k.MaxSendWR, k.MaxRecvWR, k.MaxSendSGE, k.MaxRecvSGE, k.MaxInline) {
		return nil, c.withLimits(c.fail(methodQPCreate.name, cfg.describe(), errInvalid), cfg.exceeded)
	}
	if err := cfg.complete(c); err != nil {
		return nil, err
	}
	qp := &QP{c: c, pd: pd, cfg: cfg, key: newKey()}
	if err := qp.life.begin(c.dev.Name, "new QP", append([]*life{&pd.life}, cfg.parents()...)...); err != nil {
		return nil, err
	}
	if err := qp.create(); err != nil {
		err = c.withLimits(err, qp.cfg.exceeded)
		qp.life.unregister()
		return nil, err
	}
	c.registry.put(qp.key, qp) // no event can come before the QP leaves RESET
	return qp, nil
}

// create lets driver and kernel build the queue pair, and undoes what it did
// when one of them fails.
func (qp *QP) create() error {
	setup, err := qp.setup()
	if err != nil {
		return qp.c.fail(methodQPCreate.name, qp.life.name, err)
	}
	uhwOut := make([]byte, setup.UHWOutLen)
	if err := qp.createKernel(setup.UHWIn, uhwOut); err != nil {
		abort(setup.Abort)
		return err
	}
	qp.life.settle(qp.c.dev.Name, fmt.Sprintf("QP %#x", qp.qpn))
	if qp.bell, err = qp.c.newSendBell(qp.handle); err != nil {
		abort(setup.Abort)
	} else {
		qp.ring, err = setup.Done(qp.bell.forDriver(&qp.sendMu), qp.qpn, qp.cap.provider(), uhwOut)
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

// Context returns the context the queue pair belongs to.
func (qp *QP) Context() *Context { return qp.c }

// PD returns the queue pair's protection domain, or nil for one of
// [XRCD.OpenQP].
func (qp *QP) PD() *PD { return qp.pd }

// SendCQ returns where send requests complete, or nil; see QPConfig.
func (qp *QP) SendCQ() *CQ { return qp.cfg.SendCQ }

// RecvCQ returns where receive requests complete, or nil; see QPConfig.
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

// Close destroys the queue pair (QP_DESTROY, DESTROY_QP); it leaves multicast
// groups before. While flow rules of it exist, it returns a *[BusyError] that
// names them. Requests that have not completed never will; memory they use is no
// longer touched when Close returns, except after [Context.Abandon]. It may be
// called more than once and from any goroutine.
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
	qp.ring, qp.gone = ended{err: qp.life.closed}, qp.ring
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
		return qp.c.destroyed(qp.c.ioctl(i, qp.life.name))
	}
	w, err := newWrite(&cmdDestroyQP, nil, 0)
	if err != nil {
		return qp.c.fail(cmdDestroyQP.name, qp.life.name, err)
	}
	defer w.release()
	reqOf[abi.IBUverbsDestroyQP](w).QPHandle = qp.handle
	return qp.c.destroyed(qp.c.write(w, qp.life.name))
}
