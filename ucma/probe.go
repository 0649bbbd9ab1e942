package ucma

import (
	"errors"
	"syscall"

	"github.com/purerdma/rdma/abi"
)

// A Feature is something newer kernels added to the connection manager.
type Feature int

// Features that can be probed.
const (
	// FeatureWriteEvent is WriteEvent and the event USER (kernel 6.18).
	FeatureWriteEvent Feature = iota
	// FeatureIBService is ResolveIBService and QueryIBService (kernel 6.18).
	FeatureIBService
)

// Supports asks the kernel whether it has a feature. The error is non-nil when
// that could not be told, for instance for lack of permission. Nothing is
// changed by asking.
func (c *Channel) Supports(f Feature) (bool, error) {
	// No ID has this handle (they come from a 32-bit index kept below
	// INT_MAX), so a kernel that knows the command says ENOENT before it does
	// anything, and one that does not says EINVAL (ucma_write).
	const noID = ^uint32(0)
	var err error
	switch f {
	case FeatureWriteEvent:
		err = c.WriteEvent(noID, abi.RDMA_CM_EVENT_USER, 0, 0)
	case FeatureIBService:
		err = c.ResolveIBService(noID, abi.RDMAUCMIBService{Flags: abi.RDMA_USER_CM_IB_SERVICE_FLAG_ID})
	default:
		return false, errors.ErrUnsupported
	}
	switch {
	case errors.Is(err, syscall.ENOENT):
		return true, nil
	case errors.Is(err, syscall.EINVAL):
		return false, nil
	}
	return err == nil, err
}
