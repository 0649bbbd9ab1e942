package uverbs

import (
	"errors"
	"sync"
	"syscall"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/devfile"
	"github.com/purerdma/rdma/uverbs/internal/provider"
)

// CallStyle is one of the two ways in which the kernel takes verbs commands.
type CallStyle uint8

// Call styles.
const (
	// StyleAuto uses ioctl where the kernel has it, else write. It finds out
	// once, when the device is opened.
	StyleAuto CallStyle = iota

	// StyleIoctl uses RDMA_VERBS_IOCTL: native methods, and INVOKE_WRITE for
	// commands that have none.
	StyleIoctl

	// StyleWrite uses write(2) for everything, as before kernel 5.0.
	StyleWrite
)

// String returns "auto", "ioctl" or "write".
func (s CallStyle) String() string {
	switch s {
	case StyleIoctl:
		return "ioctl"
	case StyleWrite:
		return "write"
	}
	return "auto"
}

// OpenOptions change how a device is opened. The zero value, like a nil
// pointer, is what most programs want.
type OpenOptions struct {
	// CallStyle forces one of the kernel's two interfaces. Zero chooses by
	// probing.
	CallStyle CallStyle
}

// A Context is an opened device, in C an ibv_context. It owns everything that
// is created with it: the kernel destroys what is left when it is closed, but
// Close refuses while there are live objects. All methods are safe for
// concurrent use.
type Context struct {
	life  life
	dev   *Device
	file  *devfile.File
	style CallStyle // never StyleAuto

	// imported: the kernel's context is another's. asyncFD is the kernel's number
	// of the descriptor of events.
	imported bool
	asyncFD  int

	vectors     int
	coreSupport uint64

	async    *asyncReader
	registry registry
	bells    bells
	leads    leads

	payload provider.Payload // zero without a provider
	drv     provider.Context // nil without a provider
	noDrv   error            // why drv is nil
	drvName string

	gone     chan struct{} // closed when the device is of no more use; see Removed
	goneOnce sync.Once
}

// Open opens the device's character device and allocates a kernel context
// (GET_CONTEXT). opts may be nil.
//
// A device without a data path in this module opens too; creating queues on it
// fails with an error that matches [ErrNoProvider].
//
// The error matches the errno of open(2): syscall.ENOENT without a device
// node, syscall.EACCES by file mode, syscall.EPERM by a device cgroup or
// because the device belongs to another network namespace, syscall.ENXIO for a
// node whose device is gone. [Device.Usability] explains them.
func (d *Device) Open(opts *OpenOptions) (*Context, error) { return OpenOn(nil, d, opts) }

// OpenOn is [Device.Open] on another kernel than the running one, for tests of
// this module with a fake. A nil kernel is the running one.
func OpenOn(k devfile.Kernel, d *Device, opts *OpenOptions) (*Context, error) {
	if opts == nil {
		opts = new(OpenOptions)
	}
	if opts.CallStyle > StyleWrite {
		return nil, &Error{Op: "open", Object: d.CharDev.Path, Device: d.Name, Err: invalid("there is no call style %d", opts.CallStyle)}
	}
	before := lastUEvent()
	f, err := devfile.Open(k, d.CharDev.Path)
	if err != nil {
		return nil, &Error{Op: "open", Object: d.CharDev.Path, Device: d.Name, Hint: d.openHint(k, err), Err: err}
	}
	c := newContext(d, f, opts.CallStyle)
	if err := c.start(); err != nil {
		c.undoStart()
		return nil, err
	}
	if k == nil {
		removals.add(c, before)
	}
	return c, nil
}

func newContext(d *Device, f *devfile.File, style CallStyle) *Context {
	c := &Context{dev: d, file: f, style: style, asyncFD: -1, gone: make(chan struct{})}
	c.bells.refused.Store(style == StyleIoctl)
	return c
}

// start turns an open file into a context.
func (c *Context) start() error {
	if err := c.life.begin(c.dev.Name, "context of "+c.dev.Name); err != nil {
		return err
	}
	drv, err := providerFor(c.dev)
	if err == nil {
		c.payload = drv.Payload()
	} else {
		c.noDrv = err // which is no error here
	}
	get := c.getContext
	if c.imported {
		get = c.queryContext
	}
	asyncFD, err := get()
	if err != nil {
		return err
	}
	f, err := c.file.Adopt(asyncFD, c.file.Path()+" (async events)")
	if err != nil {
		return c.fail("ASYNC_EVENT_ALLOC", "", err)
	}
	c.asyncFD, c.async = asyncFD, newAsyncReader(c, f)
	return c.startProvider(drv)
}

// startProvider attaches the data path, if there is one.
func (c *Context) startProvider(drv provider.Driver) error {
	if drv == nil {
		return nil
	}
	ctx, err := drv.NewContext(env{c})
	if err != nil {
		return c.fail("GET_CONTEXT", "driver "+drv.Name(), err)
	}
	c.drv, c.drvName = ctx, drv.Name()
	return nil
}

// undoStart frees what a failed start left. Closing the file makes the kernel
// destroy the context.
func (c *Context) undoStart() {
	if c.async != nil {
		_ = c.async.close() // the failure that brought us here is reported
	}
	_ = c.file.Close()
	c.bells.release()
}

