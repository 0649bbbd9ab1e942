package cm

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs"
)

// followEvents reads the device's asynchronous events until it is closed.
func (d *device) followEvents() {
	for {
		ev, err := d.ctx.NextAsyncEvent(context.Background())
		if err != nil {
			if errors.Is(err, ErrDeviceRemoved) {
				d.removed()
			}
			return
		}
		d.route(ev)
	}
}

// followRemoval hears of a removal on which the connection manager's event waits:
// before Linux 7.3 ib_uverbs waits for the device's descriptors, which
// connections hold, and where rdma_cm was loaded first its turn comes after that.
func (d *device) followRemoval() {
	select {
	case <-d.ctx.Removed():
		d.removed()
	case <-d.closing:
	}
}

// route tells the connections that an asynchronous event concerns.
func (d *device) route(ev uverbs.AsyncEvent) {
	for _, c := range d.members() {
		if ev.Lost > 0 {
			c.suspect(signPort, fmt.Errorf("%d asynchronous events of %s were lost", ev.Lost, d.name()))
		}
		switch ev.Scope() {
		case uverbs.ScopeQP:
			if c.qp == ev.QP {
				c.hearQP(ev)
			}
		case uverbs.ScopeCQ:
			if c.cq.cq == ev.CQ {
				c.explain(&uverbs.CQError{
					CQ: ev.CQ.String(), Device: d.name(), Event: ev.Type,
					Entries: ev.CQ.Entries(), Outstanding: ev.CQ.MaxOutstanding(),
				})
			}
		case uverbs.ScopePort:
			if ev.Type == abi.IB_EVENT_PORT_ERR && int(c.port) == ev.Port {
				c.suspect(signPort, &PortError{Device: d.name(), Port: ev.Port, State: uverbs.PortDown})
			}
		}
	}
}

// hearQP takes an asynchronous event of the connection's queue pair.
func (c *Conn) hearQP(ev uverbs.AsyncEvent) {
	switch ev.Type {
	case abi.IB_EVENT_QP_FATAL, abi.IB_EVENT_QP_REQ_ERR, abi.IB_EVENT_QP_ACCESS_ERR, abi.IB_EVENT_PATH_MIG_ERR:
		c.suspect(signEvent, &qpError{event: ev, recvSize: c.cfg.RecvSize})
	case abi.IB_EVENT_COMM_EST: // the peer sends, though its confirmation has not come
		c.recvs.firstOnce.Do(func() { close(c.recvs.first) })
	}
}

// A qpError is a queue pair that failed, as an asynchronous event says.
type qpError struct {
	event    uverbs.AsyncEvent
	recvSize int
}

// Error names event and queue pair and says what it means.
func (e *qpError) Error() string {
	text := map[abi.IBEventType]string{
		abi.IB_EVENT_QP_FATAL: "the device gave the queue pair up; see the kernel log",
		abi.IB_EVENT_QP_REQ_ERR: fmt.Sprintf("this side refused a request of the peer: a message longer than Config.RecvSize (%d bytes here), "+
			"or an operation that was not agreed on", e.recvSize),
		abi.IB_EVENT_QP_ACCESS_ERR: "this side refused a request of the peer: a wrong or closed remote key, an address outside of the region, " +
			"or a right that the region lacks",
		abi.IB_EVENT_PATH_MIG_ERR: "the alternate path failed",
	}[e.event.Type]
	return fmt.Sprintf("%v: %s", e.event, text)
}

// members returns the connections that follow the device.
func (d *device) members() []*Conn {
	d.membersMu.Lock()
	defer d.membersMu.Unlock()
	return slices.Collect(maps.Keys(d.conns))
}

// follow makes a connection hear of the device's events until unfollow.
func (d *device) follow(c *Conn) {
	d.membersMu.Lock()
	if d.conns == nil {
		d.conns = make(map[*Conn]struct{})
	}
	d.conns[c] = struct{}{}
	gone := d.gone
	d.membersMu.Unlock()
	if gone {
		c.loseDevice()
		// A step of the handshake may wait for an event that does not come.
		background.teardowns.run(func() { _ = c.tearDown() })
	}
}

func (d *device) unfollow(c *Conn) {
	d.membersMu.Lock()
	defer d.membersMu.Unlock()
	delete(d.conns, c)
}

// isGone reports whether the device was removed.
func (d *device) isGone() bool {
	d.membersMu.Lock()
	defer d.membersMu.Unlock()
	return d.gone
}

// removed tells every connection that the device was removed, and only then
// takes them down: a connection that goes takes shared objects along. It does not
// block.
func (d *device) removed() {
	d.membersMu.Lock()
	before := d.gone
	d.gone = true
	d.membersMu.Unlock()
	if before {
		return
	}
	d.retire()
	list, pds := d.members(), d.openPDs()
	for _, c := range list {
		c.loseDevice()
	}
	// Kernels before 7.3 hold up the removal until every descriptor of the device
	// is closed. The memory stays mapped until Close, as the application may be
	// looking at it.
	for _, c := range list {
		background.teardowns.run(func() { _ = c.tearDown() }) // Close returns the error
	}
	for _, p := range pds {
		background.teardowns.run(p.lose)
	}
}

// followPD makes a PD hear of the device's removal until unfollowPD.
func (d *device) followPD(p *PD) {
	d.membersMu.Lock()
	if d.pds == nil {
		d.pds = make(map[*PD]struct{})
	}
	d.pds[p] = struct{}{}
	gone := d.gone
	d.membersMu.Unlock()
	if gone {
		p.lose()
	}
}

func (d *device) unfollowPD(p *PD) {
	d.membersMu.Lock()
	defer d.membersMu.Unlock()
	delete(d.pds, p)
}

func (d *device) openPDs() []*PD {
	d.membersMu.Lock()
	defer d.membersMu.Unlock()
	list := make([]*PD, 0, len(d.pds))
	for p := range d.pds {
		list = append(list, p)
	}
	return list
}

// loseDevice ends the connection because its device was removed.
func (c *Conn) loseDevice() {
	c.explain(ErrDeviceRemoved)
	c.part(ErrDeviceRemoved)
}
