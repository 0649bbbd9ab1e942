package rxe

import (
	"errors"
	"fmt"
	"syscall"
	"unsafe"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/offheap"
	"github.com/purerdma/rdma/uverbs/internal/provider"
)

const createSRQResp = int(unsafe.Sizeof(abi.RXECreateSRQResp{}))

// srq is the data path of a shared receive queue. Its requests lie in the ring
// as those of a queue pair do, and need no doorbell either (rxe_resp.c
// get_srq_wqe).
type srq struct {
	recvQueue
	c *context
}

var _ provider.SRQ = (*srq)(nil)

// SetupSRQ prepares a shared receive queue of the basic type; others match
// errors.ErrUnsupported. 5.10 makes a basic one of whatever is asked for.
func (c *context) SetupSRQ(req provider.SRQRequest) (*provider.SRQSetup, error) {
	if t := abi.IBUverbsSRQType(req.Type); t != abi.IB_UVERBS_SRQT_BASIC {
		return nil, fmt.Errorf("rxe: shared receive queue type %d (basic works): %w", uint32(t), errors.ErrUnsupported)
	}
	done := func(maxWR, maxSGE uint32, out []byte) (provider.SRQ, error) {
		if len(out) < createSRQResp {
			return nil, shortAnswer("CREATE_SRQ", len(out), createSRQResp)
		}
		q := &srq{c: c}
		if err := c.finishRecv(&q.recvQueue, provider.QPCap{MaxRecvWR: maxWR, MaxRecvSGE: maxSGE}, out); err != nil {
			return nil, fmt.Errorf("rxe: shared %w", err)
		}
		return q, nil
	}
	return &provider.SRQSetup{UHWOutLen: createSRQResp, Done: done}, nil
}

// Close unmaps the ring.
func (q *srq) Close() error { return q.ring.close(q.c.env) }

// SetupModify: every command carries the address at which the kernel shall
// describe the new ring, also one that does not resize (rxe_modify_srq refuses
// it otherwise).
//
// Fewer places than requests are refused here: the kernel refuses them too, but
// 5.10 then frees the ring and follows a null pointer when the next message
// comes (rxe_srq_from_attr).
func (q *srq) SetupModify(resize bool, n uint32) (*provider.ModifySetup, error) {
	if posted := q.posted(); resize && n < posted {
		return nil, fmt.Errorf("rxe: %d requests are posted: %w", posted, syscall.EINVAL)
	}
	b, err := offheap.Get()
	if err != nil {
		return nil, err
	}
	info := offheap.Alloc[abi.Mminfo](b)
	cmd := offheap.Alloc[abi.RXEModifySRQCmd](b)
	cmd.MmapInfoAddr = offheap.Addr(info)
	return &provider.ModifySetup{
		UHWIn: offheap.BytesOf(cmd),
		Done: func(uint32, []byte) (uint32, error) {
			defer b.Release()
			if !resize {
				return 0, nil
			}
			return q.move(offheap.BytesOf(info))
		},
		Abort: b.Release,
	}, nil
}

// move goes on in the ring that the kernel moved all requests to
// (rxe_queue_resize).
func (q *srq) move(mi []byte) (fits uint32, err error) {
	old := q.ring
	q.ring = noRing
	err = q.c.finishRecv(&q.recvQueue, provider.QPCap{MaxRecvWR: ^uint32(0), MaxRecvSGE: q.sges}, mi)
	return q.ring.limit, errors.Join(err, old.close(q.c.env))
}
