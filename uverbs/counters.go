package uverbs

import (
	"encoding/binary"
	"fmt"

	"github.com/purerdma/rdma/abi"
)

// maxCounters is how many values fit the memory of one command.
const maxCounters = 128

// Counters count packets of flow rules that name them with [FlowCount]. What
// each value counts is the driver's matter: it is said when the counters are
// attached, which in this module no driver does.
type Counters struct {
	life   life
	c      *Context
	handle uint32
}

// CreateCounters creates counters (COUNTERS_CREATE, Linux 4.18, ioctl interface
// only). The error is an *[Error]; it matches errors.ErrUnsupported where kernel
// or driver cannot, as soft-RoCE.
func (c *Context) CreateCounters() (*Counters, error) {
	n := &Counters{c: c}
	if err := n.life.begin(c.dev.Name, "new counters", &c.life); err != nil {
		return nil, err
	}
	i, err := c.nativeOnly(&methodCountersCreate, n.life.name)
	if err != nil {
		n.life.unregister()
		return nil, err
	}
	defer i.release()
	handle := i.result(uint16(abi.UVERBS_ATTR_CREATE_COUNTERS_HANDLE))
	if err := c.ioctl(i, n.life.name); err != nil {
		n.life.unregister()
		return nil, err
	}
	n.handle = uint32(handle.Data)
	n.life.settle(c.dev.Name, fmt.Sprintf("counters %d", n.handle))
	return n, nil
}

// Read returns the first count values (COUNTERS_READ), at most 128. With cached
// the driver may answer what it last read from the device. The error matches
// syscall.EINVAL while no flow rule uses the counters.
func (n *Counters) Read(count int, cached bool) ([]uint64, error) {
	if err := n.life.enter(); err != nil {
		return nil, err
	}
	defer n.life.leave()
	what := fmt.Sprintf("%d values of %s", count, n.life.name)
	if count < 1 || count > maxCounters {
		return nil, n.c.fail(methodCountersRead.name, what, errInvalid)
	}
	i, err := n.c.nativeOnly(&methodCountersRead, what)
	if err != nil {
		return nil, err
	}
	defer i.release()
	i.object(uint16(abi.UVERBS_ATTR_READ_COUNTERS_HANDLE), n.handle)
	out := i.b.AllocBytes(8 * count)
	i.out(uint16(abi.UVERBS_ATTR_READ_COUNTERS_BUFF), out)
	if cached {
		i.u32(uint16(abi.UVERBS_ATTR_READ_COUNTERS_FLAGS), uint32(abi.IB_UVERBS_READ_COUNTERS_PREFER_CACHED))
	}
	if err := n.c.ioctl(i, what); err != nil {
		return nil, err
	}
	values := make([]uint64, count)
	for k := range values {
		values[k] = binary.NativeEndian.Uint64(out[8*k:])
	}
	return values, nil
}

// Handle returns the kernel's handle of the counters within its context.
func (n *Counters) Handle() uint32 { return n.handle }

// String returns "counters " and the handle.
func (n *Counters) String() string { return n.life.name }

// Close destroys the counters (COUNTERS_DESTROY). While flow rules use them, it
// returns a *[BusyError] that names them. It may be called more than once and
// from any goroutine.
func (n *Counters) Close() error {
	return n.life.close(func() error {
		return n.c.destroyNative(&methodCountersDestroy, uint16(abi.UVERBS_ATTR_DESTROY_COUNTERS_HANDLE), n.handle, n.life.name)
	}, nil)
}
