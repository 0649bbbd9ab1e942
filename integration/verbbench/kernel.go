//go:build linux

package main

import (
	"sync/atomic"
	"unsafe"

	"github.com/purerdma/rdma/internal/devfile"
)

// What becomes of commands while a measurement runs.
const (
	through int32 = iota
	leftOut       // they succeed without a system call
	nowhere       // they go to /dev/null
)

// kernel is the running kernel, of which a measurement can do without: commands
// are left out, and the rings that the provider maps are filled and drained by
// this program in its place.
type kernel struct {
	devfile.Kernel
	doorbell int32
	null     devfile.Handle
	maps     []ring
}

func newKernel() (*kernel, error) {
	null, err := devfile.Real().Open("/dev/null")
	return &kernel{Kernel: devfile.Real(), null: null}, err
}

// Open opens a device file.
func (k *kernel) Open(path string) (devfile.Handle, error) {
	h, err := k.Kernel.Open(path)
	return &handle{h, k}, err
}

type handle struct {
	devfile.Handle
	k *kernel
}

// Write is how doorbells ring.
func (h *handle) Write(p []byte) (int, error) {
	switch h.k.doorbell {
	case leftOut:
		return len(p), nil
	case nowhere:
		return h.k.null.Write(p)
	}
	return h.Handle.Write(p)
}

// Ring is how doorbells ring that the kernel only notes.
func (h *handle) Ring(p []byte) (int, error) {
	switch h.k.doorbell {
	case leftOut:
		return len(p), nil
	case nowhere:
		return h.k.null.Ring(p)
	}
	return h.Handle.Ring(p)
}

// CannotPanic makes doorbells take the way that they take with the running kernel.
func (h *handle) CannotPanic() {}

// Mmap remembers the mapping.
func (h *handle) Mmap(offset int64, length, prot int) ([]byte, error) {
	mem, err := h.Handle.Mmap(offset, length, prot)
	if err == nil {
		h.k.maps = append(h.k.maps, mem)
	}
	return mem, err
}

// ring is a ring that soft-RoCE shares with its user.
type ring []byte

// Offsets in the head of a ring.
const (
	ringMask     = 4
	ringProducer = 128
	ringConsumer = 256
)

func (r ring) at(offset int) *uint32 { return (*uint32)(unsafe.Pointer(&r[offset])) }

// drain takes everything out, as the kernel does with requests.
func (r ring) drain() {
	atomic.StoreUint32(r.at(ringConsumer), atomic.LoadUint32(r.at(ringProducer)))
}

// fill says that there are n entries, as the kernel does with completions.
func (r ring) fill(n uint32) {
	atomic.StoreUint32(r.at(ringProducer), (atomic.LoadUint32(r.at(ringConsumer))+n)&*r.at(ringMask))
}

func (r ring) used() bool { return atomic.LoadUint32(r.at(ringProducer)) != 0 }
