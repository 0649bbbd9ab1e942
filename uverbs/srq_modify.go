package uverbs

import (
	"fmt"

	"github.com/purerdma/rdma/abi"
)

// SRQAttr are the attributes of a shared receive queue.
type SRQAttr struct {
	MaxWR  int // requests that fit
	MaxSGE int // entries of a request
	Limit  int // 0 once the event was raised, or when none was asked for
}

// SetLimit asks for one IB_EVENT_SRQ_LIMIT_REACHED ([Context.NextAsyncEvent])
// when fewer than n requests are left in the queue (MODIFY_SRQ); 0 takes that
// back. The kernel looks when a receive is taken, so a queue that is that low
// already raises it with the next. The error is an *[Error], with
// syscall.EINVAL when n is more than fit.
func (srq *SRQ) SetLimit(n int) error {
	if err := srq.life.enter(); err != nil {
		return err
	}
	defer srq.life.leave()
	srq.mu.Lock()
	defer srq.mu.Unlock()
	return srq.modify(abi.IB_SRQ_LIMIT, n)
}

// Resize changes how many requests must fit (MODIFY_SRQ); those posted stay.
// The error is an *[Error]; it matches syscall.EINVAL when more are posted, when
// the limit is higher, or when the device's maximum is lower, and
// errors.ErrUnsupported for drivers that cannot.
//
// Should the new queue not be mapped, for lack of memory, the queue is of no
// use any more: PostRecv then returns that error.
func (srq *SRQ) Resize(maxWR int) error {
	if err := srq.life.enter(); err != nil {
		return err
	}
	defer srq.life.leave()
	srq.mu.Lock()
	defer srq.mu.Unlock()
	return srq.modify(abi.IB_SRQ_MAX_WR, maxWR)
}

// modify issues MODIFY_SRQ while nobody posts.
func (srq *SRQ) modify(mask abi.IBSRQAttrMask, n int) error {
	c, resize := srq.c, mask == abi.IB_SRQ_MAX_WR
	what := fmt.Sprintf("%s, limit %d", srq.life.name, n)
	if resize {
		what = fmt.Sprintf("%s to %d requests", srq.life.name, n)
	}
	if srq.broken != nil {
		return srq.broken
	}
	if !fits32(n) {
		return c.fail(cmdModifySRQ.name, what, errInvalid)
	}
	setup, err := srq.ring.SetupModify(resize, uint32(n))
	if err != nil {
		return c.fail(cmdModifySRQ.name, what, err)
	}
	w, err := newWrite(&cmdModifySRQ, setup.UHWIn, setup.UHWOutLen)
	if err != nil {
		abort(setup.Abort)
		return c.fail(cmdModifySRQ.name, what, err)
	}
	defer w.release()
	req := reqOf[abi.IBUverbsModifySRQ](w)
	req.SRQHandle, req.AttrMask, req.MaxWR, req.SRQLimit = srq.handle, uint32(mask), uint32(n), uint32(n)
	if err := c.write(w, what); err != nil {
		abort(setup.Abort)
		return err
	}
	fits, err := setup.Done(uint32(n), w.uhwResp())
	if err != nil {
		err = c.fail(cmdModifySRQ.name, what, err)
		srq.broken = err
		return err
	}
	if resize {
		srq.maxWR = int(fits)
	}
	return nil
}

// Query returns the queue's attributes as the kernel has them (QUERY_SRQ). The
// error is an *[Error].
func (srq *SRQ) Query() (SRQAttr, error) {
	if err := srq.life.enter(); err != nil {
		return SRQAttr{}, err
	}
	defer srq.life.leave()
	w, err := newWrite(&cmdQuerySRQ, nil, 0)
	if err != nil {
		return SRQAttr{}, srq.c.fail(cmdQuerySRQ.name, srq.life.name, err)
	}
	defer w.release()
	reqOf[abi.IBUverbsQuerySRQ](w).SRQHandle = srq.handle
	if err := srq.c.write(w, srq.life.name); err != nil {
		return SRQAttr{}, err
	}
	r := respOf[abi.IBUverbsQuerySRQResp](w)
	return SRQAttr{MaxWR: int(r.MaxWR), MaxSGE: int(r.MaxSGE), Limit: int(r.SRQLimit)}, nil
}
