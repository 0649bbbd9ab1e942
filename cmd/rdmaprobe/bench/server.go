package bench

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/ucma"
)

// A Server takes measurements of any number of clients.
type Server struct {
	// OnEvent, if not nil, is called when a client comes and when it goes;
	// never by two goroutines at once.
	OnEvent func(ServerEvent)

	id    *cm.ID
	mu    sync.Mutex
	sides map[uint64]*side
	wg    sync.WaitGroup
	say   sync.Mutex
}

// A ServerEvent is a client that came, went or was refused.
type ServerEvent struct {
	Event  string // "connected", "ended" or "refused"
	Client string
	Device string
	Test   Test
	Op     Op
	Mode   Mode
	Size   int
	QPs    int
	Took   time.Duration // ended
	Err    error         // ended and refused: why; nil for a client that disconnected
}

// setUpTimeout bounds how long a client may take from its first queue pair to
// its last.
const setUpTimeout = 30 * time.Second

// Listen makes a server on an address; an unspecified one means all devices.
func Listen(addr netip.AddrPort) (*Server, error) {
	sa, err := ucma.SockaddrFrom(addr)
	if err != nil {
		return nil, err
	}
	id, err := cm.NewID(nil)
	if err != nil {
		return nil, err
	}
	if err = id.Bind(sa); err == nil {
		err = id.Listen(0)
	}
	if err != nil {
		_ = id.Close() // nothing depends on it
		return nil, err
	}
	return &Server{id: id, sides: map[uint64]*side{}}, nil
}

// Addr is where it listens.
func (srv *Server) Addr() (netip.AddrPort, error) {
	sa, err := srv.id.LocalAddr()
	if err != nil {
		return netip.AddrPort{}, err
	}
	ap, _ := sa.AddrPort()
	return ap, nil
}

// Serve takes clients until ctx ends; then it returns nil. It closes the
// server.
func (srv *Server) Serve(ctx context.Context) error {
	defer srv.close()
	for {
		id, ev, err := srv.id.NextRequest(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		srv.wg.Go(func() {
			if err := srv.take(ctx, id, ev.Conn()); err != nil {
				srv.report(ServerEvent{Event: "refused", Client: peerOf(id), Err: err})
			}
		})
	}
}

func (srv *Server) close() {
	_ = srv.id.Close() // it holds nothing that could be lost
	srv.mu.Lock()
	for _, s := range srv.sides {
		s.stop(errStopped)
	}
	srv.mu.Unlock()
	srv.wg.Wait()
}

func (srv *Server) report(e ServerEvent) {
	if srv.OnEvent == nil {
		return
	}
	srv.say.Lock()
	defer srv.say.Unlock()
	srv.OnEvent(e)
}

func peerOf(id endpoint) string {
	sa, err := id.RemoteAddr()
	if err != nil {
		return ""
	}
	return sa.String()
}

// take answers one request.
func (srv *Server) take(ctx context.Context, id endpoint, asked ucma.ConnParam) error {
	var r request
	err := r.unmarshal(asked.PrivateData)
	var s *side
	if err == nil {
		s, err = srv.sideOf(ctx, id, r)
	}
	if err != nil {
		_ = id.Reject(rejection(err))
		_ = id.Close() // the reject is out
		return err
	}
	if err := s.accept(ctx, id, r, &asked); err != nil {
		s.stop(err)
		return err
	}
	return nil
}

// rejection is what a client that is refused gets to read.
func rejection(err error) []byte {
	text := err.Error()
	return []byte(text[:min(len(text), cm.MaxRejectData)])
}

// sideOf finds the queue pair's siblings, or makes a side for the first.
func (srv *Server) sideOf(ctx context.Context, id endpoint, r request) (*side, error) {
	srv.mu.Lock()
	defer srv.mu.Unlock()
	if s := srv.sides[r.Token]; s != nil {
		if s.req.Size != r.Size || s.req.QPs != r.QPs || s.req.Op != r.Op || s.req.Test != r.Test || s.req.RecvDepth != r.RecvDepth ||
			s.req.Depth != r.Depth || s.req.Batch != r.Batch || s.req.CQMod != r.CQMod || s.req.Limit != r.Limit || s.req.Timed != r.Timed {
			return nil, fmt.Errorf("%w: queue pairs that do not belong together", ErrProtocol)
		}
		return s, s.claim(int(r.Index))
	}
	d, err := id.Device()
	if err != nil {
		return nil, err
	}
	depth := 4 // one answer, and a few to be reaped
	if r.both() {
		depth = int(r.Depth) + 1 // and the report
	}
	s, err := newSide(d, r, depth)
	if err != nil {
		return nil, err
	}
	_ = s.claim(int(r.Index)) // the first
	srv.sides[r.Token] = s
	client := peerOf(id)
	srv.wg.Go(func() { srv.run(ctx, s, client) })
	return s, nil
}

// accept answers one queue pair's request.
func (s *side) accept(ctx context.Context, id endpoint, r request, asked *ucma.ConnParam) error {
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
	waitCtx, cancel := context.WithTimeout(ctx, setUpTimeout)
	defer cancel()
	if err := id.WaitEstablished(waitCtx); err != nil {
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
func (srv *Server) run(ctx context.Context, s *side, client string) {
	start := time.Now()
	e := ServerEvent{Event: "connected", Client: client, Device: s.device.Name, Test: s.req.Test, Op: s.req.Op,
		Mode: s.req.Mode, Size: int(s.req.Size), QPs: int(s.req.QPs)}
	err := s.answer(ctx, func() { srv.report(e) })
	if errors.Is(err, errStopped) {
		err = s.reason()
	}
	s.stop(err)
	srv.mu.Lock()
	delete(srv.sides, s.req.Token)
	srv.mu.Unlock()
	s.adding.Lock() // no queue pair is made any more
	s.hangUp()
	s.adding.Unlock()
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
