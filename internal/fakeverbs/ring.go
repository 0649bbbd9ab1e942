package fakeverbs

import (
	"math/bits"
	"sync/atomic"
	"syscall"
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

// pushWC adds a completion and raises an event if one was asked for.
func (q *cq) pushWC(wc *abi.IBUverbsWC) {
	prod := atomic.LoadUint32(&q.ring.hdr.ProducerIndex)
	if (prod+1)&q.ring.mask == atomic.LoadUint32(&q.ring.hdr.ConsumerIndex)&q.ring.mask {
		return // overflow
	}
	*(*abi.IBUverbsWC)(q.ring.slot(prod)) = *wc
	atomic.StoreUint32(&q.ring.hdr.ProducerIndex, (prod+1)&q.ring.mask)
	if q.armed && q.channel != nil {
		q.armed = false
		q.channel.push(event{element: q.user})
	}
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

// postSend is the doorbell: every request of the ring is carried out at once.
// It allocates nothing.
func (k *Kernel) postSend(r *request) error {
	req := as[abi.IBUverbsPostSend](r)
	q, err := find[*qp](k, req.QPHandle)
	if err != nil {
		return err
	}
	if req.WRCount != 0 || int(req.WQESize) < sizeOf[abi.IBUverbsSendWR]() {
		return syscall.EINVAL
	}
	cons := q.sq.hdr.ConsumerIndex
	for prod := atomic.LoadUint32(&q.sq.hdr.ProducerIndex); cons != prod; cons = (cons + 1) & q.sq.mask {
		w := (*abi.RXESendWQE)(q.sq.slot(cons))
		status := abi.IB_WC_WR_FLUSH_ERR
		if q.state != uint8(abi.IB_QPS_ERR) {
			status = k.deliver(q, w)
		}
		if status != abi.IB_WC_SUCCESS {
			q.state = uint8(abi.IB_QPS_ERR)
		}
		if status != abi.IB_WC_SUCCESS || w.WR.SendFlags&uint32(abi.IB_SEND_SIGNALED) != 0 {
			q.send.pushWC(&abi.IBUverbsWC{
				WRID: w.WR.WRID, Status: uint32(status), Opcode: uint32(sendOpcode[w.WR.Opcode]), ByteLen: w.DMA.Length, QPNum: q.qpn,
			})
		}
		atomic.StoreUint32(&q.sq.hdr.ConsumerIndex, (cons+1)&q.sq.mask)
	}
	return nil
}

// postRecv is a doorbell that soft-RoCE does not need.
func (k *Kernel) postRecv(r *request) error {
	_, err := find[*qp](k, as[abi.IBUverbsPostRecv](r).QPHandle)
	return err
}

func (k *Kernel) reqNotify(r *request) error {
	q, err := find[*cq](k, as[abi.IBUverbsReqNotifyCQ](r).CQHandle)
	if err != nil {
		return err
	}
	q.armed = true
	return nil
}
