package uverbs

import (
	"context"
	"fmt"
	"sync"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/devfile"
	"github.com/purerdma/rdma/internal/offheap"
)

// maxAsyncEvents bounds the events kept for a program that does not read them.
const maxAsyncEvents = 256

// An AsyncEvent is something that happened to a device, a port or an object
// outside any request.
type AsyncEvent struct {
	// Type is the kind of event. Values that newer kernels add are passed on.
	Type abi.IBEventType

	// Port is the port's number for port events, else 0.
	Port int

	// CQ, QP, SRQ and WQ are the object concerned, nil for events of other
	// kinds and for objects that have been closed.
	CQ  *CQ
	QP  *QP
	SRQ *SRQ
	WQ  *WQ

	// Element is the number the kernel sent: the port, or the object's key.
	Element uint64

	// Lost is how many older events were dropped because nobody read them.
	Lost int
}

// String returns type and object, such as "PORT_ERR port 1".
func (e AsyncEvent) String() string {
	switch {
	case e.WQ != nil:
		return fmt.Sprintf("%v %s", e.Type, e.WQ)
	case e.QP != nil:
		return fmt.Sprintf("%v %s", e.Type, e.QP)
	case e.SRQ != nil:
		return fmt.Sprintf("%v %s", e.Type, e.SRQ)
	case e.CQ != nil:
		return fmt.Sprintf("%v %s", e.Type, e.CQ)
	case e.Port != 0:
		return fmt.Sprintf("%v port %d", e.Type, e.Port)
	}
	return fmt.Sprint(e.Type)
}

// asyncReader is the one goroutine that reads a context's event descriptor.
type asyncReader struct {
	c    *Context
	file *devfile.File
	done chan struct{} // closed when the goroutine has ended

	mu     sync.Mutex
	events []AsyncEvent
	lost   int
	more   chan struct{} // has a token when events is not empty
}

func newAsyncReader(c *Context, f *devfile.File) *asyncReader {
	r := &asyncReader{c: c, file: f, done: make(chan struct{}), more: make(chan struct{}, 1)}
	go r.run()
	return r
}

func (r *asyncReader) run() {
	defer close(r.done)
	desc := new(abi.IBUverbsAsyncEventDesc)
	err := readEvents(r.file, offheap.BytesOf(desc), func() { r.deliver(r.c.asyncEvent(*desc)) })
	if isGone(err) {
		r.c.markGone()
	}
}

// asyncEvent translates a descriptor and acts on what the library must know.
func (c *Context) asyncEvent(d abi.IBUverbsAsyncEventDesc) AsyncEvent {
	e := AsyncEvent{Type: abi.IBEventType(d.EventType), Element: d.Element}
	switch e.Scope() {
	case ScopeDevice:
		c.markGone()
	case ScopeCQ:
		e.CQ = c.registry.cq(d.Element)
		if e.CQ != nil {
			e.CQ.failed(e.Type)
		}
	case ScopeQP:
		e.QP = c.registry.qp(d.Element)
	case ScopeSRQ:
		e.SRQ = c.registry.srq(d.Element)
	case ScopeWQ:
		e.WQ = c.registry.wq(d.Element)
	case ScopePort:
		e.Port = int(d.Element)
	}
	return e
}

// deliver queues an event; the oldest gives way when nobody reads.
func (r *asyncReader) deliver(e AsyncEvent) {
	r.mu.Lock()
	if len(r.events) == maxAsyncEvents {
		r.events = r.events[1:]
		r.lost++
	}
	r.events = append(r.events, e)
	r.mu.Unlock()
	r.signal()
}

func (r *asyncReader) signal() {
	select {
	case r.more <- struct{}{}:
	default:
	}
}

// take removes the oldest event.
func (r *asyncReader) take() (e AsyncEvent, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.events) == 0 {
		return e, false
	}
	e = r.events[0]
	e.Lost, r.lost = r.lost, 0
	r.events = r.events[1:]
	if len(r.events) > 0 {
		r.signal()
	}
	return e, true
}

func (r *asyncReader) close() error {
	err := r.file.Close()
	<-r.done
	return err
}

// NextAsyncEvent returns the next asynchronous event of the device, waiting
// for it until ctx ends. Each event goes to one caller. The library reads
// events all the time and keeps the last 256 for a program that does not.
//
// The error is ctx's, or matches net.ErrClosed after Close, or
// [ErrDeviceRemoved] when all events of a removed device have been read.
func (c *Context) NextAsyncEvent(ctx context.Context) (AsyncEvent, error) {
	for {
		if e, ok := c.async.take(); ok {
			return e, nil
		}
		select {
		case <-c.async.more:
		case <-ctx.Done():
			return AsyncEvent{}, &Error{Op: "wait", Object: "asynchronous events", Device: c.dev.Name, Err: ctx.Err()}
		case <-c.life.done:
			return AsyncEvent{}, c.life.closed
		case <-c.async.done:
			if e, ok := c.async.take(); ok {
				return e, nil
			}
			return AsyncEvent{}, c.asyncEnd()
		}
	}
}

func (c *Context) asyncEnd() error {
	if isClosed(c.gone) {
		return c.removed("asynchronous events")
	}
	return &Error{Op: "wait", Object: "asynchronous events", Device: c.dev.Name, Err: errClosed}
}

// removed is what waiters get when gone is closed.
func (c *Context) removed(object string) error {
	cause := ErrDeviceRemoved
	if c.life.isEnding() { // by Abandon
		cause = errClosed
	}
	return &Error{Op: "wait", Object: object, Device: c.dev.Name, Err: cause}
}
