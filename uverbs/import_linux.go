package uverbs

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// dupFD returns another number of a descriptor.
func dupFD(fd int) (int, error) { return unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0) }

// deviceOfFD finds the device whose character device a descriptor is of.
func deviceOfFD(fd int) (*Device, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, fmt.Errorf("RDMA device of descriptor %d: %w", fd, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFCHR {
		return nil, fmt.Errorf("RDMA device of descriptor %d: no character device: %w", fd, ErrNoDevice)
	}
	major, minor := unix.Major(st.Rdev), unix.Minor(st.Rdev)
	all, err := Devices() // a filter would see devices before their numbers are known
	if err != nil {
		return nil, err
	}
	for _, d := range all {
		if d.CharDev.Exists() && d.CharDev.Major == major && d.CharDev.Minor == minor {
			return d, nil
		}
	}
	return nil, fmt.Errorf("RDMA device of descriptor %d (%d:%d): %w", fd, major, minor, ErrNoDevice)
}
