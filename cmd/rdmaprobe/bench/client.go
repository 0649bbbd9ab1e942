package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"syscall"
	"time"

	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/ucma"
	"github.com/purerdma/rdma/uverbs"
)

// A Client measures towards one server.
type Client struct {
	Remote netip.AddrPort
	Local  netip.AddrPort // the zero value lets the kernel choose
	TOS    uint8

	// Timeout bounds how long connecting may take; 0 means as long as ctx.
	Timeout time.Duration
}

// Run connects, measures once and disconnects. ctx ends it early with its
// error. Other errors name the step, and are those of packages cm and uverbs;
// they match [ErrProtocol] when the server is another program.
func (cl *Client) Run(ctx context.Context, p Params) (*Result, error) {
	r := p.request()
	r.Token = rand.Uint64()
	connecting, cancel := ctx, context.CancelFunc(func() {})
	if cl.Timeout > 0 {
		connecting, cancel = context.WithTimeout(ctx, cl.Timeout)
	}
	s, err := cl.connectAll(connecting, &p, r)
	cancel()
	if s == nil {
		return nil, err
	}
	if err != nil {
		s.release()
		return nil, err
	}
	follow, unfollow := context.WithCancel(context.Background())
	defer unfollow() // after hangUp, which waits for what follow sees
	defer s.hangUp()
	for _, c := range s.conns {
		go c.follow(follow)
	}
	stop := context.AfterFunc(ctx, func() { s.stop(context.Cause(ctx)) })
	defer stop()
	limit := stallLimit(&p)
	go s.watchdog(limit, stalled{limit})
	return s.measure(&p)
}

// measure runs the loop, and says what it was like.
func (s *side) measure(p *Params) (*Result, error) {
	m := newMeter(p)
	c := s.conns[0]
	res := &Result{Params: *p, Device: s.device.Name, Inline: p.Size <= c.inline && p.Op != Read}
	before := errorCounters(s.device)
	err := s.loop(p, m, res)
	if err != nil {
		err = s.cause(err)
		return nil, fmt.Errorf("%v of %d bytes: %w", p.Op, p.Size, err)
	}
	res.Messages, res.Took, res.Allocations = m.messages, m.took, m.mallocs
	res.UserCPU, res.KernCPU = m.cpu.user, m.cpu.kernel
	if m.total != nil {
		res.Latency, res.Bars = summarize(m.total), bars(m.total, 12)
	}
	res.Here, res.There = s.placeOf(currentCPU()), c.remote.Place
	res.Moved = moved(before, errorCounters(s.device))
	return res, c.describe(res)
}

// loop is what is measured.
func (s *side) loop(p *Params, m *meter, res *Result) (err error) {
	defer loops.enter(p.Mode)()
	if p.Test == Latency {
		return s.conns[0].ping(p, m)
	}
	if err = s.blast(p, m); err == nil && p.Both {
		res.Reverse, err = s.awaitReport()
	}
	return err
}

// cause prefers the news that the peer has gone to what followed from it.
func (s *side) cause(err error) error {
	select {
	case <-s.done:
	case <-time.After(lateNews):
	}
	if errors.Is(err, errStopped) || s.stopped.Load() && errors.Is(s.reason(), cm.ErrPeerClosed) {
		return s.reason()
	}
	return err
}

// lateNews is how much later than a failed request the news may come that the
// peer has gone.
const lateNews = 300 * time.Millisecond

// describe adds what the connection is like.
func (c *conn) describe(res *Result) error {
	local, err := c.id.LocalAddr()
	if err != nil {
		return err
	}
	remote, err := c.id.RemoteAddr()
	if err != nil {
		return err
	}
	res.Local, res.Remote = local.String(), remote.String()
	attr, err := c.qp.Query()
	if err != nil {
		return err
	}
	res.MTU, res.TOS = attr.PathMTU.Bytes(), int(attr.AH.TrafficClass)
	if port, err := c.queryPort(); err == nil {
		res.MaxMTU = port.MaxMTU.Bytes()
	}
	return nil
}

// queryPort asks for the port that the connection uses.
func (c *conn) queryPort() (*uverbs.PortAttr, error) {
	port, err := c.id.Port()
	if err != nil {
		return nil, err
	}
	return c.ctx.QueryPort(int(port))
}

