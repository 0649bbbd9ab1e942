package uverbs

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs/internal/provider"
)

// CQConfig says what a completion queue shall be. It must not be changed by
// others while CreateCQ runs.
type CQConfig struct {
	// Entries is how many completions must fit, at least 1. The kernel may
	// give more. A queue that overflows is lost, so it must hold all
	// outstanding requests of all queue pairs that use it.
	Entries int

	// Channel delivers events; nil makes a queue that can only be polled.
	Channel *CompChannel

	// Vector is the completion vector, 0 to Context.CompVectors()-1.
	Vector int

	// Spin is how long [CQ.Wait] polls before it asks for an event and sleeps.
	// 0 means not at all, which costs least; a few times the expected round
	// trip saves the wake-up of some microseconds; [SpinForever] never sleeps
	// and needs no Channel. A waiter that spins occupies a processor.
	Spin time.Duration

	// Flags are IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION, which fills in
	// WC.Timestamp, and _IGNORE_OVERRUN, with which a full queue is no error:
	// the program sees to it. Soft-RoCE has neither.
	Flags abi.IBUverbsExCreateCQFlags

	// Notify, if not nil, is called for each event by the channel's one goroutine,
	// which a channel of CreateBlockingCompChannel lacks. It must not block, and
	// must not close the queue or the channel. A call that is under way when the
	// queue is closed may end after Close.
	Notify func()
}

// A CQ is a completion queue. Methods are safe for concurrent use; Poll calls
// are serialised.
type CQ struct {
	life    life
	c       *Context
	channel *CompChannel
	notify  func()
	key     uint64
	handle  uint32

	bell    armBell
	ring    provider.CQ // has the lock for polling; life guards arming
	entries int         // guarded by ring's lock

	spinning atomic.Int64 // CQConfig.Spin

	wake    chan struct{} // has a token after an event
	waiters atomic.Int32
	errMu   sync.Mutex
	err     error         // the queue overflowed or lost its ring
	errored chan struct{} // closed with err
}

// CreateCQ creates a completion queue (CQ_CREATE, CREATE_CQ, CREATE_CQ_EX). The
// error is an *[Error]; it matches [ErrNoProvider] on a device without a data
// path in this module, syscall.EINVAL when Entries or Vector are outside the
// device's limits, and errors.ErrUnsupported for flags that it does not have.
func (c *Context) CreateCQ(cfg CQConfig) (*CQ, error) {
	if c.drv == nil {
		return nil, &Error{Op: methodCQCreate.name, Device: c.dev.Name, Err: c.noDrv}
	}
	cq := &CQ{
		c: c, channel: cfg.Channel, notify: cfg.Notify, key: newKey(),
		wake: make(chan struct{}, 1), errored: make(chan struct{}),
	}
	cq.SetSpin(cfg.Spin)
	parents := []*life{&c.life}
	if cfg.Channel != nil && cfg.Channel.c != c {
		return nil, c.fail(methodCQCreate.name, "", fmt.Errorf("the channel belongs to another context: %w", errInvalid))
	}
	if cfg.Channel != nil && cfg.Channel.lead != nil && cfg.Notify != nil {
		return nil, c.fail(methodCQCreate.name, "", invalid("nobody reads %s who could call CQConfig.Notify", cfg.Channel))
	}
	if cfg.Channel != nil {
		parents = append(parents, &cfg.Channel.life)
	}
	if err := cq.life.begin(c.dev.Name, fmt.Sprintf("new CQ of %d entries", cfg.Entries), parents...); err != nil {
		return nil, err
	}
	if err := cq.create(cfg); err != nil {
		err = c.withLimits(err, func(d *abi.IBUverbsQueryDeviceResp) string { return cfg.exceeded(d, c.CompVectors()) })
		cq.life.unregister()
		explainCQFlags(err, cfg.Flags)
		return nil, err
	}
	c.registry.put(cq.key, cq) // no event can come before the caller has the queue
	return cq, nil
}

