package rdmanl

import (
	"errors"
	"fmt"
	"syscall"
)

// Error is a failed RDMA netlink request.
type Error struct {
	// Command is the kernel's name without RDMA_NLDEV_CMD_, e.g. "GET_CHARDEV", or
	// "socket" when no request could be made at all.
	Command string
	// Object is what the request was about, e.g. "device 0"; may be empty.
	Object string
	// Message is the kernel's own explanation (extended ack), usually empty.
	Message string
	// Err is the cause: a syscall.Errno, ErrMalformed or a context error.
	Err error
}

// Error returns command, object, cause and what the kernel says of it.
func (e *Error) Error() string {
	s := "RDMA netlink " + e.Command
	if e.Object != "" {
		s += " " + e.Object
	}
	var errno syscall.Errno
	if errors.As(e.Err, &errno) {
		if name := errnoName(errno); name != "" {
			s += ": " + name
		}
	}
	s = fmt.Sprintf("%s: %v", s, e.Err)
	if e.Message != "" {
		s += " (" + e.Message + ")"
	}
	return s
}

// Unwrap returns Err, so that errors.Is reaches the errno.
func (e *Error) Unwrap() error { return e.Err }

func wrap(command, object string, err error) error {
	if err == nil {
		return nil
	}
	if _, named := err.(*Error); named {
		return err
	}
	e := &Error{Command: command, Object: object, Err: err}
	var st *statusError
	if errors.As(err, &st) {
		e.Err, e.Message = st.errno, st.text
	}
	return e
}
