package cm

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/ucma"
)

// netAddr is net.Addr, short for signatures.
type netAddr = net.Addr

// defaultBacklog is how many requests wait for Accept.
const (
	defaultBacklog = 1024
	maxBacklog     = 1 << 20
)

// A ListenConfig says how to listen. A nil pointer means all defaults.
type ListenConfig struct {
	// Config shapes accepted connections unless Request.Accept is given
	// another; nil means all defaults.
	Config *Config

	// Backlog is how many requests may wait for Accept; more are rejected
	// at once, with the text "busy" as private data. 0 means 1024; the most
	// is 2^20.
	Backlog int

	// AFOnly keeps an IPv6 wildcard from taking IPv4 connections too.
	AFOnly bool

	// Channel delivers the events; nil means the process-wide one.
	Channel *EventChannel

	// NetNS is the file of the network namespace to listen in; see
	// IDOptions.NetNS. Empty means the calling thread's. Ports of different
	// namespaces do not conflict.
	NetNS string
}

// A Listener takes connection requests. All methods are safe for concurrent
// use.
type Listener struct {
	id   *ID
	v4   *ID // the IPv4 half of a wildcard, where iWARP needs one; or nil
	cfg  Config
	addr net.Addr
	on   *ucma.Route // of the address

	queue chan *Request // has room for the backlog

	lost     chan struct{} // closed when no more requests will come
	lostOnce sync.Once
	lostErr  error // why; set before lost is closed

	mu        sync.Mutex // guards the end of queue
	ending    bool
	rejecting tally

	closeOnce sync.Once
	closeErr  error

	kernelBacklog int // see ListenerStats

	busy     atomic.Uint64
	silenced atomic.Uint64
}

// Listen listens on address, "host:port"; port 0 lets the kernel choose, an
// empty or unspecified host means all RDMA devices, those that come later
// included. cfg may be nil.
//
// RDMA ports are a space of their own: they neither conflict with TCP ports
// nor are they reached through them. Errors match ErrAddrInUse when the port
// is taken, ErrNoDevice when the address is not on an RDMA interface,
// ErrLoopback for loopback addresses, os.ErrPermission for ports below 1024.
func Listen(ctx context.Context, address string, cfg *ListenConfig) (*Listener, error) {
	addrs, err := resolve(ctx, address)
	if err != nil {
		return nil, newOpError("listen", nil, err)
	}
	return ListenAddr(addrs[0], cfg)
}

// ListenAddr is Listen for an address that needs no resolving.
func ListenAddr(addr netip.AddrPort, cfg *ListenConfig) (*Listener, error) {
	l, err := listen(addr, cfg)
	if err != nil {
		e := newOpError("listen", nil, err)
		e.Local = Addr{addr}
		return nil, e
	}
	return l, nil
}

func listen(addr netip.AddrPort, cfg *ListenConfig) (*Listener, error) {
	var lc ListenConfig
	if cfg != nil {
		lc = *cfg
	}
	conf, err := lc.Config.resolved()
	if err != nil {
		return nil, err
	}
	if lc.Backlog == 0 {
		lc.Backlog = defaultBacklog
	}
	if lc.Backlog < 0 || lc.Backlog > maxBacklog {
		return nil, fmt.Errorf("backlog %d, allowed are 0 to %d: %w", lc.Backlog, maxBacklog, syscall.EINVAL)
	}
	if lc.Channel.isRaw() {
		return nil, errRawConn
	}
	if err := checkAddr(addr.Addr()); err != nil {
		return nil, err
	}
	if err := checkMaxBacklog(); err != nil {
		return nil, err
	}
	id, err := NewID(&IDOptions{Channel: lc.Channel, NetNS: lc.NetNS})
	if err != nil {
		return nil, err
	}
	l := &Listener{id: id, cfg: conf, queue: make(chan *Request, lc.Backlog), lost: make(chan struct{})}
	if err := l.start(addr, lc); err != nil {
		_ = l.close() // requests may have come already
		return nil, err
	}
	return l, nil
}

// start binds and listens.
func (l *Listener) start(addr netip.AddrPort, lc ListenConfig) error {
	sa, err := sockaddrIn(lc.NetNS, addr)
	if err != nil {
		return err
	}
	// Said either way for the IPv6 wildcard, or the sysctl net.ipv6.bindv6only
	// would decide (cma_bind_addr).
	halves := !lc.AFOnly && needsHalves(lc.NetNS, addr.Addr())
	if lc.AFOnly || addr.Addr().Is6() && addr.Addr().IsUnspecified() {
		if err := l.id.SetAFOnly(lc.AFOnly || halves); err != nil {
			return &stepFailure{step: stepBind, err: err}
		}
	}
	if err := l.listenOn(l.id, sa); err != nil {
		return err
	}
	route, err := l.id.Route()
	if err != nil {
		return &stepFailure{step: stepListen, err: err}
	}
	l.addr = addrOf(route.Src)
	l.on = route
	if route.Port != 0 { // else requests come on any device, and Accept looks
		if err := l.cfg.checkPD(route); err != nil {
			return &stepFailure{step: stepListen, err: err}
		}
	}
	if halves {
		return l.listenV4(lc)
	}
	return nil
}

