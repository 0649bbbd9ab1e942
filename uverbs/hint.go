package uverbs

import (
	"errors"
	"fmt"
	"syscall"
)

// errInvalid is the cause of configurations that this package refuses itself.
var errInvalid = syscall.EINVAL

// limits are what the kernel lets this process pin.
type limits struct {
	known   bool
	memlock uint64 // bytes; unlimited is all ones
	pinned  uint64 // bytes pinned so far
	ipcLock bool   // CAP_IPC_LOCK effective in this user namespace
}

const unlimited = ^uint64(0)

// hint says what may have caused a failure that has a usual cause.
func hint(op string, err error) string {
	switch {
	case errors.Is(err, syscall.ENOMEM):
		return createHint(op)
	case errors.Is(err, syscall.EBUSY):
		return "the kernel is still using the object"
	case errors.Is(err, syscall.EMFILE):
		return "the process has no file descriptor left (RLIMIT_NOFILE)"
	}
	return ""
}

func createHint(op string) string {
	switch op {
	case methodQPCreate.name, cmdCreateQP.name, methodCQCreate.name, cmdCreateCQ.name:
		return "the device has no more of them (see QueryDevice and 'rdma resource show'), " +
			"the rdma cgroup's hca_object limit is reached, or RLIMIT_MEMLOCK is too small for drivers that pin rings"
	}
	return ""
}

// memlockHint explains a refused registration with the numbers that matter.
func memlockHint(err error, length int) string {
	if !errors.Is(err, syscall.ENOMEM) && !errors.Is(err, syscall.EPERM) {
		return ""
	}
	return explainMemlock(processLimits(), length)
}

func explainMemlock(l limits, length int) string {
	if !l.known {
		return ""
	}
	if l.memlock == unlimited {
		return "RLIMIT_MEMLOCK is unlimited, so the device, the rdma cgroup or the machine has no memory left"
	}
	cap := "CAP_IPC_LOCK is not effective"
	if l.ipcLock {
		// ib_umem_get asks capable(), which looks at the initial user namespace.
		cap = "CAP_IPC_LOCK is effective in this user namespace, but the kernel asks for it in the initial one"
	}
	return fmt.Sprintf("RLIMIT_MEMLOCK is %d bytes, %d are pinned, %d more were asked for, and %s; "+
		"raise the limit (ulimit -l unlimited, docker run --ulimit memlock=-1, systemd LimitMEMLOCK=infinity) or grant CAP_IPC_LOCK",
		l.memlock, l.pinned, length, cap)
}
