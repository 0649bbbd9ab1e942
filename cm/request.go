package cm

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"sync/atomic"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/ucma"
)

// A Request is a peer's wish to connect. It must be answered: with Accept, or
// with Reject or Close. One goroutine answers it, once.
type Request struct {
	id       *ID
	cfg      Config
	param    ucma.ConnParam
	route    *ucma.Route
	local    net.Addr
	remote   net.Addr
	answered atomic.Bool
}

// AcceptOptions say how to accept. A nil pointer means all defaults.
type AcceptOptions struct {
	// PrivateData travels in the answer, at most MaxAcceptData bytes, padded
	// with zeros to that; on iWARP at most MaxIWARPData bytes, as they are.
	PrivateData []byte

	// Config shapes the connection; nil means the listener's.
	Config *Config

	// OnStep, if not nil, is called after each step.
	OnStep func(Step)
}

// locate reads the addresses of both ends.
func (r *Request) locate() error {
	route, err := r.id.Route()
	if err != nil {
		return err
	}
	r.route = route
	r.local, r.remote = addrOf(route.Src), addrOf(route.Dst)
	if needsZone(r.local) || needsZone(r.remote) {
		_ = inNetNS(r.id.netns, func() error { // without it, they have no zone
			zone := zoneOf(route)
			r.local, r.remote = withZone(r.local, zone), withZone(r.remote, zone)
			return nil
		})
	}
	return nil
}

// needsZone reports whether an address is link-local without a zone, as the kernel
// reports it on the passive side.
func needsZone(a net.Addr) bool {
	addr, ok := a.(Addr)
	return ok && addr.Addr().Is6() && addr.Addr().IsLinkLocalUnicast() && addr.Addr().Zone() == ""
}

// zoneOf finds the interface of a route: the one that the own address's GID belongs to,
// which may be a VLAN, else the port's own. It is empty if that is in another network
// namespace than the calling thread's.
func zoneOf(route *ucma.Route) string {
	dev, err := host.deviceByIndex(int(route.DeviceIndex))
	if err != nil {
		return ""
	}
	table, _ := dev.GIDTable(int(route.Port)) // without sysfs there is the port
	src, _ := route.Src.AddrPort()
	var zones []string
	for _, e := range table {
		if e.GID.Addr() == src.Addr().WithZone("") && !e.OtherNetNS && !slices.Contains(zones, e.Netdev) {
			zones = append(zones, e.Netdev)
		}
	}
	if len(zones) == 1 {
		return zones[0]
	}
	port, _ := dev.Port(int(route.Port))
	return port.Netdev
}

// withZone completes an address that needs a zone.
func withZone(a net.Addr, zone string) net.Addr {
	if !needsZone(a) || zone == "" {
		return a
	}
	addr := a.(Addr)
	return Addr{netip.AddrPortFrom(addr.Addr().WithZone(zone), addr.Port())}
}

// LocalAddr returns the address the peer connects to.
func (r *Request) LocalAddr() net.Addr { return r.local }

// RemoteAddr returns the peer's address.
func (r *Request) RemoteAddr() net.Addr { return r.remote }

// Device returns the name of the RDMA device the request came on, "" if that has
// gone.
func (r *Request) Device() string { return deviceName(r.route) }

// PrivateData returns what the peer attached, padded with zeros to
// MaxConnectData bytes, except on iWARP.
func (r *Request) PrivateData() []byte { return r.param.PrivateData }

// Param returns the peer's connection parameters as this side sees them.
func (r *Request) Param() ucma.ConnParam { return r.param }

// ID returns the request's ID, for queries. It belongs to the request.
func (r *Request) ID() *ID { return r.id }

// Accept accepts the request and returns the connection when the peer has
// confirmed it. On error the request is over and the peer is told, with one
// exception: options out of range are refused before anything is done, and the
// request can still be answered. Close after an error is right in both cases.
//
// An error that matches ErrPeerGone means that the peer had given up. Others
// match ErrNoHandles (or both, where the kernel does not tell them apart),
// ErrDeviceRemoved, ctx's error when it ended first, uverbs.ErrNoProvider
// on a device without a data path here, and net.ErrClosed for a request that
// was answered before.
func (r *Request) Accept(ctx context.Context, opts *AcceptOptions) (*Conn, error) {
	var o AcceptOptions
	if opts != nil {
		o = *opts
	}
	c, err := r.accept(ctx, o)
	if err != nil {
		return nil, r.opError("accept", err)
	}
	return c, nil
}

