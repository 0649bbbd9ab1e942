package uverbs

import (
	"fmt"

	"github.com/purerdma/rdma/abi"
)

// TPHMemType is the kind of memory that a [DMAHint] is about (PCIe TLP
// processing hints).
type TPHMemType uint8

// Kinds of memory.
const (
	TPHVolatile   TPHMemType = 0
	TPHPersistent TPHMemType = 1
)

// DMAHintConfig says what a hint shall tell. Fields that are nil tell nothing.
type DMAHintConfig struct {
	// CPU is the number of the processor that works with the data, one on which
	// the calling thread may run.
	CPU *uint32

	// MemType is the kind of memory.
	MemType *TPHMemType

	// Hint is the two-bit processing hint of PCIe, 0 to 3.
	Hint *uint8
}

// A DMAHint, in C an ibv_dmah, tells a device how the data it moves for a memory
// region will be used, so that it can steer them into a processor's cache.
type DMAHint struct {
	life   life
	c      *Context
	handle uint32
}

// AllocDMAHint creates a hint (DMAH_ALLOC, in Linux 6.18 but not 6.12, ioctl only).
// The error is an *[Error]; it matches errors.ErrUnsupported where kernel or
// driver cannot, as soft-RoCE, and syscall.EPERM for a processor on which the
// thread may not run.
func (c *Context) AllocDMAHint(cfg DMAHintConfig) (*DMAHint, error) {
	h := &DMAHint{c: c}
	if err := h.life.begin(c.dev.Name, "new DMA hint", &c.life); err != nil {
		return nil, err
	}
	if err := h.create(cfg); err != nil {
		h.life.unregister()
		return nil, err
	}
	h.life.settle(c.dev.Name, fmt.Sprintf("DMA hint %d", h.handle))
	return h, nil
}

func (h *DMAHint) create(cfg DMAHintConfig) error {
	i, err := h.c.nativeOnly(&methodDMAHAlloc, h.life.name)
	if err != nil {
		return err
	}
	defer i.release()
	handle := i.result(uint16(abi.UVERBS_ATTR_ALLOC_DMAH_HANDLE))
	if cfg.CPU != nil {
		i.u32(uint16(abi.UVERBS_ATTR_ALLOC_DMAH_CPU_ID), *cfg.CPU)
	}
	if cfg.MemType != nil {
		i.choice(uint16(abi.UVERBS_ATTR_ALLOC_DMAH_TPH_MEM_TYPE), uint8(*cfg.MemType))
	}
	if cfg.Hint != nil {
		b := i.b.AllocBytes(1)
		b[0] = *cfg.Hint
		i.in(uint16(abi.UVERBS_ATTR_ALLOC_DMAH_PH), b)
	}
	if err := h.c.ioctl(i, h.life.name); err != nil {
		return err
	}
	h.handle = uint32(handle.Data)
	return nil
}

// RegMRHint is [PD.RegMRRange] with a hint for the device (native REG_MR, in Linux
// 7.3 but not 6.12, ioctl only). The hint must stay open until the region is
// closed.
func (pd *PD) RegMRHint(mem *Memory, offset, length int, access Access, hint *DMAHint) (*MR, error) {
	if err := pd.checkRange(mem, offset, length); err != nil {
		return nil, err
	}
	if hint == nil || hint.c != pd.c {
		return nil, pd.c.fail(methodRegMR.name, mem.life.name, invalid("no hint of the same context is given"))
	}
	addr := mem.Addr() + uint64(offset)
	mr := &MR{pd: pd, mem: mem, start: addr, addr: addr, length: length, hint: hint}
	return mr.create([]*life{&pd.life, &mem.life, &hint.life}, func() error { return mr.register(access) })
}

// Handle returns the kernel's handle of the hint within its context.
func (h *DMAHint) Handle() uint32 { return h.handle }

// String returns "DMA hint " and the handle.
func (h *DMAHint) String() string { return h.life.name }

// Close frees the hint (DMAH_FREE). While regions use it, it returns a
// *[BusyError] that names them. It may be called more than once and from any
// goroutine.
func (h *DMAHint) Close() error {
	return h.life.close(func() error {
		return h.c.destroyNative(&methodDMAHFree, uint16(abi.UVERBS_ATTR_FREE_DMA_HANDLE), h.handle, h.life.name)
	}, nil)
}
