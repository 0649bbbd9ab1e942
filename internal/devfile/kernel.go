package devfile

import (
	"time"
	"unsafe"
)

// A Kernel opens device files. A nil Kernel in [Open] means the real one.
type Kernel interface {
	// Open opens a character device for reading and writing, non-blocking
	// and close-on-exec.
	Open(path string) (Handle, error)

	// Adopt takes over a file descriptor that a command of this kernel
	// returned, such as a completion channel.
	Adopt(fd int, name string) (Handle, error)

	// AdoptSleeper is Adopt for a descriptor whose reader is to sleep in the
	// kernel.
	AdoptSleeper(fd int, name string) (Sleeper, error)
}

// Real returns the running kernel, for a Kernel that looks at its calls.
func Real() Kernel { return realKernel }

// A Handle is one open file. Methods other than WaitRead never wait. Errors
// are plain errnos (syscall.Errno) or, after Close, match net.ErrClosed.
type Handle interface {
	Write(p []byte) (int, error)
	Read(p []byte) (int, error)

	// Ring is Write of a command that the kernel carries out in microseconds and
	// without waiting for anything but memory.
	Ring(p []byte) (int, error)
	Ioctl(req uint, arg unsafe.Pointer) error
	Mmap(offset int64, length, prot int) ([]byte, error)
	Munmap(mems ...[]byte) error

	// WithFD calls fn with the descriptor number, which stays valid until
	// fn returns.
	WithFD(fn func(fd int)) error

	// WaitRead calls try until it returns something other than EAGAIN,
	// waiting for the file to become readable in between. It returns what
	// try returned, or os.ErrDeadlineExceeded.
	WaitRead(try func() error) error
	SetReadDeadline(t time.Time) error
	Close() error
}

// A Calm handle promises that its Write, Ring and Ioctl do not panic, as the running kernel's
// do. Of another, those must expect it who hold a lock.
type Calm interface{ CannotPanic() }

// A Sleeper is an open file that is not in the runtime's poller: who wants to know
// whether it is readable sleeps in the kernel, on a thread. WaitRead of it does not
// wait, and SetReadDeadline fails.
type Sleeper interface {
	Handle

	// Sleep returns true when the file is readable or has come to its end. It
	// returns false after Wake, also one in advance, and after Close, or earlier.
	Sleep() bool

	// Wake ends a Sleep, the next one if there is none.
	Wake()
}