// create lets driver and kernel build the queue, and undoes what it did when
// one of them fails.
func (cq *CQ) create(cfg CQConfig) error {
	name := cq.life.name
	setup, err := cq.c.drv.SetupCQ(provider.CQRequest{Entries: cfg.Entries})
	if err != nil {
		return cq.c.fail(methodCQCreate.name, name, err)
	}
	uhwOut := make([]byte, setup.UHWOutLen)
	if err := cq.createKernel(cfg, setup.UHWIn, uhwOut); err != nil {
		abort(setup.Abort)
		return err
	}
	cq.life.settle(cq.c.dev.Name, fmt.Sprintf("CQ %d", cq.handle))
	if err = cq.bell.prepare(cq.c, cq.handle); err != nil {
		abort(setup.Abort)
	} else {
		cq.ring, err = setup.Done(&cq.bell, cq.entries, uhwOut)
		if err == nil {
			return nil
		}
		cq.bell.free()
	}
	_ = cq.destroyKernel() // the failure that brought us here is reported
	return cq.c.fail(methodCQCreate.name, cq.life.name, err)
}

// Context returns the context the queue belongs to.
func (cq *CQ) Context() *Context { return cq.c }

// Handle returns the kernel's handle of the queue within its context.
func (cq *CQ) Handle() uint32 { return cq.handle }

// Entries returns how many completions fit.
func (cq *CQ) Entries() int {
	cq.ring.Lock()
	defer cq.ring.Unlock()
	return cq.entries
}

// String returns "CQ " and the handle.
func (cq *CQ) String() string { return cq.life.name }

// Poll takes up to len(wcs) completions off the queue and returns how many. It
// makes no system call and allocates nothing. Failed requests are completions
// too: look at each Status.
//
// The error matches net.ErrClosed after Close.
//
//go:nocheckptr
//go:norace
func (cq *CQ) Poll(wcs []WC) (n int, err error) {
	// No more than a call of the driver, which has the lock (provider.Gate), with what
	// hidden does spelled out and a bare return, so that the compiler puts it in place.
	// The race detector sees what the driver does.
	u := uintptr(unsafe.Pointer(unsafe.SliceData(wcs)))
	n, err = cq.ring.Poll(provider.List[provider.WC]{First: *(**provider.WC)(unsafe.Pointer(&u)), N: len(wcs)})
	return
}

// Close destroys the queue (CQ_DESTROY) and wakes who waits for it. While
// queue pairs use it, it returns a *[BusyError] that names them. It may be
// called more than once and from any goroutine.
func (cq *CQ) Close() error {
	return cq.life.close(func() error {
		cq.interrupt() // the waiters see that it is closed, except one that sleeps in the kernel
		return cq.destroyKernel()
	}, cq.release)
}

// release frees what belonged to a queue that the kernel has destroyed. Nobody
// arms it any more, since Close bars all use.
func (cq *CQ) release() error {
	cq.c.registry.drop(cq.key)
	cq.bell.free()
	cq.ring.Lock()
	cq.ring.End(cq.life.closed)
	cq.ring.Unlock()
	return cq.ring.Close()
}

func (cq *CQ) destroyKernel() error {
	if cq.c.native() {
		i, err := newIoctl(&methodCQDestroy)
		if err != nil {
			return cq.c.fail(methodCQDestroy.name, cq.life.name, err)
		}
		defer i.release()
		i.object(uint16(abi.UVERBS_ATTR_DESTROY_CQ_HANDLE), cq.handle)
		i.outU64(uint16(abi.UVERBS_ATTR_DESTROY_CQ_RESP)) // two event counts that only C needs
		return cq.c.destroyed(cq.c.ioctl(i, cq.life.name))
	}
	w, err := newWrite(&cmdDestroyCQ, nil, 0)
	if err != nil {
		return cq.c.fail(cmdDestroyCQ.name, cq.life.name, err)
	}
	defer w.release()
	reqOf[abi.IBUverbsDestroyCQ](w).CQHandle = cq.handle
	return cq.c.destroyed(cq.c.write(w, cq.life.name))
}
