package rdmanl

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"

	"github.com/purerdma/rdma/internal/interrupt"
)

// receiveSize holds the largest datagram the kernel makes for a dump, 32 KiB
// (netlink_dump), with room to spare.
const receiveSize = 64 << 10

// socket is an RDMA netlink socket that waits through the Go poller. Package nl has
// the message format; its own receive loop knows no context, has one time limit for
// the whole process and reads error messages without checking their length.
type socket struct {
	file *os.File
	raw  syscall.RawConn
	turn chan struct{} // holds a token while no request is under way
	buf  []byte
}

func openSocket() (transport, error) {
	s, err := openFamily(unix.NETLINK_RDMA)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// openFamily opens a socket of a netlink family. Tests use families that every kernel has.
func openFamily(family int) (*socket, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, family)
	if err != nil {
		return nil, err
	}
	file := os.NewFile(uintptr(fd), "rdma-netlink")
	raw, err := prepare(fd, file)
	if err != nil {
		_ = file.Close() // nothing was sent
		return nil, err
	}
	s := &socket{file: file, raw: raw, turn: make(chan struct{}, 1), buf: make([]byte, receiveSize)}
	s.turn <- struct{}{}
	return s, nil
}

func prepare(fd int, file *os.File) (syscall.RawConn, error) {
	if err := unix.Bind(fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return nil, err
	}
	// Explanations are a courtesy: without the option errors have only their errno.
	_ = unix.SetsockoptInt(fd, unix.SOL_NETLINK, unix.NETLINK_EXT_ACK, 1)
	_ = unix.SetsockoptInt(fd, unix.SOL_NETLINK, unix.NETLINK_CAP_ACK, 1)
	return file.SyscallConn()
}

func (s *socket) close() error { return s.file.Close() }

func (s *socket) exchange(ctx context.Context, typ uint16, dump bool, attrs []attr) ([][]byte, error) {
	select {
	case <-s.turn:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { s.turn <- struct{}{} }()

	flags := unix.NLM_F_ACK
	if dump {
		flags = unix.NLM_F_DUMP
	}
	req := nl.NewNetlinkRequest(int(typ), flags)
	for _, a := range attrs {
		req.AddData(nl.NewRtAttr(int(a.typ), a.data))
	}
	disarm := interrupt.Arm(ctx, s.file.SetDeadline)
	defer disarm()
	payloads, err := s.roundTrip(req)
	if errors.Is(err, os.ErrDeadlineExceeded) && ctx.Err() != nil {
		err = ctx.Err()
	}
	return payloads, err
}

func (s *socket) roundTrip(req *nl.NetlinkRequest) ([][]byte, error) {
	if err := s.send(req.Serialize()); err != nil {
		return nil, err
	}
	return s.answer(req.Seq)
}

// answer receives until the answer to a request is complete.
func (s *socket) answer(seq uint32) ([][]byte, error) {
	r := reply{seq: seq}
	for {
		datagram, err := s.receive()
		if err != nil {
			return nil, lostIsInterrupted(err)
		}
		if done, err := r.add(datagram); done || err != nil {
			return r.payloads, err
		}
	}
}

func (s *socket) send(b []byte) error {
	var err error
	werr := s.raw.Write(func(fd uintptr) bool {
		for {
			err = unix.Sendto(int(fd), b, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK})
			if err != unix.EINTR {
				return err != unix.EAGAIN
			}
		}
	})
	if werr != nil {
		return werr
	}
	return err
}

// receive returns the next datagram that the kernel sent; it is valid until the next
// call. Datagrams of other processes are dropped.
func (s *socket) receive() ([]byte, error) {
	for {
		var n, flags int
		var from unix.Sockaddr
		var err error
		rerr := s.raw.Read(func(fd uintptr) bool {
			for {
				n, _, flags, from, err = unix.Recvmsg(int(fd), s.buf, nil, 0)
				if err != unix.EINTR {
					return err != unix.EAGAIN
				}
			}
		})
		if rerr != nil {
			return nil, rerr
		}
		if err != nil {
			return nil, err
		}
		if sa, ok := from.(*unix.SockaddrNetlink); !ok || sa.Pid != 0 {
			continue
		}
		if flags&unix.MSG_TRUNC != 0 {
			return nil, fmt.Errorf("%w: datagram over %d bytes", ErrMalformed, len(s.buf))
		}
		return s.buf[:n], nil
	}
}
