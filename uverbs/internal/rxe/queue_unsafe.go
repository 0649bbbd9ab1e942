package rxe

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs/internal/provider"
)

// Sizes and offsets of the ABI that the code relies on.
const (
	headerSize  = unsafe.Sizeof(abi.RXEQueueBuf{})
	sendWQESize = unsafe.Sizeof(abi.RXESendWQE{})
	recvWQESize = unsafe.Sizeof(abi.RXERecvWQE{})
	wcSize      = unsafe.Sizeof(abi.IBUverbsWC{})
	sgeSize     = unsafe.Sizeof(abi.RXESGE{})
)

// The kernel copies struct ib_sge arrays into struct rxe_sge arrays byte by
// byte (rxe_verbs.c init_send_wqe), so the two must agree.
var (
	_ = [384]byte([headerSize]byte{})
	_ = [208]byte([sendWQESize]byte{})
	_ = [40]byte([recvWQESize]byte{})
	_ = [48]byte([wcSize]byte{})
	_ = [sgeSize]byte([unsafe.Sizeof(provider.SGE{})]byte{})
	_ = [unsafe.Offsetof(abi.RXESGE{}.Length)]byte([unsafe.Offsetof(provider.SGE{}.Length)]byte{})
	_ = [unsafe.Offsetof(abi.RXESGE{}.LKey)]byte([unsafe.Offsetof(provider.SGE{}.LKey)]byte{})
)

// ring is a view of one mapped queue. All but the two shared indices is
// private memory.
type ring struct {
	mem   []byte // the mapping; nil when closed
	data  unsafe.Pointer
	prod  *atomic.Uint32
	cons  *atomic.Uint32
	mask  uint32 // slots - 1
	limit uint32 // requests that fit, at most mask
	shift uint8  // log2 of the slot size
}

// newRing reads the geometry from the head of a mapping and checks that all
// slots lie inside it and hold at least minSlot bytes.
func newRing(mem []byte, minSlot uintptr) (ring, error) {
	if uintptr(len(mem)) < headerSize {
		return ring{}, fmt.Errorf("mapping of %d bytes is shorter than a queue header", len(mem))
	}
	base := unsafe.Pointer(unsafe.SliceData(mem))
	if uintptr(base)%8 != 0 {
		return ring{}, fmt.Errorf("mapping at %p is not aligned to 8 bytes", base)
	}
	h := (*abi.RXEQueueBuf)(base)
	shift, mask := atomic.LoadUint32(&h.Log2ElemSize), atomic.LoadUint32(&h.IndexMask)
	if shift > 31 || mask&(mask+1) != 0 {
		return ring{}, fmt.Errorf("queue header is malformed: log2_elem_size %d, index_mask %#x", shift, mask)
	}
	if slot := uintptr(1) << shift; slot < minSlot {
		return ring{}, fmt.Errorf("queue slots have %d bytes, need %d", slot, minSlot)
	}
	if need := uint64(headerSize) + (uint64(mask)+1)<<shift; need > uint64(len(mem)) {
		return ring{}, fmt.Errorf("queue of %d bytes does not fit its mapping of %d", need, len(mem))
	}
	return ring{
		mem:   mem,
		data:  unsafe.Add(base, headerSize),
		prod:  (*atomic.Uint32)(unsafe.Pointer(&h.ProducerIndex)),
		cons:  (*atomic.Uint32)(unsafe.Pointer(&h.ConsumerIndex)),
		mask:  mask,
		limit: mask,
		shift: uint8(shift),
	}, nil
}

// slotSize is the size of one slot in bytes.
func (r *ring) slotSize() uintptr { return uintptr(1) << (r.shift & 31) }

// slot is the address of a slot. Masking here, and the check in newRing, keep
// every access inside the mapping whatever index is given.
func (r *ring) slot(i uint32) unsafe.Pointer {
	return unsafe.Add(r.data, uintptr(i&r.mask)<<(r.shift&31))
}

func (r *ring) sendWQE(i uint32) *abi.RXESendWQE { return (*abi.RXESendWQE)(r.slot(i)) }
func (r *ring) recvWQE(i uint32) *abi.RXERecvWQE { return (*abi.RXERecvWQE)(r.slot(i)) }
func (r *ring) wc(i uint32) *abi.IBUverbsWC      { return (*abi.IBUverbsWC)(r.slot(i)) }

// sges is the array of scatter/gather entries that starts at offset off of a
// slot and ends with the slot.
func (r *ring) sges(i uint32, off uintptr) []provider.SGE {
	p := (*provider.SGE)(unsafe.Add(r.slot(i), off))
	return unsafe.Slice(p, (r.slotSize()-off)/sgeSize)
}

// inline is the room for inline data in a slot of a send ring; it shares its
// place with the scatter/gather entries.
func (r *ring) inline(i uint32) []byte {
	p := (*byte)(unsafe.Add(r.slot(i), sendWQESize))
	return unsafe.Slice(p, r.slotSize()-sendWQESize)
}
