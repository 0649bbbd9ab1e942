package bench

import (
	"context"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/ucma"
)

// A Server takes measurements of many clients, within limits.
type Server struct {
	// OnEvent, if not nil, is called when a client comes and when it goes;
	// never by two goroutines at once.
	OnEvent func(ServerEvent)

	id  *cm.ID
	wg  sync.WaitGroup
	say sync.Mutex

	mu     sync.Mutex // guards what follows; nobody waits with it
	tests  map[testKey]*test
	ledger ledger
	closed bool

	refusing chan struct{} // one for each refusal under way
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

// maxRefusing is how many clients are refused at a time; the next requests wait. A
// reject takes no time, but for a kernel that is slow to give the ID back.
const maxRefusing = 256

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
	srv := newServer()
	srv.id = id
	return srv, nil
}

func newServer() *Server {
	return &Server{tests: map[testKey]*test{}, refusing: make(chan struct{}, maxRefusing)}
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
		srv.take(ctx, id, ev.Conn())
	}
}

func (srv *Server) close() {
	if srv.id != nil {
		_ = srv.id.Close() // it holds nothing that could be lost
	}
	srv.mu.Lock()
	srv.closed = true
	for _, t := range srv.tests {
		if t.side != nil {
			t.side.stop(errStopped)
		}
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

// addressOf is where a client comes from; what its requests have in common.
func addressOf(id endpoint) (netip.Addr, error) {
	sa, err := id.RemoteAddr()
	if err != nil {
		return netip.Addr{}, err
	}
	ap, ok := sa.AddrPort()
	if !ok {
		return netip.Addr{}, fmt.Errorf("%w: a client without an IP address", ErrProtocol)
	}
	return ap.Addr().Unmap(), nil
}

// take answers one request. It returns at once: what takes time goes on beside it.
func (srv *Server) take(ctx context.Context, id endpoint, asked ucma.ConnParam) {
	var r request
	err := r.unmarshal(asked.PrivateData)
	var peer netip.Addr
	if err == nil {
		peer, err = addressOf(id)
	}
	if err != nil {
		srv.refuse(id, err)
		return
	}
	t, first, err := srv.admit(peer, r)
	if err != nil {
		srv.refuse(id, err)
		return
	}
	srv.wg.Go(func() {
		if first {
			if err := srv.begin(ctx, id, t); err != nil {
				srv.refuse(id, err)
				return
			}
		}
		if err := t.side.accept(id, r, &asked); err != nil {
			t.side.stop(err)
			srv.report(ServerEvent{Event: "refused", Client: peerOf(id), Err: err})
		}
	})
}

// refuse tells a client why.
func (srv *Server) refuse(id endpoint, why error) {
	srv.refusing <- struct{}{}
	srv.wg.Go(func() {
		defer func() { <-srv.refusing }()
		client := peerOf(id)
		_ = id.Reject(rejection(why)) // a client that has gone needs no answer
		_ = id.Close()                // the reject is out
		srv.report(ServerEvent{Event: "refused", Client: client, Err: why})
	})
}
