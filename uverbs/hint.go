package uverbs

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/purerdma/rdma/abi"
)

// errInvalid is the cause of configurations that this package refuses itself.
var errInvalid = syscall.EINVAL

// limits are what the kernel lets this process pin.
type limits struct {
	known   bool
	memlock uint64 // bytes; unlimited is all ones
	pinned  uint64 // bytes pinned so far
	ipcLock bool   // CAP_IPC_LOCK effective in this user namespace
	initial bool   // this user namespace is the initial one
}

const unlimited = ^uint64(0)

// hint says what may have caused a failure that has a usual cause.
func hint(op string, err error) string {
	switch {
	case errors.Is(err, syscall.ENOMEM):
		return createHint(op)
	case errors.Is(err, syscall.EBUSY):
		return "the kernel is still using the object"
	case errors.Is(err, syscall.EPROTONOSUPPORT):
		return "this kernel, or the device's driver in it, has no such method"
	case errors.Is(err, syscall.EMFILE):
		return "the process has no file descriptor left (RLIMIT_NOFILE)"
	}
	return ""
}

func createHint(op string) string {
	switch op {
	case methodQPCreate.name, cmdCreateQP.name, methodCQCreate.name, cmdCreateCQ.name,
		methodSRQCreate.name, cmdCreateSRQ.name:
		return "the device has no more of them (see QueryDevice and 'rdma resource show'), " +
			"the rdma cgroup's hca_object limit is reached, or RLIMIT_MEMLOCK is too small for drivers that pin rings"
	}
	return ""
}

// refusedMemory explains a refused registration of length bytes at start with the
// numbers that matter. The error matches ErrMemlock when they are the cause.
func refusedMemory(err error, start uint64, length int) (hint string, cause error) {
	if !errors.Is(err, syscall.ENOMEM) && !errors.Is(err, syscall.EPERM) {
		return "", err
	}
	l := processLimits()
	pages := pagesOf(start, length)
	if l.forbid(pages) {
		err = memlockError{err}
	}
	return explainMemlock(l, length, pages), err
}

// pagesOf returns how many pages the bytes are on.
func pagesOf(start uint64, length int) uint64 {
	page := uint64(os.Getpagesize())
	return (start%page + uint64(length) + page - 1) / page
}

// memlockError is an errno that comes from the limit on locked memory.
type memlockError struct{ error }

// Unwrap returns the errno.
func (e memlockError) Unwrap() error { return e.error }

// Is reports the class beside the errno's own.
func (e memlockError) Is(target error) bool { return target == ErrMemlock }

// forbid reports whether so many pages more may not be pinned. ib_umem_get counts
// whole pages against the limit, and asks capable(), which looks at the initial
// user namespace.
func (l limits) forbid(pages uint64) bool {
	if !l.known || l.memlock == unlimited || l.ipcLock && l.initial {
		return false
	}
	page := uint64(os.Getpagesize())
	return l.memlock == 0 || l.pinned/page+pages > l.memlock/page
}

// explainMemlock puts the limits into words, for length bytes on so many pages.
func explainMemlock(l limits, length int, pages uint64) string {
	switch {
	case !l.known:
		return ""
	case l.memlock == unlimited:
		return "RLIMIT_MEMLOCK is unlimited" + notLocked
	case l.ipcLock && l.initial:
		return "CAP_IPC_LOCK is effective, so RLIMIT_MEMLOCK does not count" + notLocked
	}
	numbers := fmt.Sprintf("RLIMIT_MEMLOCK is %d bytes, %d are pinned, %d more were asked for", l.memlock, l.pinned, length)
	if whole := pages * uint64(os.Getpagesize()); whole != uint64(length) {
		numbers += fmt.Sprintf(" (%d in whole pages)", whole)
	}
	if !l.forbid(pages) {
		return numbers + ", which it allows" + notLocked
	}
	cap := "CAP_IPC_LOCK is not effective"
	if l.ipcLock {
		cap = "CAP_IPC_LOCK is effective in this user namespace only, but the kernel asks for it in the initial one"
	}
	return numbers + ", and " + cap + "; raise the limit (ulimit -l unlimited; docker run --ulimit memlock=-1; " +
		"systemd: LimitMEMLOCK=infinity; Kubernetes: the limit of the container runtime's service) " +
		"or grant CAP_IPC_LOCK in the initial user namespace (docker run --cap-add IPC_LOCK; in a container it is effective for root only)"
}

