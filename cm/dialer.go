package cm

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"syscall"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/ucma"
)

// A Dialer makes connections. Its zero value has all defaults; it is safe for
// concurrent use and must not change once in use.
type Dialer struct {
	// LocalAddr is the address to connect from. The zero value lets the
	// kernel choose by route, as an invalid or unspecified address beside a port
	// does; port 0 lets it choose the port.
	LocalAddr netip.AddrPort

	// PrivateData travels in the connect request, at most MaxConnectData
	// bytes, padded with zeros to that; on iWARP at most MaxIWARPData bytes,
	// as they are.
	PrivateData []byte

	// Config shapes the connection; nil means all defaults.
	Config *Config

	// Channel delivers the connection's events; nil means the process-wide
	// one.
	Channel *EventChannel

	// NetNS is the file of the network namespace to connect from; see
	// IDOptions.NetNS. Empty means the calling thread's, which also counts for what
	// other goroutines do for the dial. Names are resolved in the calling thread's in
	// any case.
	NetNS string

	// TOS is the IP type of service of the connection's traffic; 0 leaves
	// the system's default.
	TOS uint8

	// FallbackDelay is how long a dial to a name with several addresses
	// waits for one address before it tries the next beside it. 0 means
	// 300 ms, negative to try the next only when one has failed.
	FallbackDelay time.Duration

	// OnStep, if not nil, is called after each step of a dial, in order; the
	// steps of several addresses may mix.
	OnStep func(Step)
}

// Dial connects to address with a zero Dialer; see [Dialer.Dial].
func Dial(ctx context.Context, address string) (*Conn, error) {
	return new(Dialer).Dial(ctx, address)
}

// Dial connects to address, "host:port" or "[IPv6%zone]:port". A host name is
// resolved; its addresses race as FallbackDelay says, and ctx bounds all of it.
// When ctx ends while the connection comes about, it is torn down again.
//
// Errors match ErrNoListener and ErrRejected when the peer's side refused,
// ErrNoDevice when the address is not reached through an RDMA interface,
// ErrNoHandles when too many connections are being made on the device,
// syscall.ENETUNREACH without a route, os.ErrNotExist when the connection
// manager's device is missing and os.ErrPermission when it is denied.
// OpError.Timeout is true when nobody answered in time; OpError.Step says
// whether it was the neighbour ("resolve address") or the peer ("connect").
func (d *Dialer) Dial(ctx context.Context, address string) (*Conn, error) {
	addrs, err := resolve(ctx, address)
	if err != nil {
		return nil, newOpError("dial", nil, err)
	}
	return d.race(ctx, interleave(addrs))
}

// DialAddr is Dial for a single address.
func (d *Dialer) DialAddr(ctx context.Context, addr netip.AddrPort) (c *Conn, err error) {
	if d.NetNS == "" {
		return d.dialHere(ctx, addr)
	}
	there := *d
	there.NetNS = ""
	// All of it: interfaces, and in exclusive mode devices, are the namespace's.
	err = inNetNS(d.NetNS, func() (err error) {
		c, err = there.dialHere(ctx, addr)
		return err
	})
	if err != nil {
		return nil, newOpError("dial", Addr{addr}, err)
	}
	return c, nil
}

// dialHere is DialAddr in the network namespace of the calling thread.
func (d *Dialer) dialHere(ctx context.Context, addr netip.AddrPort) (*Conn, error) {
	a := &attempt{Dialer: d, remote: addr, source: d.source(addr)}
	c, err := a.run(ctx)
	if err != nil {
		e := newOpError("dial", Addr{addr}, err)
		e.Device = a.device
		e.Local = a.local()
		e.blamePort("", a.route)
		return nil, e
	}
	return c, nil
}

// An attempt is one dial under way.
type attempt struct {
	*Dialer
	remote netip.AddrPort
	source netip.AddrPort // LocalAddr; the zero value lets the kernel choose
	route  *ucma.Route    // nil until known
	device string
	stale  []*Conn // refused for their queue pair number, which they keep meanwhile
}

