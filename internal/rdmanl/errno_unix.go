//go:build unix

package rdmanl

import (
	"syscall"

	"golang.org/x/sys/unix"
)

func errnoName(e syscall.Errno) string {
	if e == syscall.EOPNOTSUPP {
		return "EOPNOTSUPP" // on Linux the same number as ENOTSUP; the kernel says this
	}
	return unix.ErrnoName(e)
}
