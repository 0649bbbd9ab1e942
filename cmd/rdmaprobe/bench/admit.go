package bench

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	"github.com/purerdma/rdma/cm"
)

// A testKey tells the tests of a server apart. Only queue pairs that come from the same
// address have a test in common: to know somebody's token is of no use.
type testKey struct {
	peer  netip.Addr
	token uint64
}

// A test is what a client has at the server, from its first request on.
type test struct {
	key  testKey
	req  request
	side *side // nil while it is made
}

var errClosing = errors.New("the server ends")

// admit finds the test that a queue pair belongs to, or counts a new one, whose side is
// still to be made. It maps nothing, and does not wait.
func (srv *Server) admit(peer netip.Addr, r request) (t *test, first bool, err error) {
	srv.mu.Lock()
	defer srv.mu.Unlock()
	if srv.closed {
		return nil, false, errClosing
	}
	key := testKey{peer, r.Token}
	if t := srv.tests[key]; t != nil {
		return t, false, t.join(r)
	}
	if err := srv.ledger.take(peer, r.memory()); err != nil {
		return nil, false, err
	}
	t = &test{key: key, req: r}
	srv.tests[key] = t
	return t, true, nil
}

// join takes one more queue pair.
func (t *test) join(r request) error {
	same := r
	same.Index, same.Addr, same.RKey, same.Inline = t.req.Index, t.req.Addr, t.req.RKey, t.req.Inline
	switch {
	case same != t.req:
		return fmt.Errorf("%w: queue pairs that do not belong together", ErrProtocol)
	case t.side == nil: // a client waits for the answer to its first one
		return fmt.Errorf("%w: queue pair %d before the first was answered", ErrProtocol, r.Index)
	}
	return t.side.claim(int(r.Index))
}

// leave ends the count of a test, whose memory is gone.
func (srv *Server) leave(t *test) {
	srv.mu.Lock()
	defer srv.mu.Unlock()
	delete(srv.tests, t.key)
	srv.ledger.give(t.key.peer, t.req.memory())
}

// begin makes the side of a new test, without a lock: to map and pin takes time.
func (srv *Server) begin(ctx context.Context, id endpoint, t *test) error {
	s, err := srv.makeSide(id, t.req)
	if err != nil {
		srv.leave(t)
		return err
	}
	srv.mu.Lock()
	defer srv.mu.Unlock()
	if srv.closed {
		s.stop(errClosing) // run sees it at once
	}
	t.side = s
	client := peerOf(id)
	srv.wg.Go(func() { srv.run(ctx, t, client) })
	return nil
}

func (srv *Server) makeSide(id endpoint, r request) (*side, error) {
	d, err := id.Device()
	if err != nil {
		return nil, err
	}
	s, err := newSide(d, r, r.serverDepth(), int(r.RecvDepth))
	if err != nil {
		return nil, err
	}
	return s, s.claim(int(r.Index)) // the first
}

// serverDepth is the depth of the server's send queues.
func (r *request) serverDepth() int {
	if r.both() {
		return int(r.Depth) + 1 // and the report
	}
	return 4 // one answer, and a few to be reaped
}

// rejection is what a client that is refused gets to read.
func rejection(err error) []byte {
	text := err.Error()
	return []byte(text[:min(len(text), cm.MaxRejectData)])
}
