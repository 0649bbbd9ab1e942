package devfile

import (
	"cmp"
	"math"
	"os"
	"slices"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

var realKernel Kernel = linux{}

// linux is the running kernel.
type linux struct{}

// Open opens a device file.
func (linux) Open(path string) (Handle, error) {
	// os.OpenFile hands the file to the runtime poller where the driver can
	// poll (rdma_cm) and works without where it cannot (uverbsN has no poll
	// method; its events arrive on descriptors of their own).
	f, err := os.OpenFile(path, os.O_RDWR|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return newHandle(f)
}

// Adopt makes fd non-blocking and close-on-exec, and owns it from then on.
func (linux) Adopt(fd int, name string) (Handle, error) {
	// A descriptor must be non-blocking before os.NewFile sees it, or the
	// runtime does not poll it.
	if err := unix.SetNonblock(fd, true); err != nil {
		_ = unix.Close(fd)
		return nil, err
	}
	unix.CloseOnExec(fd)
	return newHandle(os.NewFile(uintptr(fd), name))
}

// handle guards the descriptor's number by a count of its own. RawConn.Control
// would guard it too, but takes a closure for each call, which costs half as much
// as a doorbell's system call does.
type handle struct {
	f  *os.File // for its poller and Close; nothing else calls with its number
	rc syscall.RawConn
	fd int

	// calls is how many calls are under way, and closing once Close has begun.
	// The last call to end after that puts a token into idle.
	calls atomic.Int32
	idle  chan struct{}
}

// closing is the bit that Close sets in handle.calls, which makes it negative.
const closing = math.MinInt32

func newHandle(f *os.File) (Handle, error) {
	h := &handle{f: f, idle: make(chan struct{}, 1)}
	var err error
	if h.rc, err = f.SyscallConn(); err == nil {
		err = h.rc.Control(func(fd uintptr) { h.fd = int(fd) }) // f.Fd might make it blocking
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return h, nil
}

// enter begins a call, unless the handle is being closed; leave ends it. Between
// the two, and not otherwise, fd is this file's.
//
// The first look keeps callers who do not mind errors from holding up Close with
// calls that never begin.
func (h *handle) enter() bool {
	if h.calls.Load() < 0 {
		return false
	}
	if h.calls.Add(1) > 0 {
		return true
	}
	h.leave()
	return false
}

// leave ends a call.
func (h *handle) leave() {
	if h.calls.Add(-1) == closing {
		h.lastLeft()
	}
}

// lastLeft tells Close. Calls that came too late may leave one by one and make it
// happen again, when nobody listens any more.
func (h *handle) lastLeft() {
	select {
	case h.idle <- struct{}{}:
	default:
	}
}

// Write makes one write(2), after signals again.
func (h *handle) Write(p []byte) (n int, err error) {
	if !h.enter() {
		return 0, ErrClosed
	}
	for {
		if n, err = unix.Write(h.fd, p); err != syscall.EINTR {
			break
		}
	}
	h.leave()
	return n, err
}

// Ring makes one write(2) that the Go runtime does not learn of, as of a page fault.
// Of one that it learns of, its monitor (runtime.sysmon) may find the goroutine in it
// twice, at its looks of 20 µs and more between; with no other processor idle, as
// with GOMAXPROCS 1, it then gives the goroutine's away, and goes on looking every
// 20 µs. What is rung for takes a thread of the kernel tens of microseconds, and a
// processor, for which the monitor would compete.
//
// A garbage collection that stops the world waits for the call to end, which is late
// when the kernel is short of memory (ib_uverbs_post_send allocates some).
func (h *handle) Ring(p []byte) (int, error) {
	if !h.enter() {
		return 0, ErrClosed
	}
	for {
		n, _, errno := syscall.RawSyscall(syscall.SYS_WRITE, uintptr(h.fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)))
		if errno == syscall.EINTR {
			continue
		}
		h.leave()
		if errno != 0 {
			return 0, errno
		}
		return int(n), nil
	}
}

// CannotPanic makes the handle [Calm].
func (h *handle) CannotPanic() {}

// Read makes one read(2), after signals again.
func (h *handle) Read(p []byte) (n int, err error) {
	if !h.enter() {
		return 0, ErrClosed
	}
	for {
		if n, err = unix.Read(h.fd, p); err != syscall.EINTR {
			break
		}
	}
	h.leave()
	return n, err
}

// Ioctl makes one ioctl(2), after signals again.
func (h *handle) Ioctl(req uint, arg unsafe.Pointer) error {
	if !h.enter() {
		return ErrClosed
	}
	defer h.leave()
	for {
		_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(h.fd), uintptr(req), uintptr(arg))
		if errno == 0 {
			return nil
		}
		if errno != syscall.EINTR {
			return errno
		}
	}
}

// WithFD lends the number to fn.
func (h *handle) WithFD(fn func(fd int)) error {
	if !h.enter() {
		return ErrClosed
	}
	defer h.leave()
	fn(h.fd)
	return nil
}

// Mmap and Munmap do without unix.Mmap and its table of all mappings, whose
// lock is held during each munmap(2): connections that end at the same time
// would wait for each other.
func (h *handle) Mmap(offset int64, length, prot int) ([]byte, error) {
	if !h.enter() {
		return nil, ErrClosed
	}
	defer h.leave()
	p, err := unix.MmapPtr(h.fd, offset, nil, uintptr(length), prot, unix.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	return unsafe.Slice((*byte)(p), length), nil
}

// Munmap unmaps neighbours in one piece. It needs no open file.
func (h *handle) Munmap(mems ...[]byte) error {
	mems = slices.Clone(mems)
	slices.SortFunc(mems, func(a, b []byte) int { return cmp.Compare(start(a), start(b)) })
	var first error
	for len(mems) > 0 {
		n, length := 1, len(mems[0])
		for n < len(mems) && start(mems[0])+uintptr(length) == start(mems[n]) {
			length += len(mems[n])
			n++
		}
		if err := munmap(mems[0], length); first == nil {
			first = err
		}
		mems = mems[n:]
	}
	return first
}

func start(mem []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(mem))) }

