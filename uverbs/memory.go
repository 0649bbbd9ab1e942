package uverbs

import (
	"fmt"
	"math/bits"
	"os"
	"unsafe"

	"github.com/purerdma/rdma/internal/offheap"
)

// MemoryConfig says how [AllocMemory] gets memory. Except for Size, the zero
// value is what [NewMemory] uses.
type MemoryConfig struct {
	// Size is how many bytes are wanted, at least 1.
	Size int

	// HugePageSize is the size in bytes of reserved huge pages to use, such as
	// 2<<20; 0 means ordinary pages. They must have been reserved
	// (/sys/kernel/mm/hugepages), else the error matches syscall.ENOMEM; sizes
	// that the machine does not have match syscall.EINVAL or ENOENT.
	HugePageSize int

	// TransparentHuge advises the kernel to use huge pages, reserved or not,
	// where it can (MADV_HUGEPAGE). Such memory is best many times larger than
	// a huge page.
	TransparentHuge bool

	// Shared makes the memory from a file that exists in memory only
	// (memfd_create), see [Memory.File].
	Shared bool

	// Name of the file in /proc, if Shared; "" becomes "rdma".
	Name string
}

// Memory is memory that a device may read and write: whole pages outside the
// Go heap, zeroed, owned by this value. The Go runtime neither moves nor frees
// it, and it is not given back to the system while a memory region uses it.
// Methods are safe for concurrent use.
//
// Children do not get it, unless it is shared, so starting processes (os/exec)
// while a device works on it is safe on every kernel; see [CopyOnFork] for
// memory that others map.
//
// Memory of the Go heap cannot be registered: the collector does not know
// about a device's accesses, and would free or reuse it under them. Copy into
// a Memory instead.
type Memory struct {
	life life
	mem  []byte
	all  []byte   // mem and the rest of the last huge page
	file *os.File // or nil
}

// NewMemory maps n bytes, rounded up to whole pages by the kernel. Close gives
// them back. The error matches the errno: syscall.EINVAL when n is not
// positive, syscall.ENOMEM when there is not enough address space.
func NewMemory(n int) (*Memory, error) { return AllocMemory(MemoryConfig{Size: n}) }

// AllocMemory maps memory as cfg says. Close gives it back. The error matches
// the errno, as NewMemory's and MemoryConfig's fields tell.
func AllocMemory(cfg MemoryConfig) (*Memory, error) {
	m := new(Memory)
	if err := m.mapPages(cfg); err != nil {
		return nil, fmt.Errorf("allocate memory for a device: %w", err)
	}
	if err := m.life.begin("", fmt.Sprintf("memory of %d bytes", cfg.Size)); err != nil {
		return nil, err // not reached: there is no parent to refuse
	}
	return m, nil
}

func (m *Memory) mapPages(cfg MemoryConfig) (err error) {
	if cfg.Size <= 0 {
		return fmt.Errorf("%d bytes: %w", cfg.Size, errInvalid)
	}
	if huge := cfg.HugePageSize; huge < 0 || bits.OnesCount(uint(huge)) > 1 {
		return fmt.Errorf("huge pages of %d bytes: not a power of two: %w", huge, errInvalid)
	} else if huge != 0 && huge <= os.Getpagesize() {
		return fmt.Errorf("huge pages of %d bytes: ordinary pages have %d: %w", huge, os.Getpagesize(), errInvalid)
	}
	pages := offheap.Pages{Huge: cfg.HugePageSize, Transparent: cfg.TransparentHuge}
	if cfg.Shared {
		name := cfg.Name
		if name == "" {
			name = "rdma"
		}
		if m.file, err = offheap.NewFile(name, cfg.Size, cfg.HugePageSize); err != nil {
			return fmt.Errorf("%w%s", err, hugeHint(cfg.HugePageSize))
		}
		pages.File = m.file
	}
	if m.all, err = offheap.MapPages(cfg.Size, pages); err != nil {
		m.closeFile()
		return fmt.Errorf("%w%s", err, hugeHint(cfg.HugePageSize))
	}
	m.mem = m.all[:cfg.Size:cfg.Size]
	return nil
}

// Bytes returns the memory, nil after Close. The slice must not be used after
// Close.
func (m *Memory) Bytes() []byte {
	if m.life.destroyed.Load() {
		return nil
	}
	return m.mem
}

// Len returns the size in bytes.
func (m *Memory) Len() int { return len(m.mem) }

// Addr returns the address of the first byte, as scatter/gather entries and
// remote peers use it.
func (m *Memory) Addr() uint64 { return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(m.mem)))) }

// String returns "memory of " and the size.
func (m *Memory) String() string { return m.life.name }

// File returns the file of shared memory, nil of other memory. Another process
// that gets it, for instance through exec.Cmd.ExtraFiles, can map the same
// pages. It belongs to the memory, whose Close closes it.
func (m *Memory) File() *os.File { return m.file }

// Close unmaps the memory. While memory regions exist on it, Close returns a
// *[BusyError] that names them. It may be called more than once and from any
// goroutine; slices of the memory must no longer be in use.
func (m *Memory) Close() error {
	return m.life.close(func() error {
		defer m.closeFile()
		return offheap.Unmap(m.all)
	}, nil)
}

func (m *Memory) closeFile() {
	if m.file != nil {
		m.file.Close()
	}
}
