package rdmanl

import (
	"context"
	"fmt"

	"github.com/purerdma/rdma/abi"
)

// NewLink makes a soft device called name of a link type ("rxe", "siw") on a netdev
// (RDMA_NLDEV_CMD_NEWLINK). It needs CAP_NET_ADMIN in the initial user namespace.
// When ctx ends first the kernel goes on, and the link may still appear.
func NewLink(ctx context.Context, name, linkType, netdev string) error {
	attrs := []attr{
		putString(uint16(abi.RDMA_NLDEV_ATTR_DEV_NAME), name),
		putString(uint16(abi.RDMA_NLDEV_ATTR_LINK_TYPE), linkType),
		putString(uint16(abi.RDMA_NLDEV_ATTR_NDEV_NAME), netdev),
	}
	return wrap("NEWLINK", name, change(ctx, abi.RDMA_NLDEV_CMD_NEWLINK, attrs))
}

// DeleteLink removes a soft device (RDMA_NLDEV_CMD_DELLINK). It needs CAP_NET_ADMIN in
// the initial user namespace. Kernels whose driver lacks disassociation (rxe before
// 7.x) wait until each process has closed the device; when ctx ends first, the removal
// stays under way in the kernel.
func DeleteLink(ctx context.Context, index int) error {
	return wrap("DELLINK", deviceObject(index), change(ctx, abi.RDMA_NLDEV_CMD_DELLINK, []attr{devIndex(index)}))
}

// change makes a request on a socket of its own, from a goroutine of its own, which
// stays behind when ctx ends first: nothing can call a thread back from the kernel's
// handler.
func change(ctx context.Context, cmd abi.RDMANldevCommand, attrs []attr) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c, err := Open()
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() {
		_, err := c.ask(context.WithoutCancel(ctx), cmd, false, attrs)
		_ = c.Close() // the answer counts, not the socket
		done <- err
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("still under way in the kernel: %w", ctx.Err())
	}
}
