package ucma

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/purerdma/rdma/internal/devfile"
)

// ErrCredentialsChanged is matched by every command that the kernel refuses
// because the process changed its credentials, or inherited the file from
// another process. A Go program that calls setuid gets it even for channels
// opened later, until it has executed itself anew: each of its threads has
// credentials of its own then.
var ErrCredentialsChanged = devfile.ErrCredentialsChanged

// An Error is a command that failed.
type Error struct {
	Command uint32 // RDMA_USER_CM_CMD_…
	ID      uint32 // the ID it was for; meaningless for CREATE_ID and GET_EVENT
	Err     error  // the errno, net.ErrClosed, or a context's error
}

// Error returns command, ID and cause in one line.
func (e *Error) Error() string {
	if !commandHasID(e.Command) {
		return fmt.Sprintf("rdma_cm %s: %v", CommandName(e.Command), e.Err)
	}
	return fmt.Sprintf("rdma_cm %s id %d: %v", CommandName(e.Command), e.ID, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is makes errno 524, which the kernel uses for operations a transport lacks
// and which user space has no name for, match errors.ErrUnsupported.
func (e *Error) Is(target error) bool {
	return target == errors.ErrUnsupported && errors.Is(e.Err, enotsupp)
}

// Timeout reports whether the cause was a time-out.
func (e *Error) Timeout() bool {
	var t interface{ Timeout() bool }
	return errors.As(e.Err, &t) && t.Timeout()
}

// enotsupp is ENOTSUPP of include/linux/errno.h, never meant for user space.
const enotsupp = syscall.Errno(524)

// fail turns a device-file error into a command error: the file's own wrapping
// would only repeat the path.
func fail(cmd, id uint32, err error) error {
	if err == nil {
		return nil
	}
	var de *devfile.Error
	if errors.As(err, &de) {
		err = de.Err
	}
	return &Error{Command: cmd, ID: id, Err: err}
}

// portError takes EACCES from a command that binds a privileged port for what
// it almost surely is: the lack of CAP_NET_BIND_SERVICE, not a change of
// credentials (cma_bind_port has the limit of 1024 built in).
func portError(addr Sockaddr, err error) error {
	ap, ok := addr.AddrPort()
	var e *Error
	if ok && ap.Port() != 0 && ap.Port() < 1024 && errors.As(err, &e) && errors.Is(err, ErrCredentialsChanged) {
		e.Err = syscall.EACCES
	}
	return err
}

// openError adds to a failed open what to do about it.
func openError(err error) error {
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("%w: load the kernel module rdma_ucm (modprobe rdma_ucm), "+
			"and pass the device to the container if this is one", err)
	case errors.Is(err, syscall.ENXIO):
		return fmt.Errorf("%w: the device node is stale, its module is gone (modprobe rdma_ucm)", err)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("%w: %s", err, denied(err))
	case errors.Is(err, syscall.EPERM):
		return fmt.Errorf("%w: the container's device cgroup does not allow it", err)
	}
	return err
}

// denied says what it is that does not admit this user: a file below a folder that may
// not be searched cannot even be looked at.
func denied(err error) string {
	var de *devfile.Error
	if errors.As(err, &de) {
		if _, statErr := os.Stat(de.Path); errors.Is(statErr, syscall.EACCES) {
			return "a folder of that path may not be searched by this user (its mode lacks x)"
		}
	}
	return "the file's mode does not admit this user"
}
