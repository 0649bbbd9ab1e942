package rdmanl

import (
	"context"
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/interrupt"
)

type monitorSocket struct{ *socket }

func openMonitor() (receiver, error) {
	s, err := openFamily(unix.NETLINK_RDMA)
	if err != nil {
		return nil, err
	}
	if err := s.join(abi.RDMA_NL_GROUP_NOTIFY); err != nil {
		_ = s.close() // nothing was sent
		return nil, err
	}
	return monitorSocket{s}, nil
}

// join makes the socket receive what is sent to a group.
func (s *socket) join(group int) error {
	var joinErr error
	err := s.raw.Control(func(fd uintptr) {
		joinErr = unix.SetsockoptInt(int(fd), unix.SOL_NETLINK, unix.NETLINK_ADD_MEMBERSHIP, group)
	})
	return errors.Join(err, joinErr)
}

func (s monitorSocket) next(ctx context.Context) ([]byte, error) {
	disarm := interrupt.Arm(ctx, s.file.SetReadDeadline)
	defer disarm()
	b, err := s.receive()
	if errors.Is(err, os.ErrDeadlineExceeded) && ctx.Err() != nil {
		err = ctx.Err()
	}
	return b, err
}