// notLocked ends an explanation that excludes the usual cause.
const notLocked = ", so the device, the rdma cgroup or the machine has no memory left"

// hugeHint ends the message of a refused allocation of huge pages.
func hugeHint(size int) string {
	if size == 0 {
		return ""
	}
	return fmt.Sprintf("; huge pages of %d KiB must exist and be reserved: "+
		"see /sys/kernel/mm/hugepages/hugepages-%dkB/nr_hugepages and free_hugepages", size>>10, size>>10)
}

// withLimits adds to a refused creation which limit of the device it exceeds.
// The caller's object keeps the context open.
func (c *Context) withLimits(err error, exceeded func(*abi.IBUverbsQueryDeviceResp) string) error {
	var e *Error
	if !errors.As(err, &e) || !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOMEM) {
		return err
	}
	raw, _, queryErr := c.queryDevice()
	if queryErr != nil {
		return err // the first failure is the one to tell
	}
	if s := exceeded(&raw.Base); s != "" {
		e.Hint = s
	}
	return err
}

// limit is a number of a configuration and the device's maximum for it.
type limit struct {
	name  string
	asked int
	max   uint32
	of    string // the kernel's name of the maximum
}

// firstExceeded says which of several limits is the first exceeded.
func firstExceeded(all ...limit) string {
	for _, l := range all {
		if l.asked < 0 || l.asked > int(l.max) {
			return fmt.Sprintf("%s is %d, the device allows %d (%s)", l.name, l.asked, l.max, l.of)
		}
	}
	return ""
}

// exceeded says which limit a queue pair exceeds.
func (cfg *QPConfig) exceeded(d *abi.IBUverbsQueryDeviceResp) string {
	if n := cfg.Cap.MaxInline; !fits32(n) {
		return fmt.Sprintf("Cap.MaxInline is %d", n) // the kernel does not tell a maximum
	}
	return firstExceeded(
		limit{"Cap.MaxSendWR", cfg.Cap.MaxSendWR, d.MaxQPWR, "max_qp_wr"},
		limit{"Cap.MaxRecvWR", cfg.Cap.MaxRecvWR, d.MaxQPWR, "max_qp_wr"},
		limit{"Cap.MaxSendSGE", cfg.Cap.MaxSendSGE, d.MaxSGE, "max_sge"},
		limit{"Cap.MaxRecvSGE", cfg.Cap.MaxRecvSGE, d.MaxSGE, "max_sge"},
	)
}

// exceeded says which limit a shared receive queue exceeds.
func (cfg *SRQConfig) exceeded(d *abi.IBUverbsQueryDeviceResp) string {
	if cfg.MaxWR < 1 {
		return fmt.Sprintf("MaxWR is %d, must be at least 1", cfg.MaxWR)
	}
	return firstExceeded(
		limit{"MaxWR", cfg.MaxWR, d.MaxSRQWR, "max_srq_wr"},
		limit{"MaxSGE", cfg.MaxSGE, d.MaxSRQSGE, "max_srq_sge"},
		limit{"Limit", cfg.Limit, uint32(cfg.MaxWR), "MaxWR"},
	)
}

// exceeded says which limit a completion queue exceeds.
func (cfg *CQConfig) exceeded(d *abi.IBUverbsQueryDeviceResp, vectors int) string {
	if cfg.Entries < 1 || cfg.Entries > int(d.MaxCQE) {
		return fmt.Sprintf("Entries is %d, the device allows 1 to %d (max_cqe)", cfg.Entries, d.MaxCQE)
	}
	if cfg.Vector < 0 || cfg.Vector >= vectors {
		return fmt.Sprintf("Vector is %d, the device has 0 to %d", cfg.Vector, vectors-1)
	}
	return ""
}
