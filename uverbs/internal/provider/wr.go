package provider

import "github.com/purerdma/rdma/abi"

// The structs below have exactly the fields of their namesakes in package
// uverbs, so that the core converts a pointer without copying. They are
// documented there. An AH is the first field of the one there.

// SGE is one scatter/gather entry: address, length in bytes, local key.
type SGE = abi.IBUverbsSGE

// SendWR is one request for a send queue.
type SendWR struct {
	ID     uint64
	Opcode abi.IBUverbsWROpcode
	Flags  SendFlags
	SGEs   []SGE
	Inline []byte

	Imm           uint32
	InvalidateKey uint32

	RemoteAddr uint64
	RKey       uint32

	FlushLength   uint32
	FlushType     abi.IBPlacementType
	FlushCoverage abi.IBSelectivityLevel

	CompareAdd uint64
	Swap       uint64

	AH         *AH
	RemoteQPN  uint32
	RemoteQKey uint32

	Bind *Bind
}

// Bind is what a request to bind a memory window does.
type Bind struct {
	WindowKey uint32
	NewKey    uint32
	LKey      uint32
	Access    abi.IBUverbsAccessFlags
	Addr      uint64
	Length    uint64
}

// AH is an address handle; Driver is what the driver made of it.
type AH struct{ Driver any }

// SendFlags are IB_SEND_… bits.
type SendFlags = uint32

// Send flags (kernel: enum ib_send_flags).
const (
	SendFence     SendFlags = 1 << 0
	SendSignaled  SendFlags = 1 << 1
	SendSolicited SendFlags = 1 << 2
	SendInline    SendFlags = 1 << 3

	SendKnown = SendFence | SendSignaled | SendSolicited | SendInline // what drivers here have
)

// RecvWR is one request for a receive queue.
type RecvWR struct {
	ID   uint64
	SGEs []SGE
}

// WC is one work completion. It begins with the fields of the kernel's struct
// ib_uverbs_wc in their places, except that VLAN is where that has the port, so
// that a driver whose ring has such structs copies them whole.
type WC struct {
	ID             uint64
	Status         abi.IBWCStatus
	Opcode         abi.IBWCOpcode
	VendorErr      uint32
	ByteLen        uint32
	Imm            uint32
	QPN            uint32
	SrcQPN         uint32
	Flags          abi.IBWCFlags
	PKeyIndex      uint16
	SLID           uint16
	SL             uint8
	DLIDPathBits   uint8
	VLAN           uint16
	InvalidatedKey uint32
	FlowTag        uint32
	Timestamp      uint64
}
