// Package doctor finds what is wrong with RDMA on a machine, and says what to
// do about it. Each section is a function from facts to findings that looks at
// nothing else, so that tests can plant any fault without a kernel. Package
// gather gets the facts.
package doctor

import (
	"github.com/purerdma/rdma/cmd/rdmaprobe/gidpick"
	"github.com/purerdma/rdma/cmd/rdmaprobe/netinfo"
	"github.com/purerdma/rdma/uverbs"
)

// Facts is what could be found out. What could not be is zero, with its reason
// in Unknown or beside it.
type Facts struct {
	// Diagnosis has kernel, modules, namespace mode, character devices and devices.
	Diagnosis *uverbs.Diagnosis
	// CMABI and VerbsABI are the versions of the two interfaces; 0 when not known.
	CMABI, VerbsABI int

	Sysfs       Sysfs
	Nodes       []Node // verbs nodes in /dev/infiniband
	Memory      Memory
	Files       Limit // open files
	Cgroups     []Cgroup
	CgroupsRead bool     // whether their limits could be read, if there are any
	Devices     []Device // in the order of Diagnosis.Devices
	Netdevs     netinfo.Netdevs
	ARP         map[string]ARP // by interface, where it can be read
	RoCESocket  Socket         // of soft-RoCE
	// MaxBacklog bounds how many connect requests may wait for a listener.
	MaxBacklog   int
	BacklogKnown bool
	Unknown      []string // what could not be found out, and why
	Need         uint64   // bytes that the user wants to register; 0 for none
	Selected     string   // the only device to look at; empty for all
}

// Socket says whether a socket is open in this network namespace.
type Socket struct{ Known, Open bool }

// Sysfs says what of sysfs can be read.
type Sysfs struct {
	Mounted bool // /sys has anything at all
	// Devices are the names in /sys/class/infiniband.
	Devices []string
}

// Node is a character device in /dev/infiniband.
type Node struct {
	Path         string
	Major, Minor uint32
	// Stale says that opening it showed that there is no device behind it.
	Stale bool
}

// Unlimited is the value of a limit that is none.
const Unlimited = ^uint64(0)

// Limit is a resource limit of the process.
type Limit struct {
	Known      bool
	Soft, Hard uint64
}

// Memory is what bounds the memory that the process may register.
type Memory struct {
	Lock Limit // RLIMIT_MEMLOCK, bytes
	// IPCLock says that CAP_IPC_LOCK is effective. It counts only in the initial
	// user namespace, because ib_umem_get asks capable().
	IPCLock bool
	// UID is the user that the process runs as, in its user namespace.
	UID int
	// UserNamespace is "initial", "other" or, when not known, empty.
	UserNamespace string
	Pinned        uint64 // bytes that the process has pinned
	Available     uint64 // bytes of memory available on the machine; 0 when not known
	CgroupMax     uint64 // bytes that the memory cgroup leaves; Unlimited or, not known, 0
}

// Unbounded reports whether the lock limit does not count at all.
func (m Memory) Unbounded() bool {
	return m.Lock.Soft == Unlimited || m.IPCLock && m.UserNamespace != "other"
}

// Cgroup is what an RDMA cgroup allows of a device. Of several nested ones each
// counts.
type Cgroup struct {
	Path, Device string
	// Resource is hca_handle (open devices) or hca_object (everything else).
	Resource string
	Used     uint64
	Max      uint64 // Unlimited for none
}

// Device is one RDMA device.
type Device struct {
	*uverbs.Device
	Usability uverbs.Usability
	OpenErr   error              // why there is no verbs context; nil when there is
	Style     uverbs.CallStyle   // how the context takes commands; StyleAuto without one
	WriteErr  error              // why write(2) takes no commands, though the device opens
	Attr      *uverbs.DeviceAttr // nil without a context
	Resources map[string]uint64  // objects in use; nil when not known
	// DataPath says that this build knows the driver's data path, and PathErr why
	// it cannot be used all the same.
	DataPath bool
	PathErr  error
	Ports    []Port
	// GSI is the state of queue pair 1, through which the connection manager sends;
	// empty when not known. Self is whether the connection manager answers itself.
	GSI  string
	Self Answer
}

// Port is a port of a device.
type Port struct {
	uverbs.PortInfo
	Attr     *uverbs.PortAttr // nil without a context
	GIDs     []gidpick.Row
	GIDErr   error
	Counters Counters
	// CMDefault is the type of GID that the connection manager takes on this port,
	// as configfs tells; empty when it cannot be read.
	CMDefault string
}

// Counters are the error counters of a port, read twice.
type Counters struct {
	Before, After map[string]uint64
	Unreadable    []string
}

// ARP holds the settings of an interface that decide which interface answers
// for an address.
type ARP struct{ Ignore, Announce, RPFilter int }