// getContext finds out the call style and allocates the kernel's context. It
// returns the descriptor of asynchronous events.
func (c *Context) getContext() (asyncFD int, err error) {
	if c.style == StyleWrite || c.style == StyleAuto && c.dev.DriverID == abi.RDMA_DRIVER_UNKNOWN {
		// Every ioctl names the driver, and a wrong one is refused with EINVAL.
		c.style = StyleWrite
		return c.getContextWrite()
	}
	err = c.getContextIoctl()
	if err != nil && c.style == StyleAuto && noIoctl(err) {
		c.style = StyleWrite
		return c.getContextWrite()
	}
	if err != nil {
		return -1, err
	}
	c.style = StyleIoctl
	return c.allocAsyncFD()
}

// noIoctl reports whether an error means that the ioctl interface, or its
// GET_CONTEXT (kernel 5.5), is not there or not allowed by a sandbox.
func noIoctl(err error) bool {
	for _, errno := range []syscall.Errno{syscall.ENOTTY, syscall.ENOSYS, syscall.EPROTONOSUPPORT, syscall.EPERM, syscall.EACCES} {
		if errors.Is(err, errno) {
			return true
		}
	}
	return false
}

func (c *Context) getContextIoctl() error {
	i, err := newIoctl(&methodGetContext)
	if err != nil {
		return c.fail("GET_CONTEXT", "", err)
	}
	defer i.release()
	vectors := i.outU32(uint16(abi.UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS))
	support := i.outU64(uint16(abi.UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT))
	i.uhwOut(c.payload.ContextOut)
	if err := c.ioctl(i, ""); err != nil {
		return err
	}
	c.vectors, c.coreSupport = int(*vectors), *support
	return nil
}

func (c *Context) allocAsyncFD() (int, error) {
	i, err := newIoctl(&methodAsyncEventAlloc)
	if err != nil {
		return -1, c.fail("ASYNC_EVENT_ALLOC", "", err)
	}
	defer i.release()
	fd := i.result(uint16(abi.UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE))
	if err := c.ioctl(i, ""); err != nil {
		return -1, err
	}
	return int(*fd.DataS64()), nil
}

func (c *Context) getContextWrite() (int, error) {
	w, err := newWrite(&cmdGetContext, nil, c.payload.ContextOut)
	if err != nil {
		return -1, c.fail("GET_CONTEXT", "", err)
	}
	defer w.release()
	if err := c.write(w, ""); err != nil {
		return -1, err
	}
	resp := respOf[abi.IBUverbsGetContextResp](w)
	c.vectors = int(resp.NumCompVectors)
	return int(int32(resp.AsyncFD)), nil
}

// Device returns what the context was opened on.
func (c *Context) Device() *Device { return c.dev }

// CallStyle returns the interface in use, StyleIoctl or StyleWrite.
func (c *Context) CallStyle() CallStyle { return c.style }

// CompVectors returns how many completion vectors (interrupts or CPUs) the
// device has; at least 1.
func (c *Context) CompVectors() int { return max(c.vectors, 1) }

// Provider returns the name of the data path in use, or an error that matches
// [ErrNoProvider] and says why there is none.
func (c *Context) Provider() (string, error) {
	if c.drv == nil {
		return "", &Error{Op: "GET_CONTEXT", Device: c.dev.Name, Err: c.noDrv}
	}
	return c.drvName, nil
}

// Removed returns a channel that is closed when the device was removed or had
// a fatal error, or [Context.Abandon] was called. Close what belongs to the context
// then: with drivers that cannot be taken away under a user, as soft-RoCE before
// Linux 7.3, the removal waits until the context is closed. Those announce it by a
// uevent only, which does not reach network namespaces of unprivileged users.
func (c *Context) Removed() <-chan struct{} { return c.gone }

// markGone records the end of the device and wakes who waits for it.
func (c *Context) markGone() {
	c.goneOnce.Do(func() {
		close(c.gone)
		c.leads.interrupt()
	})
}

// Close closes the device. While objects created with the context are open it
// returns a *[BusyError] that names them; [Context.Abandon] does not ask. It may
// be called more than once and from any goroutine.
func (c *Context) Close() error { return c.life.close(nil, c.release) }

// Abandon closes the device although objects may be open, for a program that
// cannot close them: the kernel refuses to destroy what another process uses that
// shares the context ([Context.Export]), and a driver may refuse for reasons of
// its own. Waiters end, and whatever needs the kernel returns an error that matches
// net.ErrClosed. What the objects hold in this process, such as rings, remains
// until each is closed, which now succeeds. The kernel destroys its objects after
// that, when no process has the context open any more; until then the device may
// use memory of regions, which is therefore not to be used for anything else.
//
// It may be called more than once and from any goroutine; Close returns nil
// afterwards.
func (c *Context) Abandon() error {
	return c.life.endEarly(func() error {
		removals.drop(c)
		c.markGone() // wakes waiters of all objects; see removed
		return errors.Join(c.async.close(), c.file.Close())
	}, func() {
		if c.drv != nil {
			_ = c.drv.Close() // nobody is left to hear of it
		}
		c.bells.release()
	})
}

// String returns "context of " and the device's name.
func (c *Context) String() string { return c.life.name }

// release closes the files; with the last the kernel's context is gone.
func (c *Context) release() error {
	removals.drop(c)
	var errs []error
	if c.drv != nil {
		errs = append(errs, c.drv.Close())
	}
	errs = append(errs, c.async.close(), c.file.Close())
	c.bells.release()
	return errors.Join(errs...)
}
