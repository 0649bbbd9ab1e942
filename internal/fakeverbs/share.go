package fakeverbs

import (
	"syscall"

	"github.com/purerdma/rdma/abi"
)

// Share returns a descriptor of the device as another process would have it: with
// or without the context that is there.
func (k *Kernel) Share(withContext bool) int {
	k.mu.Lock()
	defer k.mu.Unlock()
	fd := k.newFD(deviceFile)
	k.fds[fd].context = withContext
	return fd
}

// queryContext answers as drivers do that have nothing to tell, unless the device
// is hardware.
func (k *Kernel) queryContext(r *request) error {
	switch {
	case !r.f.context:
		return syscall.EINVAL
	case !k.Hardware:
		return syscall.EOPNOTSUPP
	}
	put(r, 0, uint32(4))
	put(r, 1, uint64(abi.IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS))
	return nil
}
