package fakecm

import (
	"net/netip"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/devfile"
)

// Path is the device file that the fake answers for.
const Path = "/dev/infiniband/rdma_cm"

// A Device is an RDMA device with the addresses of its interface.
type Device struct {
	Index uint32
	GUID  uint64 // as it stands in memory
	Addrs []netip.Addr
}

// DefaultDevice is the device of a Kernel without Devices.
var DefaultDevice = Device{Index: 1, GUID: 0x0102030405060708, Addrs: []netip.Addr{
	netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2"), netip.MustParseAddr("fd00::1"),
}}

// A Call is one system call on a file of the fake.
type Call struct {
	N    int    // from 1, over all files
	Op   string // "open", "write", "close"
	Cmd  uint32 // of a write: RDMA_USER_CM_CMD_…
	ID   uint32 // of a write whose request names one
	Size int    // of a write: bytes
}

// A Kernel is one fake connection manager. The fields are set before its first
// use, except where they say otherwise.
type Kernel struct {
	// Devices are the RDMA devices; nil means DefaultDevice alone.
	Devices []Device

	// Old makes the fake a kernel before 6.18: it knows no WRITE_CM_EVENT
	// and no RESOLVE_IB_SERVICE.
	Old bool

	// IWARP makes the fake's devices speak iWARP.
	IWARP bool

	// Unprivileged forbids ports below 1024.
	Unprivileged bool

	// Before sees each call first, without locks held. An error of it is
	// the result of the call, [ErrShort] a short count.
	Before func(Call) error

	// After sees each call that succeeded, before its caller does.
	After func(Call)

	// Other answers for all other files; nil means that there are none.
	Other devfile.Kernel

	calls    atomic.Int64
	commands atomic.Int64 // calls other than GET_EVENT
	once     sync.Once
	cond     *sync.Cond   // on mu; for changes of event queues
	hooks    sync.RWMutex // guards Before and After once the fake is in use

	mu       sync.Mutex
	files    map[*file]struct{}
	ids      map[uint32]*id
	groups   map[uint32]*group
	muted    map[uint32]bool
	nextPort uint16
	opened   int
	options  []Option
}

// ErrShort as result of Before makes a write return one byte less.
const ErrShort = shortError("short write")

type shortError string

func (e shortError) Error() string { return string(e) }

func (k *Kernel) init() {
	k.once.Do(func() {
		k.cond = sync.NewCond(&k.mu)
		k.files, k.ids, k.groups = map[*file]struct{}{}, map[uint32]*id{}, map[uint32]*group{}
		k.muted = map[uint32]bool{}
		k.nextPort = 32768
		if k.Devices == nil {
			k.Devices = []Device{DefaultDevice}
		}
	})
}

// Open implements devfile.Kernel.
func (k *Kernel) Open(path string) (devfile.Handle, error) {
	k.init()
	if path != Path {
		if k.Other == nil {
			return nil, syscall.ENOENT
		}
		return k.Other.Open(path)
	}
	call := Call{Op: "open"}
	if err := k.before(&call); err != nil {
		return nil, err
	}
	k.mu.Lock()
	k.opened++
	f := &file{k: k, fd: 1000 + k.opened}
	k.files[f] = struct{}{}
	k.mu.Unlock()
	k.after(call)
	return f, nil
}

// Adopt implements devfile.Kernel. The connection manager hands out no
// descriptors.
func (k *Kernel) Adopt(fd int, name string) (devfile.Handle, error) {
	if k.Other == nil {
		return nil, syscall.EBADF
	}
	return k.Other.Adopt(fd, name)
}

// AdoptSleeper implements devfile.Kernel.
func (k *Kernel) AdoptSleeper(fd int, name string) (devfile.Sleeper, error) {
	if k.Other == nil {
		return nil, syscall.EBADF
	}
	return k.Other.AdoptSleeper(fd, name)
}

func (k *Kernel) before(c *Call) error {
	c.N = int(k.calls.Add(1))
	if c.Op != "write" || c.Cmd != abi.RDMA_USER_CM_CMD_GET_EVENT {
		k.commands.Add(1)
	}
	k.hooks.RLock()
	before := k.Before
	k.hooks.RUnlock()
	if before == nil {
		return nil
	}
	return before(*c)
}

