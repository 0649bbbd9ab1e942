package cm

import (
	"context"
	"fmt"
	"syscall"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/ucma"
	"github.com/purerdma/rdma/uverbs"
)

// NewEndpoint makes an ID and takes it as far as an address allows
// (rdma_create_ep): a passive one is bound, and Listen comes next; an active
// one has its address and route resolved, and CreateQP and Connect come next.
// Port space and queue pair type are info's; opts may be nil, and its channel
// must not be in raw mode. Close undoes it (rdma_destroy_ep).
//
// Errors are those of Bind, ResolveAddr and ResolveRoute, and [ErrLoopback].
func NewEndpoint(ctx context.Context, info *AddrInfo, opts *IDOptions) (*ID, error) {
	var o IDOptions
	if opts != nil {
		o = *opts
	}
	o.PortSpace, o.QPType = info.PortSpace, info.QPType
	for _, a := range []ucma.Sockaddr{info.Src, info.Dst} {
		if ap, ok := a.AddrPort(); ok {
			if err := checkAddr(ap.Addr()); err != nil {
				return nil, err
			}
		}
	}
	id, err := NewID(&o)
	if err != nil {
		return nil, err
	}
	if err := id.prepare(ctx, info); err != nil {
		_ = id.Close()
		return nil, err
	}
	return id, nil
}

func (id *ID) prepare(ctx context.Context, info *AddrInfo) error {
	if info.Passive {
		return inStep(stepBind, id.Bind(info.Src))
	}
	if err := id.ResolveAddr(ctx, info.Src, info.Dst); err != nil {
		return err
	}
	if len(info.Route) > 0 {
		return id.SetIBPath(ctx, info.Route)
	}
	return id.ResolveRoute(ctx)
}

// CreateQP creates a queue pair that fits the ID, in a protection domain of its
// device (rdma_create_qp, rdma_create_qp_ex; with QPConfig.SRQ, which
// uverbs.PD.CreateSRQ makes, also rdma_create_srq). The address is resolved, or
// the ID came with a request. A connected queue pair is in INIT, where receives
// can be posted, and lets the peer read, write and use atomics, as far as
// memory regions allow; ModifyQP takes it on. A datagram queue pair is in RTS,
// with the port space's Q_Key ([DatagramQKey]).
//
// It is the caller's: close it before the ID (rdma_destroy_qp). The error
// matches syscall.EINVAL when pd is of another device or cfg.Type not the ID's.
func (id *ID) CreateQP(pd *uverbs.PD, cfg uverbs.QPConfig) (*uverbs.QP, error) {
	if cfg.Type == 0 {
		cfg.Type = id.QPType()
	}
	if cfg.Type != id.QPType() {
		return nil, fmt.Errorf("queue pair of type %d on an ID for type %d: %w", cfg.Type, id.qpt, syscall.EINVAL)
	}
	if err := id.checkDevice(pd); err != nil {
		return nil, stepError(stepQueuePair, err)
	}
	qp, err := pd.CreateQP(cfg)
	if err != nil {
		return nil, stepError(stepQueuePair, err)
	}
	if err := id.startQP(qp); err != nil {
		_ = qp.Close()
		return nil, stepError(stepQueuePair, err)
	}
	return qp, nil
}

// checkDevice refuses a protection domain of another device than the ID's,
// which the kernel would take and then never connect.
func (id *ID) checkDevice(pd *uverbs.PD) error {
	a, err := id.Addrs()
	if err != nil {
		return err
	}
	d := pd.Context().Device()
	switch {
	case a.Port == 0:
		return fmt.Errorf("%w: resolve the ID's address first", ErrNoDevice)
	case d.Index >= 0 && d.Index != int(a.DeviceIndex):
		return fmt.Errorf("the protection domain is of %s, the ID on device %d: %w", d, a.DeviceIndex, syscall.EINVAL)
	}
	return nil
}

// startQP takes a new queue pair as far as it goes without a peer.
func (id *ID) startQP(qp *uverbs.QP) error {
	attr, err := id.InitQPAttr(abi.IB_QPS_INIT)
	if err != nil {
		return err
	}
	// Before the request the kernel leaves them empty (cma_ib_init_qp_attr).
	switch t := id.QPType(); {
	case qp.PD().Context().Device().Protocol == uverbs.ProtocolIWARP:
		attr.QPAccessFlags = uint32(peersMayIWARP)
	case t == abi.IB_UVERBS_QPT_RC:
		attr.QPAccessFlags = uint32(peersMay)
	case t == abi.IB_UVERBS_QPT_UC:
		attr.QPAccessFlags = uint32(uverbs.AccessRemoteWrite)
	}
	if err := qp.ModifyFromCM(attr); err != nil || !id.datagram() {
		return err
	}
	if err := qp.ToRTR(uverbs.RTRConfig{}); err != nil {
		return err
	}
	return qp.ToRTS(uverbs.RTSConfig{PSN: uverbs.NewPSN()})
}

// ModifyQP takes the ID's queue pair to RTR or RTS with the attributes that the
// kernel has for it (InitQPAttr), once the peer's parameters are known. The
// active side does both between Connect and Establish, the passive side before
// Accept, because the peer's first message may overtake its confirmation. In
// RTR, the wait that a peer is asked for while no receive is posted is 0.64 ms
// instead of the kernel's choice of 655 ms.
func (id *ID) ModifyQP(qp *uverbs.QP, state abi.IBQPState) error {
	attr, err := id.InitQPAttr(state)
	if err != nil {
		return stepError(stepQueuePair, err)
	}
	if state == abi.IB_QPS_RTR {
		attr.MinRnrTimer = minRNRTimer
	}
	return stepError(stepQueuePair, qp.ModifyFromCM(attr))
}
