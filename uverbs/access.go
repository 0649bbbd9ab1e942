package uverbs

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/purerdma/rdma/abi"
)

// Access says what a memory region, a memory window or a queue pair allows.
// Reading by the own device is always allowed.
type Access = abi.IBUverbsAccessFlags

// Access flags. Those that let a peer write or run atomic operations need
// AccessLocalWrite too.
const (
	AccessLocalWrite   = abi.IB_UVERBS_ACCESS_LOCAL_WRITE   // the own device may write: receives, reads
	AccessRemoteWrite  = abi.IB_UVERBS_ACCESS_REMOTE_WRITE  // peers may write
	AccessRemoteRead   = abi.IB_UVERBS_ACCESS_REMOTE_READ   // peers may read; soft-iWARP does not check it (siw_check_sgl_tx)
	AccessRemoteAtomic = abi.IB_UVERBS_ACCESS_REMOTE_ATOMIC // peers may run atomic operations (not on iWARP)
	AccessMWBind       = abi.IB_UVERBS_ACCESS_MW_BIND       // memory windows may be bound to the region (not on soft-iWARP)

	// AccessZeroBased counts addresses in the region from 0, or from the
	// offset within its first page. Soft-RoCE takes the flag before Linux 6.2
	// only, where [PD.RegMRAt] with an address of 0 does the same on all kernels.
	// Soft-iWARP has neither.
	AccessZeroBased = abi.IB_UVERBS_ACCESS_ZERO_BASED

	// AccessOnDemand pins nothing: the device fetches pages when it needs
	// them. RLIMIT_MEMLOCK does not count then. Soft-RoCE has it from Linux
	// 6.18 on.
	AccessOnDemand = abi.IB_UVERBS_ACCESS_ON_DEMAND

	// AccessHugeTLB says that the memory consists of huge pages, so that the
	// device may use larger pages too. It matters with AccessOnDemand only.
	// Soft-RoCE refuses it from Linux 6.2 on (errors.ErrUnsupported).
	AccessHugeTLB = abi.IB_UVERBS_ACCESS_HUGETLB

	// Peers may flush to global visibility or to persistence
	// (IB_UVERBS_WR_FLUSH). Linux 6.2; soft-RoCE registers the latter on
	// persistent memory only.
	AccessFlushGlobal     = abi.IB_UVERBS_ACCESS_FLUSH_GLOBAL
	AccessFlushPersistent = abi.IB_UVERBS_ACCESS_FLUSH_PERSISTENT

	// AccessRelaxedOrdering lets the device's writes overtake each other. It
	// is a hint: devices and kernels without it (before 5.7) ignore it.
	AccessRelaxedOrdering = abi.IB_UVERBS_ACCESS_RELAXED_ORDERING
)

// forKernel leaves out the optional flags where the kernel would refuse them.
func (c *Context) forKernel(a Access) Access {
	if c.coreSupport&uint64(abi.IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS) == 0 {
		a &^= abi.IB_UVERBS_ACCESS_OPTIONAL_RANGE
	}
	return a
}

// An unsupportedError is an answer of the kernel which by itself does not tell
// that the device lacks something.
type unsupportedError struct {
	what string
	err  error
}

// Error gives the kernel's answer and what the device lacks.
func (e *unsupportedError) Error() string {
	return fmt.Sprintf("%v: the device has no %s", e.err, e.what)
}

// Unwrap returns the answer and errors.ErrUnsupported.
func (e *unsupportedError) Unwrap() []error { return []error{e.err, errors.ErrUnsupported} }

// lacks names the first ability that access flags need and a device does not
// have. The kernel answers EINVAL then (ib_check_mr_access), and an old one also
// to bits it does not know.
func lacks(d *abi.IBUverbsExQueryDeviceResp, a Access) string {
	caps := abi.IBUverbsDeviceCapFlags(d.DeviceCapFlagsEx)
	switch {
	case a&AccessOnDemand != 0 && d.OdpCaps.GeneralCaps&uint64(abi.IB_UVERBS_ODP_SUPPORT) == 0:
		return "on-demand paging"
	case a&AccessFlushGlobal != 0 && caps&abi.IB_UVERBS_DEVICE_FLUSH_GLOBAL == 0:
		return "flush to global visibility"
	case a&AccessFlushPersistent != 0 && caps&abi.IB_UVERBS_DEVICE_FLUSH_PERSISTENT == 0:
		return "flush to persistence"
	}
	return ""
}

// explainAccess finds out whether a refused registration asked for what the
// device lacks. The caller's object keeps the context open.
func (c *Context) explainAccess(err error, a Access) error {
	if !errors.Is(err, syscall.EINVAL) {
		return err
	}
	raw, _, queryErr := c.queryDevice()
	if queryErr != nil {
		return err // the first failure is the one to tell
	}
	if what := lacks(&raw, a); what != "" {
		return &unsupportedError{what: what, err: err}
	}
	return err
}
