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
	t, err := openSocket()
	if err != nil {
		return nil, err
	}
	s := t.(*socket)
	var joinErr error
	err = s.raw.Control(func(fd uintptr) {
		joinErr = unix.SetsockoptInt(int(fd), unix.SOL_NETLINK, unix.NETLINK_ADD_MEMBERSHIP, abi.RDMA_NL_GROUP_NOTIFY)
	})
	if err == nil {
		err = joinErr
	}
	if err != nil {
		_ = s.close() // nothing was sent
		return nil, err
	}
	return monitorSocket{s}, nil
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