func (k *Kernel) after(c Call) {
	k.hooks.RLock()
	after := k.After
	k.hooks.RUnlock()
	if after != nil {
		after(c)
	}
}

// SetAfter sets After while the fake is in use.
func (k *Kernel) SetAfter(after func(Call)) {
	k.hooks.Lock()
	defer k.hooks.Unlock()
	k.After = after
}

// Calls returns how many calls there were without GET_EVENT, whose number
// depends on timing.
func (k *Kernel) Calls() int { return int(k.commands.Load()) }

// Left is what exists in the kernel.
type Left struct {
	Files, IDs, Groups int
	Opened             int // files opened since the start
}

// Left counts what exists.
func (k *Kernel) Left() Left {
	k.init()
	k.mu.Lock()
	defer k.mu.Unlock()
	return Left{Files: len(k.files), IDs: len(k.ids), Groups: len(k.groups), Opened: k.opened}
}

// Mute makes the kernel take commands without ever reporting their outcome:
// RESOLVE_ADDR, RESOLVE_ROUTE, CONNECT (no answer from the peer), ACCEPT (the
// peer does not hear of it). It may be called at any time.
func (k *Kernel) Mute(cmds ...uint32) {
	k.init()
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, c := range cmds {
		k.muted[c] = true
	}
}

// Unmute takes all Mute back, for later commands.
func (k *Kernel) Unmute() {
	k.mu.Lock()
	defer k.mu.Unlock()
	clear(k.muted)
}

// Inject queues an event for the ID with a handle, as it is. It reports
// whether there is such an ID.
func (k *Kernel) Inject(handle uint32, ev abi.RDMAUCMEventResp) bool {
	k.init()
	k.mu.Lock()
	defer k.mu.Unlock()
	i := k.ids[handle]
	if i == nil {
		return false
	}
	if ev.Event == uint32(abi.RDMA_CM_EVENT_ADDR_ERROR) && i.state == addrQuery {
		i.state = bound // as in addr_handler
	}
	i.file.push(queued{ev: ev, id: i})
	return true
}

// InjectType queues an event of a type for the ID with a handle, with the
// ID's uid.
func (k *Kernel) InjectType(handle uint32, t abi.RDMACMEventType, status int32) bool {
	k.init()
	k.mu.Lock()
	i := k.ids[handle]
	var uid uint64
	if i != nil {
		uid = i.uid
	}
	k.mu.Unlock()
	return k.Inject(handle, abi.RDMAUCMEventResp{UID: uid, ID: handle, Event: uint32(t), Status: uint32(status)})
}

// RemoveDevice takes a device away: each ID bound to it is told, and refuses
// everything but its destruction with ENXIO.
func (k *Kernel) RemoveDevice(index uint32) {
	k.init()
	k.mu.Lock()
	defer k.mu.Unlock()
	var gone []*id
	for _, i := range k.ids {
		if i.dev != nil && i.dev.Index == index && !i.removed {
			i.removed = true
			i.event(abi.RDMA_CM_EVENT_DEVICE_REMOVAL, 0, nil)
			gone = append(gone, i)
		}
	}
	for _, i := range gone {
		if i.peer != nil && i.peer.removed {
			i.peer.peer, i.peer = nil, nil // neither can tell the other
		}
		i.leavePeer(0)
	}
}

// Backlog returns how many unfetched requests a listener may have.
func (k *Kernel) Backlog(handle uint32) int {
	k.mu.Lock()
	defer k.mu.Unlock()
	if i := k.ids[handle]; i != nil {
		return i.backlog
	}
	return 0
}

// An Option is what a SET_OPTION set.
type Option struct {
	ID, Level, Name uint32
	Value           []byte
}

// Options returns what the successful SET_OPTION of the kernel's life have set,
// in order.
func (k *Kernel) Options() []Option {
	k.mu.Lock()
	defer k.mu.Unlock()
	return append([]Option(nil), k.options...)
}

// Handles returns the handles of the IDs whose uid is not 0, and of those
// whose uid is: requests that were not accepted.
func (k *Kernel) Handles() (owned, requests []uint32) {
	k.init()
	k.mu.Lock()
	defer k.mu.Unlock()
	for h, i := range k.ids {
		if i.uid == 0 {
			requests = append(requests, h)
		} else {
			owned = append(owned, h)
		}
	}
	return owned, requests
}
