package offheap

import (
	"fmt"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

var mapped atomic.Int64

// Mapped returns how many bytes of Map were not given back yet, for leak
// checks. The pool of command blocks does not count.
func Mapped() int64 { return mapped.Load() }

// Map returns n zeroed bytes of anonymous memory, rounded up to whole pages.
// MADV_DONTFORK is not set: kernels since 5.12 copy pinned pages on fork.
func Map(n int) ([]byte, error) {
	if n <= 0 {
		return nil, fmt.Errorf("map %d bytes: %w", n, unix.EINVAL)
	}
	mem, err := mapPages(n)
	if err == nil {
		mapped.Add(int64(n))
	}
	return mem, err
}

func mapPages(n int) ([]byte, error) {
	mem, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return nil, fmt.Errorf("map %d bytes: %w", n, err)
	}
	return mem, nil
}

// Unmap gives back memory from Map. The slice must be the one Map returned.
func Unmap(mem []byte) error {
	if err := unix.Munmap(mem); err != nil {
		return fmt.Errorf("unmap %d bytes: %w", len(mem), err)
	}
	mapped.Add(-int64(len(mem)))
	return nil
}
