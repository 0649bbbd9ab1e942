package doctor

import (
	"errors"
	"syscall"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs"
)

// The two interfaces by which a verbs device takes commands. Each kernel that
// this program knows has both, so one that is missing was taken away.
const (
	noIoctl = "the uverbs ioctl interface is not available: this looks like a sandbox (seccomp, gVisor)"
	noWrite = "write() on the uverbs device is refused: this looks like a sandbox (seccomp, gVisor)"
)

// Missing says which of the two interfaces is missing; "" for none.
func (d Device) Missing() string {
	switch {
	case d.ioctlMissing():
		return noIoctl
	case d.WriteErr != nil:
		return noWrite
	}
	return ""
}

// ioctlMissing: an ioctl names the driver; without its number write is used
// everywhere.
func (d Device) ioctlMissing() bool {
	return d.Style == uverbs.StyleWrite && d.DriverID != abi.RDMA_DRIVER_UNKNOWN
}

// checkInterfaces notices a sandbox in which one of the two is missing.
func checkInterfaces(r *Result, d Device) {
	switch d.Missing() {
	case noIoctl:
		r.find("RP-ABI-004", d.Name, noIoctl+"; commands are given by write()", "GET_CONTEXT by ioctl fails, by write it does not",
			"allow ioctl(RDMA_VERBS_IOCTL) in the seccomp profile: without it there is no memory registration from dma-buf, and each command costs more")
	case noWrite:
		r.find("RP-ABI-005", d.Name, noWrite+"; commands are given by ioctl", "GET_CONTEXT by write fails: "+reason(d.WriteErr),
			"allow write() on device files in the seccomp profile: C programs of before 2019 know nothing else")
	}
}

// reason is the errno of an error, or all of it.
func reason(err error) string {
	if errno := syscall.Errno(0); errors.As(err, &errno) {
		return errno.Error()
	}
	return err.Error()
}