// source is LocalAddr, completed where it is a port only.
func (d *Dialer) source(remote netip.AddrPort) netip.AddrPort {
	port := d.LocalAddr.Port()
	switch {
	case d.LocalAddr.IsValid() || port == 0:
		return d.LocalAddr
	case remote.Addr().Unmap().Is4():
		return netip.AddrPortFrom(netip.IPv4Unspecified(), port)
	}
	return netip.AddrPortFrom(netip.IPv6Unspecified(), port)
}

// maxStale is how many queue pair numbers one dial tries.
const maxStale = 8

// run tries until the peer takes the queue pair's number: the peer refuses one
// (reason 10, stale connection) that it still knows from an earlier connection,
// for about a second after that ended. Devices hand out numbers again at
// once, so those that were refused are kept until the dial is over.
func (a *attempt) run(ctx context.Context) (*Conn, error) {
	defer func() {
		for _, c := range a.stale {
			c.abort()
		}
	}()
	for {
		tried := len(a.stale)
		c, err := a.once(ctx)
		if err == nil || len(a.stale) == tried {
			return c, err
		}
	}
}

// once makes an ID and connects with it, and undoes both on failure.
func (a *attempt) once(ctx context.Context) (*Conn, error) {
	cfg, err := a.check()
	if err != nil {
		return nil, err
	}
	id, err := NewID(&IDOptions{Channel: a.Channel})
	if err != nil {
		return nil, err
	}
	c, err := a.connect(ctx, id, cfg)
	if err == nil && ctx.Err() != nil {
		// Cancelled while succeeding: the caller would not expect a
		// connection any more.
		c.abort()
		return nil, &stepFailure{step: stepEstablish, err: ctx.Err()}
	}
	if err != nil {
		if c != nil {
			a.giveUp(c, err)
		} else {
			_ = id.Close()
		}
		return nil, err
	}
	return c, nil
}

// giveUp undoes a failed connection, or keeps it because there will be another
// attempt. A fixed local port allows none beside the first.
func (a *attempt) giveUp(c *Conn, err error) {
	var rej *RejectError
	again := errors.As(err, &rej) && rej.Reason == abi.IB_CM_REJ_STALE_CONN
	if !again || len(a.stale) == maxStale || a.source.Port() != 0 {
		c.abort()
		return
	}
	a.stale = append(a.stale, c)
}

// check refuses what cannot work before anything is created.
func (a *attempt) check() (Config, error) {
	cfg, err := a.Config.resolved()
	if err != nil {
		return cfg, err
	}
	if a.Channel.isRaw() {
		return cfg, errRawConn
	}
	// What fits on the device is checked once that is known.
	if n := len(a.PrivateData); n > MaxIWARPData {
		return cfg, fmt.Errorf("private data of %d bytes: connect takes at most %d over InfiniBand and RoCE, %d over iWARP: %w",
			n, MaxConnectData, MaxIWARPData, syscall.EINVAL)
	}
	return cfg, a.checkAddrs()
}

// checkAddrs refuses pairs of addresses between which there is no path. The
// kernel would take the unspecified address for this host, bind the first
// device there is, and fail a step later (cma_resolve_loopback).
func (a *attempt) checkAddrs() error {
	remote, local := a.remote.Addr(), a.source.Addr()
	if err := checkAddr(remote); err != nil {
		return err
	}
	if !remote.IsValid() || remote.Unmap().IsUnspecified() {
		return fmt.Errorf("%v is not the address of a peer: %w", remote, syscall.EINVAL)
	}
	if !local.IsValid() {
		return nil
	}
	if local.Unmap().Is4() != remote.Unmap().Is4() {
		return fmt.Errorf("local address %v and remote address %v are of different families: %w", local, remote, syscall.EINVAL)
	}
	return checkAddr(local)
}