func (r *Request) accept(ctx context.Context, o AcceptOptions) (*Conn, error) {
	// Checked first: a failed accept makes the kernel reject the peer, and
	// a mistake in the parameters should not.
	cfg := r.cfg
	if o.Config != nil {
		var err error
		if cfg, err = o.Config.resolved(); err != nil {
			return nil, err
		}
	}
	if err := r.id.checkPrivateData(OpAccept, o.PrivateData); err != nil {
		return nil, err
	}
	if err := cfg.checkPD(r.route); err != nil {
		return nil, err
	}
	if r.answered.Swap(true) {
		return nil, net.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		r.id.setRefusal(refusedCanceled)
		_ = r.id.Close()
		return nil, &stepFailure{step: stepAccept, err: err}
	}
	steps := startSteps(o.OnStep)
	r.id.setRefusal(refusedSetUp)
	c, err := newConn(r.id, r.route, cfg)
	if err != nil {
		_ = r.id.Close()
		return nil, r.id.refused(ErrPeerGone, err)
	}
	c.local, c.remote = r.LocalAddr(), r.RemoteAddr()
	steps.done(stepQueuePair, "queue pair %#x on %s", c.qp.Number(), c.Device())
	c.watch()
	if err := c.answer(ctx, &r.param, o.PrivateData, steps); err != nil {
		err = c.cause(err)
		if ctx.Err() != nil {
			c.id.replaceRefusal(refusedCanceled)
		}
		c.abort()
		return nil, err
	}
	return c, nil
}

// answer is the passive side: ready to receive and send, answer, wait for the
// confirmation.
func (c *Conn) answer(ctx context.Context, peer *ucma.ConnParam, privateData []byte, steps *steps) error {
	c.data = peer.PrivateData
	local, served := c.reads(peer)
	c.localReads = local
	// RTS before the answer: the peer's first message may overtake its
	// confirmation.
	if c.dev.iwarp {
		c.listenFirst() // and the kernel moves the queue pair
	} else if err := c.setACKTimeout(); err != nil {
		return inStep(stepAccept, c.id.refused(ErrPeerGone, err))
	} else if err := c.toRTS(local, served); err != nil {
		return inStep(stepAccept, c.id.refused(ErrPeerGone, err))
	}
	if err := c.id.Accept(c.param(privateData, local, served), ucma.ECE{}); err != nil {
		return err
	}
	steps.done(stepAccept, "answered")
	switch err := c.waitConfirmed(ctx); {
	case errors.Is(err, ErrPeerClosed):
		// Only a peer that had the connection can end it: its confirmation
		// was lost or overtaken. What it sent before is there to be received.
		steps.done(stepEstablish, "confirmed, and ended, by the peer")
	case err != nil:
		return inStep(stepAccept, err)
	default:
		steps.done(stepEstablish, "confirmed by the peer")
	}
	c.setConnected()
	if c.dev.iwarp {
		c.nudgeBack(local)
	}
	return nil
}

// waitConfirmed waits for ESTABLISHED. When a message arrives first, the
// confirmation was lost or overtaken; the message proves the connection, and
// telling the connection manager so brings ESTABLISHED about.
func (c *Conn) waitConfirmed(ctx context.Context) error {
	c.cq.sleep(1)
	defer c.cq.sleep(-1)
	c.cq.pump(true)
	early, err := c.id.waitEstablished(ctx, c.recvs.first)
	if !early {
		return err
	}
	_ = c.id.Notify(uint32(abi.IB_EVENT_COMM_EST)) // fails when the end has come, which the next event says
	return c.id.WaitEstablished(ctx)
}

// Reject refuses the request; the peer's error has privateData, at most
// MaxRejectData bytes, on iWARP MaxIWARPData: more is an error that leaves the
// request open.
func (r *Request) Reject(privateData []byte) error {
	if err := r.id.checkPrivateData(OpReject, privateData); err != nil {
		return r.opError("reject", err)
	}
	if r.answered.Swap(true) {
		return r.opError("reject", net.ErrClosed)
	}
	err := r.id.Reject(privateData)
	if closeErr := r.id.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return r.opError("reject", err)
	}
	return nil
}

// Close refuses the request if it was not answered yet. The peer gets the text "request
// closed by the server".
func (r *Request) Close() error { return r.refuse(refusedClosed) }

// refuse is Close with another text.
func (r *Request) refuse(text string) error {
	if r.answered.Swap(true) {
		return nil
	}
	r.id.setRefusal(text)
	if err := r.id.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return r.opError("close", err)
	}
	return nil
}

func (r *Request) opError(op string, err error) error {
	e := newOpError(op, r.RemoteAddr(), err)
	e.Local = r.LocalAddr()
	e.blamePort(r.id.netns, r.route)
	return e
}
