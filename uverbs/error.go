package uverbs

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/purerdma/rdma/internal/devfile"
	"github.com/purerdma/rdma/uverbs/internal/provider"
)

// Sentinels of the posting path. They are compared with errors.Is.
var (
	// ErrQueueFull is matched when a queue has no room for a request. Poll
	// completions, then post again.
	ErrQueueFull = provider.ErrQueueFull

	// ErrTooManySGEs is matched when a request has more scatter/gather entries
	// than [QPCap] of its queue pair allows.
	ErrTooManySGEs = provider.ErrTooManySGEs

	// ErrInlineSize is matched when a request has more inline data than
	// QPCap.MaxInline of its queue pair allows.
	ErrInlineSize = provider.ErrInlineSize

	// ErrNoAH is matched when a datagram has no address handle.
	ErrNoAH = provider.ErrNoAH

	// ErrNoBind is matched when a request to bind a memory window does not say
	// which.
	ErrNoBind = provider.ErrNoBind

	// ErrOpcode is matched when the driver or the queue pair's type cannot do
	// what a request asks for.
	ErrOpcode = provider.ErrOpcode
)

// ErrDeviceRemoved is matched by operations on a device that the kernel took
// away: the driver was unloaded, the hardware or the soft device removed, or
// the driver reported a fatal error. Close everything that belongs to it.
var ErrDeviceRemoved = errors.New("the device was removed or had a fatal error")

// ErrMemlock is matched when memory is not registered because the process may
// not pin so much: RLIMIT_MEMLOCK is too small, and CAP_IPC_LOCK is not effective
// in the initial user namespace. The errno is ENOMEM, or EPERM for a limit of 0;
// the hint has the numbers.
var ErrMemlock = errors.New("the limit on locked memory is too small")

// ErrNoProvider is matched when a queue is asked for on a device whose data
// path this module does not implement. Everything else works on such a device:
// queries, protection domains, memory regions, connection management without
// data. The error names the driver.
var ErrNoProvider = errors.New("no user-space data path for this driver in this module")

// An Error is a verbs operation that failed. errors.Is reaches the errno;
// an operation that the kernel or the driver does not know also matches
// errors.ErrUnsupported, and one on a closed object net.ErrClosed.
type Error struct {
	Op     string // the kernel's name of the method, such as "CQ_CREATE"
	Object string // what it was applied to, such as "QP 0x11"; may be empty
	Device string // the device's name
	Hint   string // what to do about it; may be empty
	Err    error  // the cause

	// Where Err may mean that the device is gone: whether the kernel says that it is
	// not, and whether its removal or a fatal error was reported all the same.
	lives, removed bool
}

// Error returns device, operation, object, cause and hint in one line.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Device != "" {
		b.WriteString(e.Device)
		b.WriteString(": ")
	}
	b.WriteString(e.Op)
	if e.Object != "" {
		b.WriteString(" (")
		b.WriteString(e.Object)
		b.WriteString(")")
	}
	fmt.Fprintf(&b, ": %v", e.Err)
	if e.Hint != "" {
		b.WriteString("; ")
		b.WriteString(e.Hint)
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is reports the classes that the standard mapping of errnos does not know.
func (e *Error) Is(target error) bool {
	switch target {
	case errors.ErrUnsupported:
		return isUnsupported(e.Err)
	case ErrDeviceRemoved:
		return isGone(e.Err) && (!e.lives || e.removed)
	}
	return false
}

// Timeout reports whether the cause was a time-out.
func (e *Error) Timeout() bool {
	var t interface{ Timeout() bool }
	return errors.As(e.Err, &t) && t.Timeout()
}

// ENOTSUPP of the kernel is no POSIX errno, but drivers leak it to user space.
const enotsupp = syscall.Errno(524)

func isUnsupported(err error) bool {
	return errors.Is(err, enotsupp) || errors.Is(err, syscall.EPROTONOSUPPORT) ||
		errors.Is(err, syscall.ENOTTY)
}

// isGone reports whether the kernel may no longer have the device behind the file.
// The uverbs core answers EIO once it has taken the driver away
// (uverbs_disassociate_api); ENODEV and ENXIO come from a module being removed.
func isGone(err error) bool {
	return errors.Is(err, syscall.EIO) || errors.Is(err, syscall.ENODEV) || errors.Is(err, syscall.ENXIO)
}

// A BusyError is returned by Close of an object that others still need. It
// matches syscall.EBUSY.
type BusyError struct {
	Device string   // the device's name; empty for memory, which belongs to none
	Object string   // what was to be closed
	Users  []string // what must be closed before
}

// Error names device, object, and what must be closed before.
func (e *BusyError) Error() string {
	text := fmt.Sprintf("close %s: still in use by %s", e.Object, strings.Join(e.Users, ", "))
	if e.Device != "" {
		text = e.Device + ": " + text
	}
	return text
}

// Unwrap returns syscall.EBUSY.
func (e *BusyError) Unwrap() error { return syscall.EBUSY }

// A PostError is returned by PostSend and PostRecv when some requests of a
// batch were posted before one failed. A failure of the first request is
// returned as it is.
type PostError struct {
	Posted int   // requests that were posted, and will complete
	Err    error // why the next one was not
}

// Error tells how far the batch got.
func (e *PostError) Error() string {
	return fmt.Sprintf("after posting %d requests: %v", e.Posted, e.Err)
}

// Unwrap returns the cause.
func (e *PostError) Unwrap() error { return e.Err }

// closedError makes the error for use of an object after Close.
func closedError(device, object string) error {
	return &Error{Op: "use", Object: object, Device: device, Err: errClosed}
}

// errClosed is the cause of such errors.
var errClosed = devfile.ErrClosed
