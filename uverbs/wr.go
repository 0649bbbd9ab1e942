package uverbs

import (
	"unsafe"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs/internal/provider"
)

// SGE is one scatter/gather entry: Addr, Length in bytes, and LKey of the
// memory region that contains them. [MR.SGE] makes one.
type SGE = abi.IBUverbsSGE

// SendFlags change how a send request is carried out.
type SendFlags = uint32

// Send flags.
const (
	// SendFence makes the request wait until earlier reads and atomic
	// operations of the queue pair have completed.
	SendFence = provider.SendFence

	// SendSignaled asks for a completion also on success. Without it, and
	// without QPConfig.SignalAll, only failures complete; then some later
	// request must be signaled, because places in the queue become free only
	// with a completion.
	SendSignaled = provider.SendSignaled

	// SendSolicited makes the peer's completion count as solicited; see
	// [CQ.ArmSolicited].
	SendSolicited = provider.SendSolicited
)

// SendWR is one request for the send queue. Nothing of it is kept after
// PostSend; the memory its SGEs name must stay as it is until the request has
// completed.
type SendWR struct {
	// ID is handed back in the completion.
	ID uint64

	// Opcode is IB_UVERBS_WR_SEND, _SEND_WITH_IMM, _SEND_WITH_INV,
	// _RDMA_WRITE, _RDMA_WRITE_WITH_IMM, _RDMA_READ, _ATOMIC_CMP_AND_SWP,
	// _ATOMIC_FETCH_AND_ADD, _ATOMIC_WRITE (8 bytes, inline), _FLUSH,
	// _LOCAL_INV, _BIND_MW, …; what is possible depends on the driver and on
	// the queue pair's type. Soft-RoCE has _BIND_MW from Linux 5.14 on,
	// _FLUSH and _ATOMIC_WRITE from 6.2 on; older kernels complete these with
	// an error.
	Opcode abi.IBUverbsWROpcode

	Flags SendFlags

	// SGEs is the local memory: what is sent or written, or where a read or
	// the old value of an atomic operation (8 bytes) goes.
	SGEs []SGE

	// Inline, if not empty, is sent instead of SGEs. It is copied into the
	// request, so it may be any memory and may be changed at once. At most
	// QPCap.MaxInline bytes; not for reads and atomic operations.
	Inline []byte

	// Imm is the immediate value of the opcodes that have one. The peer's
	// completion shows the same number.
	Imm uint32

	// InvalidateKey is the key that the peer (send with invalidate) or the
	// own device (local invalidate) is to invalidate.
	InvalidateKey uint32

	// RemoteAddr and RKey name the peer's memory for writes, reads, flushes
	// and atomic operations; atomic operations need an address that is a
	// multiple of 8.
	RemoteAddr uint64
	RKey       uint32

	// FlushLength is how many bytes from RemoteAddr a flush makes visible to
	// everybody (FlushType IB_FLUSH_GLOBAL) or durable (IB_FLUSH_PERSISTENT);
	// of FlushCoverage IB_FLUSH_MR all of the region, whatever the length. It
	// completes when that is done for all earlier writes of the queue pair. The
	// region and the peer's queue pair need AccessFlushGlobal or
	// AccessFlushPersistent.
	FlushLength   uint32
	FlushType     abi.IBPlacementType
	FlushCoverage abi.IBSelectivityLevel

	// CompareAdd is what compare-and-swap compares with or what fetch-and-add
	// adds, Swap what compare-and-swap stores. Both are in host byte order,
	// like the 8 bytes in the memory on both sides.
	CompareAdd uint64
	Swap       uint64

	// AH, RemoteQPN and RemoteQKey say where a datagram goes: the path to the
	// peer, its queue pair and the Q_Key of that. A datagram is one packet: it
	// holds at most PortAttr.ActiveMTU bytes. Of a longer one the device may
	// say nothing and send nothing (soft-RoCE, as InfiniBand demands).
	AH         *AH
	RemoteQPN  uint32
	RemoteQKey uint32

	// Bind says what IB_UVERBS_WR_BIND_MW does; see [MW.NextBind] and
	// [QP.BindMW].
	Bind *Bind
}

