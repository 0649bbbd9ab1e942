// Package provider is the seam between the verbs core and the data path of one
// kernel driver: how its rings are laid out, what its create commands carry,
// how work is posted and completions are read.
//
// The core (package uverbs) owns every kernel object, issues every command and
// serialises the calls on one queue; a driver only lays out memory. Drivers
// are chosen from one explicit table in package uverbs, keyed by the kernel's
// driver id.
package provider

import (
	"sync"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/devfile"
)

// A Driver is the user-space half of one kernel RDMA driver.
type Driver interface {
	// Name is the kernel's name of the driver, such as "rxe".
	Name() string

	// ABIVersions is the inclusive range of the driver's uverbs ABI versions
	// (sysfs abi_version of the uverbs device) that the driver speaks.
	ABIVersions() (lo, hi uint32)

	// Payload says how much of commands that concern no queue is the driver's.
	Payload() Payload

	// NewContext starts the driver's share of an opened device. env stays
	// valid until the context is closed.
	NewContext(env Env) (Context, error)
}

// Payload has the sizes, in bytes, of the driver's part of commands whose content
// nobody needs, while the kernel's half of the driver insists on the room. Commands
// carry zeros.
type Payload struct {
	ContextOut        int // answer to GET_CONTEXT
	RegMRIn, RegMROut int // REG_MR and its answer
}

// Env is what the core lends to a driver's context.
type Env interface {
	// Map maps length bytes of the device file at offset, shared, for
	// reading and writing.
	Map(offset int64, length int) ([]byte, error)

	// Unmap ends mappings, neighbours with one system call. Nil is none.
	Unmap(mems ...[]byte) error
}

// A CQBell sends the commands of one completion queue's data path. It allocates
// nothing and may be used by several goroutines, until the queue is closed.
type CQBell interface {
	// Arm is REQ_NOTIFY_CQ.
	Arm(solicitedOnly bool) error
}

// A QPBell is the command of a queue pair that asks the kernel to process the send
// queue (POST_SEND without work requests of its own): given to Short or Long it is
// carried out. It is not an interface like CQBell, so that the driver makes one call to
// ring. It is for PostSend only. Receives have no command: no driver here needs one.
//
// Neither panics, or it releases the lock that the core holds. The Go runtime does not
// learn of the system call of Short. So that is for what the kernel does in some tens of
// microseconds: until then no other goroutine gets the processor, and no garbage
// collection begins.
type QPBell struct {
	Short, Long devfile.Ringer
	Command     []byte

	// Again is to be called when either took n bytes only or returned err. It tries
	// other ways to ring, and returns why none leads there.
	Again func(n int, err error) error
}

// A Context is the driver's share of an opened device. It builds the driver's
// part of each object. Calls may come from several goroutines.
type Context interface {
	SetupCQ(req CQRequest) (*CQSetup, error)
	SetupQP(req QPRequest) (*QPSetup, error)
	SetupSRQ(req SRQRequest) (*SRQSetup, error)
	SetupAH(req AHRequest) (*AHSetup, error)

	// CheckMR and CheckModify refuse what the kernel's half of the driver takes
	// and does not do. Their errors match errors.ErrUnsupported.
	CheckMR(req MRRequest) error
	CheckModify(req ModifyRequest) error

	Close() error
}

// CQRequest is what a completion queue was asked to be.
type CQRequest struct {
	Entries int // entries asked for
}

// A CQSetup carries a create-CQ command through the kernel. Exactly one of
// Done and Abort is called.
type CQSetup struct {
	UHWIn     []byte // driver's part of the command; off-heap if it holds addresses
	UHWOutLen int    // bytes of the driver's part of the answer

	// Done finishes the driver's queue from the kernel's answer. When it
	// fails the core destroys the kernel object.
	Done  func(bell CQBell, entries int, uhwOut []byte) (CQ, error)
	Abort func() // frees what was set up when the command failed; may be nil
}

// QPCap are the limits of a queue pair.
type QPCap struct {
	MaxSendWR, MaxRecvWR   uint32 // work requests outstanding per queue
	MaxSendSGE, MaxRecvSGE uint32 // scatter/gather entries per request
	MaxInline              uint32 // bytes of inline data per send
}

// QPRequest is what a queue pair was asked to be.
type QPRequest struct {
	Type      uint32 // IB_UVERBS_QPT_…
	Flags     uint32 // IB_UVERBS_QP_CREATE_…, and 1<<10 for a source number
	Cap       QPCap
	HasSRQ    bool
	SignalAll bool // all sends complete; the core tells the kernel so
}

// MRRequest is what a memory region was asked to be.
type MRRequest struct {
	Start  uint64 // address of the memory in this process
	Addr   uint64 // address of its first byte for requests and peers
	Access abi.IBUverbsAccessFlags
}

