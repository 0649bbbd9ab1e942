package cm

import (
	"context"
	"fmt"
	"syscall"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/ucma"
)

// DatagramQKey is the Q_Key of the port spaces UDP and IB (RDMA_UDP_QKEY).
const DatagramQKey = 0x01234567

// Steps of datagram services, see [Step].
const (
	stepLookUp = "look up service"
	stepJoin   = "join group"
)

// A SIDRError is a datagram service that could not be reached although its host
// answered. It matches syscall.ECONNREFUSED, and [ErrNoListener] or
// [ErrRejected] as the status says.
type SIDRError struct {
	Status      abi.IBCMSidrStatus
	PrivateData []byte // what the peer attached, padded with zeros to 136 bytes; nil without any
}

// Error names the kind of answer, and its status by number and name.
func (e *SIDRError) Error() string {
	switch e.Status {
	case abi.IB_SIDR_UNSUPPORTED:
		return fmt.Sprintf("%v (SIDR status %d, %v)", ErrNoListener, uint32(e.Status), e.Status)
	case abi.IB_SIDR_REJECT:
		return fmt.Sprintf("%v (SIDR status %d, %v)", ErrRejected, uint32(e.Status), e.Status)
	}
	return fmt.Sprintf("service lookup: SIDR status %d, %v", uint32(e.Status), e.Status)
}

// Is matches the sentinels of a refusal.
func (e *SIDRError) Is(target error) bool {
	switch target {
	case ErrNoListener:
		return e.Status == abi.IB_SIDR_UNSUPPORTED
	case ErrRejected:
		return e.Status == abi.IB_SIDR_REJECT || e.Status == abi.IB_SIDR_UNSUPPORTED
	}
	return target == syscall.ECONNREFUSED
}

// sidrError reads an UNREACHABLE whose status is positive.
func sidrError(ev *ucma.Event) error {
	return &SIDRError{Status: abi.IBCMSidrStatus(ev.Status), PrivateData: trimZero(ev.UD().PrivateData)}
}

// ConnectDatagram asks the peer how to reach its datagram service
// (rdma_connect of port space UDP): the answer has the path
// (uverbs.AHAttrFromCM converts it), queue pair number, Q_Key and the peer's
// private data, padded with zeros to 136 bytes. The route is resolved.
//
// Errors match [ErrNoListener], [ErrRejected] (see [SIDRError]); when nobody
// answers the kernel gives up after about 78 s, or ctx does. The Q_Key must
// suit the own queue pair: syscall.EINVAL means that INIT_QP_ATTR has given
// that another one.
func (id *ID) ConnectDatagram(ctx context.Context, privateData []byte) (*ucma.UDParam, error) {
	if err := id.canWait(ctx); err != nil {
		return nil, err
	}
	if err := id.StartConnect(&ucma.ConnParam{PrivateData: privateData}, ucma.ECE{}); err != nil {
		return nil, err
	}
	ev, err := id.wait(ctx, func(ev *ucma.Event) bool {
		switch ev.Type {
		case abi.RDMA_CM_EVENT_ESTABLISHED, abi.RDMA_CM_EVENT_UNREACHABLE, abi.RDMA_CM_EVENT_ADDR_ERROR,
			abi.RDMA_CM_EVENT_DEVICE_REMOVAL:
			return true
		}
		return false
	})
	if err != nil {
		return nil, err
	}
	if ev.Type == abi.RDMA_CM_EVENT_ESTABLISHED {
		p := ev.UD()
		return &p, nil
	}
	return nil, stepError(stepLookUp, (&Event{Event: *ev}).Err())
}

// A DatagramReply is the answer to the request for a datagram service.
type DatagramReply struct {
	// QPNum is the queue pair that serves the peer.
	QPNum uint32

	// QKey is that queue pair's Q_Key. 0 means the one that INIT_QP_ATTR
	// gives: DatagramQKey, or the group's of IP over InfiniBand. The kernel
	// takes another one only on native InfiniBand addresses (ucma_copy_conn_param).
	QKey uint32

	// PrivateData is at most 136 bytes.
	PrivateData []byte

	ECE ucma.ECE
}

// AcceptDatagram answers the request for a datagram service (rdma_accept of
// port space UDP). There is no confirmation: the ID has no further part in the
// exchange of datagrams. The kernel refuses the peer when the command fails,
// so what can be checked is checked before.
func (id *ID) AcceptDatagram(r *DatagramReply) error {
	if !id.datagram() {
		return errNotDatagram
	}
	if r.QKey != 0 && r.QKey != DatagramQKey {
		a, err := id.Addrs()
		if err != nil {
			return stepError(stepAccept, err)
		}
		if a.Src.Family() != abi.AF_IB {
			return fmt.Errorf("Q_Key %#x: with IP addresses the kernel knows no other than %#x: %w",
				r.QKey, DatagramQKey, syscall.EINVAL)
		}
	}
	err := id.Accept(&ucma.ConnParam{QPNum: r.QPNum, QKey: r.QKey, PrivateData: r.PrivateData}, r.ECE)
	if err == nil {
		id.setRefusal("") // no event says that it is established
	}
	return err
}

var errNotDatagram = fmt.Errorf("the ID is not of a datagram service: %w", syscall.EINVAL)
