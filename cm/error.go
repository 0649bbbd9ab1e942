package cm

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/ucma"
	"github.com/purerdma/rdma/uverbs"
)

// Causes to test for with errors.Is.
var (
	// ErrRejected: the peer, or its kernel, refused the connection. The
	// *RejectError in the chain has reason and private data.
	ErrRejected = errors.New("rejected by peer")

	// ErrNoListener: nobody listens on that port (CM reject reason 8, on iWARP
	// ECONNREFUSED). Also matches ErrRejected and syscall.ECONNREFUSED.
	ErrNoListener = errors.New("no listener on that port")

	// ErrPeerGone: the peer withdrew its connection request before it was
	// accepted.
	ErrPeerGone = errors.New("peer gave up before the request was accepted")

	// ErrPeerClosed: the peer ended the connection, or died. Also matches
	// io.EOF. Where the peer left because this side could not take its message
	// (longer than Config.RecvSize), the failed receive is the cause instead.
	ErrPeerClosed error = peerClosed{}

	// ErrConnLost: the connection has ended, and not by this side's Close, which
	// is net.ErrClosed. The cause is in the chain: ErrPeerClosed, ErrPeerDead,
	// ErrDeviceRemoved, a *PortError, a *uverbs.CompletionError.
	ErrConnLost = errors.New("connection lost")

	// ErrPeerDead: the peer does not answer any more, neither an operation nor
	// a keep-alive (Config.KeepAlive). Its host may be down, or the path to it.
	ErrPeerDead = errors.New("the peer does not answer any more")

	// errNoReads: no reads and atomics were agreed on. It matches
	// errors.ErrUnsupported.
	errNoReads = errors.ErrUnsupported

	// ErrDeviceRemoved: the RDMA device was removed under the connection. It
	// is the error of package uverbs, because either package may be the first
	// to notice.
	ErrDeviceRemoved = uverbs.ErrDeviceRemoved

	// ErrNoDevice: the address belongs to no RDMA device.
	ErrNoDevice = errors.New("no RDMA device on that address")

	// ErrAddrInUse: the port is taken. Matches syscall.EADDRINUSE as well,
	// also where the kernel says EADDRNOTAVAIL because a wildcard address
	// takes part.
	ErrAddrInUse = errors.New("RDMA port in use")

	// ErrNoPorts: every port from which the kernel chooses one is taken. Matches
	// syscall.EADDRNOTAVAIL as well. Close connections, or widen the range: sysctl
	// net.ipv4.ip_local_port_range, which counts for IPv6 too, and for RDMA ports as
	// for those of TCP, though they are a space of their own.
	ErrNoPorts = errors.New("no local RDMA port left")

	// ErrBusy: the peer's listener has as many requests waiting as it takes
	// ([ListenConfig.Backlog]). Try again later. Also matches ErrRejected.
	ErrBusy = errors.New("the peer's listener is busy")

	// ErrImmediate: RecvCopy found a message with immediate data (SendImm, WriteImm
	// of the peer), for which it has no place. Recv returns it.
	ErrImmediate = errors.New("the message has immediate data, which RecvCopy cannot return: use Recv")

	// ErrLoopback: loopback addresses have no RDMA device. The kernel would
	// take one as the wildcard when binding, and fail late when connecting.
	ErrLoopback = errors.New("loopback addresses cannot carry RDMA; use an address of an RDMA interface, or a wildcard to listen")
)

// peerClosed is the type of ErrPeerClosed.
type peerClosed struct{}

// Error returns the text of ErrPeerClosed.
func (peerClosed) Error() string { return "connection closed by peer" }

// Is makes the error match io.EOF, as the end of a stream does.
func (peerClosed) Is(target error) bool { return target == io.EOF }

// Steps as errors and [Step] name them.
const (
	stepResolveName  = "resolve name"
	stepResolveAddr  = "resolve address"
	stepResolveRoute = "resolve route"
	stepOpenDevice   = "open device"
	stepQueuePair    = "set up queue pair"
	stepConnect      = "connect"
	stepEstablish    = "establish"
	stepAccept       = "accept"
	stepBind         = "bind"
	stepListen       = "listen"
)

