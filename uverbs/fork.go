package uverbs

import (
	"context"
	"fmt"
)

// CopyOnFork reports whether the kernel copies memory that devices use when a
// process forks (RDMA_NLDEV_SYS_ATTR_COPY_ON_FORK, kernel 5.12). If it does not,
// fork may leave the device with pages that the process no longer sees.
//
// This module needs no such copying: Go starts programs with vfork, its
// [Memory] is kept from children, and the rings of devices are shared. It
// matters to programs that register memory in C and fork there.
//
// The error is that of RDMA netlink; the answer is then not known.
func CopyOnFork() (bool, error) { return realHost().copyOnFork() }

func (h *host) copyOnFork() (bool, error) {
	c, err := h.dial()
	if err != nil {
		return false, fmt.Errorf("ask for copy-on-fork: %w", err)
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), discoveryTimeout)
	defer cancel()
	s, err := c.System(ctx)
	if err != nil {
		return false, fmt.Errorf("ask for copy-on-fork: %w", err)
	}
	return s.CopyOnFork, nil
}
