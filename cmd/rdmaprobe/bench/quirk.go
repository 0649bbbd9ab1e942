package bench

import (
	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/kernelver"
	"github.com/purerdma/rdma/uverbs"
)

// rnrRetries is how often a message that meets no receive is repeated: for
// ever (7), but for soft-RoCE before 6.0, which repeats without a pause inside
// of the sender's system call when both ends are on one host, so that nothing
// ends it (see package cm).
func rnrRetries(d *uverbs.Device) uint8 {
	if d.DriverID == abi.RDMA_DRIVER_RXE && kernelver.Older(6, 0) {
		return 6
	}
	return 7
}
