package fakeverbs

import (
	"encoding/binary"
	"syscall"

	"github.com/purerdma/rdma/abi"
)

type pd struct{ users int }

type mr struct {
	pd      *pd
	start   uint64 // in the process
	addr    uint64 // as requests name it
	length  uint64
	access  uint32
	windows int // bound to it
	hint    *dmaHint
	dm      *dm
}

type cq struct {
	user    uint64
	channel *file
	ring    *ring
	notify  notify
	users   int

	moderation abi.IBUverbsCQModeration
	flags      uint32
}

// add gives an object the smallest free handle, from 1 (alloc_uobj).
func (k *Kernel) add(o any) uint32 {
	h := uint32(1)
	for k.objects[h] != nil {
		h++
	}
	k.objects[h], k.owners[h] = o, k.scratch.f
	return h
}

func find[T any](k *Kernel, h uint32) (t T, err error) {
	t, ok := k.objects[h].(T)
	if !ok {
		return t, syscall.EINVAL
	}
	return t, nil
}

func (k *Kernel) getContext(r *request) error {
	if r.f.context {
		return syscall.EINVAL
	}
	r.f.context = true
	if r.attrs != nil && r.name == "GET_CONTEXT" && r.in == nil {
		put(r, 0, uint32(4))
		put(r, 1, uint64(abi.IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS))
		return nil
	}
	answer(r, abi.IBUverbsGetContextResp{AsyncFD: uint32(k.newFD(asyncFile)), NumCompVectors: 4})
	return nil
}

func (k *Kernel) allocAsync(r *request) error {
	*r.attr(0).DataS64() = int64(k.newFD(asyncFile))
	return nil
}

func (k *Kernel) createChannel(r *request) error {
	answer(r, abi.IBUverbsCreateCompChannelResp{FD: uint32(k.newFD(channelFile))})
	return nil
}

func (k *Kernel) allocPD(r *request) error {
	answer(r, abi.IBUverbsAllocPDResp{PDHandle: k.add(&pd{})})
	return nil
}

// MaxMR is the largest region that the fake registers; more is ENOMEM.
const MaxMR = 1 << 30

func (k *Kernel) regMR(r *request) error {
	m, err := k.checkMR(as[abi.IBUverbsRegMR](r))
	if err != nil {
		return err
	}
	m.pd.users++
	h := k.add(m)
	answer(r, abi.IBUverbsRegMRResp{MRHandle: h, LKey: h << 8, RKey: h<<8 | 1})
	return nil
}

func (k *Kernel) createCQNative(r *request) error {
	fd := -1
	if a := r.attr(3); a != nil {
		fd = int(*a.DataS64())
	}
	h, n, err := k.createCQ(r, r.u32(1), r.u64(2), fd, r.u32(4), r.u32(5))
	if err != nil {
		return err
	}
	r.attr(0).Data = uint64(h)
	put(r, 6, n)
	return nil
}

func (k *Kernel) createCQWrite(r *request) error {
	req := as[abi.IBUverbsCreateCQ](r)
	h, n, err := k.createCQ(r, req.CQE, req.UserHandle, int(req.CompChannel), req.CompVector, 0)
	if err != nil {
		return err
	}
	answer(r, abi.IBUverbsCreateCQResp{CQHandle: h, CQE: n})
	return nil
}

func (k *Kernel) createCQEx(r *request) error {
	req := as[abi.IBUverbsExCreateCQ](r)
	if req.CompMask != 0 || req.Reserved != 0 {
		return syscall.EINVAL
	}
	h, n, err := k.createCQ(r, req.CQE, req.UserHandle, int(req.CompChannel), req.CompVector, req.Flags)
	if err != nil {
		return err
	}
	answer(r, abi.IBUverbsExCreateCQResp{Base: abi.IBUverbsCreateCQResp{CQHandle: h, CQE: n}, ResponseLength: 16})
	return nil
}

// MaxCQE is the largest completion queue of the fake, unless Kernel.MaxCQE is set.
const MaxCQE = 1 << 16

func (k *Kernel) maxCQE() uint32 {
	if k.MaxCQE > 0 {
		return k.MaxCQE
	}
	return MaxCQE
}

