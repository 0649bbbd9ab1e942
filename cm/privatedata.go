package cm

import (
	"fmt"
	"syscall"

	"github.com/purerdma/rdma/ucma"
	"github.com/purerdma/rdma/uverbs"
)

// Most private data of each operation on a reliable connection over
// InfiniBand or RoCE with IP addresses, in bytes. The receiver always sees
// the maximum, padded with zeros: the wire does not carry the length, and sending
// none looks like zeros ([PackData] puts the length in). On iWARP
// MaxIWARPData takes the place of each. [ID.MaxPrivateData] knows the other
// services too.
const (
	MaxConnectData = 56  // Dialer.PrivateData, ID.Connect
	MaxAcceptData  = 196 // AcceptOptions.PrivateData, ID.Accept
	MaxRejectData  = 148 // Request.Reject, ID.Reject
)

// An Op is an operation that carries private data.
type Op int

// Operations with private data.
const (
	OpConnect Op = iota // Connect, ConnectDatagram
	OpAccept            // Accept, AcceptDatagram
	OpReject            // Reject, RejectECE
)

// String returns "connect", "accept" or "reject".
func (op Op) String() string {
	switch op {
	case OpConnect:
		return stepConnect
	case OpAccept:
		return stepAccept
	case OpReject:
		return "reject"
	}
	return fmt.Sprintf("operation %d", int(op))
}

// maxData are the limits by operation: of a reliable connection and of a
// datagram service, with IP addresses and with native InfiniBand addresses,
// which need no header for the IP addresses in the request (cma_user_data_offset).
var maxData = map[Op]struct{ rc, rcIB, ud, udIB int }{
	OpConnect: {MaxConnectData, 92, 180, 216},
	OpAccept:  {MaxAcceptData, MaxAcceptData, 136, 136},
	OpReject:  {MaxRejectData, MaxRejectData, 136, 136},
}

// MaxIWARPData is the most private data, in bytes, of a connect, an accept and a
// reject on iWARP, where it arrives in its own length. MPA has room for 512 bytes,
// but the kernel's commands count them in 8 bits, and siw adds the length of its own
// four in these 8 bits again (siw_send_mpareqrep).
const MaxIWARPData = ucma.MaxPrivateData - 4

// MaxPrivateData returns how many bytes of private data an operation on this
// ID may carry. Before Bind or ResolveAddr have told the family of its
// addresses and its device, the smallest limit is returned. The peer sees the
// data padded with zeros to the limit, except on iWARP.
func (id *ID) MaxPrivateData(op Op) int {
	if id.iWARP() {
		return MaxIWARPData
	}
	return id.maxIBData(op)
}

func (id *ID) maxIBData(op Op) int {
	id.mu.Lock()
	native := id.nativeIB
	id.mu.Unlock()
	switch m := maxData[op]; {
	case id.datagram() && native:
		return m.udIB
	case id.datagram():
		return m.ud
	case native:
		return m.rcIB
	default:
		return m.rc
	}
}

// iWARP reports whether the ID is of a reliable service on an iWARP device.
func (id *ID) iWARP() bool { return !id.datagram() && id.overIWARP() }

// overIWARP reports whether the ID is on an iWARP device.
func (id *ID) overIWARP() bool {
	d, err := id.Device()
	return err == nil && d.Protocol == uverbs.ProtocolIWARP
}

// checkPrivateData refuses what does not fit, before the kernel sees it. The
// device is looked at only in doubt, since that needs system calls.
func (id *ID) checkPrivateData(op Op, p []byte) error {
	limit, transport := id.maxIBData(op), "InfiniBand and RoCE"
	if len(p) > limit && id.iWARP() {
		limit, transport = MaxIWARPData, "iWARP"
	}
	return checkPrivateData(op, p, limit, transport)
}

func checkPrivateData(op Op, p []byte, limit int, transport string) error {
	if len(p) > limit {
		return fmt.Errorf("private data of %d bytes: %s over %s takes at most %d: %w", len(p), op, transport, limit, syscall.EINVAL)
	}
	return nil
}
