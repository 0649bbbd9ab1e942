package uverbs

import (
	"fmt"
	"unsafe"

	"github.com/purerdma/rdma/internal/offheap"
)

// Memory is memory that a device may read and write: whole pages outside the
// Go heap, zeroed, owned by this value. The Go runtime neither moves nor frees
// it, and it is not given back to the system while a memory region uses it.
//
// Memory of the Go heap cannot be registered: the collector does not know
// about a device's accesses, and would free or reuse it under them. Copy into
// a Memory instead.
type Memory struct {
	life life
	mem  []byte
}

// NewMemory maps n bytes, rounded up to whole pages by the kernel. Close gives
// them back. The error matches the errno: syscall.EINVAL when n is not
// positive, syscall.ENOMEM when there is not enough address space.
func NewMemory(n int) (*Memory, error) {
	mem, err := offheap.Map(n)
	if err != nil {
		return nil, fmt.Errorf("allocate memory for a device: %w", err)
	}
	m := &Memory{mem: mem}
	if err := m.life.begin("memory", fmt.Sprintf("memory of %d bytes", n)); err != nil {
		return nil, err // not reached: there is no parent to refuse
	}
	return m, nil
}

// Bytes returns the memory. The slice must not be used after Close.
func (m *Memory) Bytes() []byte { return m.mem }

// Len returns the size in bytes.
func (m *Memory) Len() int { return len(m.mem) }

// Addr returns the address of the first byte, as scatter/gather entries and
// remote peers use it.
func (m *Memory) Addr() uint64 { return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(m.mem)))) }

// Close unmaps the memory. While memory regions exist on it, Close returns a
// *[BusyError] that names them. It may be called more than once and from any
// goroutine; slices of the memory must no longer be in use.
func (m *Memory) Close() error {
	return m.life.close(func() error { return offheap.Unmap(m.mem) }, nil)
}
