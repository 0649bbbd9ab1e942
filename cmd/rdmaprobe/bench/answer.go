package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/ucma"
)

// accept answers one queue pair's request.
func (s *side) accept(id endpoint, r request, asked *ucma.ConnParam) error {
	s.adding.Lock()
	defer s.adding.Unlock()
	if s.stopped.Load() {
		_ = id.Close() // which rejects it
		return s.reason()
	}
	c, err := s.add(id, int(r.Index), int(r.Inline))
	if err != nil {
		_ = id.Reject(rejection(err))
		return err
	}
	c.remote = reply{Addr: r.Addr, RKey: r.RKey, Size: r.Size}
	if err := c.toRTS(); err != nil {
		return err
	}
	mem := c.memory()
	p := s.connParam(mem.marshal(), c.qp.Number())
	p.InitiatorDepth = min(p.InitiatorDepth, asked.ResponderResources)
	p.ResponderResources = min(p.ResponderResources, asked.InitiatorDepth)
	if err := id.Accept(p, ucma.ECE{}); err != nil {
		return err
	}
	waitCtx, cancel := context.WithTimeout(s.wait.ctx, setUpTimeout) // which ends with the side
	defer cancel()
	if err := id.WaitEstablished(waitCtx); err != nil {
		if s.stopped.Load() {
			return s.reason()
		}
		return err
	}
	s.established()
	go c.follow(s.wait.ctx)
	return nil
}

// idleLimit is how long a client may be silent: one whose machine has died
// would keep a processor busy for ever.
const idleLimit = time.Minute

var errIdle = fmt.Errorf("nothing arrived for %v", idleLimit)

// run does the server's part of one client's test.
func (srv *Server) run(ctx context.Context, t *test, client string) {
	s := t.side
	start := time.Now()
	e := ServerEvent{Event: "connected", Client: client, Device: s.device.Name, Test: s.req.Test, Op: s.req.Op,
		Mode: s.req.Mode, Size: int(s.req.Size), QPs: int(s.req.QPs)}
	err := s.answer(ctx, func() { srv.report(e) })
	if errors.Is(err, errStopped) {
		err = s.reason()
	}
	s.stop(err)
	s.adding.Lock() // no queue pair is made any more
	s.hangUp()
	s.adding.Unlock()
	srv.leave(t)
	e.Event, e.Took = "ended", time.Since(start)
	if !errors.Is(err, cm.ErrPeerClosed) {
		e.Err = err
	}
	srv.report(e)
}

// answer calls begin when all queue pairs are there.
func (s *side) answer(ctx context.Context, begin func()) error {
	select {
	case <-s.ready:
	case <-s.done:
		return errStopped
	case <-ctx.Done():
		return errStopped
	case <-time.After(setUpTimeout):
		return fmt.Errorf("%w: not all queue pairs came in time", ErrProtocol)
	}
	stop := context.AfterFunc(ctx, func() { s.stop(errStopped) })
	defer stop()
	begin()
	if s.req.Op == Send || s.req.Op == Write && s.req.Test == Latency || s.req.both() {
		go s.watchdog(idleLimit, errIdle) // the others cost nothing while nothing happens
		defer loops.enter(s.req.Mode)()
	}
	switch {
	case s.req.Test == Latency:
		return s.conn(0).pong()
	case s.req.both():
		return s.exchange()
	}
	return s.absorb()
}
