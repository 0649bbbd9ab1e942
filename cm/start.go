package cm

import (
	"context"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/ucma"
)

// The methods here begin a step and return; its outcome is an event, for
// EventChannel.NextEvent in raw mode or ID.NextEvent. Methods that do not wait
// anyhow (Bind, Listen, Accept, Establish, Reject, Disconnect, Notify) serve
// both ways of working.

// canWait refuses steps that could only hang.
func (id *ID) canWait(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if id.Channel().raw != nil {
		return errRawChannel
	}
	return nil
}

// StartResolveAddr begins ResolveAddr. The outcome is the event ADDR_RESOLVED
// or ADDR_ERROR. The kernel waits at most timeout for a neighbour, and not at
// all if it is 0; its unit is a millisecond.
func (id *ID) StartResolveAddr(src, dst ucma.Sockaddr, timeout time.Duration) error {
	id.noteFamily(dst)
	return stepError(stepResolveAddr, id.do(func(ch *ucma.Channel, h uint32) error {
		return id.resolveAddr(ch, h, src, dst, millis(timeout))
	}))
}

// StartResolveRoute begins ResolveRoute. The outcome is the event
// ROUTE_RESOLVED or ROUTE_ERROR. A timeout below a millisecond counts as one.
func (id *ID) StartResolveRoute(timeout time.Duration) error {
	ms := max(millis(timeout), 1)
	return stepError(stepResolveRoute, id.do(func(ch *ucma.Channel, h uint32) error { return ch.ResolveRoute(h, ms) }))
}

// StartSetIBPath begins SetIBPath. The outcome is the event ROUTE_RESOLVED.
func (id *ID) StartSetIBPath(paths []abi.IBPathRecData) error {
	return stepError(stepResolveRoute, id.do(func(ch *ucma.Channel, h uint32) error { return ch.SetIBPath(h, paths) }))
}

// StartConnect begins Connect or ConnectDatagram. The outcome is the event
// CONNECT_RESPONSE (of a reliable service; Establish comes next), ESTABLISHED
// (of a datagram service, or iWARP), REJECTED, UNREACHABLE or CONNECT_ERROR.
func (id *ID) StartConnect(p *ucma.ConnParam, ece ucma.ECE) error {
	if err := id.checkPrivateData(OpConnect, p.PrivateData); err != nil {
		return err
	}
	return stepError(stepConnect, id.tryConnect(func() error { return id.sendConnect(p, ece) }))
}

// sendConnect runs the command.
func (id *ID) sendConnect(p *ucma.ConnParam, ece ucma.ECE) error {
	return id.do(func(ch *ucma.Channel, h uint32) error {
		// A neighbour may have changed since its address was resolved. That
		// is not the outcome of this step.
		id.forgetStale(repeats)
		if id.notIWARP.Load() {
			return ch.Connect(h, p, ece)
		}
		return withoutSignals(func() error { return ch.Connect(h, p, ece) })
	})
}

// StartResolveIBService begins ResolveIBService. The outcome is the event
// ADDRINFO_RESOLVED (IBServices has the records) or ADDRINFO_ERROR.
func (id *ID) StartResolveIBService(service abi.RDMAUCMIBService) error {
	err := id.do(func(ch *ucma.Channel, h uint32) error { return ch.ResolveIBService(h, service) })
	return stepError(stepResolveName, err)
}

// ResolveIBService looks a service up in InfiniBand's subnet administration
// (rdma_resolve_addrinfo with RAI_SA, rdma_query_addrinfo; kernel 6.18, before
// that the error matches syscall.EINVAL). The ID is bound to an address of an
// InfiniBand device.
func (id *ID) ResolveIBService(ctx context.Context, service abi.RDMAUCMIBService) ([]abi.IBUserServiceRec, error) {
	err := id.step(ctx, stepResolveName,
		func(ch *ucma.Channel, h uint32) error { return ch.ResolveIBService(h, service) },
		abi.RDMA_CM_EVENT_ADDRINFO_RESOLVED, abi.RDMA_CM_EVENT_ADDRINFO_ERROR)
	if err != nil {
		return nil, err
	}
	return id.IBServices()
}

// millis converts a time limit for the kernel.
func millis(d time.Duration) uint32 {
	const longest = time.Hour
	return uint32(min(max(d, 0), longest) / time.Millisecond)
}

// noteFamily remembers that the ID has native InfiniBand addresses, whose
// requests have more room for private data.
func (id *ID) noteFamily(a ucma.Sockaddr) {
	if a.Family() == abi.AF_IB {
		id.mu.Lock()
		id.nativeIB = true
		id.mu.Unlock()
	}
}
