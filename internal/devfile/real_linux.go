package devfile

import (
	"cmp"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

var realKernel Kernel = linux{}

// linux is the running kernel.
type linux struct{}

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

// handle keeps the os.File: only its methods and SyscallConn guard the
// descriptor number against a concurrent Close.
type handle struct {
	f  *os.File
	rc syscall.RawConn
}

func newHandle(f *os.File) (Handle, error) {
	rc, err := f.SyscallConn()
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return &handle{f: f, rc: rc}, nil
}

// call is one system call under RawConn.Control. Calls are pooled with their
// bound methods, so that ringing a doorbell or fetching an event allocates
// nothing: a closure would escape to the heap each time.
type call struct {
	p   []byte
	req uint
	arg unsafe.Pointer
	n   int
	err error

	write, read, ioctl func(fd uintptr)
}

var calls = sync.Pool{New: func() any {
	c := new(call)
	c.write, c.read, c.ioctl = c.doWrite, c.doRead, c.doIoctl
	return c
}}

func (c *call) doWrite(fd uintptr) {
	for {
		c.n, c.err = unix.Write(int(fd), c.p)
		if c.err != syscall.EINTR {
			return
		}
	}
}

func (c *call) doRead(fd uintptr) {
	for {
		c.n, c.err = unix.Read(int(fd), c.p)
		if c.err != syscall.EINTR {
			return
		}
	}
}

func (c *call) doIoctl(fd uintptr) {
	for {
		_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, fd, uintptr(c.req), uintptr(c.arg))
		if errno == 0 {
			c.err = nil
			return
		}
		if errno != syscall.EINTR {
			c.err = errno
			return
		}
	}
}

// run gives the call the descriptor, takes the result and puts the call back.
func (h *handle) run(c *call, do func(fd uintptr)) (int, error) {
	err := h.rc.Control(do)
	if err == nil {
		err = c.err
	}
	n := c.n
	c.p, c.arg, c.n, c.err = nil, nil, 0, nil
	calls.Put(c)
	return n, err
}

func (h *handle) Write(p []byte) (int, error) {
	c := calls.Get().(*call)
	c.p = p
	return h.run(c, c.write)
}

func (h *handle) Read(p []byte) (int, error) {
	c := calls.Get().(*call)
	c.p = p
	return h.run(c, c.read)
}

func (h *handle) Ioctl(req uint, arg unsafe.Pointer) error {
	c := calls.Get().(*call)
	c.req, c.arg = req, arg
	_, err := h.run(c, c.ioctl)
	return err
}

func (h *handle) WithFD(fn func(fd int)) error {
	return h.rc.Control(func(fd uintptr) { fn(int(fd)) })
}

// Mmap and Munmap do without unix.Mmap and its table of all mappings, whose
// lock is held during each munmap(2): connections that end at the same time
// would wait for each other.
func (h *handle) Mmap(offset int64, length, prot int) ([]byte, error) {
	var p unsafe.Pointer
	var err error
	ctlErr := h.rc.Control(func(fd uintptr) {
		p, err = unix.MmapPtr(int(fd), offset, nil, uintptr(length), prot, unix.MAP_SHARED)
	})
	if err = cmp.Or(ctlErr, err); err != nil {
		return nil, err
	}
	return unsafe.Slice((*byte)(p), length), nil
}

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

// WaitRead runs try under RawConn.Read even where try is a write(2): the
// rdma_cm device announces events by readability and never reports
// writability, so that waiting to write would wait for ever.
func (h *handle) WaitRead(try func() error) error {
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

func (h *handle) SetReadDeadline(t time.Time) error { return h.f.SetReadDeadline(t) }

func (h *handle) Close() error { return h.f.Close() }
