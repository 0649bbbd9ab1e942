package fakeverbs

import (
	"math/bits"
	"unsafe"

	"github.com/purerdma/rdma/abi"
)

// ring is a soft-RoCE queue (rxe_queue.c): a header and slots, shared with the
// user.
type ring struct {
	mem   []byte
	hdr   *abi.RXEQueueBuf
	info  abi.Mminfo
	mask  uint32
	shift int
}

const ringHeader = 384

// newRing makes a queue of at least n slots. The memory is of the Go heap,
// which does not move; no device looks at it.
func (k *Kernel) newRing(n uint32, slot int) *ring {
	r := &ring{shift: bits.Len(uint(slot - 1)), mask: 1<<bits.Len32(n) - 1}
	size := ringHeader + int(r.mask+1)<<r.shift
	words := make([]uint64, (size+7)/8)
	r.mem = unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), size)
	r.hdr = (*abi.RXEQueueBuf)(unsafe.Pointer(&words[0]))
	r.hdr.Log2ElemSize, r.hdr.IndexMask = uint32(r.shift), r.mask
	k.nextOff += 1 << 32
	r.info = abi.Mminfo{Offset: uint64(k.nextOff), Size: uint32(size)}
	k.rings[k.nextOff] = r
	return r
}

func (r *ring) slot(i uint32) unsafe.Pointer {
	return unsafe.Pointer(&r.mem[ringHeader+int(i&r.mask)<<r.shift])
}

// sendOpcode maps a request's opcode to its completion's (wr_to_wc_opcode).
var sendOpcode = map[uint32]abi.IBWCOpcode{
	uint32(abi.IB_UVERBS_WR_RDMA_WRITE):           abi.IB_WC_RDMA_WRITE,
	uint32(abi.IB_UVERBS_WR_RDMA_WRITE_WITH_IMM):  abi.IB_WC_RDMA_WRITE,
	uint32(abi.IB_UVERBS_WR_RDMA_READ):            abi.IB_WC_RDMA_READ,
	uint32(abi.IB_UVERBS_WR_ATOMIC_CMP_AND_SWP):   abi.IB_WC_COMP_SWAP,
	uint32(abi.IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD): abi.IB_WC_FETCH_ADD,
	uint32(abi.IB_UVERBS_WR_BIND_MW):              abi.IB_WC_BIND_MW,
	uint32(abi.IB_UVERBS_WR_LOCAL_INV):            abi.IB_WC_LOCAL_INV,
}
