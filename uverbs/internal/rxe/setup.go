package rxe

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unsafe"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs/internal/provider"
)

// Sizes of the driver's part of the create answers; its part of the commands
// is empty and must be (rxe_create_qp refuses udata->inlen != 0).
const (
	createCQResp = int(unsafe.Sizeof(abi.RXECreateCQResp{}))
	createQPResp = int(unsafe.Sizeof(abi.RXECreateQPResp{}))
	offRQ        = int(unsafe.Offsetof(abi.RXECreateQPResp{}.RQMi))
	offSQ        = int(unsafe.Offsetof(abi.RXECreateQPResp{}.SQMi))
)

// SetupCQ prepares a completion queue; the kernel allocates the ring
// (rxe_cq_from_init) and answers where to map it.
func (c *context) SetupCQ(provider.CQRequest) (*provider.CQSetup, error) {
	return &provider.CQSetup{UHWOutLen: createCQResp, Done: c.finishCQ}, nil
}

func (c *context) finishCQ(bell provider.CQBell, entries int, out []byte) (provider.CQ, error) {
	q := &cq{c: c, bell: bell}
	if err := q.attach(entries, out, "CREATE_CQ"); err != nil {
		return nil, err
	}
	return q, nil
}

// SetupQP prepares a queue pair of type RC, UC or UD; other types match
// errors.ErrUnsupported. 5.10 creates RAW_PACKET and driver queue pairs, which
// then do nothing.
func (c *context) SetupQP(req provider.QPRequest) (*provider.QPSetup, error) {
	if req.Flags != 0 { // which 5.10 takes and forgets
		return nil, fmt.Errorf("rxe: queue pair with creation flags %#x: %w", req.Flags, errors.ErrUnsupported)
	}
	t := abi.IBUverbsQPType(req.Type)
	switch t {
	case abi.IB_UVERBS_QPT_RC, abi.IB_UVERBS_QPT_UC, abi.IB_UVERBS_QPT_UD:
	default:
		return nil, fmt.Errorf("rxe: queue pair type %v (RC, UC and UD work): %w", t, errors.ErrUnsupported)
	}
	done := func(bell *provider.QPBell, qpn uint32, cap provider.QPCap, out []byte) (provider.QP, error) {
		if len(out) < createQPResp {
			return nil, shortAnswer("CREATE_QP", len(out), createQPResp)
		}
		q := &qp{env: c.env, recvQueue: recvQueue{ring: noRing}}
		err := c.finishSend(&q.sendQueue, opsOf(t), bell, cap, out[offSQ:])
		if err == nil && !req.HasSRQ { // with an SRQ the kernel leaves rq_mi unwritten
			err = c.finishRecv(&q.recvQueue, cap, out[offRQ:])
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("rxe: queue pair %d: %w", qpn, err), q.Close())
		}
		return q, nil
	}
	return &provider.QPSetup{UHWOutLen: createQPResp, Done: done}, nil
}

// finishSend maps the send ring. The kernel sizes a slot for the larger of
// inline data and entries, and reports what fits (rxe_init_sq).
func (c *context) finishSend(q *sendQueue, ops *opTable, bell *provider.QPBell, cap provider.QPCap, mi []byte) error {
	room := max(uintptr(cap.MaxInline), uintptr(cap.MaxSendSGE)*sgeSize)
	r, err := c.mapRing(mi, sendWQESize+room)
	if err != nil {
		return fmt.Errorf("send ring: %w", err)
	}
	r.atMost(cap.MaxSendWR)
	l := limits{sges: cap.MaxSendSGE, inline: cap.MaxInline, message: maxMessage}
	if ops == &udOps {
		l.message = maxDatagram
	}
	if l.sges == 0 {
		// rxe_requester refuses a request with data when the queue has
		// no entries, even if the data is inline.
		l.inline = 0
	}
	prod := r.prod.Load() & r.mask
	*q = sendQueue{ring: r, prod: prod, rung: prod, short: shortWork(), ops: ops, limits: l, bell: bell}
	return nil
}

func (c *context) finishRecv(q *recvQueue, cap provider.QPCap, mi []byte) error {
	r, err := c.mapRing(mi, recvWQESize+uintptr(cap.MaxRecvSGE)*sgeSize)
	if err != nil {
		return fmt.Errorf("receive ring: %w", err)
	}
	r.atMost(cap.MaxRecvWR)
	*q = recvQueue{ring: r, prod: r.prod.Load() & r.mask, sges: cap.MaxRecvSGE}
	return nil
}

// mapRing maps the ring that a struct mminfo describes. The kernel hands each
// out for one mapping only (rxe_mmap takes it off pending_mmaps) and frees it
// with the object when it was never mapped.
func (c *context) mapRing(mi []byte, minSlot uintptr) (ring, error) {
	off := binary.NativeEndian.Uint64(mi[unsafe.Offsetof(abi.Mminfo{}.Offset):])
	size := binary.NativeEndian.Uint32(mi[unsafe.Offsetof(abi.Mminfo{}.Size):])
	if off > math.MaxInt64 || size == 0 {
		return ring{}, fmt.Errorf("kernel described no mapping: offset %#x, size %d", off, size)
	}
	mem, err := c.env.Map(int64(off), int(size))
	if err != nil {
		return ring{}, fmt.Errorf("map %d bytes at %#x: %w", size, off, err)
	}
	r, err := newRing(mem, minSlot)
	if err != nil {
		return ring{}, errors.Join(err, c.env.Unmap(mem))
	}
	return r, nil
}

func shortAnswer(cmd string, got, want int) error {
	return fmt.Errorf("rxe: %s answer has %d bytes for the driver, need %d", cmd, got, want)
}
