package uverbs

import (
	"fmt"

	"github.com/purerdma/rdma/abi"
)

// An XRCD is a domain of extended reliable connections: queue pairs and shared
// receive queues work together only within one. It must be closed after them.
type XRCD struct {
	life   life
	c      *Context
	handle uint32
}

// OpenXRCD creates a domain for this context alone (OPEN_XRCD). The error is an
// *[Error]; it matches errors.ErrUnsupported on a device without such
// connections.
func (c *Context) OpenXRCD() (*XRCD, error) {
	x := &XRCD{c: c}
	if err := x.life.begin(c.dev.Name, "new XRC domain", &c.life); err != nil {
		return nil, err
	}
	w, err := newWrite(&cmdOpenXRCD, nil, 0)
	if err == nil {
		defer w.release()
		reqOf[abi.IBUverbsOpenXRCD](w).FD = ^uint32(0) // -1: not shared through a file
		err = c.write(w, "")
	}
	if err != nil {
		x.life.abandon()
		return nil, c.fail(cmdOpenXRCD.name, "", err)
	}
	x.handle = respOf[abi.IBUverbsOpenXRCDResp](w).XRCDHandle
	x.life.settle(c.dev.Name, fmt.Sprintf("XRC domain %d", x.handle))
	return x, nil
}

// Handle returns the kernel's handle of the domain within its context.
func (x *XRCD) Handle() uint32 { return x.handle }

// String returns "XRC domain " and the handle.
func (x *XRCD) String() string { return x.life.name }

// Close closes the domain (XRCD_DESTROY, CLOSE_XRCD). While queues use it, it
// returns a *[BusyError] that names them. It may be called more than once and
// from any goroutine.
func (x *XRCD) Close() error {
	return x.life.close(func() error {
		return x.c.destroyObject(&methodXRCDDestroy, uint16(abi.UVERBS_ATTR_DESTROY_XRCD_HANDLE),
			&cmdCloseXRCD, x.handle, x.life.name)
	}, nil)
}
