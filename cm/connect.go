package cm

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/ucma"
)

var errDatagram = fmt.Errorf("the ID is of a datagram service: use ConnectDatagram: %w", syscall.EINVAL)

// Connect sends the connect request of an ID whose route is resolved and
// waits for the answer (rdma_connect). p.InitiatorDepth and p.ResponderResources say how
// many reads and atomics this side may have outstanding and serves; ece, if not zero, is
// the own enhanced connection establishment option (rdma_set_local_ece), and
// RemoteECE returns the peer's afterwards. On success the peer's parameters are
// returned. The caller then takes the queue pair to RTR and RTS ([ID.ModifyQP]), which
// the kernel does on iWARP only, and Establish completes the connection. Errors match
// [ErrNoListener] or [ErrRejected] when the peer
// refused, [ErrNoHandles] when the device cannot send the request now; when
// nobody answers the kernel gives up after about 78 s, or ctx does. On iWARP the
// kernel's command may go on after the end of ctx, for as long as TCP tries to reach
// the peer. The ID can be closed then, which takes two seconds at most, but its queue
// pair waits.
func (id *ID) Connect(ctx context.Context, p *ucma.ConnParam, ece ucma.ECE) (*ucma.ConnParam, error) {
	if id.datagram() {
		return nil, errDatagram
	}
	if err := id.canWait(ctx); err != nil {
		return nil, err
	}
	if err := id.connectWithin(ctx, p, ece); err != nil {
		return nil, err
	}
	ev, err := id.wait(ctx, func(ev *ucma.Event) bool {
		switch ev.Type {
		case abi.RDMA_CM_EVENT_CONNECT_RESPONSE, abi.RDMA_CM_EVENT_ESTABLISHED, // iWARP has no separate response
			abi.RDMA_CM_EVENT_CONNECT_ERROR, abi.RDMA_CM_EVENT_UNREACHABLE, abi.RDMA_CM_EVENT_REJECTED,
			abi.RDMA_CM_EVENT_DISCONNECTED, abi.RDMA_CM_EVENT_DEVICE_REMOVAL:
			return true
		}
		return false
	})
	if err != nil {
		return nil, err
	}
	if ev.Type != abi.RDMA_CM_EVENT_ESTABLISHED {
		if err := eventError(ev, abi.RDMA_CM_EVENT_CONNECT_RESPONSE); err != nil {
			return nil, stepError(stepConnect, err)
		}
	}
	id.up.Store(ev.Type == abi.RDMA_CM_EVENT_ESTABLISHED)
	peer := ev.Conn()
	return &peer, nil
}

// Establish completes a connection on the active side, once the queue pair is
// ready to send (rdma_establish). On iWARP Connect has done that, and Establish
// does nothing.
func (id *ID) Establish() error {
	if id.up.Load() {
		return nil
	}
	err := id.do(func(ch *ucma.Channel, h uint32) error { return stepError(stepEstablish, ch.Establish(h)) })
	if err == nil {
		id.setRefusal("")
	}
	return err
}

// Accept answers a connection request (rdma_accept); the ID's queue pair is
// RTS. ece, if not zero, is the own enhanced connection establishment option. It
// does not wait for the peer: WaitEstablished does. The kernel rejects the peer
// when the command fails, so what can be checked is checked before.
//
// An error that matches [ErrPeerGone] means that the peer has given up
// meanwhile, and [ErrNoHandles] that the device has no means to answer. The
// kernel does not tell which; on a device with few address handles an error that
// matches both means that the handle may have been missing at the time.
func (id *ID) Accept(p *ucma.ConnParam, ece ucma.ECE) error {
	if err := id.checkPrivateData(OpAccept, p.PrivateData); err != nil {
		return err
	}
	err := id.do(func(ch *ucma.Channel, h uint32) error { return ch.Accept(h, id.uid, p, ece) })
	if err == nil {
		// While the answer waits for its confirmation a REJECT leaves it under way
		// (cm_send_rej_locked: cm_enter_timewait, without ib_cancel_mad), and the
		// destruction of the ID would wait for its last repetition, a minute and more.
		// DESTROY_ID alone takes it back.
		id.setRefusal("")
	}
	return stepError(stepAccept, id.refused(ErrPeerGone, err))
}

