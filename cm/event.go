package cm

import (
	"fmt"
	"slices"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/ucma"
)

// An Event is one report about an ID (struct rdma_cm_event). It is a value:
// nothing has to be acknowledged (rdma_ack_cm_event). Type.String is its name
// (rdma_event_str); Conn, UD and Arg read what it carries.
type Event struct {
	ucma.Event

	// Request is the new ID that a CONNECT_REQUEST brings, and the
	// receiver's to accept, reject or close; else nil.
	Request *ID

	// Group is the membership that MULTICAST_JOIN and MULTICAST_ERROR are
	// about; else nil.
	Group *Group
}

// Err returns what the event says went wrong, in the types of this package:
// *[RejectError], *[SIDRError], [ErrPeerClosed], [ErrDeviceRemoved], an errno.
// It is nil for good news, and for events that only inform (ADDR_CHANGE,
// TIMEWAIT_EXIT, USER, types unknown here).
func (e *Event) Err() error {
	switch e.Type {
	case abi.RDMA_CM_EVENT_UNREACHABLE:
		if e.Status > 0 {
			return sidrError(&e.Event)
		}
		return eventError(&e.Event, noEvent)
	case abi.RDMA_CM_EVENT_ADDR_ERROR, abi.RDMA_CM_EVENT_ROUTE_ERROR, abi.RDMA_CM_EVENT_CONNECT_ERROR,
		abi.RDMA_CM_EVENT_REJECTED, abi.RDMA_CM_EVENT_DISCONNECTED, abi.RDMA_CM_EVENT_DEVICE_REMOVAL,
		abi.RDMA_CM_EVENT_MULTICAST_ERROR, abi.RDMA_CM_EVENT_ADDRINFO_ERROR:
		return eventError(&e.Event, noEvent)
	}
	return nil
}

// noEvent is a type that no event has.
const noEvent = ^abi.RDMACMEventType(0)

// Bounds of what is kept for an ID that nobody reads. A flapping neighbour
// makes the kernel report UNREACHABLE or ADDR_CHANGE any number of times.
const (
	maxRepeated = 8    // events that may come again and again; older ones are dropped
	maxRequests = 1024 // connection requests; more are refused
	maxUser     = 1024 // user events; more are an error
)

// repeats reports whether the kernel may send events of the type any number of
// times.
func repeats(t abi.RDMACMEventType) bool {
	return t == abi.RDMA_CM_EVENT_UNREACHABLE || t == abi.RDMA_CM_EVENT_ADDR_CHANGE
}

// An entry is an event that waits, and its ID.
type entry struct {
	*ucma.Event
	id      *ID
	request *ID    // see Event
	group   *Group // see Event
}

// event is the entry as the caller of the package gets it.
func (e *entry) event() Event { return Event{Event: *e.Event, Request: e.request, Group: e.group} }

// A queue keeps events that wait, in order.
type queue []*entry

// count returns how many events of id match.
func (q queue) count(id *ID, match func(abi.RDMACMEventType) bool) int {
	n := 0
	for i := range q {
		if q[i].id == id && match(q[i].Type) {
			n++
		}
	}
	return n
}

// push appends an event. It reports false when the event must be refused: too
// many requests wait. dropped is how many older events made room.
func (q *queue) push(e *entry) (ok bool, dropped int) {
	switch t := e.Type; {
	case repeats(t) && q.count(e.id, repeats) >= maxRepeated:
		q.removeFirst(func(o *entry) bool { return o.id == e.id && repeats(o.Type) })
		dropped = 1
	case t == abi.RDMA_CM_EVENT_CONNECT_REQUEST && len(*q) >= maxRequests &&
		q.count(e.id, isRequest) >= maxRequests:
		return false, 0
	}
	*q = append(*q, e)
	return true, dropped
}

func isRequest(t abi.RDMACMEventType) bool { return t == abi.RDMA_CM_EVENT_CONNECT_REQUEST }

// removeFirst takes the first event that matches.
func (q *queue) removeFirst(match func(*entry) bool) (*entry, bool) {
	i := slices.IndexFunc(*q, match)
	if i < 0 {
		return nil, false
	}
	found := (*q)[i]
	if i > 0 {
		*q = slices.Delete(*q, i, i+1)
		return found, true
	}
	(*q)[0] = nil // for the garbage collector
	if *q = (*q)[1:]; len(*q) == 0 {
		*q = nil
	}
	return found, true
}

// removeAll takes all events that match.
func (q *queue) removeAll(match func(*entry) bool) queue {
	var taken queue
	*q = slices.DeleteFunc(*q, func(e *entry) bool {
		if match(e) {
			taken = append(taken, e)
			return true
		}
		return false
	})
	return taken
}

// WriteEvent gives the ID an event of type USER with a status and a value of
// the caller's choice (rdma_write_cm_event). It ends a blocked NextEvent of
// the ID or its channel. It works on every kernel, because the event never
// leaves the process. The error matches net.ErrClosed, or says that 1024 such
// events wait already.
func (id *ID) WriteEvent(status int32, arg uint64) error {
	id.gate.RLock()
	defer id.gate.RUnlock()
	if id.closed.Load() {
		return errClosedID
	}
	ev := ucma.UserEvent(id.uid, id.handle, status, arg)
	if !id.deliverUser(ev) {
		return fmt.Errorf("user event: %d wait already: %w", maxUser, errNoRoom)
	}
	return nil
}
