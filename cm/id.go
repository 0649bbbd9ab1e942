package cm

import (
	"fmt"
	"net"
	"sync"
	"sync/atomic"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/ucma"
)

// An ID is one communication identifier of the connection manager, what C
// calls an rdma_cm_id. Its methods are the steps of a connection; each returns
// when the kernel has answered. Those named Start… only begin a step, whose
// outcome arrives as an event. An ID takes one step at a time, but Close may
// come at any moment, from any goroutine.
//
// A step that fails because its context ended leaves the kernel in the middle
// of it: the ID can only be closed then.
type ID struct {
	uid uint64
	ps  abi.RDMAUCMPortSpace
	qpt uint8 // IB_UVERBS_QPT_…

	netns string // the file of the namespace it was made in; empty for the caller's

	// gate is read-locked by commands and locked by Close: the kernel reuses
	// a handle at once, so a command racing with the destruction could hit
	// somebody else's ID. Migrate locks it too.
	gate     sync.RWMutex
	handle   uint32
	closed   atomic.Bool // set with gate locked, but see closeLater
	outlived atomic.Bool // the kernel would not destroy it
	up       atomic.Bool // Connect has established it, which iWARP does
	notIWARP atomic.Bool // its device is known and does not speak iWARP

	// connecting is the connect command that a goroutine runs, nil before. closing
	// is set before Close looks at it.
	connecting atomic.Pointer[command]
	closing    atomic.Bool

	// delivery is held while an event goes to the handler or the queue, so
	// that a new handler misses none. It is taken before mu.
	delivery sync.Mutex

	mu       sync.Mutex
	channel  *EventChannel          // changed with gate locked
	release  func()                 // gives the process-wide channel back; nil if the channel is the caller's
	events   queue                  // delivered, not yet taken
	changed  chan struct{}          // closed and replaced with each change
	handler  func(*ucma.Event) bool // takes events before they are queued
	onLost   func(error)            // called when no more events will come
	dead     bool                   // closed: nothing is queued any more
	ece      ucma.ECE               // the peer's, from its last message
	nativeIB bool                   // its own address is AF_IB
	settled  bool                   // its address cannot be resolved (any more)
	groups   map[uint64]*Group      // memberships by number
	refusal  string                 // see setRefusal

	dropped  atomic.Uint64
	refusing tally // destructions of requests for which there was no room
}

// errClosedID is the error of every step after Close.
var errClosedID = net.ErrClosed

// An IDOptions says how an ID is made. A nil pointer means all defaults.
type IDOptions struct {
	// PortSpace is the kind of service: RDMA_PS_TCP (the default, for 0)
	// for reliable connections, RDMA_PS_UDP for datagrams, RDMA_PS_IPOIB for
	// datagrams in the groups of IP over InfiniBand, RDMA_PS_IB for any.
	PortSpace abi.RDMAUCMPortSpace

	// QPType is IB_UVERBS_QPT_…, only for RDMA_PS_IB; 0 means RC. The other
	// port spaces imply it.
	QPType uint8

	// Channel delivers the ID's events; nil means the process-wide one.
	Channel *EventChannel

	// NetNS is the file of the network namespace to make the ID in, such as
	// /run/netns/NAME or /proc/PID/ns/net; it needs CAP_SYS_ADMIN. Empty
	// means the namespace of the calling thread.
	NetNS string
}

// resolved fills in the defaults.
func (o *IDOptions) resolved() IDOptions {
	var r IDOptions
	if o != nil {
		r = *o
	}
	if r.PortSpace == 0 {
		r.PortSpace = abi.RDMA_PS_TCP
	}
	switch {
	case r.PortSpace == abi.RDMA_PS_UDP || r.PortSpace == abi.RDMA_PS_IPOIB:
		r.QPType = uint8(abi.IB_UVERBS_QPT_UD)
	case r.PortSpace != abi.RDMA_PS_IB || r.QPType == 0:
		r.QPType = uint8(abi.IB_UVERBS_QPT_RC)
	}
	return r
}

