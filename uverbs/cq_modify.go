package uverbs

import (
	"fmt"
	"math"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs/internal/provider"
)

// Resize changes how many completions must fit (RESIZE_CQ); those in the queue
// stay, and so does an armed event. Polling waits meanwhile. The error is an
// *[Error]; it matches syscall.EINVAL when more completions are in the queue or
// the device's maximum is lower, and errors.ErrUnsupported for drivers that
// cannot.
//
// Should the new queue not be mapped, for lack of memory, the queue is of no
// use any more: Poll and Wait then return that error.
func (cq *CQ) Resize(entries int) error {
	if err := cq.life.enter(); err != nil {
		return err
	}
	defer cq.life.leave()
	cq.ring.Lock()
	defer cq.ring.Unlock()
	if err := cq.ring.Ended(); err != nil {
		return err
	}
	err := cq.resize(entries, fmt.Sprintf("%s to %d entries", cq.life.name, entries))
	return cq.c.withLimits(err, func(d *abi.IBUverbsQueryDeviceResp) string {
		return (&CQConfig{Entries: entries}).exceeded(d, cq.c.CompVectors())
	})
}

func (cq *CQ) resize(entries int, what string) error {
	if entries < 1 || !fits32(entries) {
		return cq.c.fail(cmdResizeCQ.name, what, errInvalid)
	}
	setup, err := cq.ring.SetupResize(entries)
	if err != nil {
		return cq.c.fail(cmdResizeCQ.name, what, err)
	}
	w, err := newWrite(&cmdResizeCQ, setup.UHWIn, setup.UHWOutLen)
	if err != nil {
		abort(setup.Abort)
		return cq.c.fail(cmdResizeCQ.name, what, err)
	}
	defer w.release()
	req := reqOf[abi.IBUverbsResizeCQ](w)
	req.CQHandle, req.CQE = cq.handle, uint32(entries)
	if err := cq.c.write(w, what); err != nil {
		abort(setup.Abort)
		return err
	}
	return cq.resized(setup, w, what)
}

// resized moves to the queue that the kernel has moved to.
func (cq *CQ) resized(setup *provider.ModifySetup, w *writeCall, what string) error {
	fits, err := setup.Done(respOf[abi.IBUverbsResizeCQResp](w).CQE, w.uhwResp())
	if err != nil {
		err = cq.c.fail(cmdResizeCQ.name, what, err)
		cq.ring.End(err)
		cq.end(err)
		return err
	}
	cq.entries = int(fits)
	return nil
}

// Moderate delays events until count completions have come or period has
// passed since the first of them, rounded down to microseconds and at most
// 65535 of either (MODIFY_CQ). Zeroes end that. The error is an *[Error]; it
// matches errors.ErrUnsupported for drivers that cannot, such as soft-RoCE.
func (cq *CQ) Moderate(count int, period time.Duration) error {
	if err := cq.life.enter(); err != nil {
		return err
	}
	defer cq.life.leave()
	what := fmt.Sprintf("%s, %d completions or %v", cq.life.name, count, period)
	us := period.Microseconds()
	if count < 0 || count > math.MaxUint16 || us < 0 || us > math.MaxUint16 {
		return cq.c.fail(cmdExModifyCQ.name, what, errInvalid)
	}
	w, err := newWrite(&cmdExModifyCQ, nil, 0)
	if err != nil {
		return cq.c.fail(cmdExModifyCQ.name, what, err)
	}
	defer w.release()
	req := reqOf[abi.IBUverbsExModifyCQ](w)
	req.CQHandle, req.AttrMask = cq.handle, uint32(abi.IB_CQ_MODERATE)
	req.Attr = abi.IBUverbsCQModeration{CQCount: uint16(count), CQPeriod: uint16(us)}
	return cq.c.write(w, what)
}
