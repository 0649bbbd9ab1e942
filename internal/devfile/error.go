package devfile

import (
	"errors"
	"fmt"
	"net"
	"syscall"
)

// ErrCredentialsChanged is matched by a write(2) that the kernel refused with
// EACCES because the calling thread's credentials are not those of the opener
// (kernel: ib_safe_file_access). It follows setuid, setgid and the like, and
// inheriting the file in another process.
//
// The kernel compares the object, not its content. After a setuid by Go's
// syscall package each thread of the process has one of its own, so that even
// devices opened later work on some threads only. Only exec makes it one again.
var ErrCredentialsChanged = errors.New("credentials changed since the device was opened, or differ between threads; " +
	"drop privileges before the program starts, or exec it again after setuid")

// An Error is a failed call on a device file.
type Error struct {
	Op   string // "open", "write", "ioctl", "mmap", "munmap", "use", "wait", "close"
	Path string // the device file, or the name of an adopted descriptor
	Err  error  // the cause: an errno, net.ErrClosed or a context's error
}

// Error returns call, file and cause in one line.
func (e *Error) Error() string { return fmt.Sprintf("%s %s: %v", e.Op, e.Path, e.Err) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Timeout reports whether the cause was a time-out.
func (e *Error) Timeout() bool {
	var t interface{ Timeout() bool }
	return errors.As(e.Err, &t) && t.Timeout()
}

// credentialsError keeps the errno reachable beside the explanation.
type credentialsError struct{}

// Error returns the explanation.
func (credentialsError) Error() string { return "permission denied: " + ErrCredentialsChanged.Error() }

// Unwrap returns the explanation and the errno.
func (credentialsError) Unwrap() []error { return []error{ErrCredentialsChanged, syscall.EACCES} }

// ErrClosed is the one error for use after Close. It matches net.ErrClosed, whose own
// text is about network connections.
var ErrClosed error = afterClose{}

type afterClose struct{}

// Error says it in words that fit any object.
func (afterClose) Error() string { return "it has been closed" }

// Unwrap returns net.ErrClosed.
func (afterClose) Unwrap() error { return net.ErrClosed }
