package ucma

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/purerdma/rdma/internal/devfile"
	"github.com/purerdma/rdma/internal/rdmanl"
)

// openLoading opens the device and, where it is missing, asks RDMA netlink
// about it and tries again: being asked for the connection manager's device
// makes the kernel load module rdma_ucm where it can (ib_get_client_nl_info).
// No privilege is needed for that.
func openLoading(path string) (*devfile.File, error) {
	f, err := devfile.Open(nil, path)
	if !errors.Is(err, os.ErrNotExist) || !moduleThere() {
		return f, err
	}
	return devfile.Open(nil, path)
}

// moduleThere reports whether the kernel has, or has now loaded, the
// connection manager's device.
func moduleThere() bool {
	const patience = 5 * time.Second
	c, err := rdmanl.Open()
	if err != nil {
		return false
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_, err = c.CharDev(ctx, rdmanl.NoIndex, rdmanl.CharDevCM)
	return err == nil
}
