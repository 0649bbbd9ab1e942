package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"syscall"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/cmd/rdmaprobe/rping"
	"github.com/purerdma/rdma/ucma"
	"github.com/purerdma/rdma/uverbs"
)

// Exit codes. They are stable.
const (
	exitOK          = 0
	exitFailed      = 1 // the check failed
	exitUsage       = 2
	exitNoDevice    = 3 // no RDMA device, or a part of it is missing
	exitPermission  = 4
	exitUnreachable = 5 // unreachable or time-out
	exitRejected    = 6
)

// errInterrupted is returned by commands that a signal stopped half-way.
var errInterrupted = errors.New("interrupted")

// A rule gives an error its class. The classes are stable, like the codes.
type rule struct {
	class string
	code  int
	match func(error) bool
}

// rules are tried in order, so that what says more comes first: a refusal and
// a missing module have errnos in their chains that alone would mean less.
var rules = []rule{
	{"usage", exitUsage, isUsage},
	{"usage", exitUsage, anyOf(cm.ErrLoopback)},
	{"usage", exitUsage, isBadParameter},
	{"no-listener", exitRejected, anyOf(cm.ErrNoListener)},
	{"busy", exitRejected, anyOf(cm.ErrBusy)},
	{"rejected", exitRejected, anyOf(cm.ErrRejected)},
	{"mtu", exitUnreachable, isSize},
	{"data-mismatch", exitFailed, anyOf(rping.ErrMismatch)},
	{"protocol", exitFailed, anyOf(rping.ErrProtocol)},
	{"address-in-use", exitFailed, anyOf(cm.ErrAddrInUse)},
	{"no-ports", exitFailed, anyOf(cm.ErrNoPorts)},
	{"check-failed", exitFailed, anyOf(errCheckFailed)},
	{"interrupted", exitFailed, anyOf(errInterrupted, errOutputClosed, context.Canceled)},
	{"module-missing", exitNoDevice, anyOf(uverbs.ErrModuleMissing)},
	{"no-device", exitNoDevice, anyOf(uverbs.ErrNoDevice, cm.ErrNoDevice)},
	{"device-removed", exitNoDevice, anyOf(cm.ErrDeviceRemoved, uverbs.ErrDeviceRemoved)},
	{"no-data-path", exitNoDevice, anyOf(uverbs.ErrNoProvider)},
	{"timeout", exitUnreachable, isTimeout},
	{"peer-closed", exitUnreachable, anyOf(io.EOF, cm.ErrPeerGone, syscall.ECONNRESET)},
	{"unreachable", exitUnreachable, anyOf(syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.ENETDOWN, syscall.EHOSTDOWN)},
	{"unreachable", exitUnreachable, isDNS},
	{"exists", exitFailed, anyOf(syscall.EEXIST, syscall.ENFILE)},
	{"memlock", exitPermission, anyOf(uverbs.ErrMemlock)},
	{"permission", exitPermission, anyOf(fs.ErrPermission, ucma.ErrCredentialsChanged)},
	{"completion", exitFailed, isCompletion},
	{"no-device", exitNoDevice, anyOf(fs.ErrNotExist, syscall.ENODEV, syscall.ENXIO, syscall.EADDRNOTAVAIL, errors.ErrUnsupported)},
}

// classify returns class and exit code of an error.
func classify(err error) (class string, code int) {
	for _, r := range rules {
		if r.match(err) {
			return r.class, r.code
		}
	}
	return "failed", exitFailed
}

func anyOf(targets ...error) func(error) bool {
	return func(err error) bool {
		for _, t := range targets {
			if errors.Is(err, t) {
				return true
			}
		}
		return false
	}
}

// isSize: messages above a size are lost.
func isSize(err error) bool { return errors.As(err, new(*sizeError)) }

func isUsage(err error) bool { return errors.As(err, new(*usageError)) }

// isBadParameter: package cm refused an address or an option before it did
// anything, for instance a link-local address without a zone.
func isBadParameter(err error) bool {
	var op *cm.OpError
	return errors.As(err, &op) && op.Step == "" && errors.Is(op.Err, syscall.EINVAL) &&
		(op.Op == "dial" || op.Op == "listen")
}

func isTimeout(err error) bool {
	var t interface{ Timeout() bool }
	return errors.As(err, &t) && t.Timeout() || errors.Is(err, context.DeadlineExceeded)
}

// isDNS: a name that cannot be resolved is a peer that cannot be reached.
func isDNS(err error) bool { return errors.As(err, new(*net.DNSError)) }

// isCompletion: the device refused or failed a request, for instance because
// the peer does not allow access to its memory.
func isCompletion(err error) bool {
	var ce *uverbs.CompletionError
	return errors.As(err, &ce) && ce.Status != abi.IB_WC_SUCCESS
}
