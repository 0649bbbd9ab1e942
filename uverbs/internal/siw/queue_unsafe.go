package siw

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs/internal/provider"
)

// Sizes and offsets of the ABI that the code relies on.
const (
	sqeSize  = unsafe.Sizeof(abi.SIWSqe{})
	rqeSize  = unsafe.Sizeof(abi.SIWRqe{})
	cqeSize  = unsafe.Sizeof(abi.SIWCQE{})
	ctrlSize = unsafe.Sizeof(abi.SIWCQCtrl{})

	// flagsAt is where each kind of element has the word with its flags.
	flagsAt = unsafe.Offsetof(abi.SIWSqe{}.Flags)
)

// Entries are copied as the kernel's own struct ib_sge.
var (
	_ = [120]byte([sqeSize]byte{})
	_ = [112]byte([rqeSize]byte{})
	_ = [32]byte([cqeSize]byte{})
	_ = [8]byte([ctrlSize]byte{})
	_ = [8]byte([flagsAt]byte{})
	_ = [flagsAt]byte([unsafe.Offsetof(abi.SIWRqe{}.Flags)]byte{})
	_ = [flagsAt]byte([unsafe.Offsetof(abi.SIWCQE{}.Flags)]byte{})
	_ = [unsafe.Sizeof(abi.SIWSGE{})]byte([unsafe.Sizeof(provider.SGE{})]byte{})
	_ = [unsafe.Offsetof(abi.SIWSGE{}.Length)]byte([unsafe.Offsetof(provider.SGE{}.Length)]byte{})
	_ = [unsafe.Offsetof(abi.SIWSGE{}.LKey)]byte([unsafe.Offsetof(provider.SGE{}.LKey)]byte{})
	_ = [abi.SIW_MAX_INLINE]byte([(abi.SIW_MAX_SGE - 1) * unsafe.Sizeof(abi.SIWSGE{})]byte{})
)

// ring is a view of one mapped queue. All but the elements is private memory.
type ring struct {
	mem  []byte // the mapping; nil when closed
	data unsafe.Pointer
	size uintptr // of an element
	mask uint32  // elements - 1
}

// newRing checks that so many elements, and extra bytes behind them, lie inside a
// mapping.
func newRing(mem []byte, elements uint32, size, extra uintptr) (ring, error) {
	if elements == 0 || elements&(elements-1) != 0 {
		return ring{}, fmt.Errorf("queue of %d elements: not a power of two", elements)
	}
	if need := uint64(elements)*uint64(size) + uint64(extra); need > uint64(len(mem)) {
		return ring{}, fmt.Errorf("queue of %d bytes does not fit its mapping of %d", need, len(mem))
	}
	base := unsafe.Pointer(unsafe.SliceData(mem))
	if uintptr(base)%8 != 0 {
		return ring{}, fmt.Errorf("mapping at %p is not aligned to 8 bytes", base)
	}
	return ring{mem: mem, data: base, size: size, mask: elements - 1}, nil
}

// noCompletions is the ring of a completion queue that has lost its own: one element,
// in which nothing is. So who looks for completions need not look whether there is a
// ring first.
func noCompletions(zeroes *[(cqeSize + ctrlSize) / 8]uint64) ring {
	return ring{data: unsafe.Pointer(zeroes), size: cqeSize}
}

// slot is the address of an element. Masking here, and the check in newRing, keep
// every access inside the mapping whatever index is given.
func (r *ring) slot(i uint32) unsafe.Pointer {
	return unsafe.Add(r.data, uintptr(i&r.mask)*r.size)
}

// word is the word of an element that has its flags.
func (r *ring) word(i uint32) *atomic.Uint32 {
	return (*atomic.Uint32)(unsafe.Add(r.slot(i), flagsAt))
}

// control is the word behind the elements of a completion queue.
func (r *ring) control() *atomic.Uint32 {
	ctrl := (*abi.SIWCQCtrl)(unsafe.Add(r.data, uintptr(r.mask+1)*r.size))
	return (*atomic.Uint32)(unsafe.Pointer(&ctrl.Flags))
}

func newProducer(r ring) producer {
	return producer{ring: r, words: unsafe.SliceData(make([]uint32, r.mask+1))}
}

// held is the word of an element that the kernel has not been shown. It needs no
// check that could panic (provider.QP).
func (p *producer) held(i uint32) *uint32 {
	return (*uint32)(unsafe.Add(unsafe.Pointer(p.words), uintptr(i&p.ring.mask)*unsafe.Sizeof(*p.words)))
}

func (r *ring) sqe(i uint32) *abi.SIWSqe { return (*abi.SIWSqe)(r.slot(i)) }
func (r *ring) rqe(i uint32) *abi.SIWRqe { return (*abi.SIWRqe)(r.slot(i)) }
func (r *ring) cqe(i uint32) *abi.SIWCQE { return (*abi.SIWCQE)(r.slot(i)) }

// entries are the scatter/gather entries of a request.
func entries(first *abi.SIWSGE) *[abi.SIW_MAX_SGE]provider.SGE {
	return (*[abi.SIW_MAX_SGE]provider.SGE)(unsafe.Pointer(first))
}

// inline is the room for inline data in a request, in place of all entries but the
// first.
func inline(w *abi.SIWSqe) *[abi.SIW_MAX_INLINE]byte {
	return (*[abi.SIW_MAX_INLINE]byte)(unsafe.Pointer(&w.SGE[1]))
}
