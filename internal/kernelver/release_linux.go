package kernelver

import "golang.org/x/sys/unix"

// Release is the kernel's release as uname(2) says it, such as "6.12.95-amd64", or
// empty.
func Release() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return ""
	}
	return unix.ByteSliceToString(u.Release[:])
}