// An OpError says what failed, where and why.
type OpError struct {
	Op     string   // "dial", "listen", "accept", "reject", "send", "receive", "read", "write", …
	Step   string   // the part of Op that failed, such as "resolve address"; may be empty
	Device string   // the RDMA device, once it is known
	Local  net.Addr // may be nil
	Remote net.Addr // may be nil
	Err    error    // the cause, never nil
	Hint   string   // what to check or do; may be empty

	// Posted says of an operation on a connection (send, write, read, atomic)
	// that the device had its request before it failed: the peer may have seen
	// it, or may still, and unless Err is a *[uverbs.CompletionError] the device
	// may use its memory until [Conn.Drain] says otherwise. When it is false the
	// peer sees nothing of it, and its memory is free.
	Posted bool
}

// Error reads like: dial 10.0.0.7:7174 via rxe0: connect: rejected by peer: …
func (e *OpError) Error() string {
	var b strings.Builder
	b.WriteString(e.Op)
	if e.Local != nil {
		fmt.Fprintf(&b, " %v", e.Local)
	}
	if e.Remote != nil {
		if e.Local != nil {
			b.WriteString(" ->")
		}
		fmt.Fprintf(&b, " %v", e.Remote)
	}
	if e.Device != "" {
		fmt.Fprintf(&b, " via %s", e.Device)
	}
	if e.Step != "" {
		fmt.Fprintf(&b, ": %s", e.Step)
	}
	fmt.Fprintf(&b, ": %v", e.Err)
	if e.Hint != "" {
		fmt.Fprintf(&b, " (%s)", e.Hint)
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *OpError) Unwrap() error { return e.Err }

// Timeout reports whether the cause was a time-out, the context's or the
// kernel's. Of a dial to several addresses, whether one of them timed out and no peer
// refused.
func (e *OpError) Timeout() bool { return isTimeout(e.Err) }

// A RejectError is a refused connection.
type RejectError struct {
	// Reason is the CM's reason code: 8 for no listener, 28 for a decision
	// of the application, and so on. 28 without private data may also come from the
	// peer's kernel: nobody listens on this address of the host, though on another
	// one, or the request was not answered in time. This package attaches a text to
	// all that it refuses. On iWARP it is a negative errno, as
	// abi.IWRejectStatus has them, and the error matches that errno.
	Reason abi.CMRejectReason

	// PrivateData is what the peer attached, padded with zeros to 148 bytes
	// (the wire does not carry the length); nil without any.
	PrivateData []byte
}

// Error returns reason and, where the peer attached readable text, that text.
func (e *RejectError) Error() string {
	if text := e.Text(); text != "" {
		return fmt.Sprintf("%v: %s: %q", ErrRejected, rejectText(e.Reason), text)
	}
	if e.Reason == abi.IB_CM_REJ_CONSUMER_DEFINED && e.PrivateData == nil {
		// cma_find_listener fails, or the ID was destroyed (cm_destroy_id). This
		// package attaches a text to what it refuses.
		return fmt.Sprintf("%v without a reason (CM reason %d): by its application, "+
			"or by its kernel because nobody listens on this address of the host, or the application ended or did not accept in time",
			ErrRejected, uint32(e.Reason))
	}
	return fmt.Sprintf("%v: %s", ErrRejected, rejectText(e.Reason))
}

// Text returns the private data as text without its zero padding, or "" when
// it is not printable.
func (e *RejectError) Text() string {
	s := strings.TrimRight(string(e.PrivateData), "\x00")
	for _, r := range s {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return "" // a peer's control characters are not for a terminal
		}
	}
	return s
}

// Is matches the sentinels of a refused connection.
func (e *RejectError) Is(target error) bool {
	switch target {
	case ErrRejected, syscall.ECONNREFUSED:
		return true
	case ErrNoListener:
		// On iWARP it is TCP that refuses then, which carries no data; a refusal by a
		// program has the same errno.
		refused := int32(e.Reason) == int32(abi.IWRejectRefused) && len(e.PrivateData) == 0
		return e.Reason == abi.IB_CM_REJ_INVALID_SERVICE_ID || refused
	case ErrBusy:
		return e.Text() == refusedBusy
	}
	errno, ok := e.errno()
	return ok && target == errno
}

// errno is the reason on iWARP, where the kernel reports negative errnos.
func (e *RejectError) errno() (syscall.Errno, bool) {
	if status := int32(e.Reason); status < 0 {
		return syscall.Errno(-status), true
	}
	return 0, false
}

