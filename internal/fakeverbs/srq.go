package fakeverbs

import (
	"sync/atomic"
	"syscall"
	"unsafe"

	"github.com/purerdma/rdma/abi"
)

type srq struct {
	user   uint64
	pd     *pd
	cq     *cq // XRC only, as xrcd
	xrcd   *xrcd
	ring   *ring
	maxSGE uint32
	limit  uint32
	users  int
}

type xrcd struct{ users int }

// MaxSRQWR is the largest shared receive queue of the fake.
const MaxSRQWR = 1 << 12

func (k *Kernel) createSRQNative(r *request) error {
	x := abi.IBUverbsCreateXsrq{
		PDHandle: uint32(r.u64(1)), XRCDHandle: uint32(r.u64(2)), CQHandle: uint32(r.u64(3)), UserHandle: r.u64(4),
		MaxWR: r.u32(5), MaxSGE: r.u32(6), SRQLimit: r.u32(7), SRQType: uint32(r.u64(9)),
	}
	resp, err := k.createSRQ(r, &x)
	if err != nil {
		return err
	}
	r.attr(0).Data = uint64(resp.SRQHandle)
	put(r, 11, resp.MaxWR)
	put(r, 12, resp.MaxSGE)
	put(r, 13, resp.Srqn)
	return nil
}

func (k *Kernel) createSRQWrite(r *request) error {
	req := as[abi.IBUverbsCreateSRQ](r)
	resp, err := k.createSRQ(r, &abi.IBUverbsCreateXsrq{
		PDHandle: req.PDHandle, UserHandle: req.UserHandle, MaxWR: req.MaxWR, MaxSGE: req.MaxSGE, SRQLimit: req.SRQLimit,
	})
	if err == nil {
		answer(r, resp)
	}
	return err
}

func (k *Kernel) createXSRQ(r *request) error {
	resp, err := k.createSRQ(r, as[abi.IBUverbsCreateXsrq](r))
	if err == nil {
		answer(r, resp)
	}
	return err
}

func (k *Kernel) createSRQ(r *request, req *abi.IBUverbsCreateXsrq) (resp abi.IBUverbsCreateSRQResp, err error) {
	p, err := find[*pd](k, req.PDHandle)
	if err != nil || req.MaxWR == 0 || req.MaxWR > MaxSRQWR || req.MaxSGE > 32 {
		return resp, syscall.EINVAL
	}
	q := &srq{user: req.UserHandle, pd: p, maxSGE: req.MaxSGE, limit: req.SRQLimit}
	if req.SRQType == uint32(abi.IB_UVERBS_SRQT_XRC) {
		x, xErr := find[*xrcd](k, req.XRCDHandle)
		c, cErr := find[*cq](k, req.CQHandle)
		if xErr != nil || cErr != nil {
			return resp, syscall.EINVAL
		}
		x.users++
		c.users++
		q.cq, q.xrcd, resp.Srqn = c, x, 0x77
	}
	p.users++
	q.ring = k.newRing(req.MaxWR, sizeOf[abi.RXERecvWQE]()+16*int(q.maxSGE))
	copy(r.uhwOut, bytesOf(&abi.RXECreateSRQResp{Mi: q.ring.info}))
	resp.SRQHandle, resp.MaxWR, resp.MaxSGE = k.add(q), q.ring.mask, q.maxSGE
	return resp, nil
}

// modifySRQ moves the requests to a new ring and describes it at the address
// that the driver's part of the command names.
func (k *Kernel) modifySRQ(r *request) error {
	req := as[abi.IBUverbsModifySRQ](r)
	q, err := find[*srq](k, req.SRQHandle)
	if err != nil {
		return err
	}
	if len(r.uhwIn) < 8 {
		return syscall.EINVAL
	}
	if abi.IBSRQAttrMask(req.AttrMask)&abi.IB_SRQ_LIMIT != 0 {
		if req.SRQLimit > q.ring.mask {
			return syscall.EINVAL
		}
		q.limit = req.SRQLimit
	}
	if abi.IBSRQAttrMask(req.AttrMask)&abi.IB_SRQ_MAX_WR == 0 {
		return nil
	}
	if req.MaxWR == 0 || req.MaxWR > MaxSRQWR || req.MaxWR < q.limit || req.MaxWR < q.ring.count() {
		return syscall.EINVAL
	}
	q.ring = k.resize(q.ring, req.MaxWR)
	copy(at(*(*uint64)(unsafe.Pointer(&r.uhwIn[0])), 16), bytesOf(&q.ring.info))
	return nil
}

func (k *Kernel) querySRQ(r *request) error {
	q, err := find[*srq](k, as[abi.IBUverbsQuerySRQ](r).SRQHandle)
	if err != nil {
		return err
	}
	answer(r, abi.IBUverbsQuerySRQResp{MaxWR: q.ring.mask, MaxSGE: q.maxSGE, SRQLimit: q.limit})
	return nil
}

// taken raises the limit event when it is due.
func (k *Kernel) taken(q *srq) {
	if q.limit != 0 && q.ring.count() < q.limit {
		q.limit = 0
		k.raise(q.user, abi.IB_EVENT_SRQ_LIMIT_REACHED)
	}
}

func (k *Kernel) openXRCD(r *request) error {
	if !k.XRC {
		return syscall.EOPNOTSUPP
	}
	req := as[abi.IBUverbsOpenXRCD](r)
	if req.FD == ^uint32(0) && req.Oflags != 0 {
		return syscall.EINVAL
	}
	answer(r, abi.IBUverbsOpenXRCDResp{XRCDHandle: k.add(&xrcd{})})
	return nil
}

// count is how many slots are filled.
func (r *ring) count() uint32 {
	return (atomic.LoadUint32(&r.hdr.ProducerIndex) - atomic.LoadUint32(&r.hdr.ConsumerIndex)) & r.mask
}

// resize moves what is in a ring to a new one of at least n slots.
func (k *Kernel) resize(old *ring, n uint32) *ring {
	q := k.newRing(n, 1<<old.shift)
	cons := atomic.LoadUint32(&old.hdr.ConsumerIndex)
	for i := range old.count() {
		from := unsafe.Slice((*byte)(old.slot(cons+i)), 1<<old.shift)
		copy(unsafe.Slice((*byte)(q.slot(i)), 1<<q.shift), from)
		q.hdr.ProducerIndex = i + 1
	}
	return q
}
