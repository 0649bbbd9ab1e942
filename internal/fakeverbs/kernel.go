// Package fakeverbs is a fake of the kernel's verbs device for tests of this
// module: it decodes commands in both call styles as the kernel does, keeps
// objects, and serves a soft-RoCE device whose rings it processes.
//
// It can fail the n-th call, refuse either call style, and tell what is left.
// It knows nothing of package uverbs, so that it is no mirror of it.
package fakeverbs

import (
	"fmt"
	"io/fs"
	"sort"
	"strings"
	"sync"
	"syscall"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/devfile"
)

// Path is where the fake device lies.
const Path = "/dev/infiniband/uverbs0"

// A Kernel has one soft-RoCE device. The fields are set before its use.
type Kernel struct {
	// NoIoctl makes the device answer ENOTTY to every ioctl, as kernels
	// before 4.14 do.
	NoIoctl bool

	// RefuseWrite, if not 0, is what every write(2) answers.
	RefuseWrite syscall.Errno

	// NoAHNumber makes address handles those of kernels before 6.0, which tell
	// no number.
	NoAHNumber bool

	// MaxAH is how many address handles the device has, of which TakenAH are in
	// others' use; one more is EINVAL. 0 means any number.
	MaxAH, TakenAH int

	// FirstGIDs are entries of the GID table before those that it always has.
	FirstGIDs []abi.IBUverbsGIDEntry

	// MaxCQE, if not 0, is the largest completion queue.
	MaxCQE uint32

	// Moderation lets the device delay completion events, which soft-RoCE
	// cannot.
	Moderation bool

	// XRC lets the device open XRC domains.
	XRC bool

	// NoWindows makes the device one without memory windows, as soft-RoCE is
	// before Linux 5.14.
	NoWindows bool

	// Hardware lets the device have what soft-RoCE has not, or not on all
	// kernels: on-demand paging, DMA buffers, new memory for a region, device
	// memory, counters, flow steering, work queues.
	Hardware bool

	// OnNotify, if not nil, is called before a completion queue is armed, without
	// locks held; it may use what faults.go has.
	OnNotify func()

	// InfiniBand makes the port's link layer InfiniBand.
	InfiniBand bool

	// CheckState makes POST_SEND refuse before RTS, as soft-RoCE does. Without it
	// tests of posting need take no queue pair through its states.
	CheckState bool

	// MaxInline is how many bytes of inline data a queue pair may have; 0 means any
	// number.
	MaxInline uint32

	// Scramble, if not nil, may change each answer, as a kernel that is newer or
	// broken would.
	Scramble func(answer []byte)

	// SpareDestroys exempts commands that destroy objects from FailCall.
	SpareDestroys bool

	mu       sync.Mutex
	calls    []string // names of the first calls made
	made     int      // number of calls made
	sleeping int      // calls of Sleep that wait
	failAt   int      // index of the call to fail, -1 for none
	failName string   // name of the call to fail
	failWith syscall.Errno
	gone     bool

	files    map[*file]bool
	nextFD   int
	fds      map[int]*file // descriptors handed out and not adopted
	objects  map[uint32]any
	owners   map[uint32]*file // the device file an object was created on
	mappings map[*byte]int
	rings    map[int64]*ring
	nextOff  int64
	scratch  request // the command under way
	advice   Advice
	rule     Rule
	faults   faults
}

var _ devfile.Kernel = (*Kernel)(nil)

// New returns a kernel that works.
func New() *Kernel {
	return &Kernel{
		failAt: -1, nextFD: 100,
		files: map[*file]bool{}, fds: map[int]*file{}, objects: map[uint32]any{}, owners: map[uint32]*file{},
		mappings: map[*byte]int{}, rings: map[int64]*ring{},
	}
}

// FailCall makes the call with the given index, counted from 0 over all calls
// of the kernel's life, fail with errno.
func (k *Kernel) FailCall(index int, errno syscall.Errno) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.failAt, k.failWith = index, errno
}

// FailNamed makes the next call with a name fail with errno.
func (k *Kernel) FailNamed(name string, errno syscall.Errno) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.failName, k.failWith = name, errno
}

// Calls returns the names of the calls made so far: open, adopt, mmap, and the
// commands.
func (k *Kernel) Calls() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return append([]string(nil), k.calls...)
}

// Survivors names what exists: open files, descriptors that nobody took,
// objects, mappings.
func (k *Kernel) Survivors() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	var out []string
	for f := range k.files {
		out = append(out, "file "+f.name)
	}
	for fd := range k.fds {
		out = append(out, fmt.Sprintf("descriptor %d", fd))
	}
	for h, o := range k.objects {
		out = append(out, fmt.Sprintf("%T %d", o, h))
	}
	for _, n := range k.mappings {
		out = append(out, fmt.Sprintf("mapping of %d bytes", n))
	}
	sort.Strings(out)
	return out
}

// Remove takes the device away, as driver removal does: objects are destroyed,
// event streams end after a fatal event, every command answers EIO.
func (k *Kernel) Remove() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.gone = true
	clear(k.objects)
	for f := range k.files {
		if f.kind == asyncFile {
			f.push(event{element: 0, kind: uint32(abi.IB_EVENT_DEVICE_FATAL)})
		}
		f.ended = true
		f.wake()
	}
}

// maxCalls bounds the log of a benchmark's calls.
const maxCalls = 10000

// enter counts a call and decides whether it fails. The caller holds mu.
func (k *Kernel) enter(name string) error {
	index := k.made
	k.made++
	if index < maxCalls {
		k.calls = append(k.calls, name)
	}
	if name == k.failName {
		k.failName = ""
		return k.failWith
	}
	if index == k.failAt && !(k.SpareDestroys && strings.Contains(name, "DESTROY")) {
		return k.failWith
	}
	return nil
}

// Open opens the device.
func (k *Kernel) Open(path string) (devfile.Handle, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.enter("open"); err != nil {
		return nil, err
	}
	if path != Path {
		return nil, &fs.PathError{Op: "open", Path: path, Err: syscall.ENOENT}
	}
	return k.newFile(deviceFile, path), nil
}

// Adopt takes over a descriptor that a command returned.
func (k *Kernel) Adopt(fd int, name string) (devfile.Handle, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	f := k.fds[fd]
	if f == nil {
		return nil, syscall.EBADF
	}
	delete(k.fds, fd)
	if err := k.enter("adopt"); err != nil {
		delete(k.files, f)
		return nil, err
	}
	f.name = name
	return f, nil
}

// newFD hands out a descriptor.
func (k *Kernel) newFD(kind fileKind) int {
	f := k.newFile(kind, fmt.Sprintf("descriptor %d", k.nextFD))
	f.fd = k.nextFD
	k.nextFD++
	k.fds[f.fd] = f
	return f.fd
}

// fileOf finds an open file by the number it was handed out with.
func (k *Kernel) fileOf(fd int, kind fileKind) *file {
	for f := range k.files {
		if f.fd == fd && f.kind == kind {
			return f
		}
	}
	return nil
}