// connect takes the ID and its queue pair through the handshake. A connection
// that comes with an error failed in the handshake; it is the caller's.
func (a *attempt) connect(ctx context.Context, id *ID, cfg Config) (*Conn, error) {
	steps := startSteps(a.OnStep)
	if err := a.resolve(ctx, id, steps); err != nil {
		return nil, err
	}
	c, err := newConn(id, a.route, cfg)
	if err != nil {
		return nil, err
	}
	a.device = c.Device()
	steps.done(stepQueuePair, "queue pair %#x on %s", c.qp.Number(), c.Device())
	c.watch()
	if err := c.handshake(ctx, a.PrivateData, steps); err != nil {
		return c, c.cause(err)
	}
	return c, nil
}

// resolve finds device, source address and path.
func (a *attempt) resolve(ctx context.Context, id *ID, steps *steps) error {
	var src ucma.Sockaddr
	var err error
	if a.source.IsValid() {
		if src, err = ucma.SockaddrFrom(a.source); err != nil {
			return err
		}
		if err := id.Bind(src); err != nil {
			return &stepFailure{step: stepBind, err: err}
		}
	}
	dst, err := ucma.SockaddrFrom(a.remote)
	if err != nil {
		return err
	}
	if err := id.ResolveAddr(ctx, src, dst); err != nil {
		return inStep(stepResolveAddr, err)
	}
	if a.route, err = id.Route(); err != nil {
		return inStep(stepResolveAddr, err)
	}
	steps.done(stepResolveAddr, "from %v, device index %d port %d", a.route.Src, a.route.DeviceIndex, a.route.Port)
	if err := id.checkPrivateData(OpConnect, a.PrivateData); err != nil {
		return inStep(stepConnect, err)
	}
	if a.TOS != 0 {
		if err := id.SetTOS(a.TOS); err != nil {
			return inStep(stepResolveRoute, err)
		}
	}
	if a.Config != nil && a.Config.ACKTimeout > 0 {
		if err := id.SetACKTimeout(a.Config.ackExponent()); err != nil {
			return inStep(stepResolveRoute, err)
		}
	}
	if err := id.ResolveRoute(ctx); err != nil {
		return inStep(stepResolveRoute, err)
	}
	steps.done(stepResolveRoute, "path to %v", a.remote)
	return nil
}

// handshake is the active side: request, answer, ready to receive and send,
// confirmation.
func (c *Conn) handshake(ctx context.Context, privateData []byte, steps *steps) error {
	local, served := c.reads(nil)
	p := c.param(privateData, local, served)
	if c.dev.iwarp {
		peer, err := c.connectIWARP(ctx, p)
		if err != nil {
			return inStep(stepConnect, err)
		}
		c.data = peer.PrivateData
		c.localReads = c.readsIWARP(local, peer)
		steps.done(stepConnect, "answered")
		if err := c.Err(); err != nil {
			return inStep(stepEstablish, err)
		}
		c.setConnected() // the kernel has done all the rest
		c.nudge()
		steps.done(stepEstablish, "with the answer")
		return nil
	}
	peer, err := c.id.Connect(ctx, p, ucma.ECE{})
	if err != nil {
		return inStep(stepConnect, err)
	}
	steps.done(stepConnect, "answered by queue pair %#x", peer.QPNum)
	c.data = peer.PrivateData
	local, served = c.reads(peer)
	c.localReads = local
	if err := c.toRTS(local, served); err != nil {
		return c.id.establishError(err)
	}
	if err := c.id.Establish(); err != nil {
		return c.id.establishError(err)
	}
	c.setConnected()
	steps.done(stepEstablish, "ready to send and receive")
	return nil
}

// local returns the source address, once it is known.
func (a *attempt) local() (addr netAddr) {
	if a.route != nil {
		if got := addrOf(a.route.Src); got != nil {
			return got
		}
	}
	if a.source.IsValid() {
		return Addr{a.source}
	}
	return nil
}

// inStep names the step of an error that does not name one yet.
func inStep(step string, err error) error {
	var sf *stepFailure
	if err == nil || errors.As(err, &sf) {
		return err
	}
	return &stepFailure{step: step, err: err}
}
