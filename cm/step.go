package cm

import (
	"context"
	"fmt"
	"math"
	"syscall"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/ucma"
)

// defaultStepTimeout is how long the kernel tries to resolve an address or a
// route when the caller's context has no deadline.
const defaultStepTimeout = 5 * time.Second

// Bind gives the ID its local address (rdma_bind_addr). Port 0 lets the kernel
// choose one; LocalAddr tells which. Errors match [ErrAddrInUse] for a port that is
// taken, [ErrNoPorts] when there is none to choose, [ErrNoDevice] for an address without RDMA, os.ErrPermission for a
// port below 1024 without the capability.
func (id *ID) Bind(addr ucma.Sockaddr) error {
	id.noteFamily(addr)
	return id.do(func(ch *ucma.Channel, h uint32) error { return bindError(id.netns, addr, ch.Bind(h, addr)) })
}

// Listen starts listening (rdma_listen). backlog bounds the requests the
// kernel keeps until this package fetches them, which it does at once; 0 and too much
// mean the sysctl net.rdma_ucm.max_backlog, usually 1024 (ucma_listen). Beyond it the
// kernel drops requests without notice, and peers repeat theirs after four seconds.
// Requests arrive at NextRequest.
func (id *ID) Listen(backlog int) error {
	err := id.do(func(ch *ucma.Channel, h uint32) error {
		err := ch.Listen(h, uint32(min(max(backlog, 0), math.MaxInt32))) // of the kernel's int
		if err == nil {
			id.setSettled(true)
		}
		return err
	})
	if isErrno(err, syscall.EADDRNOTAVAIL) || isErrno(err, syscall.EADDRINUSE) {
		// An ID that shares its address (SetReuseAddr) may bind it, but
		// listen only alone.
		return withCause(ErrAddrInUse, err)
	}
	return err
}

// ResolveAddr finds source address, device and port towards dst
// (rdma_resolve_addr). A zero src lets the kernel choose. Errors match
// syscall.ENETUNREACH without a route, [ErrNoDevice] when the route leaves
// through an interface without RDMA, [ErrNoPorts] when no local port is left, and are time-outs when no neighbour
// answers; after one of them the step may be tried again. The kernel is asked
// several times, until ctx ends or, without a deadline, for 5 s in all.
func (id *ID) ResolveAddr(ctx context.Context, src, dst ucma.Sockaddr) error {
	id.noteFamily(dst)
	left, round := timeoutMs(ctx), uint32(firstResolveRound)
	for {
		err := id.resolveOnce(ctx, src, dst, min(left, round))
		if left <= round || !isErrno(err, syscall.ETIMEDOUT) || ctx.Err() != nil {
			return err
		}
		left -= round
		round = min(2*round, lastResolveRound)
	}
}

// How many milliseconds the kernel gets at once to resolve an address. It looks
// for the neighbour, and only then queues the request that the neighbour's answer
// is to wake (dst_fetch_ha, queue_req): an answer that comes in between, as from
// the other end of a veth pair, is noticed only when the time is over. The kernel
// then looks again, so short times do no harm.
const (
	firstResolveRound = 250
	lastResolveRound  = 1000
)

func (id *ID) resolveOnce(ctx context.Context, src, dst ucma.Sockaddr, ms uint32) error {
	return id.step(ctx, stepResolveAddr,
		func(ch *ucma.Channel, h uint32) error { return id.resolveAddr(ch, h, src, dst, ms) },
		abi.RDMA_CM_EVENT_ADDR_RESOLVED, abi.RDMA_CM_EVENT_ADDR_ERROR)
}

// resolveAddr runs the command only when the kernel would take it: kernels up
// to 6.x zero the destination of an ID when they refuse it for its state
// (resolve_prepare_src), which then can never connect or accept.
func (id *ID) resolveAddr(ch *ucma.Channel, h uint32, src, dst ucma.Sockaddr, ms uint32) error {
	id.mu.Lock()
	settled := id.settled
	id.settled = true
	id.mu.Unlock()
	if settled {
		return errSettled
	}
	err := ch.ResolveAddr(h, src, dst, ms)
	if err != nil {
		id.setSettled(false)
	}
	if isErrno(err, syscall.EADDRNOTAVAIL) || isErrno(err, syscall.EADDRINUSE) {
		return bindError(id.netns, src, err) // the kernel binds the ID on the way (cma_bind_addr)
	}
	return err
}

var errSettled = fmt.Errorf("the ID's address is resolved or being resolved, it listens, or it came with a request: %w", syscall.EINVAL)

func (id *ID) setSettled(on bool) {
	id.mu.Lock()
	defer id.mu.Unlock()
	id.settled = on
}

// ResolveRoute finds the path to the resolved address (rdma_resolve_route).
func (id *ID) ResolveRoute(ctx context.Context) error {
	ms := timeoutMs(ctx)
	return id.step(ctx, stepResolveRoute,
		func(ch *ucma.Channel, h uint32) error { return ch.ResolveRoute(h, ms) },
		abi.RDMA_CM_EVENT_ROUTE_RESOLVED, abi.RDMA_CM_EVENT_ROUTE_ERROR)
}

// step runs a command and waits for the event that says how it went.
func (id *ID) step(ctx context.Context, name string, cmd func(*ucma.Channel, uint32) error, good, bad abi.RDMACMEventType) error {
	if err := id.canWait(ctx); err != nil {
		return err
	}
	if err := id.do(cmd); err != nil {
		return stepError(name, err)
	}
	ev, err := id.wait(ctx, func(ev *ucma.Event) bool {
		return ev.Type == good || ev.Type == bad || ev.Type == abi.RDMA_CM_EVENT_DEVICE_REMOVAL
	})
	if err != nil {
		return err
	}
	return stepError(name, eventError(ev, good))
}

// timeoutMs turns a context's deadline into the kernel's time limit for a
// step. A second is added so that it is the context that ends the wait, and
// the kernel's own timer only the backstop.
func timeoutMs(ctx context.Context) uint32 {
	d := defaultStepTimeout
	if deadline, ok := ctx.Deadline(); ok {
		d = time.Until(deadline) + time.Second
	}
	const longest = time.Hour
	return uint32(min(max(d, time.Millisecond), longest) / time.Millisecond)
}

// InitQPAttr returns the attributes a queue pair of this ID needs on its way
// to state (IB_QPS_INIT, RTR or RTS), with the mask of valid ones
// (rdma_init_qp_attr).
func (id *ID) InitQPAttr(state abi.IBQPState) (attr *abi.IBUverbsQPAttr, err error) {
	err = id.do(func(ch *ucma.Channel, h uint32) error {
		attr, err = ch.InitQPAttr(h, uint32(state))
		return err
	})
	return attr, err
}

// Notify reports an asynchronous event of the ID's queue pair
// (rdma_notify): IB_EVENT_COMM_EST when data arrived before the connection
// was reported established. That it was established already is no error.
func (id *ID) Notify(event uint32) error {
	err := id.do(func(ch *ucma.Channel, h uint32) error { return ch.Notify(h, event) })
	if isErrno(err, syscall.EISCONN) {
		return nil
	}
	return err
}
