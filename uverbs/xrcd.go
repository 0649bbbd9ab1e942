package uverbs

import (
	"fmt"
	"os"

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
// connections, such as soft-RoCE.
func (c *Context) OpenXRCD() (*XRCD, error) { return c.openXRCD(-1, 0) }

// OpenSharedXRCD opens the domain that all processes share which name the same
// file, of which only the inode counts. flags are those of os.OpenFile: with
// os.O_CREATE the domain is created if it is not there, with os.O_EXCL too it
// must not be. Without os.O_CREATE the error matches syscall.EINVAL or EAGAIN
// when nobody has created it.
func (c *Context) OpenSharedXRCD(f *os.File, flags int) (*XRCD, error) {
	if f == nil {
		return nil, c.fail(cmdOpenXRCD.name, "", invalid("no file given"))
	}
	raw, err := f.SyscallConn()
	if err != nil {
		return nil, c.fail(cmdOpenXRCD.name, f.Name(), err)
	}
	var x *XRCD
	ctlErr := raw.Control(func(fd uintptr) { x, err = c.openXRCD(int32(fd), uint32(flags)) })
	if ctlErr != nil {
		return nil, c.fail(cmdOpenXRCD.name, f.Name(), ctlErr)
	}
	return x, err
}

func (c *Context) openXRCD(fd int32, flags uint32) (*XRCD, error) {
	x := &XRCD{c: c}
	if err := x.life.begin(c.dev.Name, "new XRC domain", &c.life); err != nil {
		return nil, err
	}
	w, err := newWrite(&cmdOpenXRCD, nil, 0)
	if err == nil {
		defer w.release()
		req := reqOf[abi.IBUverbsOpenXRCD](w)
		req.FD, req.Oflags = uint32(fd), flags
		err = c.write(w, "")
	}
	if err != nil {
		x.life.unregister()
		return nil, c.fail(cmdOpenXRCD.name, "", err)
	}
	x.handle = respOf[abi.IBUverbsOpenXRCDResp](w).XRCDHandle
	x.life.settle(c.dev.Name, fmt.Sprintf("XRC domain %d", x.handle))
	return x, nil
}

// OpenQP opens the target of XRC with the given number, which another process
// that shares the domain has created (OPEN_QP): it can then be modified and
// queried here, and stays while any process has it open. Events of it reach all.
// The error is an *[Error], with syscall.EINVAL when the domain has no such target.
func (x *XRCD) OpenQP(number uint32) (*QP, error) {
	c, what := x.c, fmt.Sprintf("QP %#x of %s", number, x.life.name)
	if number > maxQPN {
		return nil, c.fail(cmdOpenQP.name, what, invalid("numbers of queue pairs have 24 bits"))
	}
	qp := &QP{c: c, cfg: QPConfig{Type: abi.IB_UVERBS_QPT_XRC_TGT, XRCD: x}, key: newKey(), ring: ringless{}}
	if err := qp.life.begin(c.dev.Name, what, &x.life); err != nil {
		return nil, err
	}
	if err := qp.open(number, what); err != nil {
		qp.life.unregister()
		return nil, err
	}
	qp.life.settle(c.dev.Name, fmt.Sprintf("QP %#x", qp.qpn))
	c.registry.put(qp.key, qp)
	return qp, nil
}

func (qp *QP) open(number uint32, what string) error {
	w, err := newWrite(&cmdOpenQP, nil, 0)
	if err != nil {
		return qp.c.fail(cmdOpenQP.name, what, err)
	}
	defer w.release()
	req := reqOf[abi.IBUverbsOpenQP](w)
	req.UserHandle, req.PDHandle = qp.key, qp.cfg.XRCD.handle
	req.QPN, req.QPType = number, uint8(qp.cfg.Type)
	if err := qp.c.write(w, what); err != nil {
		return err
	}
	resp := respOf[abi.IBUverbsCreateQPResp](w)
	qp.handle, qp.qpn = resp.QPHandle, number
	return nil
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