func (k *Kernel) createCQ(r *request, entries uint32, user uint64, fd int, vector, flags uint32) (h, n uint32, err error) {
	if entries == 0 || entries > k.maxCQE() || vector >= 4 || flags != 0 && !k.Hardware {
		return 0, 0, syscall.EINVAL
	}
	q := &cq{user: user, flags: flags}
	if fd >= 0 {
		if q.channel = k.fileOf(fd, channelFile); q.channel == nil {
			return 0, 0, syscall.EBADF
		}
	}
	q.ring = k.newRing(entries, sizeOf[abi.IBUverbsWC]())
	copy(r.uhwOut, bytesOf(&abi.RXECreateCQResp{Mi: q.ring.info}))
	return k.add(q), q.ring.mask, nil
}

func (k *Kernel) resizeCQ(r *request) error {
	req := as[abi.IBUverbsResizeCQ](r)
	q, err := find[*cq](k, req.CQHandle)
	if err != nil {
		return err
	}
	if req.CQE == 0 || req.CQE > k.maxCQE() || req.CQE < q.ring.count() || len(r.uhwOut) < sizeOf[abi.RXEResizeCQResp]() {
		return syscall.EINVAL
	}
	q.ring = k.resize(q.ring, req.CQE)
	answer(r, abi.IBUverbsResizeCQResp{CQE: q.ring.mask})
	copy(r.uhwOut, bytesOf(&abi.RXEResizeCQResp{Mi: q.ring.info}))
	return nil
}

func (k *Kernel) modifyCQ(r *request) error {
	req := as[abi.IBUverbsExModifyCQ](r)
	q, err := find[*cq](k, req.CQHandle)
	switch {
	case !k.Moderation:
		return syscall.EOPNOTSUPP
	case err != nil || req.AttrMask == 0 || req.Reserved != 0:
		return syscall.EINVAL
	case req.AttrMask > uint32(abi.IB_CQ_MODERATE):
		return syscall.EOPNOTSUPP
	}
	q.moderation = req.Attr
	return nil
}

// ModerationOf tells what a completion queue was last asked for.
func (k *Kernel) ModerationOf(handle uint32) (count, microseconds uint16) {
	k.mu.Lock()
	defer k.mu.Unlock()
	q, ok := k.objects[handle].(*cq)
	if !ok {
		return 0, 0
	}
	return q.moderation.CQCount, q.moderation.CQPeriod
}

func (k *Kernel) destroyNative(r *request) error { return k.destroy(uint32(r.u64(0))) }

func (k *Kernel) destroyByHandle(r *request) error {
	return k.destroy(binary.NativeEndian.Uint32(r.in))
}

func (k *Kernel) destroyWithAnswer(r *request) error {
	return k.destroy(binary.NativeEndian.Uint32(r.in[8:]))
}

// destroy refuses what is in use, as the reference counts of the kernel do.
func (k *Kernel) destroy(h uint32) error {
	switch o := k.objects[h].(type) {
	case *pd:
		if o.users > 0 {
			return syscall.EBUSY
		}
	case *mr:
		if o.windows > 0 {
			return syscall.EINVAL // rxe_dereg_mr
		}
		if o.hint != nil {
			o.hint.users--
		}
		if o.dm != nil {
			o.dm.users--
		}
		o.pd.users--
	case *dmaHint:
		if o.users > 0 {
			return syscall.EBUSY
		}
	case *mw:
		o.unbind()
		o.pd.users--
	case *ah:
		o.pd.users--
	case *cq:
		if o.users > 0 {
			return syscall.EBUSY
		}
	case *qp:
		if len(o.groups) > 0 {
			return syscall.EBUSY
		}
		o.leave()
	case *srq:
		if o.users > 0 {
			return syscall.EBUSY
		}
		o.pd.users--
		if o.cq != nil {
			o.cq.users--
			o.xrcd.users--
		}
	case *xrcd:
		if o.users > 0 {
			return syscall.EBUSY
		}
	default:
		if err := k.destroyHardware(o); err != nil {
			return err
		}
	}
	delete(k.objects, h)
	return nil
}
