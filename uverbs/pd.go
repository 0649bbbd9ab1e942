package uverbs

import (
	"fmt"

	"github.com/purerdma/rdma/abi"
)

// A PD is a protection domain: memory regions and queue pairs work together
// only within one. It must be closed after them.
type PD struct {
	life   life
	c      *Context
	handle uint32
	shared bool // the kernel's object is another's
}

// AllocPD creates a protection domain (ALLOC_PD). The error is an *[Error].
func (c *Context) AllocPD() (*PD, error) {
	pd := &PD{c: c}
	if err := pd.life.begin(c.dev.Name, "new PD", &c.life); err != nil {
		return nil, err
	}
	w, err := newWrite(&cmdAllocPD, nil, 0)
	if err == nil {
		defer w.release()
		err = c.write(w, "")
	}
	if err != nil {
		pd.life.unregister()
		return nil, c.fail(cmdAllocPD.name, "", err)
	}
	pd.handle = respOf[abi.IBUverbsAllocPDResp](w).PDHandle
	pd.life.settle(c.dev.Name, fmt.Sprintf("PD %d", pd.handle))
	return pd, nil
}

// Context returns the context the domain belongs to.
func (pd *PD) Context() *Context { return pd.c }

// Handle returns the kernel's handle of the domain within its context.
func (pd *PD) Handle() uint32 { return pd.handle }

// String returns "PD " and the handle.
func (pd *PD) String() string { return pd.life.name }

// Close destroys the domain (PD_DESTROY, DEALLOC_PD). While memory regions,
// queues or address handles use it, it returns a *[BusyError] that names them. It
// may be called more than once and from any goroutine.
func (pd *PD) Close() error {
	return pd.life.close(func() error {
		if pd.shared {
			return nil
		}
		return pd.c.destroyObject(&methodPDDestroy, uint16(abi.UVERBS_ATTR_DESTROY_PD_HANDLE),
			&cmdDeallocPD, pd.handle, pd.life.name)
	}, nil)
}

// same reports whether two domains are one to the kernel.
func (pd *PD) same(other *PD) bool {
	return pd == other || pd.c == other.c && pd.handle == other.handle
}