// listenOn binds an ID of the listener and lets it listen.
func (l *Listener) listenOn(id *ID, addr ucma.Sockaddr) error {
	if err := id.Bind(addr); err != nil {
		return &stepFailure{step: stepBind, err: err}
	}
	// Before Listen, or the first request could slip by.
	id.setHandler(l.handle)
	id.setOnLost(l.lose)
	// The kernel's backlog counts what is not fetched yet, and this package
	// fetches at once, so the kernel's limit is the right one.
	l.kernelBacklog, _ = host.maxBacklog()
	if err := id.Listen(0); err != nil {
		return &stepFailure{step: stepListen, err: err}
	}
	return nil
}

// Addr returns the address listened on, with the port the kernel chose.
func (l *Listener) Addr() net.Addr { return l.addr }

// Device returns the name of the RDMA device of the address listened on, "" for an
// unspecified address, to which connections come on all devices, and when the
// device has gone.
func (l *Listener) Device() string { return deviceName(l.on) }

// ID returns the listening ID, for options and queries.
func (l *Listener) ID() *ID { return l.id }

// Busy returns how many requests were rejected because the backlog was full.
func (l *Listener) Busy() uint64 { return l.busy.Load() }

// lose ends the waits of Accept: the ID is closed, its channel broken or its
// device removed.
func (l *Listener) lose(err error) {
	l.lostOnce.Do(func() {
		l.lostErr = err
		close(l.lost)
	})
}

// handle sees the listener's events, in the event channel's goroutine.
func (l *Listener) handle(ev *ucma.Event) bool {
	switch ev.Type {
	case abi.RDMA_CM_EVENT_CONNECT_REQUEST:
		return l.enqueue(ev)
	case abi.RDMA_CM_EVENT_DEVICE_REMOVAL:
		// The kernel has closed the ID, also if the device comes back. A
		// wildcard listener gets no such event (cma_process_remove).
		l.lose(ErrDeviceRemoved)
	}
	return false
}

// enqueue keeps a request for Accept, or refuses it when there are too many.
func (l *Listener) enqueue(ev *ucma.Event) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ending {
		return false // the event channel destroys the orphan
	}
	id, err := l.id.adopt(ev)
	if err != nil {
		return false
	}
	r := &Request{id: id, cfg: l.cfg, param: ev.Conn()}
	select {
	case l.queue <- r:
	default:
		l.busy.Add(1)
		l.reject(id)
	}
	return true
}

// maxRejecting is how many requests wait at most to be rejected with a text. Beyond
// that the destruction of the ID rejects the peer, which is half the work.
const maxRejecting = 1024

// reject refuses a request for which there is no room.
func (l *Listener) reject(id *ID) {
	waiting := l.rejecting.count()
	l.rejecting.add(1)
	done := func() { l.rejecting.add(-1) }
	if waiting >= maxRejecting {
		l.silenced.Add(1)
		id.setRefusal("")
		id.closeSoon(done)
		return
	}
	background.answers.run(func() {
		_ = id.Reject([]byte(refusedBusy))
		id.closeSoon(done)
	})
}

// Accept returns the next connection request. Nothing is committed yet:
// answer it with Request.Accept or Request.Reject.
//
// The error is ctx's when it ends first; others are final: it matches
// net.ErrClosed after Close, and ErrDeviceRemoved when the device of the
// address was removed. A listener on an unspecified address lives on then, and
// takes connections on the device again when it comes back.
func (l *Listener) Accept(ctx context.Context) (*Request, error) {
	for {
		select {
		case r, ok := <-l.queue:
			if !ok {
				return nil, l.opError(net.ErrClosed)
			}
			if r.locate() == nil {
				return r, nil
			}
			// The peer or its device has gone meanwhile. That is no failure
			// of the listener, whose caller would stop serving.
			_ = r.refuse(refusedAddrs)
		case <-ctx.Done():
			return nil, l.opError(ctx.Err())
		case <-l.lost:
			return nil, l.opError(l.lostErr)
		}
	}
}

func (l *Listener) opError(err error) error {
	e := newOpError("accept", nil, err)
	e.Local = l.addr
	return e
}

// Close stops listening and rejects the requests that nobody accepted yet.
// Connections that were accepted live on.
func (l *Listener) Close() error {
	l.closeOnce.Do(func() { l.closeErr = l.close() })
	if l.closeErr != nil {
		e := newOpError("close", nil, l.closeErr)
		e.Local = l.addr
		return e
	}
	return nil
}

func (l *Listener) close() error {
	l.mu.Lock()
	l.ending = true
	close(l.queue)
	l.mu.Unlock()
	deadline := patience()
	err := l.id.closeBy(deadline)
	if l.v4 != nil {
		err = errors.Join(err, l.v4.closeBy(deadline))
	}
	for r := range l.queue {
		if !r.answered.Swap(true) {
			l.rejecting.add(1)
			r.id.setRefusal(refusedUnheard)
			r.id.closeSoon(func() { l.rejecting.add(-1) })
		}
	}
	l.rejecting.within(deadline)
	return err
}