// NewID makes an ID in the network namespace of the calling thread
// (rdma_create_id; kernel command CREATE_ID). Errors match os.ErrNotExist when
// the connection manager's device is missing and os.ErrPermission when it is
// denied.
func NewID(opts *IDOptions) (*ID, error) {
	o := opts.resolved()
	id, err := newID(o.Channel)
	if err != nil {
		return nil, err
	}
	id.ps, id.qpt, id.netns = o.PortSpace, o.QPType, o.NetNS
	err = inNetNS(o.NetNS, func() (err error) {
		id.handle, err = id.channel.ch.CreateID(id.uid, o.PortSpace, o.QPType)
		return err
	})
	if err != nil {
		if id.release != nil {
			id.release()
		}
		return nil, err
	}
	// Now that it has a handle Close can find it. No event comes before the
	// first command.
	id.channel.add(id.uid, id)
	return id, nil
}

// newID makes the Go half of an ID.
func newID(channel *EventChannel) (*ID, error) {
	id := &ID{uid: lastUID.Add(1), channel: channel, changed: make(chan struct{})}
	if channel == nil {
		var err error
		if id.channel, id.release, err = acquireShared(); err != nil {
			return nil, err
		}
	}
	return id, nil
}

// adopt makes an ID of the handle that a connection request brought. The
// kernel drops all its events until Accept gives it a uid.
func (id *ID) adopt(request *ucma.Event) (*ID, error) {
	id.mu.Lock()
	child := &ID{
		uid: lastUID.Add(1), ps: id.ps, qpt: id.qpt, netns: id.netns, nativeIB: id.nativeIB,
		settled: true, ece: request.ECE, refusal: refusedClosed,
		channel: id.channel, handle: request.ID, changed: make(chan struct{}),
	}
	counted := id.release != nil
	id.mu.Unlock()
	if counted {
		var ok bool
		if child.release, ok = child.channel.share(); !ok {
			return nil, net.ErrClosed
		}
	}
	child.channel.add(child.uid, child)
	return child, nil
}

// PortSpace returns the ID's port space.
func (id *ID) PortSpace() abi.RDMAUCMPortSpace { return id.ps }

// QPType returns the kind of queue pair that the ID connects.
func (id *ID) QPType() abi.IBUverbsQPType { return abi.IBUverbsQPType(id.qpt) }

// datagram reports whether the ID is of a datagram service.
func (id *ID) datagram() bool { return id.QPType() == abi.IB_UVERBS_QPT_UD }

// Channel returns what delivers the ID's events (the member channel of C); it
// changes with Migrate.
func (id *ID) Channel() *EventChannel {
	id.mu.Lock()
	defer id.mu.Unlock()
	return id.channel
}

// Dropped returns how many events of the ID were dropped because nobody took
// them: of those that the kernel may repeat without end, such as ADDR_CHANGE,
// the last 8 are kept; of connection requests 1024, and more are rejected.
func (id *ID) Dropped() uint64 { return id.dropped.Load() }

// lose wakes waiters and tells the owner that no more events will come.
func (id *ID) lose(err error) {
	id.wake()
	id.mu.Lock()
	lost := id.onLost
	id.mu.Unlock()
	if lost != nil {
		lost(err)
	}
}

// setOnLost makes fn be called when the ID is closed or its channel breaks,
// perhaps more than once and at once.
func (id *ID) setOnLost(fn func(error)) {
	id.mu.Lock()
	id.onLost = fn
	dead, c := id.dead, id.channel
	id.mu.Unlock()
	switch err := c.err(); {
	case dead:
		fn(net.ErrClosed)
	case err != nil:
		fn(fmt.Errorf("event channel: %w", err))
	}
}

// do runs a command on the ID's handle unless the ID is closed.
func (id *ID) do(cmd func(ch *ucma.Channel, handle uint32) error) error {
	id.gate.RLock()
	defer id.gate.RUnlock()
	if id.closed.Load() {
		return errClosedID
	}
	return removalError(cmd(id.channel.ch, id.handle))
}

// isClosed reports whether Close was called.
func (id *ID) isClosed() bool { return id.closed.Load() }

// RemoteECE returns the enhanced connection establishment option that the peer
// sent in its request or answer (rdma_get_remote_ece; kernel 5.8). It is zero
// without any.
func (id *ID) RemoteECE() ucma.ECE {
	id.mu.Lock()
	defer id.mu.Unlock()
	return id.ece
}