// RecvWR is one request for the receive queue: where the next message goes. A
// request without SGEs takes an empty message, or the immediate value of a
// write. A datagram starts with [GRHSize] more bytes, see [ParseGRH].
type RecvWR struct {
	ID   uint64 // handed back in the completion
	SGEs []SGE
}

// WC is one work completion. With a Status other than IB_WC_SUCCESS only ID,
// Status, VendorErr and QPN are valid; [WC.Err] explains it.
type WC struct {
	// ID is that of the request.
	ID uint64

	Status abi.IBWCStatus

	// Opcode says what completed: IB_WC_SEND, IB_WC_RDMA_WRITE,
	// IB_WC_RDMA_READ, IB_WC_COMP_SWAP, IB_WC_FETCH_ADD, IB_WC_ATOMIC_WRITE,
	// IB_WC_FLUSH, IB_WC_LOCAL_INV, IB_WC_BIND_MW, or IB_WC_RECV and
	// IB_WC_RECV_RDMA_WITH_IMM for receives.
	Opcode abi.IBWCOpcode

	// VendorErr is the driver's own error code.
	VendorErr uint32

	// ByteLen is the number of bytes received, read or fetched. Of a datagram
	// it counts the first GRHSize bytes too.
	ByteLen uint32

	// Imm is valid with IB_WC_WITH_IMM in Flags.
	Imm uint32

	// QPN is the number of the own queue pair, SrcQPN that of the sender
	// (datagrams only).
	QPN    uint32
	SrcQPN uint32

	Flags abi.IBWCFlags

	// These describe a received datagram's path.
	PKeyIndex    uint16
	SLID         uint16
	SL           uint8
	DLIDPathBits uint8

	// VLAN is the tag that the device took off a raw packet. Drivers that have
	// no VLAN, FlowTag or Timestamp leave them 0.
	VLAN uint16

	// InvalidatedKey is valid with IB_WC_WITH_INVALIDATE in Flags.
	InvalidatedKey uint32

	// FlowTag is the number of the rule that took a raw packet ([FlowTag]), and
	// Timestamp the device's clock at the completion, in ticks of
	// DeviceAttr.ClockKHz, of a queue created with
	// IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION.
	FlowTag   uint32
	Timestamp uint64
}

// sendList and recvList hand a slice to a driver without copying it, as CQ.Poll does
// with completions. The structs have the same fields there, in the same order, except
// that AH is of another type: that of the first field of the AH here, and Bind of one
// with the same fields. TestRequestsAreAlike compares them field by field.
func sendList(wrs []SendWR) provider.List[provider.SendWR] {
	return provider.List[provider.SendWR]{First: (*provider.SendWR)(hidden(unsafe.Pointer(unsafe.SliceData(wrs)))), N: len(wrs)}
}

func recvList(wrs []RecvWR) provider.List[provider.RecvWR] {
	return provider.List[provider.RecvWR]{First: (*provider.RecvWR)(hidden(unsafe.Pointer(unsafe.SliceData(wrs)))), N: len(wrs)}
}

// hidden returns p as a pointer that escape analysis does not follow, so that requests
// and completions that a caller has on its stack stay there although they pass an
// interface. It is sound because drivers must not keep them (provider.QP), and because
// no call between the two conversions can move the stack: the function cannot itself,
// and the directives keep out the calls that the race detector and checkptr insert
// (TestListsFollowTheStack).
//
//go:nosplit
//go:nocheckptr
//go:norace
func hidden(p unsafe.Pointer) unsafe.Pointer {
	u := uintptr(p)
	return *(*unsafe.Pointer)(unsafe.Pointer(&u))
}
