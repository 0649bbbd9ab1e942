package siw

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unsafe"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs/internal/provider"
)

// Sizes of the driver's part of the create answers; its part of the commands is
// empty.
const (
	createCQResp  = int(unsafe.Sizeof(abi.SIWUrespCreateCQ{}))
	createQPResp  = int(unsafe.Sizeof(abi.SIWUrespCreateQP{}))
	createSRQResp = int(unsafe.Sizeof(abi.SIWUrespCreateSRQ{}))
)

// u32 and u64 read a member of an answer at its offset.
func u32(out []byte, at uintptr) uint32 { return binary.NativeEndian.Uint32(out[at:]) }
func u64(out []byte, at uintptr) uint64 { return binary.NativeEndian.Uint64(out[at:]) }

// SetupCQ prepares a completion queue. The kernel makes it a power of two
// (siw_create_cq).
func (c *context) SetupCQ(provider.CQRequest) (*provider.CQSetup, error) {
	return &provider.CQSetup{UHWOutLen: createCQResp, Done: c.finishCQ}, nil
}

func (c *context) finishCQ(_ provider.CQBell, n int, out []byte) (provider.CQ, error) {
	var a abi.SIWUrespCreateCQ
	if len(out) < createCQResp {
		return nil, shortAnswer("CREATE_CQ", len(out), createCQResp)
	}
	num := u32(out, unsafe.Offsetof(a.NumCQE))
	r, err := c.mapRing(u64(out, unsafe.Offsetof(a.CQKey)), num, cqeSize, ctrlSize)
	if err != nil {
		return nil, fmt.Errorf("siw: completion queue: %w", err)
	}
	if uint64(n) > uint64(num) {
		err := fmt.Errorf("siw: completion queue: ring has %d entries, kernel said %d", num, n)
		return nil, errors.Join(err, r.close(c.env))
	}
	r.control().Store(uint32(abi.SIW_NOTIFY_NOT))
	return &cq{ring: r, env: c.env}, nil
}

// SetupQP prepares a queue pair of type RC, which iWARP's are; other types match
// errors.ErrUnsupported.
func (c *context) SetupQP(req provider.QPRequest) (*provider.QPSetup, error) {
	if t := abi.IBUverbsQPType(req.Type); t != abi.IB_UVERBS_QPT_RC {
		return nil, fmt.Errorf("siw: queue pair type %v (RC works): %w", t, errors.ErrUnsupported)
	}
	if req.Flags != 0 { // the kernel refuses them too, unknown ones as invalid
		return nil, fmt.Errorf("siw: queue pair with creation flags %#x: %w", req.Flags, errors.ErrUnsupported)
	}
	done := func(bell *provider.QPBell, qpn uint32, limit provider.QPCap, out []byte) (provider.QP, error) {
		if len(out) < createQPResp {
			return nil, shortAnswer("CREATE_QP", len(out), createQPResp)
		}
		q := &qp{hasSRQ: req.HasSRQ, env: c.env}
		if req.SignalAll {
			q.send.always = provider.SendSignaled
		}
		if err := c.finishQP(q, bell, limit, out); err != nil {
			return nil, errors.Join(fmt.Errorf("siw: queue pair %d: %w", qpn, err), q.Close())
		}
		return q, nil
	}
	return &provider.QPSetup{UHWOutLen: createQPResp, Done: done}, nil
}

// finishQP maps the rings. There is no receive ring when the queue pair has a shared
// one, or when no receives were asked for.
func (c *context) finishQP(q *qp, bell *provider.QPBell, limit provider.QPCap, out []byte) error {
	var a abi.SIWUrespCreateQP
	num := u32(out, unsafe.Offsetof(a.NumSqe))
	r, err := c.mapRing(u64(out, unsafe.Offsetof(a.SQKey)), num, sqeSize, 0)
	if err != nil {
		return fmt.Errorf("send ring: %w", err)
	}
	q.send = sendQueue{producer: newProducer(r), always: q.send.always, bell: bell, limits: limits{
		sges:   min(limit.MaxSendSGE, abi.SIW_MAX_SGE),
		inline: min(limit.MaxInline, abi.SIW_MAX_INLINE),
	}}
	num = u32(out, unsafe.Offsetof(a.NumRqe))
	if q.hasSRQ || num == 0 {
		return nil
	}
	return c.finishRecv(&q.recv, u64(out, unsafe.Offsetof(a.RQKey)), num, limit.MaxRecvSGE)
}

func (c *context) finishRecv(q *recvQueue, key uint64, num, sges uint32) error {
	r, err := c.mapRing(key, num, rqeSize, 0)
	if err != nil {
		return fmt.Errorf("receive ring: %w", err)
	}
	*q = recvQueue{producer: newProducer(r), sges: min(sges, abi.SIW_MAX_SGE)}
	return nil
}

// SetupSRQ prepares a shared receive queue of the basic type; others match
// errors.ErrUnsupported.
func (c *context) SetupSRQ(req provider.SRQRequest) (*provider.SRQSetup, error) {
	if t := abi.IBUverbsSRQType(req.Type); t != abi.IB_UVERBS_SRQT_BASIC {
		return nil, fmt.Errorf("siw: shared receive queue type %d (basic works): %w", uint32(t), errors.ErrUnsupported)
	}
	done := func(_, maxSGE uint32, out []byte) (provider.SRQ, error) {
		var a abi.SIWUrespCreateSRQ
		if len(out) < createSRQResp {
			return nil, shortAnswer("CREATE_SRQ", len(out), createSRQResp)
		}
		q := &srq{env: c.env}
		key, num := u64(out, unsafe.Offsetof(a.SRQKey)), u32(out, unsafe.Offsetof(a.NumRqe))
		if err := c.finishRecv(&q.recv, key, num, maxSGE); err != nil {
			return nil, fmt.Errorf("siw: shared %w", err)
		}
		return q, nil
	}
	return &provider.SRQSetup{UHWOutLen: createSRQResp, Done: done}, nil
}

// mapRing maps the ring of a key. The kernel wants the exact number of pages
// (rdma_user_mmap_entry_get_pgoff). SIW_INVAL_UOBJ_KEY is no sign of a failure, which
// the command would report: it is the key of the ring behind 144 pages of others.
func (c *context) mapRing(key uint64, elements uint32, size, extra uintptr) (ring, error) {
	need := uint64(elements)*uint64(size) + uint64(extra)
	if key > math.MaxInt64 || elements == 0 || need > math.MaxInt32 {
		return ring{}, fmt.Errorf("kernel described no ring: key %#x, %d elements", key, elements)
	}
	mem, err := c.env.Map(int64(key), int(need))
	if err != nil {
		return ring{}, fmt.Errorf("map %d bytes at %#x: %w", need, key, err)
	}
	r, err := newRing(mem, elements, size, extra)
	if err != nil {
		return ring{}, errors.Join(err, c.env.Unmap(mem))
	}
	return r, nil
}

func shortAnswer(cmd string, got, want int) error {
	return fmt.Errorf("siw: %s answer has %d bytes for the driver, need %d", cmd, got, want)
}
