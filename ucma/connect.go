package ucma

import (
	"fmt"
	"syscall"

	"github.com/purerdma/rdma/abi"
)

// MaxPrivateData is the most private data the ABI carries, in bytes. What a
// transport carries is less: on InfiniBand and RoCE 56 in a connect (92 with
// AF_IB), 196 in an accept, 148 in a reject; for datagram services 180, 136
// and 136.
const MaxPrivateData = 255

var (
	errPrivateData = fmt.Errorf("more than %d bytes of private data: %w", MaxPrivateData, syscall.EINVAL)
	errOptionSize  = fmt.Errorf("option value too long: %w", syscall.EINVAL)
)

// maxOption bounds an option's value so that it fits behind its command.
const maxOption = 2048

// A ConnParam describes one end's wishes in a connect or accept, or the other
// end's in an event.
type ConnParam struct {
	PrivateData        []byte // in an event padded with zeros to the transport's maximum
	ResponderResources uint8  // RDMA reads and atomics that may be outstanding towards the side that says so
	InitiatorDepth     uint8  // reads and atomics that this side will have outstanding
	FlowControl        bool
	RetryCount         uint8 // 0 to 7
	RNRRetryCount      uint8 // 0 to 7, 7 means for ever
	SRQ                bool
	QPNum              uint32
	QKey               uint32 // datagram services over AF_IB
}

// ECE is an enhanced connection establishment option (kernel 5.8). The zero
// value means none.
type ECE struct {
	VendorID uint32
	AttrMod  uint32
}

func (p *ConnParam) encode(q *abi.RDMAUCMConnParam) {
	q.QPNum, q.QKey = p.QPNum, p.QKey
	q.PrivateDataLen = uint8(copy(q.PrivateData[:], p.PrivateData))
	q.SRQ, q.FlowControl = boolByte(p.SRQ), boolByte(p.FlowControl)
	q.ResponderResources, q.InitiatorDepth = p.ResponderResources, p.InitiatorDepth
	q.RetryCount, q.RnrRetryCount = p.RetryCount, p.RNRRetryCount
	q.Valid = 1
}

func decodeConnParam(q *abi.RDMAUCMConnParam) ConnParam {
	return ConnParam{
		PrivateData:        privateData(&q.PrivateData, q.PrivateDataLen),
		ResponderResources: q.ResponderResources, InitiatorDepth: q.InitiatorDepth,
		FlowControl: q.FlowControl != 0, RetryCount: q.RetryCount, RNRRetryCount: q.RnrRetryCount,
		SRQ: q.SRQ != 0, QPNum: q.QPNum, QKey: q.QKey,
	}
}

// Connect sends the connect request of an ID with its route resolved
// (CONNECT). The answer is an event: CONNECT_RESPONSE (finish with Establish),
// ESTABLISHED for datagram services, REJECTED, or UNREACHABLE after all
// retries, which takes about 78 s.
func (c *Channel) Connect(id uint32, p *ConnParam, ece ECE) error {
	if len(p.PrivateData) > MaxPrivateData {
		return fail(abi.RDMA_USER_CM_CMD_CONNECT, id, errPrivateData)
	}
	return run(c, abi.RDMA_USER_CM_CMD_CONNECT, id, func(q *abi.RDMAUCMConnect) {
		p.encode(&q.ConnParam)
		q.ID, q.ECE.VendorID, q.ECE.AttrMod = id, ece.VendorID, ece.AttrMod
	})
}

// Accept answers a connection request (ACCEPT). From now on the ID's events
// carry uid; before, the kernel drops them. The queue pair must be able to
// receive already. When the command fails for whatever reason the kernel
// rejects the peer and the ID is of no further use, so check parameters first.
func (c *Channel) Accept(id uint32, uid uint64, p *ConnParam, ece ECE) error {
	if len(p.PrivateData) > MaxPrivateData {
		return fail(abi.RDMA_USER_CM_CMD_ACCEPT, id, errPrivateData)
	}
	return run(c, abi.RDMA_USER_CM_CMD_ACCEPT, id, func(q *abi.RDMAUCMAccept) {
		p.encode(&q.ConnParam)
		q.UID, q.ID, q.ECE.VendorID, q.ECE.AttrMod = uid, id, ece.VendorID, ece.AttrMod
	})
}

// Establish finishes a connect on the active side after CONNECT_RESPONSE, when
// the queue pair is ready to send (ACCEPT without parameters).
func (c *Channel) Establish(id uint32) error {
	return run(c, abi.RDMA_USER_CM_CMD_ACCEPT, id, func(q *abi.RDMAUCMAccept) { q.ID = id })
}

// Reject refuses a connection request, or on the active side the peer's
// answer (REJECT). reason is 28 (consumer defined; 0 means that) or 35 (vendor
// option not supported; kernel 5.8).
func (c *Channel) Reject(id uint32, privateData []byte, reason uint8) error {
	if len(privateData) > MaxPrivateData {
		return fail(abi.RDMA_USER_CM_CMD_REJECT, id, errPrivateData)
	}
	return run(c, abi.RDMA_USER_CM_CMD_REJECT, id, func(q *abi.RDMAUCMReject) {
		q.ID, q.Reason = id, reason
		q.PrivateDataLen = uint8(copy(q.PrivateData[:], privateData))
	})
}

// Disconnect asks the peer to disconnect, or answers its request to
// (DISCONNECT). DISCONNECTED arrives when the peer has answered.
func (c *Channel) Disconnect(id uint32) error {
	return run(c, abi.RDMA_USER_CM_CMD_DISCONNECT, id, func(q *abi.RDMAUCMDisconnect) { q.ID = id })
}

// Notify tells the connection manager of an asynchronous event of the ID's
// queue pair (NOTIFY): COMM_EST, when data arrived before the peer's
// confirmation, or PATH_MIG. EISCONN means that it knows already.
func (c *Channel) Notify(id, event uint32) error {
	return run(c, abi.RDMA_USER_CM_CMD_NOTIFY, id, func(q *abi.RDMAUCMNotify) { q.ID, q.Event = id, event })
}

// InitQPAttr asks which attributes a queue pair needs on its way to a state
// (INIT_QP_ATTR); the mask of valid ones is in the answer.
func (c *Channel) InitQPAttr(id, qpState uint32) (*abi.IBUverbsQPAttr, error) {
	attr := new(abi.IBUverbsQPAttr)
	err := exchange(c, abi.RDMA_USER_CM_CMD_INIT_QP_ATTR, id,
		func(q *abi.RDMAUCMInitQPAttr, answer uint64) { q.Response, q.ID, q.QPState = answer, id, qpState },
		func(r *abi.IBUverbsQPAttr) { *attr = *r })
	return attr, err
}

func boolByte(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

// privateData copies the valid part out of an event. The length is the
// kernel's and never exceeds the array, but is not trusted with that.
func privateData(data *[256]byte, n uint8) []byte {
	if n == 0 {
		return nil
	}
	return append([]byte(nil), data[:n]...)
}