// ModifyRequest is what a queue pair was asked to become: attributes of
// MODIFY_QP, of which Mask says which count.
type ModifyRequest struct {
	Mask      abi.IBQPAttrMask
	State     abi.IBQPState
	Access    abi.IBUverbsAccessFlags
	MigState  abi.IBMigState
	PKeyIndex uint16
	Port      uint8
	DLID      uint16 // of the path
	PathBits  uint8  // of the path
}

// A QPSetup carries a create-QP command through the kernel, as CQSetup does.
type QPSetup struct {
	UHWIn     []byte
	UHWOutLen int
	Done      func(bell *QPBell, qpn uint32, cap QPCap, uhwOut []byte) (QP, error)
	Abort     func()
}

// SRQRequest is what a shared receive queue was asked to be.
type SRQRequest struct {
	Type uint32 // IB_UVERBS_SRQT_…
}

// An SRQSetup carries a create-SRQ command through the kernel, as CQSetup does.
type SRQSetup struct {
	UHWIn     []byte
	UHWOutLen int
	Done      func(maxWR, maxSGE uint32, uhwOut []byte) (SRQ, error)
	Abort     func()
}

// A ModifySetup carries a command that may change the size of a queue through
// the kernel, as CQSetup does. Nobody uses the queue meanwhile.
type ModifySetup struct {
	UHWIn     []byte
	UHWOutLen int

	// Done moves to the new queue and returns how many entries fit. entries
	// is what the kernel answered, or what was asked for if it does not say.
	// After a failure the queue is of no use; Close remains.
	Done  func(entries uint32, uhwOut []byte) (fits uint32, err error)
	Abort func()
}

// AHRequest is the path of an address handle.
type AHRequest struct {
	DGID         [16]byte
	SGIDIndex    uint8
	Port         uint8
	FlowLabel    uint32
	HopLimit     uint8
	TrafficClass uint8
	DLID         uint16
	PathBits     uint8

	// Source asks for the own end of the path, for drivers whose kernel half
	// does not keep it.
	Source func() (AHSource, error)
}

// AHSource is the own end of a path.
type AHSource struct {
	GID [16]byte

	// MAC is the Ethernet address of the own interface if the destination is
	// on this machine, else zero.
	MAC [6]byte
}

// An AHSetup carries a create-AH command through the kernel, as CQSetup does.
// The driver's part has no resources, so there is nothing to abort.
type AHSetup struct {
	UHWOutLen int
	Done      func(uhwOut []byte) (driver any, err error) // for AH.Driver
}

// A CQ reads completions. Poll takes the queue's lock; the core takes it for the
// methods below that change the queue. Arm may run beside Poll.
type CQ interface {
	// Poll takes up to wcs.N completions off the ring and returns how many.
	// It makes no system call, allocates nothing and does not keep wcs. When there
	// is none it returns what End was called with.
	//
	// It must contain nothing that can panic, since it holds the lock without a
	// deferred unlock, which would be a third of what polling an empty queue
	// costs. Each driver's TestPollCannotPanic looks at the machine code for
	// amd64; on other architectures nothing does.
	Poll(wcs List[WC]) (int, error)

	// Lock, Unlock, End and Ended are those of Gate.
	sync.Locker
	End(err error)
	Ended() error

	// Arm asks for one event on the completion channel at the next
	// completion. The caller polls once more before it sleeps.
	Arm(solicitedOnly bool) error

	// SetupResize prepares a resize-CQ command. The lock is held until it is done.
	SetupResize(entries int) (*ModifySetup, error)

	// Close unmaps the ring, after the kernel object is gone. Poll finds nothing
	// any more. It takes the lock.
	Close() error
}

// A QP takes work requests. The core serialises calls on the send queue and,
// separately, calls on the receive queue.
//
// Posting must contain nothing that can panic, since the core holds a lock without a
// deferred unlock, which would be a tenth of what posting a request costs. Each
// driver's TestPostCannotPanic looks at the machine code for amd64.
type QP interface {
	// PostSend checks requests and writes them to the send ring, up to the
	// first that it refuses. Then it shows the device what it wrote and rings
	// the doorbell once, if it wrote anything. It returns how many requests are
	// in the ring, and why the next one is not, or the error of the doorbell.
	//
	// The device may not look at requests before all are written. Nothing of a
	// refused one remains. wrs and what they refer to are not kept.
	PostSend(wrs List[SendWR]) (int, error)

	// PostRecv is the same for the receive ring.
	PostRecv(wrs List[RecvWR]) (int, error)

	Close() error
}

// An SRQ takes receive requests for several queue pairs. The core serialises
// the calls.
type SRQ interface {
	// PostRecv is that of QP.
	PostRecv(wrs List[RecvWR]) (int, error)

	// SetupModify prepares a modify-SRQ command: a new size, or only a limit.
	SetupModify(resize bool, n uint32) (*ModifySetup, error)

	Close() error
}
