package devfile

import (
	"context"
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"

	"github.com/purerdma/rdma/internal/interrupt"
)

// A File is an open device file. All methods are safe for concurrent use.
type File struct {
	path   string
	kernel Kernel
	h      Handle
	closed atomic.Bool

	// turn admits one waiter at a time, because waiters share the file's
	// one read deadline. It holds a token while nobody waits.
	turn chan struct{}

	closeOnce sync.Once
	closeErr  error
}

// Open opens the device file at path. k is the kernel to ask; nil means the
// real one. The error is an *[Error] whose cause is the errno.
func Open(k Kernel, path string) (*File, error) {
	if k == nil {
		k = realKernel
	}
	h, err := k.Open(path)
	if err != nil {
		return nil, &Error{Op: "open", Path: path, Err: cause(err)}
	}
	return newFile(k, h, path), nil
}

// Adopt wraps a descriptor that a command on f returned. The new file owns
// fd. name appears in errors.
func (f *File) Adopt(fd int, name string) (*File, error) {
	h, err := f.kernel.Adopt(fd, name)
	if err != nil {
		return nil, &Error{Op: "open", Path: name, Err: cause(err)}
	}
	return newFile(f.kernel, h, name), nil
}

// A SleepFile is a File whose reader sleeps in the kernel; see [Sleeper]. Its
// WaitRead does not wait.
type SleepFile struct {
	*File
	s Sleeper
}

// AdoptSleeper is Adopt for a file whose reader is to sleep in the kernel.
func (f *File) AdoptSleeper(fd int, name string) (*SleepFile, error) {
	s, err := f.kernel.AdoptSleeper(fd, name)
	if err != nil {
		return nil, &Error{Op: "open", Path: name, Err: cause(err)}
	}
	return &SleepFile{newFile(f.kernel, s, name), s}, nil
}

// Sleep waits on the thread until there is something to read, as [Sleeper] says.
func (f *SleepFile) Sleep() bool { return f.s.Sleep() }

// Wake ends a Sleep, now or later.
func (f *SleepFile) Wake() { f.s.Wake() }

func newFile(k Kernel, h Handle, path string) *File {
	f := &File{path: path, kernel: k, h: h, turn: make(chan struct{}, 1)}
	f.turn <- struct{}{}
	return f
}

// Path returns the name the file was opened with.
func (f *File) Path() string { return f.path }

// Write makes one write(2) of all of p. The RDMA devices take a command whole
// or not at all, so a short count is an error (EIO).
func (f *File) Write(p []byte) error {
	n, err := f.h.Write(p)
	switch {
	case err == syscall.EACCES:
		err = credentialsError{}
	case err == nil && n != len(p):
		err = syscall.EIO
	}
	return f.fail("write", err)
}

// TryWrite is Write without the allocation of an error: it returns the bare
// errno. Callbacks of WaitRead use it, because they must see EAGAIN.
//
// It is on the way of each doorbell, and so short, with the error made before and a
// bare return, that the compiler puts it where it is called.
func (f *File) TryWrite(p []byte) (err error) {
	n, err := f.h.Write(p)
	if n != len(p) && err == nil {
		return errShort
	}
	return
}

// Ring is TryWrite of a command that the kernel carries out in microseconds and without
// waiting for anything but memory: the Go runtime does not learn of the system call.
func (f *File) Ring(p []byte) (err error) {
	n, err := f.h.Ring(p)
	if n != len(p) && err == nil {
		return errShort
	}
	return
}

// Ringers returns what Ring calls, for commands that are carried out in microseconds, and
// what TryWrite calls, for others, for those who ring doorbells. Both return the bare
// errno.
func (f *File) Ringers() (short, long Ringer) { return f.h, written{f.h} }

// A Ringer gives the kernel a command, as Handle.Ring does.
type Ringer interface {
	Ring(p []byte) (int, error)
}

// written gives the kernel commands by Write.
type written struct{ h Handle }

// Ring is Write.
func (w written) Ring(p []byte) (int, error) { return w.h.Write(p) }

// MayPanic reports whether Write and Ring do not promise the contrary; see [Calm].
func (f *File) MayPanic() bool {
	_, calm := f.h.(Calm)
	return !calm
}

var errShort error = syscall.EIO

// TryRead makes one read(2) and returns the bare errno, EAGAIN included.
func (f *File) TryRead(p []byte) (int, error) { return f.h.Read(p) }

// Ioctl makes one ioctl(2). arg must point to memory outside the Go heap.
func (f *File) Ioctl(req uint, arg unsafe.Pointer) error {
	return f.fail("ioctl", f.h.Ioctl(req, arg))
}

// Mmap maps length bytes at offset, shared. prot is unix.PROT_….
func (f *File) Mmap(offset int64, length, prot int) ([]byte, error) {
	mem, err := f.h.Mmap(offset, length, prot)
	if err != nil {
		return nil, f.fail("mmap", err)
	}
	return mem, nil
}

// Munmap unmaps what calls of Mmap returned, neighbours with one system call; it
// works after Close as well.
func (f *File) Munmap(mems ...[]byte) error {
	if err := f.h.Munmap(mems...); err != nil {
		return &Error{Op: "munmap", Path: f.path, Err: err}
	}
	return nil
}

// WithFD calls fn with the descriptor number, for a command that names one
// file to another. fn must not close it or keep it.
func (f *File) WithFD(fn func(fd int)) error {
	return f.fail("use", f.h.WithFD(fn))
}

// WaitRead calls try at once and then whenever the file becomes readable,
// until try returns something other than EAGAIN. try must call only TryWrite,
// TryRead or Ioctl of this file. When ctx ends first, the error wraps ctx's
// error; when the file is closed, it matches net.ErrClosed.
func (f *File) WaitRead(ctx context.Context, try func() error) error {
	select {
	case <-f.turn:
	case <-ctx.Done():
		return f.fail("wait", ctx.Err())
	}
	defer func() { f.turn <- struct{}{} }()

	disarm := interrupt.Arm(ctx, f.h.SetReadDeadline)
	err := f.h.WaitRead(try)
	disarm()
	switch {
	case err == syscall.EACCES: // only a write meets that, such as GET_EVENT
		err = credentialsError{}
	case errors.Is(err, os.ErrDeadlineExceeded) && ctx.Err() != nil:
		err = ctx.Err()
	}
	return f.fail("wait", err)
}

// Close closes the file, wakes its waiters and returns after calls that were
// under way have ended. Later calls return the same result.
func (f *File) Close() error {
	f.closeOnce.Do(func() {
		f.closed.Store(true)
		if err := f.h.Close(); err != nil {
			f.closeErr = &Error{Op: "close", Path: f.path, Err: err}
		}
	})
	return f.closeErr
}

// Closed reports whether Close was called.
func (f *File) Closed() bool { return f.closed.Load() }

// fail gives an error its step and object. A call that lost the race with
// Close reports the one closed error, whatever the runtime said.
func (f *File) fail(op string, err error) error {
	if err == nil {
		return nil
	}
	if f.closed.Load() {
		if _, isErrno := err.(syscall.Errno); !isErrno || err == syscall.EBADF {
			err = ErrClosed
		}
	}
	return &Error{Op: op, Path: f.path, Err: err}
}

// cause strips the wrapping of the os package down to the errno.
func cause(err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
