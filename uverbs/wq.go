package uverbs

import (
	"fmt"

	"github.com/purerdma/rdma/abi"
)

// WQConfig says what a receive work queue shall be.
type WQConfig struct {
	CQ     *CQ // where receives complete
	MaxWR  int // receive requests that must fit
	MaxSGE int // entries of a request; 0 becomes 1

	// Flags are IB_UVERBS_WQ_FLAGS_…: strip VLAN tags, scatter checksums, ….
	Flags abi.IBUverbsWQFlags
}

// A WQ is a receive work queue: the receive side of raw packet queue pairs that
// spread packets over several queues, through a [WQTable].
//
// No driver in this module has such queues, so this is the kernel's object
// alone: it can be created, changed and destroyed, but not posted to.
type WQ struct {
	life          life
	c             *Context
	cq            *CQ
	key           uint64
	handle        uint32
	number        uint32
	maxWR, maxSGE int
}

// CreateWQ creates a receive work queue in state RESET (WQ_CREATE, CREATE_WQ).
// The error is an *[Error]; it matches errors.ErrUnsupported on a device without
// them, such as soft-RoCE.
func (pd *PD) CreateWQ(cfg WQConfig) (*WQ, error) {
	c, what := pd.c, fmt.Sprintf("new WQ: %d requests of %d entries", cfg.MaxWR, cfg.MaxSGE)
	if cfg.CQ == nil || cfg.CQ.c != c {
		return nil, c.fail(methodWQCreate.name, what, invalid("a work queue needs a CQ of the same context"))
	}
	if cfg.MaxWR < 1 || !fits32(cfg.MaxWR, cfg.MaxSGE) {
		return nil, c.fail(methodWQCreate.name, what, errInvalid)
	}
	cfg.MaxSGE = max(cfg.MaxSGE, 1)
	wq := &WQ{c: c, cq: cfg.CQ, key: newKey()}
	if err := wq.life.begin(c.dev.Name, what, &pd.life, &cfg.CQ.life); err != nil {
		return nil, err
	}
	create := wq.createWrite
	if c.native() {
		create = wq.createNative
	}
	if err := create(pd, &cfg); err != nil {
		wq.life.unregister()
		return nil, err
	}
	wq.life.settle(c.dev.Name, fmt.Sprintf("WQ %d", wq.handle))
	c.registry.put(wq.key, wq)
	return wq, nil
}

func (wq *WQ) createNative(pd *PD, cfg *WQConfig) error {
	i, err := newIoctl(&methodWQCreate)
	if err != nil {
		return wq.c.fail(methodWQCreate.name, wq.life.name, err)
	}
	defer i.release()
	handle := i.result(uint16(abi.UVERBS_ATTR_CREATE_WQ_HANDLE))
	i.object(uint16(abi.UVERBS_ATTR_CREATE_WQ_PD_HANDLE), pd.handle)
	i.object(uint16(abi.UVERBS_ATTR_CREATE_WQ_CQ_HANDLE), cfg.CQ.handle)
	i.u64(uint16(abi.UVERBS_ATTR_CREATE_WQ_USER_HANDLE), wq.key)
	i.u64(uint16(abi.UVERBS_ATTR_CREATE_WQ_TYPE), uint64(abi.IB_UVERBS_WQT_RQ))
	i.events(uint16(abi.UVERBS_ATTR_CREATE_WQ_EVENT_FD), wq.c)
	i.u32(uint16(abi.UVERBS_ATTR_CREATE_WQ_MAX_WR), uint32(cfg.MaxWR))
	i.u32(uint16(abi.UVERBS_ATTR_CREATE_WQ_MAX_SGE), uint32(cfg.MaxSGE))
	i.u32(uint16(abi.UVERBS_ATTR_CREATE_WQ_FLAGS), uint32(cfg.Flags))
	maxWR := i.outU32(uint16(abi.UVERBS_ATTR_CREATE_WQ_RESP_MAX_WR))
	maxSGE := i.outU32(uint16(abi.UVERBS_ATTR_CREATE_WQ_RESP_MAX_SGE))
	number := i.outU32(uint16(abi.UVERBS_ATTR_CREATE_WQ_RESP_WQ_NUM))
	if err := wq.c.ioctl(i, wq.life.name); err != nil {
		return err
	}
	wq.handle, wq.number = uint32(handle.Data), *number
	wq.maxWR, wq.maxSGE = int(*maxWR), int(*maxSGE)
	return nil
}

