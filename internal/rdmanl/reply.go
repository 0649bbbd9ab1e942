package rdmanl

import (
	"errors"
	"syscall"
)

// errInterrupted says that the dumped list changed while the kernel walked it, so
// that entries may be missing or doubled.
var errInterrupted = errors.New("netlink dump was interrupted by a change")

// statusError is the kernel's own answer to a request, as opposed to trouble on the
// way. The caller turns it into an *Error with the command's name.
type statusError struct {
	errno syscall.Errno
	text  string
}

// Error returns the errno's text; the kernel's own is added by Error of [Error].
func (e *statusError) Error() string { return e.errno.Error() }

// Unwrap returns the errno.
func (e *statusError) Unwrap() error { return e.errno }

// reply gathers the answer to one request from the datagrams that arrive.
type reply struct {
	seq      uint32
	payloads [][]byte
	broken   bool
}

// add takes one datagram and reports whether the answer is complete. The datagram is
// copied. Every request asks for an acknowledgement or is a dump, so NLMSG_ERROR or
// NLMSG_DONE always ends the answer. Messages of other requests (an earlier one whose
// caller gave up) are skipped.
func (r *reply) add(datagram []byte) (done bool, err error) {
	msgs, err := splitMessages(append([]byte(nil), datagram...))
	if err != nil {
		return false, err
	}
	for _, m := range msgs {
		if m.seq != r.seq {
			continue
		}
		if m.flags&flagDumpIntr != 0 {
			r.broken = true
		}
		switch m.typ {
		case nlmsgError, nlmsgDone:
			return true, r.finish(m)
		case nlmsgOverrun:
			r.broken = true
		default:
			if m.typ > nlmsgOverrun {
				r.payloads = append(r.payloads, m.data)
			}
		}
	}
	return false, nil
}

func (r *reply) finish(m message) error {
	errno, text, err := m.status()
	switch {
	case err != nil:
		return err
	case errno != 0:
		return &statusError{errno, text}
	case r.broken:
		return errInterrupted
	}
	return nil
}
