package cm

import (
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/purerdma/rdma/ucma"
	"github.com/purerdma/rdma/uverbs"
)

// A device is an opened RDMA device with what connections on it share: one
// context, one completion channel whose goroutine serves all completion queues,
// and completion queues. Protection domains and memory are each connection's own,
// or a PD's.
type device struct {
	index int
	ready chan struct{} // closed when it is open, or not to be opened
	err   error         // why not; set before ready is closed
	ctx   *uverbs.Context
	ch    *uverbs.CompChannel
	refs  int // guarded by devices.mu

	// Outstanding RDMA reads and atomics of one queue pair, as initiator and
	// as responder.
	maxInitiate, maxServe int

	maxCQE  int // entries of a completion queue
	maxQPWR int // requests of a queue pair's send queue

	iwarp bool // speaks iWARP

	mu  sync.Mutex
	cqs []*sharedCQ

	closing   chan struct{} // closed by close
	membersMu sync.Mutex
	conns     map[*Conn]struct{} // that hear of the device's events
	pds       map[*PD]struct{}
	gone      bool // the device was removed
}

// devices holds the opened devices of the process by kernel index.
var devices = struct {
	mu   sync.Mutex
	open map[int]*device
}{open: make(map[int]*device)}

// acquireDevice returns the device an ID is bound to, opening it if need be.
// netns is the namespace to look in, which matters in exclusive mode.
func acquireDevice(netns string, r *ucma.Route) (*device, error) {
	if r.Port == 0 {
		return nil, ErrNoDevice
	}
	return openDevice(netns, int(r.DeviceIndex), func() (*uverbs.Device, error) { return findDevice(r) })
}

// openDevice counts one more user of a device, which the first one finds and
// opens.
func openDevice(netns string, index int, find func() (*uverbs.Device, error)) (*device, error) {
	d, first := referDevice(index)
	if first {
		if d.err = inNetNS(netns, func() error { return d.open(find) }); d.err != nil {
			d.retire()
		}
		close(d.ready)
	}
	<-d.ready
	if d.err != nil {
		return nil, d.err
	}
	return d, nil
}

// referDevice counts one more user of a device. The first one opens it, without
// the lock, so that others can be used meanwhile.
func referDevice(index int) (d *device, first bool) {
	devices.mu.Lock()
	defer devices.mu.Unlock()
	if d = devices.open[index]; d == nil {
		d, first = &device{index: index, ready: make(chan struct{}), closing: make(chan struct{})}, true
		devices.open[index] = d
	}
	d.refs++
	return d, first
}

// hold counts one more user of a device that has one.
func (d *device) hold() {
	devices.mu.Lock()
	defer devices.mu.Unlock()
	d.refs++
}

// open undoes what it did when a step fails.
func (d *device) open(find func() (*uverbs.Device, error)) error {
	dev, err := find()
	if err != nil {
		return err
	}
	d.iwarp = dev.Protocol == uverbs.ProtocolIWARP
	if d.ctx, err = uverbs.OpenOn(host.kernel, dev, nil); err != nil {
		return err
	}
	if err = d.makeShared(); err != nil {
		d.close()
		return err
	}
	go d.followEvents()
	go d.followRemoval()
	return nil
}

// makeShared makes what every connection on the device needs.
func (d *device) makeShared() (err error) {
	if err := d.readLimits(); err != nil {
		return err
	}
	d.ch, err = d.ctx.CreateCompChannel()
	return err
}

func (d *device) readLimits() error {
	attr, err := d.ctx.QueryDevice()
	if err != nil {
		return err
	}
	d.maxInitiate = int(min(attr.MaxQPInitRdAtomic, 255))
	d.maxServe = int(min(attr.MaxQPRdAtomic, 255))
	d.maxCQE, d.maxQPWR = attr.MaxCQE, attr.MaxQPWR
	return nil
}

// findDevice prefers the index, which is unique; GUIDs of soft devices are
// often zero or equal.
func findDevice(r *ucma.Route) (*uverbs.Device, error) {
	index := int(r.DeviceIndex)
	dev, err := host.deviceByIndex(index)
	if err == nil {
		return dev, nil
	}
	if r.NodeGUID != 0 {
		if dev, guidErr := host.deviceByGUID(nodeGUID(r)); guidErr == nil {
			return dev, nil
		}
	}
	return nil, fmt.Errorf("RDMA device with index %d: %w", index, err)
}

// deviceName returns the name of a route's device, "" when it has none or that is
// not to be found.
func deviceName(r *ucma.Route) string {
	if r.Port == 0 {
		return ""
	}
	dev, err := findDevice(r)
	if err != nil {
		return ""
	}
	return dev.Name
}

// nodeGUID reads the GUID as it stands in memory, which is big-endian.
func nodeGUID(r *ucma.Route) uverbs.GUID {
	var b [8]byte
	binary.NativeEndian.PutUint64(b[:], r.NodeGUID)
	return uverbs.GUIDFromBytes(b)
}

// put gives a reference back and closes the device with the last one.
func (d *device) put() {
	devices.mu.Lock()
	d.refs--
	last := d.refs == 0
	if last && devices.open[d.index] == d { // not so once it was retired
		delete(devices.open, d.index)
	}
	devices.mu.Unlock()
	if last {
		d.close()
	}
}

// retire makes later connections open the device anew: its index may come
// back with another device behind it.
func (d *device) retire() {
	devices.mu.Lock()
	defer devices.mu.Unlock()
	if devices.open[d.index] == d {
		delete(devices.open, d.index)
	}
}

// close is called when no connection is left.
func (d *device) close() {
	close(d.closing)
	for _, q := range d.cqs {
		_ = q.close()
	}
	if d.ch != nil {
		_ = d.ch.Close()
	}
	_ = d.ctx.Close()
}

// ethernet reports whether a port is RoCE or iWARP.
func (d *device) ethernet(port uint8) bool {
	p, ok := d.ctx.Device().Port(int(port))
	return ok && p.LinkLayer == uverbs.LinkEthernet
}

// name returns the device's name for messages.
func (d *device) name() string { return d.ctx.Device().Name }