func (wq *WQ) createWrite(pd *PD, cfg *WQConfig) error {
	w, err := newWrite(&cmdExCreateWQ, nil, 0)
	if err != nil {
		return wq.c.fail(cmdExCreateWQ.name, wq.life.name, err)
	}
	defer w.release()
	*reqOf[abi.IBUverbsExCreateWQ](w) = abi.IBUverbsExCreateWQ{
		WQType: uint32(abi.IB_UVERBS_WQT_RQ), UserHandle: wq.key, PDHandle: pd.handle, CQHandle: cfg.CQ.handle,
		MaxWR: uint32(cfg.MaxWR), MaxSGE: uint32(cfg.MaxSGE), CreateFlags: uint32(cfg.Flags),
	}
	if err := wq.c.write(w, wq.life.name); err != nil {
		return err
	}
	resp := respOf[abi.IBUverbsExCreateWQResp](w)
	wq.handle, wq.number = resp.WQHandle, resp.Wqn
	wq.maxWR, wq.maxSGE = int(resp.MaxWR), int(resp.MaxSGE)
	return nil
}

// Modify takes the queue to a state: IB_WQS_RESET, IB_WQS_RDY, in which it
// receives, or IB_WQS_ERR (MODIFY_WQ). The error is an *[Error].
func (wq *WQ) Modify(state abi.IBWQState) error {
	return wq.modify(fmt.Sprintf("%s to %v", wq.life.name, state),
		abi.IBUverbsExModifyWQ{AttrMask: uint32(abi.IB_WQ_STATE), WQState: uint32(state)})
}

// ModifyFlags switches those of the queue's flags that mask names
// (IB_UVERBS_WQ_FLAGS_…, MODIFY_WQ). The error is an *[Error]; it matches
// errors.ErrUnsupported for flags that the device cannot change.
func (wq *WQ) ModifyFlags(flags, mask abi.IBUverbsWQFlags) error {
	what := fmt.Sprintf("%s, flags %#x of %#x", wq.life.name, uint32(flags), uint32(mask))
	return wq.modify(what, abi.IBUverbsExModifyWQ{
		AttrMask: uint32(abi.IB_WQ_FLAGS), Flags: uint32(flags), FlagsMask: uint32(mask),
	})
}

// modify issues MODIFY_WQ.
func (wq *WQ) modify(what string, req abi.IBUverbsExModifyWQ) error {
	if err := wq.life.enter(); err != nil {
		return err
	}
	defer wq.life.leave()
	w, err := newWrite(&cmdExModifyWQ, nil, 0)
	if err != nil {
		return wq.c.fail(cmdExModifyWQ.name, what, err)
	}
	defer w.release()
	req.WQHandle = wq.handle
	*reqOf[abi.IBUverbsExModifyWQ](w) = req
	return wq.c.write(w, what)
}

// Number returns the queue's number, as the kernel answered it.
func (wq *WQ) Number() uint32 { return wq.number }

// MaxWR returns how many requests fit.
func (wq *WQ) MaxWR() int { return wq.maxWR }

// MaxSGE returns how many entries a request may have.
func (wq *WQ) MaxSGE() int { return wq.maxSGE }

// Handle returns the kernel's handle of the queue within its context.
func (wq *WQ) Handle() uint32 { return wq.handle }

// String returns "WQ " and the handle.
func (wq *WQ) String() string { return wq.life.name }

// Close destroys the queue (WQ_DESTROY, DESTROY_WQ). While tables use it, it
// returns a *[BusyError] that names them. It may be called more than once and
// from any goroutine.
func (wq *WQ) Close() error {
	return wq.life.close(wq.destroy, func() error {
		wq.c.registry.drop(wq.key)
		return nil
	})
}

func (wq *WQ) destroy() error {
	if !wq.c.native() {
		return wq.c.destroyEx(&cmdExDestroyWQ, wq.handle, wq.life.name)
	}
	i, err := newIoctl(&methodWQDestroy)
	if err != nil {
		return wq.c.fail(methodWQDestroy.name, wq.life.name, err)
	}
	defer i.release()
	i.object(uint16(abi.UVERBS_ATTR_DESTROY_WQ_HANDLE), wq.handle)
	i.outU32(uint16(abi.UVERBS_ATTR_DESTROY_WQ_RESP)) // an event count that only C needs
	return wq.c.destroyed(wq.c.ioctl(i, wq.life.name))
}
