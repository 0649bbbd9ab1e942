package cm

import (
	"errors"
	"net"
	"os"
	"syscall"
)

// newOpError makes an OpError and moves the step of err into it.
func newOpError(op string, remote net.Addr, err error) *OpError {
	e := &OpError{Op: op, Remote: remote, Err: err}
	var inner *OpError
	if errors.As(err, &inner) && inner == err {
		return inner // named already
	}
	var posted *postedError
	if errors.As(err, &posted) && error(posted) == err {
		e.Posted, e.Err = true, posted.err
		err = posted.err
	}
	var sf *stepFailure
	if errors.As(err, &sf) && error(sf) == err {
		e.Step, e.Err = sf.step, sf.err
	}
	e.Hint = e.hint()
	return e
}

// hint says what to look at.
func (e *OpError) hint() string {
	switch {
	case e.Timeout() && e.Remote != nil:
		hint := describeTimeout(e.Step, e.Remote)
		if e.Step == stepConnect {
			hint += describeBacklog(e.Remote)
		}
		return hint
	case errors.Is(e.Err, syscall.ENETUNREACH):
		return "no route to that address"
	case errors.Is(e.Err, ErrNoDevice):
		return "see rdmaprobe list for the addresses that have one"
	case errors.Is(e.Err, ErrNoPorts):
		return "close connections, or widen the range of local ports: sysctl net.ipv4.ip_local_port_range"
	case errors.Is(e.Err, ErrNoHandles):
		return "make fewer connections at a time on this device"
	case errors.Is(e.Err, os.ErrPermission) && e.Step == stepBind:
		return "ports below 1024 need CAP_NET_BIND_SERVICE"
	}
	return ""
}

// opError makes the error of an operation on a connection.
func (c *Conn) opError(op string, err error) error {
	e := newOpError(op, c.remote, err)
	e.Local, e.Device = c.local, c.Device()
	return e
}

func (c *Conn) opErrorOrNil(op string, err error) error {
	if err == nil {
		return nil
	}
	return c.opError(op, err)
}
