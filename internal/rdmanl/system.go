package rdmanl

import (
	"context"

	"github.com/purerdma/rdma/abi"
)

// System is what RDMA_NLDEV_CMD_SYS_GET tells about the RDMA subsystem.
type System struct {
	// Shared says that every network namespace sees every device. When false
	// (exclusive mode), a device is seen only in the namespace it belongs to.
	Shared bool
	// HasNetnsMode tells whether the kernel reported the mode.
	HasNetnsMode bool
	// CopyOnFork says that fork copies pinned pages, so that a child cannot disturb
	// registered memory.
	CopyOnFork bool
	// PrivilegedQKey says that unprivileged processes may use privileged Q_Keys.
	PrivilegedQKey bool
	// Monitor says that the kernel sends notifications about devices (kernel 6.12).
	Monitor bool
}

// System asks for the properties of the RDMA subsystem.
func (c *Client) System(ctx context.Context) (System, error) {
	var s System
	err := c.one(ctx, abi.RDMA_NLDEV_CMD_SYS_GET, nil, s.attr)
	return s, wrap("SYS_GET", "", err)
}

func (s *System) attr(a attr) error {
	flag := func(p *bool) error {
		var v uint8
		err := a.u8(&v)
		*p = v != 0
		return err
	}
	switch abi.RDMANldevAttr(a.typ) {
	case abi.RDMA_NLDEV_SYS_ATTR_NETNS_MODE:
		s.HasNetnsMode = true
		return flag(&s.Shared)
	case abi.RDMA_NLDEV_SYS_ATTR_COPY_ON_FORK:
		return flag(&s.CopyOnFork)
	case abi.RDMA_NLDEV_SYS_ATTR_PRIVILEGED_QKEY_MODE:
		return flag(&s.PrivilegedQKey)
	case abi.RDMA_NLDEV_SYS_ATTR_MONITOR_MODE:
		return flag(&s.Monitor)
	}
	return nil
}
