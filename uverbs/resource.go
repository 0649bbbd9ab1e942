package uverbs

import (
	"context"
	"errors"
	"fmt"
)

// ResourceSummary returns how many objects of each kind exist on a device, by the
// kernel's names: pd, cq, qp, cm_id, mr, ctx and, on newer kernels, srq. It counts the
// objects of all processes and the kernel's own (an idle rxe device has pd 1, cq 1,
// qp 1). Equal counts before and after show that nothing leaked.
//
// It uses RDMA_NLDEV_CMD_RES_GET and needs no privilege. When d was found through
// sysfs, the error matches errors.ErrUnsupported.
func ResourceSummary(d *Device) (map[string]uint64, error) {
	if d.Index < 0 {
		return nil, fmt.Errorf("resources of %s: RDMA netlink is not available: %w", d.Name, errors.ErrUnsupported)
	}
	h := d.machine()
	c, err := h.dial()
	if err != nil {
		return nil, fmt.Errorf("resources of %s: %w", d.Name, err)
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), discoveryTimeout)
	defer cancel()
	counts, err := c.Resources(ctx, d.Index)
	if err != nil {
		return nil, fmt.Errorf("resources of %s: %w", d.Name, err)
	}
	return counts, nil
}