// munmap unmaps length bytes from the start of mem. Each call makes all
// processors that run the program drop what they know of its memory, so that
// two mappings cost little more than one.
func munmap(mem []byte, length int) error {
	if len(mem) == 0 {
		return syscall.EINVAL
	}
	return unix.MunmapPtr(unsafe.Pointer(unsafe.SliceData(mem)), uintptr(length))
}

// WaitRead waits in the poller between calls of try. It runs try under
// RawConn.Read even where try is a write(2): the rdma_cm device announces events
// by readability and never reports writability, so that waiting to write would
// wait for ever.
func (h *handle) WaitRead(try func() error) error {
	if h.calls.Load() < 0 {
		return ErrClosed
	}
	var err error
	rcErr := h.rc.Read(func(uintptr) bool {
		err = try()
		return err != syscall.EAGAIN
	})
	if rcErr != nil {
		return rcErr
	}
	return err
}

// SetReadDeadline ends waits at t; zero is never.
func (h *handle) SetReadDeadline(t time.Time) error { return h.f.SetReadDeadline(t) }

// Close wakes those who wait and returns when calls that were under way have
// ended. After its first line none begins, not even in a callback of WaitRead, for
// whose end f.Close waits.
func (h *handle) Close() error {
	// Setting the deadline fails where nobody can wait.
	return h.end(func() { _ = h.f.SetReadDeadline(time.Unix(1, 0)) })
}

// end is Close with wake, which wakes who waits.
func (h *handle) end(wake func()) error {
	underWay := h.calls.Or(closing)
	if underWay < 0 {
		return ErrClosed // by another, who waits
	}
	wake()
	if underWay > 0 {
		<-h.idle
	}
	return h.f.Close()
}
