package offheap

import (
	"fmt"
	"math/bits"
	"os"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

var mapped atomic.Int64

// Mapped returns how many bytes of Map and MapPages were not given back yet,
// for leak checks. The pool of command blocks does not count.
func Mapped() int64 { return mapped.Load() }

// Map returns n zeroed bytes of anonymous memory, rounded up to whole pages.
func Map(n int) ([]byte, error) { return MapPages(n, Pages{}) }

// MapPages is Map with a choice of pages. The slice is longer than n where huge
// pages are.
//
// Private memory is kept from children (MADV_DONTFORK): a fork would copy all
// of it where the kernel copies pinned pages (since 5.12), and take pages from
// under the device where it does not. Go programs start others with vfork, but
// truly fork for a child in a new user namespace.
func MapPages(n int, p Pages) ([]byte, error) {
	if n <= 0 {
		return nil, fmt.Errorf("map %d bytes: %w", n, unix.EINVAL)
	}
	fd, flags := -1, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS
	switch {
	case p.File != nil:
		fd, flags = int(p.File.Fd()), unix.MAP_SHARED
	case p.Huge > 0:
		flags |= unix.MAP_HUGETLB | hugeShift(p.Huge)<<unix.MAP_HUGE_SHIFT
	}
	mem, err := unix.Mmap(fd, 0, p.round(n), unix.PROT_READ|unix.PROT_WRITE, flags)
	if err != nil {
		return nil, fmt.Errorf("map %d bytes: %w", n, err)
	}
	if err := p.advise(mem); err != nil {
		_ = unix.Munmap(mem)
		return nil, err
	}
	mapped.Add(int64(len(mem)))
	return mem, nil
}

func (p Pages) advise(mem []byte) error {
	if p.File == nil {
		if err := unix.Madvise(mem, unix.MADV_DONTFORK); err != nil {
			return fmt.Errorf("keep %d bytes from children: %w", len(mem), err)
		}
	}
	if p.Transparent {
		// Refused by kernels without transparent huge pages: it is only advice.
		_ = unix.Madvise(mem, unix.MADV_HUGEPAGE)
	}
	return nil
}

func hugeShift(size int) int { return bits.TrailingZeros(uint(size)) }

func mapPages(n int) ([]byte, error) {
	mem, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return nil, fmt.Errorf("map %d bytes: %w", n, err)
	}
	return mem, nil
}

// Unmap gives back memory from Map or MapPages. The slice must be the one they
// returned.
func Unmap(mem []byte) error {
	if err := unix.Munmap(mem); err != nil {
		return fmt.Errorf("unmap %d bytes: %w", len(mem), err)
	}
	mapped.Add(-int64(len(mem)))
	return nil
}

// NewFile makes a file of n bytes that exists in memory only (memfd_create), of
// huge pages if huge is their size and not 0. It is closed on exec.
func NewFile(name string, n, huge int) (*os.File, error) {
	flags := unix.MFD_CLOEXEC
	if huge > 0 {
		flags |= unix.MFD_HUGETLB | hugeShift(huge)<<unix.MFD_HUGE_SHIFT
	}
	fd, err := unix.MemfdCreate(name, flags)
	if err != nil {
		return nil, fmt.Errorf("create a file in memory: %w", err)
	}
	f := os.NewFile(uintptr(fd), "memfd:"+name)
	if err := unix.Ftruncate(fd, int64(Pages{Huge: huge}.round(n))); err != nil {
		f.Close()
		return nil, fmt.Errorf("create a file of %d bytes in memory: %w", n, err)
	}
	return f, nil
}
