package uverbs

import (
	"fmt"
	"slices"

	"github.com/purerdma/rdma/abi"
)

// A CompCounter counts completions of queue pairs in the device, those that
// succeeded and those that failed, without a completion queue being read.
type CompCounter struct {
	life   life
	c      *Context
	handle uint32
}

// CompCounterLimits are what a device has of completion counters.
type CompCounterLimits struct {
	Max      int    // counters
	MaxValue uint64 // of each number, which then starts again at 0

	// Kinds are the kinds of requests that can be counted
	// (IB_UVERBS_QP_ATTACH_COMP_CNTR_OP_…).
	Kinds abi.IBUverbsQPAttachCompCntrOp
}

// QueryCompCounters asks for the limits of completion counters
// (QUERY_COMP_CNTR_CAPS, Linux 7.3, ioctl interface only). The error is an
// *[Error]; it matches errors.ErrUnsupported where kernel or driver have none, as
// soft-RoCE.
func (c *Context) QueryCompCounters() (CompCounterLimits, error) {
	if err := c.life.enter(); err != nil {
		return CompCounterLimits{}, err
	}
	defer c.life.leave()
	i, err := c.nativeOnly(&methodQueryCompCntrCaps, "")
	if err != nil {
		return CompCounterLimits{}, err
	}
	defer i.release()
	n := i.outU32(uint16(abi.UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_MAX_COUNTERS))
	value := i.outU64(uint16(abi.UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_MAX_VALUE))
	kinds := i.outU32(uint16(abi.UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_SUPPORTED_QP_ATTACH_OPS))
	if err := c.ioctl(i, ""); err != nil {
		return CompCounterLimits{}, err
	}
	return CompCounterLimits{Max: int(*n), MaxValue: *value, Kinds: abi.IBUverbsQPAttachCompCntrOp(*kinds)}, nil
}

// CreateCompCounter creates a completion counter of value 0 (COMP_CNTR_CREATE,
// Linux 7.3, ioctl interface only). The error is an *[Error]; it matches
// errors.ErrUnsupported where kernel or driver cannot, as soft-RoCE.
func (c *Context) CreateCompCounter() (*CompCounter, error) {
	n := &CompCounter{c: c}
	if err := n.life.begin(c.dev.Name, "new completion counter", &c.life); err != nil {
		return nil, err
	}
	i, err := c.nativeOnly(&methodCompCntrCreate, n.life.name)
	if err != nil {
		n.life.unregister()
		return nil, err
	}
	defer i.release()
	handle := i.result(uint16(abi.UVERBS_ATTR_CREATE_COMP_CNTR_HANDLE))
	if err := c.ioctl(i, n.life.name); err != nil {
		n.life.unregister()
		return nil, err
	}
	n.handle = uint32(handle.Data)
	n.life.settle(c.dev.Name, fmt.Sprintf("completion counter %d", n.handle))
	return n, nil
}

// AttachCompCounter makes a counter count requests of the queue pair of the given
// kinds (IB_UVERBS_QP_ATTACH_COMP_CNTR_OP_…), also those of peers on its memory
// (QP_ATTACH_COMP_CNTR). That lasts as long as the queue pair, before which the
// counter cannot be closed. The error matches syscall.EBUSY when one of the kinds
// is counted already.
func (qp *QP) AttachCompCounter(n *CompCounter, kinds abi.IBUverbsQPAttachCompCntrOp) error {
	if err := qp.life.enterAlone(); err != nil {
		return err
	}
	defer qp.life.leaveAlone()
	if n == nil || n.c != qp.c {
		return qp.c.fail(methodQPAttachCompCntr.name, qp.life.name, invalid("no counter of the same context is given"))
	}
	what := fmt.Sprintf("%s to %s, kinds %#x", n.life.name, qp.life.name, uint32(kinds))
	parents := qp.life.parents
	if !slices.Contains(parents, &n.life) {
		parents = append(slices.Clip(parents), &n.life)
	}
	return qp.life.move(parents, func() error {
		i, err := qp.c.nativeOnly(&methodQPAttachCompCntr, what)
		if err != nil {
			return err
		}
		defer i.release()
		i.object(uint16(abi.UVERBS_ATTR_QP_ATTACH_COMP_CNTR_HANDLE), qp.handle)
		i.object(uint16(abi.UVERBS_ATTR_QP_ATTACH_COMP_CNTR_CNTR_HANDLE), n.handle)
		i.u32(uint16(abi.UVERBS_ATTR_QP_ATTACH_COMP_CNTR_OP_MASK), uint32(kinds))
		return qp.c.ioctl(i, what)
	})
}

// Read returns the number of completions: IB_UVERBS_COMP_CNTR_ENTRY_COMP of those
// that succeeded, _ERR of those that failed (COMP_CNTR_READ). The error is an
// *[Error].
func (n *CompCounter) Read(entry abi.IBUverbsCompCntrEntry) (uint64, error) {
	if err := n.life.enter(); err != nil {
		return 0, err
	}
	defer n.life.leave()
	i, err := n.c.nativeOnly(&methodCompCntrRead, n.life.name)
	if err != nil {
		return 0, err
	}
	defer i.release()
	i.object(uint16(abi.UVERBS_ATTR_READ_COMP_CNTR_HANDLE), n.handle)
	i.u64(uint16(abi.UVERBS_ATTR_READ_COMP_CNTR_ENTRY), uint64(entry))
	value := i.outU64(uint16(abi.UVERBS_ATTR_READ_COMP_CNTR_RESP_VALUE))
	if err := n.c.ioctl(i, n.life.name); err != nil {
		return 0, err
	}
	return *value, nil
}

// Modify sets one of the two numbers (IB_UVERBS_COMP_CNTR_MODIFY_OP_SET) or adds
// to it (_INC) (COMP_CNTR_MODIFY). The error is an *[Error].
func (n *CompCounter) Modify(entry abi.IBUverbsCompCntrEntry, op abi.IBUverbsCompCntrModifyOp, value uint64) error {
	if err := n.life.enter(); err != nil {
		return err
	}
	defer n.life.leave()
	i, err := n.c.nativeOnly(&methodCompCntrModify, n.life.name)
	if err != nil {
		return err
	}
	defer i.release()
	i.object(uint16(abi.UVERBS_ATTR_MODIFY_COMP_CNTR_HANDLE), n.handle)
	i.u64(uint16(abi.UVERBS_ATTR_MODIFY_COMP_CNTR_ENTRY), uint64(entry))
	i.u64(uint16(abi.UVERBS_ATTR_MODIFY_COMP_CNTR_OP), uint64(op))
	i.u64(uint16(abi.UVERBS_ATTR_MODIFY_COMP_CNTR_VALUE), value)
	return n.c.ioctl(i, n.life.name)
}

// Handle returns the kernel's handle of the counter within its context.
func (n *CompCounter) Handle() uint32 { return n.handle }

// String returns "completion counter " and the handle.
func (n *CompCounter) String() string { return n.life.name }

// Close destroys the counter (COMP_CNTR_DESTROY). While queue pairs use it, it
// returns a *[BusyError] that names them. It may be called more than once and
// from any goroutine.
func (n *CompCounter) Close() error {
	return n.life.close(func() error {
		return n.c.destroyNative(&methodCompCntrDestroy, uint16(abi.UVERBS_ATTR_DESTROY_COMP_CNTR_HANDLE), n.handle, n.life.name)
	}, nil)
}
