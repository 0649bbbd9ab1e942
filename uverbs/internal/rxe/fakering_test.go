package rxe

import (
	"encoding/binary"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/purerdma/rdma/uverbs/internal/ringtest"
)

var host = binary.NativeEndian

// Offsets of the shared structs, written out by hand so that tests do not
// depend on package abi. layout_test.go compares the two.
const (
	hdrLog2, hdrMask, hdrProd, hdrCons, hdrSize = 0, 4, 128, 256, 384

	wqeID, wqeOpcode, wqeFlags, wqeEx = 0, 12, 16, 20
	wqeRemote, wqeRKey                = 24, 32
	wqeCompare, wqeSwap, wqeAtomKey   = 32, 40, 48
	wqeFlushKey, wqeFlushKind         = 36, 40
	wqeMWLength, wqeMWKeys            = 32, 40
	wqeIova                           = 152
	wqeLength, wqeResid, wqeNumSGE    = 184, 188, 196
	wqeSize                           = 208

	rwqeID, rwqeLength, rwqeResid, rwqeNumSGE = 0, 16, 20, 28
	rwqeSize                                  = 40

	wcID, wcStatus, wcOpcode, wcVendor, wcLen = 0, 8, 12, 16, 20
	wcEx, wcQPN, wcSrc, wcFlags               = 24, 28, 32, 36
	wcPKey, wcSLID, wcSL, wcPath              = 40, 42, 44, 45
)

// newRingMem is a mapping as rxe_queue_init prepares it: slots must be a power
// of two.
func newRingMem(slots, slotSize int) []byte {
	mem := ringtest.Bytes(hdrSize + slots*slotSize)
	log2 := uint32(0)
	for 1<<log2 < slotSize {
		log2++
	}
	host.PutUint32(mem[hdrLog2:], log2)
	host.PutUint32(mem[hdrMask:], uint32(slots-1))
	return mem
}

// kring is the kernel's side of a ring: it knows the geometry by itself and
// keeps its own index, as kernels since 6.1 do.
type kring struct {
	mem             []byte
	slots, slotSize uint32
	index           uint32
}

func newKRing(slots, slotSize int) *kring {
	return &kring{mem: newRingMem(slots, slotSize), slots: uint32(slots), slotSize: uint32(slotSize)}
}

func (k *kring) word(off int) *atomic.Uint32 {
	return (*atomic.Uint32)(unsafe.Pointer(&k.mem[off]))
}

func (k *kring) slot(i uint32) []byte {
	at := hdrSize + (i%k.slots)*k.slotSize
	return k.mem[at : at+k.slotSize]
}

// head is the oldest request in a ring that the kernel reads, or nil.
func (k *kring) head() []byte {
	if k.word(hdrProd).Load() == k.index {
		return nil
	}
	return k.slot(k.index)
}

// release gives the slot of head back (queue_advance_consumer).
func (k *kring) release() {
	k.index = (k.index + 1) % k.slots
	k.word(hdrCons).Store(k.index)
}

// push writes an entry into a ring that the kernel fills; false when full
// (rxe_cq_post).
func (k *kring) push(entry []byte) bool {
	if (k.index+1)%k.slots == k.word(hdrCons).Load()%k.slots {
		return false
	}
	copy(k.slot(k.index), entry)
	k.index = (k.index + 1) % k.slots
	k.word(hdrProd).Store(k.index)
	return true
}

func mustRing(tb testing.TB, mem []byte, minSlot uintptr) ring {
	tb.Helper()
	r, err := newRing(mem, minSlot)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}
