package offheap

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Map returns n zeroed bytes of anonymous memory, rounded up to whole pages.
// MADV_DONTFORK is not set: kernels since 5.12 copy pinned pages on fork.
func Map(n int) ([]byte, error) {
	if n <= 0 {
		return nil, fmt.Errorf("map %d bytes: %w", n, unix.EINVAL)
	}
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
	return nil
}
