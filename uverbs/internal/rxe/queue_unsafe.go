package rxe

import (
	"encoding/binary"
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

// completionsAgree: so must the completions of ring and package provider, but for the
// last two bytes, where the latter has VLAN (cq.Poll).
var (
	_ = [unsafe.Offsetof(abi.IBUverbsWC{}.Status)]byte([unsafe.Offsetof(provider.WC{}.Status)]byte{})
	_ = [unsafe.Offsetof(abi.IBUverbsWC{}.Opcode)]byte([unsafe.Offsetof(provider.WC{}.Opcode)]byte{})
	_ = [unsafe.Offsetof(abi.IBUverbsWC{}.VendorErr)]byte([unsafe.Offsetof(provider.WC{}.VendorErr)]byte{})
	_ = [unsafe.Offsetof(abi.IBUverbsWC{}.ByteLen)]byte([unsafe.Offsetof(provider.WC{}.ByteLen)]byte{})
	_ = [unsafe.Offsetof(abi.IBUverbsWC{}.Ex)]byte([unsafe.Offsetof(provider.WC{}.Imm)]byte{})
	_ = [unsafe.Offsetof(abi.IBUverbsWC{}.QPNum)]byte([unsafe.Offsetof(provider.WC{}.QPN)]byte{})
	_ = [unsafe.Offsetof(abi.IBUverbsWC{}.SrcQP)]byte([unsafe.Offsetof(provider.WC{}.SrcQPN)]byte{})
	_ = [unsafe.Offsetof(abi.IBUverbsWC{}.WCFlags)]byte([unsafe.Offsetof(provider.WC{}.Flags)]byte{})
	_ = [unsafe.Offsetof(abi.IBUverbsWC{}.PKeyIndex)]byte([unsafe.Offsetof(provider.WC{}.PKeyIndex)]byte{})
	_ = [unsafe.Offsetof(abi.IBUverbsWC{}.Slid)]byte([unsafe.Offsetof(provider.WC{}.SLID)]byte{})
	_ = [unsafe.Offsetof(abi.IBUverbsWC{}.SL)]byte([unsafe.Offsetof(provider.WC{}.SL)]byte{})
	_ = [unsafe.Offsetof(abi.IBUverbsWC{}.DlidPathBits)]byte([unsafe.Offsetof(provider.WC{}.DLIDPathBits)]byte{})
	_ = [unsafe.Offsetof(abi.IBUverbsWC{}.PortNum)]byte([unsafe.Offsetof(provider.WC{}.VLAN)]byte{})
	_ = [wcSize]byte([unsafe.Offsetof(provider.WC{}.InvalidatedKey)]byte{})
)

// ring is a view of one mapped queue. All but the two shared indices is
// private memory.
type ring struct {
	mem   []byte // the mapping; nil when closed
	data  unsafe.Pointer
	prod  *atomic.Uint32
	cons  *atomic.Uint32
	mask  uint32  // slots - 1
	limit uint32  // requests that fit, at most mask
	size  uintptr // of a slot
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
		size:  uintptr(1) << shift,
	}, nil
}

// slot is the address of a slot. Masking here, and the check in newRing, keep
// every access inside the mapping whatever index is given.
func (r *ring) slot(i uint32) unsafe.Pointer { return unsafe.Add(r.data, uintptr(i&r.mask)*r.size) }

// at is slot for the own index, which is always masked.
func (r *ring) at(i uint32) unsafe.Pointer { return unsafe.Add(r.data, uintptr(i)*r.size) }

// clearSend clears the request in a slot of a send ring. All of struct
// rxe_send_wqe is written, because the kernel keeps its own state there (status,
// state, packet numbers, has_rd_atomic, the dma cursor) and takes zero as the
// start (wqe_state_posted is 0). The compiler makes a loop of 208 bytes in one
// piece, and half as many instructions of two halves.
func clearSend(slot unsafe.Pointer) *abi.RXESendWQE {
	const half = sendWQESize / 2
	*(*[half]byte)(slot) = [half]byte{}
	*(*[sendWQESize - half]byte)(unsafe.Add(slot, half)) = [sendWQESize - half]byte{}
	return (*abi.RXESendWQE)(slot)
}

// putSGEs writes entries behind a request of head bytes and returns how many bytes
// they name. Their number must be within the queue's limit, for which mapRing has
// checked that there is room in each slot.
func putSGEs(slot unsafe.Pointer, head uintptr, sges []provider.SGE) (length uint64) {
	for i := range sges {
		e := sges[i]
		*(*provider.SGE)(unsafe.Add(slot, head+uintptr(i)*sgeSize)) = e
		length += uint64(e.Length)
	}
	return length
}

// inline is the room for inline data in a slot of a send ring; it shares its
// place with the scatter/gather entries. newRing has checked that a slot has 2 GiB
// at most, and mapRing that it is larger than a request; said as it is here, the
// compiler sees a slice that needs no check (provider.QP).
func (r *ring) inline(slot unsafe.Pointer) []byte {
	const most = 1<<31 - 1
	return (*[most]byte)(unsafe.Add(slot, sendWQESize))[:(r.size-sendWQESize)&most]
}

// fromNet reads a number in network byte order.
func fromNet(p *uint32) uint32 {
	return binary.BigEndian.Uint32((*[4]byte)(unsafe.Pointer(p))[:])
}
