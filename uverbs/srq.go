package uverbs

import (
	"fmt"
	"sync"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs/internal/provider"
)

// SRQConfig says what a shared receive queue shall be.
type SRQConfig struct {
	// MaxWR is how many receive requests must fit, at least 1. The kernel may
	// give more.
	MaxWR int

	// MaxSGE is how many scatter/gather entries a request may have; 0 becomes 1.
	MaxSGE int

	// Limit, if not 0, raises IB_EVENT_SRQ_LIMIT_REACHED once, when fewer than
	// so many requests are left; see SetLimit.
	Limit int

	// Type is IB_UVERBS_SRQT_BASIC (zero) or IB_UVERBS_SRQT_XRC.
	Type abi.IBUverbsSRQType

	// XRCD and CQ are for IB_UVERBS_SRQT_XRC: the domain of the senders, and
	// where receives complete. Queue pairs name the CQ of other types.
	XRCD *XRCD
	CQ   *CQ
}

// An SRQ is a shared receive queue: any number of queue pairs take their
// receives from it (QPConfig.SRQ), each completing them in its own receive CQ.
// All methods are safe for concurrent use; posts are serialised.
type SRQ struct {
	life   life
	c      *Context
	pd     *PD
	cfg    SRQConfig
	key    uint64
	handle uint32
	number uint32
	maxSGE int

	mu     sync.Mutex // guards the rest, and ring against Close
	maxWR  int
	ring   provider.SRQ
	broken error // why ring may not be used: Close, a resize that lost it
}

// CreateSRQ creates a shared receive queue (SRQ_CREATE, CREATE_SRQ,
// CREATE_XSRQ). The error is an *[Error]; it matches errors.ErrUnsupported for
// types that the driver lacks, [ErrNoProvider] on a device without a data path
// in this module, and syscall.EINVAL when a limit is above the device's.
func (pd *PD) CreateSRQ(cfg SRQConfig) (*SRQ, error) {
	c := pd.c
	if c.drv == nil {
		return nil, &Error{Op: methodSRQCreate.name, Device: c.dev.Name, Err: c.noDrv}
	}
	if err := cfg.complete(c); err != nil {
		return nil, err
	}
	srq := &SRQ{c: c, pd: pd, cfg: cfg, key: newKey()}
	parents := []*life{&pd.life}
	if cfg.CQ != nil {
		parents = append(parents, &cfg.CQ.life)
	}
	if cfg.XRCD != nil {
		parents = append(parents, &cfg.XRCD.life)
	}
	if err := srq.life.begin(c.dev.Name, cfg.describe(), parents...); err != nil {
		return nil, err
	}
	if err := srq.create(); err != nil {
		err = c.withLimits(err, cfg.exceeded)
		srq.life.unregister()
		return nil, err
	}
	c.registry.put(srq.key, srq) // no event can come before a queue pair uses it
	return srq, nil
}

// complete fills in defaults and refuses what cannot work.
func (cfg *SRQConfig) complete(c *Context) error {
	if cfg.MaxSGE == 0 {
		cfg.MaxSGE = 1
	}
	switch {
	case cfg.MaxWR < 1 || !fits32(cfg.MaxWR, cfg.MaxSGE, cfg.Limit):
		return c.withLimits(c.fail(methodSRQCreate.name, cfg.describe(), errInvalid), cfg.exceeded)
	case cfg.CQ != nil && cfg.CQ.c != c || cfg.XRCD != nil && cfg.XRCD.c != c:
		return c.fail(methodSRQCreate.name, cfg.describe(), invalid("PD, CQ and XRC domain belong to different contexts"))
	}
	return nil
}

// check refuses what does not go with the type, once the driver has said that it
// knows it.
func (cfg *SRQConfig) check() error {
	switch {
	case cfg.Type == abi.IB_UVERBS_SRQT_XRC && (cfg.XRCD == nil || cfg.CQ == nil):
		return invalid("a shared receive queue of type XRC needs an XRC domain and a CQ")
	case cfg.Type == abi.IB_UVERBS_SRQT_BASIC && (cfg.XRCD != nil || cfg.CQ != nil):
		return invalid("an XRC domain and a CQ go with type XRC")
	}
	return nil
}

func (cfg *SRQConfig) describe() string {
	return fmt.Sprintf("new SRQ: type %d, %d requests of %d entries, limit %d", uint32(cfg.Type), cfg.MaxWR, cfg.MaxSGE, cfg.Limit)
}

// create lets driver and kernel build the queue, and undoes what it did when
// one of them fails.
func (srq *SRQ) create() error {
	c := srq.c
	setup, err := c.drv.SetupSRQ(provider.SRQRequest{Type: uint32(srq.cfg.Type)})
	if err != nil {
		return c.fail(methodSRQCreate.name, srq.life.name, err)
	}
	uhwOut := make([]byte, setup.UHWOutLen)
	if err := srq.createKernel(setup.UHWIn, uhwOut); err != nil {
		abort(setup.Abort)
		return err
	}
	srq.life.settle(c.dev.Name, fmt.Sprintf("SRQ %d", srq.handle))
	if srq.ring, err = setup.Done(uint32(srq.maxWR), uint32(srq.maxSGE), uhwOut); err != nil {
		_ = srq.destroyKernel() // the failure that brought us here is reported
		return c.fail(methodSRQCreate.name, srq.life.name, err)
	}
	return nil
}

// Context returns the context the queue belongs to.
func (srq *SRQ) Context() *Context { return srq.c }

// PD returns the queue's protection domain.
func (srq *SRQ) PD() *PD { return srq.pd }

// Handle returns the kernel's handle of the queue within its context.
func (srq *SRQ) Handle() uint32 { return srq.handle }

// Number returns the number by which peers of an XRC queue address it, else 0.
func (srq *SRQ) Number() uint32 { return srq.number }

// MaxWR returns how many requests fit.
func (srq *SRQ) MaxWR() int {
	srq.mu.Lock()
	defer srq.mu.Unlock()
	return srq.maxWR
}

// MaxSGE returns how many entries a request may have.
func (srq *SRQ) MaxSGE() int { return srq.maxSGE }

// String returns "SRQ " and the handle.
func (srq *SRQ) String() string { return srq.life.name }

// PostRecv posts receive requests, in order. It is otherwise like QP.PostRecv,
// errors included, and may be called at once: a shared queue has no states.
func (srq *SRQ) PostRecv(wrs ...RecvWR) error {
	srq.mu.Lock()
	n, err := 0, srq.broken
	if err == nil {
		n, err = srq.ring.PostRecv(recvList(wrs))
	}
	srq.mu.Unlock() // not deferred, as in QP.PostSend
	if err != nil {
		return postError(n, err)
	}
	return nil
}

// Close destroys the queue (SRQ_DESTROY). While queue pairs use it, it returns
// a *[BusyError] that names them. Requests that have not completed never will.
// It may be called more than once and from any goroutine.
func (srq *SRQ) Close() error { return srq.life.close(srq.destroy, srq.release) }

func (srq *SRQ) destroy() error {
	srq.mu.Lock()
	defer srq.mu.Unlock()
	if err := srq.destroyKernel(); err != nil {
		return err
	}
	srq.broken = srq.life.closed
	return nil
}

// release frees the ring of a queue that the kernel has destroyed.
func (srq *SRQ) release() error {
	srq.c.registry.drop(srq.key)
	return srq.ring.Close()
}