// rejectText names a reason, in words where there are better ones than the
// specification's.
func rejectText(r abi.CMRejectReason) string {
	if status := abi.IWRejectStatus(int32(r)); status < 0 {
		return status.String()
	}
	switch r {
	case abi.IB_CM_REJ_INVALID_SERVICE_ID:
		return fmt.Sprintf("%v (CM reason %d, %v)", ErrNoListener, uint32(r), r)
	case abi.IB_CM_REJ_CONSUMER_DEFINED:
		return fmt.Sprintf("by the application (CM reason %d)", uint32(r))
	}
	return fmt.Sprintf("CM reason %d, %v", uint32(r), r)
}

// eventError is nil for the event hoped for, and else says what came instead.
func eventError(ev *ucma.Event, good abi.RDMACMEventType) error {
	switch ev.Type {
	case good:
		if ev.Status == 0 {
			return nil
		}
	case abi.RDMA_CM_EVENT_REJECTED:
		return &RejectError{Reason: abi.CMRejectReason(ev.Status), PrivateData: trimZero(ev.Conn().PrivateData)}
	case abi.RDMA_CM_EVENT_DEVICE_REMOVAL:
		return ErrDeviceRemoved
	case abi.RDMA_CM_EVENT_DISCONNECTED:
		return ErrPeerClosed
	}
	if ev.Status < 0 {
		return fmt.Errorf("%v: %w", ev.Type, syscall.Errno(-ev.Status))
	}
	return fmt.Errorf("unexpected event %v, status %d", ev.Type, ev.Status)
}

// trimZero returns nil for private data that is all padding.
func trimZero(p []byte) []byte {
	for _, b := range p {
		if b != 0 {
			return p
		}
	}
	return nil
}

// A stepFailure carries the name of a step up to the OpError.
type stepFailure struct {
	step string
	err  error
}

// Error returns step and cause.
func (e *stepFailure) Error() string { return e.step + ": " + e.err.Error() }

// Unwrap returns the cause.
func (e *stepFailure) Unwrap() error { return e.err }

func stepError(step string, err error) error {
	if err == nil {
		return nil
	}
	if isErrno(err, syscall.ENODEV) {
		err = withCause(ErrNoDevice, err)
	}
	return &stepFailure{step: step, err: err}
}

// removalError names the errno of a command on an ID that the kernel has
// closed, which it does when it removes the ID's device (ucma_get_ctx).
func removalError(err error) error {
	if isErrno(err, syscall.ENXIO) {
		return withCause(ErrDeviceRemoved, err)
	}
	return err
}

// bindError gives the errnos of a port that cannot be had one name for each cause.
// EADDRNOTAVAIL means that all ports are taken from which the kernel chooses
// (cma_alloc_any_port), a conflict that involves a wildcard (cma_check_port), or an
// address that this host does not have. netns is the ID's namespace.
func bindError(netns string, addr ucma.Sockaddr, err error) error {
	switch {
	case err == nil:
		return nil
	case isErrno(err, syscall.EADDRINUSE):
		return withCause(ErrAddrInUse, err)
	case isErrno(err, syscall.EADDRNOTAVAIL):
		return explainNotAvail(netns, addr, err)
	case isErrno(err, syscall.ENODEV):
		return withCause(ErrNoDevice, err)
	}
	return err
}

func explainNotAvail(netns string, addr ucma.Sockaddr, err error) error {
	// The zero Sockaddr leaves all to the kernel. Of native InfiniBand addresses the
	// device's absence is another errno.
	ap, ok := addr.AddrPort()
	mine := !ok || ap.Addr().IsUnspecified() || isLocalIn(netns, ap.Addr())
	switch {
	case !mine:
		return fmt.Errorf("no interface here has that address: %w", err)
	case ap.Port() == 0 && addr.Family() != abi.AF_IB:
		return withCause(ErrNoPorts, err)
	}
	return fmt.Errorf("%w: %w (%w)", ErrAddrInUse, syscall.EADDRINUSE, err)
}

// withCause joins a sentinel and the errno behind it in one line.
func withCause(sentinel, err error) error { return fmt.Errorf("%w: %w", sentinel, err) }

func isErrno(err error, errno syscall.Errno) bool { return errors.Is(err, errno) }

func isTimeout(err error) bool {
	var t interface{ Timeout() bool }
	return errors.As(err, &t) && t.Timeout()
}