// connectAll makes the connections. A side that comes with an error must be
// released.
func (cl *Client) connectAll(ctx context.Context, p *Params, r request) (s *side, err error) {
	for i := range p.QPs {
		r.Index = uint16(i)
		id, err := cl.resolve(ctx)
		if err != nil {
			return s, err
		}
		if s == nil {
			d, err := id.Device()
			if err == nil {
				s, err = newSide(d, r, p.Depth, p.Depth)
			}
			if err != nil {
				_ = id.Close() // nothing depends on it
				return nil, &cm.OpError{Op: "bench", Step: "set up queues", Remote: cm.Addr{AddrPort: cl.Remote}, Err: err}
			}
		}
		if i == 0 {
			s.req.Inline = uint16(inlineLimit(s, p.Inline))
		}
		s.req.Index = r.Index
		if err := s.connect(ctx, id, i, int(s.req.Inline)); err != nil {
			return s, &cm.OpError{Op: "bench", Step: "connect", Device: s.device.Name, Remote: cm.Addr{AddrPort: cl.Remote}, Err: err}
		}
	}
	return s, nil
}

// resolve makes an ID and finds its way.
func (cl *Client) resolve(ctx context.Context) (*cm.ID, error) {
	fail := func(step string, err error) error {
		return &cm.OpError{Op: "bench", Step: step, Remote: cm.Addr{AddrPort: cl.Remote}, Err: err}
	}
	dst, err := ucma.SockaddrFrom(cl.Remote)
	if err != nil {
		return nil, fail("resolve address", err)
	}
	var src ucma.Sockaddr
	if cl.Local.IsValid() {
		if src, err = ucma.SockaddrFrom(cl.Local); err != nil {
			return nil, fail("resolve address", err)
		}
	}
	id, err := cm.NewID(nil)
	if err != nil {
		return nil, fail("open the connection manager", err)
	}
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"resolve address", func() error { return id.ResolveAddr(ctx, src, dst) }},
		{"resolve route", func() error { return cl.setTOS(id) }},
		{"resolve route", func() error { return id.ResolveRoute(ctx) }},
	} {
		if err := step.do(); err != nil {
			_ = id.Close() // nothing depends on it
			return nil, fail(step.name, err)
		}
	}
	return id, nil
}

func (cl *Client) setTOS(id *cm.ID) error {
	if cl.TOS == 0 {
		return nil
	}
	return id.SetTOS(cl.TOS)
}

// connect makes one connection ready to send.
func (s *side) connect(ctx context.Context, id *cm.ID, index, inline int) error {
	c, err := s.add(id, index, inline)
	if err != nil {
		return err
	}
	mem := c.memory()
	s.req.Addr, s.req.RKey = mem.Addr, mem.RKey
	peer, err := id.Connect(ctx, s.connParam(s.req.marshal(), c.qp.Number()), ucma.ECE{})
	if err != nil {
		return err
	}
	if err := c.remote.unmarshal(peer.PrivateData); err != nil {
		return err
	}
	if c.remote.Size < s.req.Size {
		return fmt.Errorf("%w: the server has room for %d bytes", ErrProtocol, c.remote.Size)
	}
	err = c.toRTS()
	if err == nil {
		err = id.Establish()
	}
	if errors.Is(err, syscall.EINVAL) {
		// The state is wrong: the peer has ended it since its answer, which
		// an event says that nobody waits for here.
		err = fmt.Errorf("%w: %w", cm.ErrPeerClosed, err)
	}
	if err == nil {
		s.established()
	}
	return err
}

// inlineLimit is how many bytes of inline data a device takes, at most n.
func inlineLimit(s *side, n int) int {
	for ; n > 0; n /= 2 {
		qp, err := s.pd.CreateQP(uverbs.QPConfig{SendCQ: s.sendCQ, RecvCQ: s.recvCQ,
			Cap: uverbs.QPCap{MaxSendWR: 1, MaxRecvWR: 1, MaxInline: n}})
		if err == nil {
			_ = qp.Close() // it was never used
			return n
		}
	}
	return 0
}
