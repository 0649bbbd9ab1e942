package cm

import (
	"github.com/purerdma/rdma/internal/devfile"
	"github.com/purerdma/rdma/uverbs"
)

// host is what this package asks of the machine. Tests put fake kernels in its
// place.
var host = struct {
	kernel        devfile.Kernel // nil is the running one
	deviceByIndex func(index int) (*uverbs.Device, error)
	deviceByName  func(name string) (*uverbs.Device, error)
	deviceByGUID  func(guid uverbs.GUID) (*uverbs.Device, error)
	devices       func() ([]*uverbs.Device, error)
	maxBacklog    func() (n int, ok bool) // the sysctl net.rdma_ucm.max_backlog
}{
	deviceByIndex: uverbs.DeviceByIndex,
	deviceByName:  uverbs.DeviceByName,
	deviceByGUID:  uverbs.DeviceByGUID,
	devices:       uverbs.Devices,
	maxBacklog:    readMaxBacklog,
}
