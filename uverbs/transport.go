package uverbs

import (
	"errors"
	"fmt"
	"net"

	"github.com/purerdma/rdma/abi"
)

// ioctl issues a native method. object is what it applies to, for the error.
func (c *Context) ioctl(i *ioctlCall, object string) error {
	if err := c.ioctlRaw(i); err != nil {
		return c.fail(i.m.name, object, err)
	}
	return nil
}

func (c *Context) ioctlRaw(i *ioctlCall) error {
	return c.file.Ioctl(abi.RDMA_VERBS_IOCTL, i.seal(c.dev.DriverID))
}

// errNoWrite is the cause where a command is asked for of the older interface,
// which has none.
var errNoWrite = fmt.Errorf("the write interface has no such command: %w", errors.ErrUnsupported)

// nativeOnly starts a call of a method that no write command does.
func (c *Context) nativeOnly(m *method, object string) (*ioctlCall, error) {
	if !c.native() {
		return nil, c.fail(m.name, object, errNoWrite)
	}
	i, err := newIoctl(m)
	if err != nil {
		return nil, c.fail(m.name, object, err)
	}
	return i, nil
}

// write issues a write command in the style of the context.
func (c *Context) write(w *writeCall, object string) error {
	if err := c.writeRaw(w); err != nil {
		return c.fail(w.m.name, object, err)
	}
	return nil
}

func (c *Context) writeRaw(w *writeCall) error {
	if c.style == StyleWrite {
		return c.file.Write(w.frame)
	}
	i, err := w.invoke()
	if err != nil {
		return err
	}
	defer i.release()
	return c.file.Ioctl(abi.RDMA_VERBS_IOCTL, i.seal(c.dev.DriverID))
}

// native reports whether native methods are used.
func (c *Context) native() bool { return c.style == StyleIoctl }

// destroyObject issues a destroy command that has a handle and nothing else.
func (c *Context) destroyObject(m *method, attr uint16, w *writeCmd, handle uint32, object string) error {
	if c.native() {
		return c.destroyNative(m, attr, handle, object)
	}
	wc, err := newWrite(w, nil, 0)
	if err != nil {
		return c.fail(w.name, object, err)
	}
	defer wc.release()
	*reqOf[handleOnly](wc) = handleOnly{Handle: handle}
	return c.destroyed(c.write(wc, object))
}

func (c *Context) destroyNative(m *method, attr uint16, handle uint32, object string) error {
	i, err := newIoctl(m)
	if err != nil {
		return c.fail(m.name, object, err)
	}
	defer i.release()
	i.object(attr, handle)
	return c.destroyed(c.ioctl(i, object))
}

// handleOnly is the core struct of DEALLOC_PD, DEREG_MR and their like.
type handleOnly struct{ Handle uint32 }

// destroyEx issues an extended destroy command, whose core struct is a mask and
// a handle.
func (c *Context) destroyEx(m *writeCmd, handle uint32, object string) error {
	w, err := newWrite(m, nil, 0)
	if err != nil {
		return c.fail(m.name, object, err)
	}
	defer w.release()
	reqOf[maskAndHandle](w).Handle = handle
	return c.destroyed(c.write(w, object))
}

// maskAndHandle is the core struct of DESTROY_WQ, DESTROY_FLOW and their like.
type maskAndHandle struct{ CompMask, Handle uint32 }

// destroyed turns the answers of a kernel that has already destroyed the
// object into success: after a device is taken away its objects are gone, and
// every command answers EIO (uverbs_destroy_ufile_hw). On a context that was
// abandoned the kernel destroys it with the file. A driver may answer EIO for
// reasons of its own, as mlx5 does when its firmware fails; the object lives then.
func (c *Context) destroyed(err error) error {
	var e *Error
	if errors.Is(err, net.ErrClosed) || errors.As(err, &e) && isGone(e.Err) && !e.lives {
		return nil
	}
	return err
}

// lives asks the kernel whether the device is still there, after an error that may
// mean that it is not. It is the core that answers QUERY_DEVICE, in its older form
// from what it has in memory (ib_uverbs_query_device): no error of it is the driver's.
func (c *Context) lives() bool {
	w, err := newWrite(&cmdQueryDevice, nil, 0)
	if err != nil {
		return true // as far as is known
	}
	defer w.release()
	err = c.writeRaw(w)
	return !isGone(err) && !errors.Is(err, net.ErrClosed)
}

// fail makes an Error of this device. An Error stays what it is.
func (c *Context) fail(op, object string, err error) error {
	var e *Error
	if errors.As(err, &e) {
		return err
	}
	e = &Error{Op: op, Object: object, Device: c.dev.Name, Hint: hint(op, err), Err: err}
	if isGone(err) {
		e.lives = c.lives()
		e.removed = isClosed(c.gone) // it may be on its way out
	}
	return e
}