// establishError explains a failure after the peer's answer: the peer has
// disconnected, which the next event will say.
func (id *ID) establishError(err error) error {
	var ue *ucma.Error
	if errors.As(err, &ue) && isErrno(ue, syscall.EINVAL) {
		return &stepFailure{step: stepEstablish, err: id.refused(ErrPeerClosed, ue)}
	}
	return inStep(stepEstablish, err)
}

// WaitEstablished returns when the peer has confirmed an accepted connection.
func (id *ID) WaitEstablished(ctx context.Context) error {
	_, err := id.waitEstablished(ctx, nil)
	return err
}

// waitEstablished is WaitEstablished that ends, and reports so, when early is
// closed.
func (id *ID) waitEstablished(ctx context.Context, early <-chan struct{}) (isEarly bool, err error) {
	e, err := id.waitEntry(ctx, early, isEstablishedOrEnd)
	if err != nil || e == nil {
		return err == nil, err
	}
	return false, stepError(stepAccept, eventError(e.Event, abi.RDMA_CM_EVENT_ESTABLISHED))
}

func isEstablishedOrEnd(ev *ucma.Event) bool {
	switch ev.Type {
	case abi.RDMA_CM_EVENT_ESTABLISHED, abi.RDMA_CM_EVENT_CONNECT_ERROR, abi.RDMA_CM_EVENT_UNREACHABLE,
		abi.RDMA_CM_EVENT_REJECTED, abi.RDMA_CM_EVENT_DISCONNECTED, abi.RDMA_CM_EVENT_DEVICE_REMOVAL:
		return true
	}
	return false
}

// Reject refuses a connection request, or on the active side the peer's answer
// (rdma_reject). The peer sees reason 28, consumer defined, and privateData.
func (id *ID) Reject(privateData []byte) error { return id.reject(privateData, 0) }

// RejectECE is Reject for the reason that the enhanced connection
// establishment option does not suit (rdma_reject_ece; kernel 5.8). The peer
// sees reason 35, vendor option not supported.
func (id *ID) RejectECE(privateData []byte) error {
	return id.reject(privateData, uint8(abi.IB_CM_REJ_VENDOR_OPTION_NOT_SUPPORTED))
}

func (id *ID) reject(privateData []byte, reason uint8) error {
	if err := id.checkPrivateData(OpReject, privateData); err != nil {
		return err
	}
	err := id.do(func(ch *ucma.Channel, h uint32) error { return ch.Reject(h, privateData, reason) })
	if err == nil {
		id.setRefusal("")
	}
	return err
}

// Disconnect tells the peer that the connection ends, or confirms the peer's
// wish (rdma_disconnect). It does not wait; WaitDisconnected does. Answer
// DISCONNECTED with it even after an earlier call: when both sides disconnect at
// once, neither wish is the answer to the other.
func (id *ID) Disconnect() error {
	return id.do(func(ch *ucma.Channel, h uint32) error { return ch.Disconnect(h) })
}

// WaitDisconnected returns nil when the peer has answered a Disconnect, or has
// disconnected by itself. The error matches syscall.ETIMEDOUT when the peer did
// not answer, which takes the kernel about 78 s to find out, and
// [ErrDeviceRemoved].
func (id *ID) WaitDisconnected(ctx context.Context) error {
	ev, err := id.wait(ctx, func(ev *ucma.Event) bool {
		return ev.Type == abi.RDMA_CM_EVENT_DISCONNECTED || isRemoval(ev)
	})
	if err != nil {
		return err
	}
	return eventError(ev, abi.RDMA_CM_EVENT_DISCONNECTED)
}

// NextRequest returns the next connection request of a listening ID
// (rdma_get_request): a new ID for the connection, and the event with the
// peer's parameters: Conn, or UD of a datagram service.
func (id *ID) NextRequest(ctx context.Context) (*ID, *ucma.Event, error) {
	e, err := id.waitEntry(ctx, nil, func(ev *ucma.Event) bool { return isRequest(ev.Type) })
	if err != nil {
		return nil, nil, err
	}
	return e.request, e.Event, nil
}
