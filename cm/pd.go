package cm

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"syscall"

	"github.com/purerdma/rdma/ucma"
	"github.com/purerdma/rdma/uverbs"
)

// A PD is a protection domain that several connections of one device share on
// purpose, for instance because a server exports one table to all of its
// clients: the regions of [PD.Alloc] are usable on every connection made with
// Config.PD, and each of their peers reaches them as far as their rights go.
//
// The connections trust each other's peers then: with a shared PD a peer that
// learns or guesses the key of a region of [Conn.Alloc] reaches it too, though it
// belongs to another connection. Without Config.PD each connection has a
// protection domain of its own.
//
// Methods are safe for concurrent use.
type PD struct {
	dev     *device
	pd      *uverbs.PD
	regions regionSet

	mu    sync.Mutex
	conns map[*Conn]string // with what they are called
	ended error            // why it takes no more connections; nil while it does
	gone  bool             // the kernel's objects are
}

// OpenPD opens the RDMA device of that name ("rxe0", as `rdma link` shows) and
// makes a protection domain on it. The caller closes it. [Listener.Device] and
// [Request.Device] tell which device a server's connections come on.
//
// The error matches [uverbs.ErrNoDevice] when there is no such device, and is that of
// [uverbs.OpenOn] and [uverbs.Context.AllocPD] otherwise.
func OpenPD(device string) (*PD, error) {
	p, err := openPD(device)
	if err != nil {
		return nil, &OpError{Op: "open PD", Device: device, Err: err}
	}
	return p, nil
}

func openPD(name string) (*PD, error) {
	found, err := host.deviceByName(name)
	if err != nil {
		return nil, err
	}
	if found.Index < 0 {
		return nil, fmt.Errorf("the index of the device, by which connections know it, is in netlink alone: %w", errors.ErrUnsupported)
	}
	dev, err := openDevice("", found.Index, func() (*uverbs.Device, error) { return found, nil })
	if err != nil {
		return nil, err
	}
	pd, err := dev.ctx.AllocPD()
	if err != nil {
		dev.put()
		return nil, err
	}
	p := &PD{dev: dev, pd: pd, conns: make(map[*Conn]string)}
	dev.followPD(p)
	return p, nil
}

// Device returns the name of the PD's device.
func (p *PD) Device() string { return p.dev.name() }

// String returns "PD on " and the device's name.
func (p *PD) String() string { return "PD on " + p.Device() }

// Alloc makes a region of n zeroed bytes for all connections of the PD, with the
// given rights for their peers, as Conn.Alloc does for one connection. The caller
// closes it. When the PD is closed before, the device and peers reach the region
// no more, but it stays mapped until its own Close.
//
// The error matches net.ErrClosed after Close, and [ErrDeviceRemoved] when the
// device was removed.
func (p *PD) Alloc(n int, access Access) (*Region, error) {
	r, err := p.regions.alloc(p.pd, n, access)
	if err != nil {
		return nil, p.opError("alloc", err)
	}
	return r, nil
}

// Close takes the PD's regions from the device and closes the PD. While
// connections use it, it returns a *[uverbs.BusyError] that names them. It may be
// called more than once and from any goroutine.
func (p *PD) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended == nil && len(p.conns) > 0 {
		return p.opError("close", p.busy())
	}
	p.end(net.ErrClosed)
	return p.finish()
}

// busy names the connections. The caller holds mu.
func (p *PD) busy() error {
	const named = 8
	e := &uverbs.BusyError{Device: p.Device(), Object: "PD"}
	for _, name := range p.conns {
		if len(e.Users) == named {
			break
		}
		e.Users = append(e.Users, name)
	}
	slices.Sort(e.Users)
	if more := len(p.conns) - len(e.Users); more > 0 {
		e.Users = append(e.Users, fmt.Sprintf("%d more connections", more))
	}
	return e
}

// end admits no more connections. The caller holds mu.
func (p *PD) end(why error) {
	if p.ended == nil {
		p.ended = why
	}
}

// finish gives the kernel's objects back, unless connections need them: the last
// one does it then. The caller holds mu.
func (p *PD) finish() error {
	if p.ended == nil || len(p.conns) > 0 || p.gone {
		return nil
	}
	if err := p.regions.deregister(p.ended); err != nil {
		return p.opError("close", err)
	}
	if err := p.pd.Close(); err != nil {
		return p.opError("close", err)
	}
	p.gone = true
	p.dev.unfollowPD(p)
	p.dev.put()
	return nil
}

// lose ends the PD because its device was removed, also when it has no
// connections: kernels before 7.3 hold up the removal until every descriptor of
// the device is closed.
func (p *PD) lose() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end(ErrDeviceRemoved)
	_ = p.finish() // Close tries again, and says why not
}

// fits refuses a connection that the PD cannot serve. The caller holds mu.
func (p *PD) fits(r *ucma.Route) error {
	switch {
	case p.ended != nil:
		return fmt.Errorf("Config.PD, %v: %w", p, p.ended)
	case r.Port == 0:
		return ErrNoDevice
	case int(r.DeviceIndex) != p.dev.index:
		return fmt.Errorf("Config.PD is on device %s, index %d, the connection on index %d: %w",
			p.Device(), p.dev.index, r.DeviceIndex, syscall.EINVAL)
	}
	return nil
}

// checkPD refuses a route that Config.PD does not fit.
func (c *Config) checkPD(r *ucma.Route) error {
	if c.PD == nil {
		return nil
	}
	c.PD.mu.Lock()
	defer c.PD.mu.Unlock()
	return c.PD.fits(r)
}

// add makes a connection one of the PD's, and a user of its device.
func (p *PD) add(c *Conn, r *ucma.Route) (*device, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.fits(r); err != nil {
		return nil, err
	}
	p.conns[c] = fmt.Sprintf("connection %v to %v", c.local, c.remote)
	p.dev.hold()
	return p.dev, nil
}

// drop is for a connection that has ended.
func (p *PD) drop(c *Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c)
	_ = p.finish() // Close tries again, and says why not
}

func (p *PD) opError(op string, err error) error {
	return &OpError{Op: op, Device: p.Device(), Err: err}
}
