package fakeverbs

import (
	"net"
	"os"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/devfile"
)

type fileKind int

const (
	deviceFile fileKind = iota
	asyncFile
	channelFile
)

// event is what an event file queues.
type event struct {
	element uint64
	kind    uint32
}

// file is one open file. Its state is guarded by the kernel's lock.
type file struct {
	k    *Kernel
	kind fileKind
	name string
	fd   int

	context bool // GET_CONTEXT was done
	events  [64]event
	n       int // events queued
	ended   bool

	closed   bool
	deadline time.Time
	ready    *sync.Cond
}

var _ devfile.Handle = (*file)(nil)

func (k *Kernel) newFile(kind fileKind, name string) *file {
	f := &file{k: k, kind: kind, name: name, ready: sync.NewCond(&k.mu)}
	k.files[f] = true
	return f
}

func (f *file) wake() { f.ready.Broadcast() }

// push queues an event; it allocates nothing.
func (f *file) push(e event) {
	if f.n < len(f.events) {
		f.events[f.n] = e
		f.n++
	}
	f.wake()
}

// Unread counts the asynchronous events that nobody has read yet. A file holds 64.
func (k *Kernel) Unread() (n int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for f := range k.files {
		if f.kind == asyncFile {
			n += f.n
		}
	}
	return n
}

// Read takes one event off the queue; EIO ends those of a device that is gone.
func (f *file) Read(p []byte) (int, error) {
	f.k.mu.Lock()
	defer f.k.mu.Unlock()
	switch {
	case f.closed:
		return 0, net.ErrClosed
	case f.n == 0 && f.ended:
		return 0, syscall.EIO
	case f.n == 0:
		return 0, syscall.EAGAIN
	}
	e := f.events[0]
	copy(f.events[:], f.events[1:f.n])
	f.n--
	if f.kind == channelFile {
		d := abi.IBUverbsCompEventDesc{CQHandle: e.element}
		return copy(p, bytesOf(&d)), nil
	}
	d := abi.IBUverbsAsyncEventDesc{Element: e.element, EventType: e.kind}
	return copy(p, bytesOf(&d)), nil
}

// WaitRead is that of devfile.Handle.
func (f *file) WaitRead(try func() error) error {
	for {
		if err := try(); err != syscall.EAGAIN {
			return err
		}
		f.k.mu.Lock()
		for f.n == 0 && !f.ended && !f.closed && !f.expired() {
			f.ready.Wait()
		}
		closed, expired := f.closed, f.expired()
		f.k.mu.Unlock()
		switch {
		case closed:
			return net.ErrClosed
		case expired:
			return os.ErrDeadlineExceeded
		}
	}
}

// WithFD passes the number under which the kernel knows the file.
func (f *file) WithFD(fn func(fd int)) error {
	f.k.mu.Lock()
	closed := f.closed
	f.k.mu.Unlock()
	if closed {
		return net.ErrClosed
	}
	fn(f.fd)
	return nil
}

func (f *file) expired() bool { return !f.deadline.IsZero() && !time.Now().Before(f.deadline) }

// SetReadDeadline supports deadlines in the past only, as devfile uses them.
func (f *file) SetReadDeadline(t time.Time) error {
	f.k.mu.Lock()
	defer f.k.mu.Unlock()
	f.deadline = t
	f.wake()
	return nil
}

// Mmap maps a ring that a command told of, once.
func (f *file) Mmap(offset int64, length, _ int) ([]byte, error) {
	f.k.mu.Lock()
	defer f.k.mu.Unlock()
	if err := f.k.enter("mmap"); err != nil {
		return nil, err
	}
	r := f.k.rings[offset]
	if r == nil || length != len(r.mem) {
		return nil, syscall.EINVAL
	}
	delete(f.k.rings, offset)
	f.k.mappings[unsafe.SliceData(r.mem)] = length
	return r.mem, nil
}

// Munmap refuses what is not mapped.
func (f *file) Munmap(mems ...[]byte) error {
	f.k.mu.Lock()
	defer f.k.mu.Unlock()
	for _, mem := range mems {
		if _, ok := f.k.mappings[unsafe.SliceData(mem)]; !ok {
			return syscall.EINVAL
		}
		delete(f.k.mappings, unsafe.SliceData(mem))
	}
	return nil
}

// Close closes the file. Closing the device destroys its context and
// the objects on it, as the kernel does.
func (f *file) Close() error {
	f.k.mu.Lock()
	defer f.k.mu.Unlock()
	if f.closed {
		return os.ErrClosed
	}
	f.closed = true
	delete(f.k.files, f)
	if f.kind == deviceFile {
		for h := range f.k.objects {
			if f.k.owners[h] == f {
				delete(f.k.objects, h)
			}
		}
	}
	f.wake()
	return nil
}

func bytesOf[T any](p *T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(p)), int(unsafe.Sizeof(*p)))
}

// at views user memory at an address that came inside a command.
func at(addr uint64, n int) []byte {
	if addr == 0 || n == 0 {
		return nil
	}
	p := uintptr(addr)
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&p)), n)
}
