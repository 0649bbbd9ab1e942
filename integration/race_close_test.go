//go:build linux

package integration

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"

	"github.com/purerdma/rdma/cm"
)

// stepNames are the steps at either end, in order.
var (
	dialSteps   = []string{"resolve address", "resolve route", "set up queue pair", "connect", "establish"}
	acceptSteps = []string{"set up queue pair", "accept", "establish"}
)

// TestRaceCloseInStep ends a handshake from its own callback, OnStep, after each
// step at either end: by closing what it needs, twice at once, or by ending its
// context. The handshake ends with an error that says so, the other end
// notices, and nothing is left.
func TestRaceCloseInStep(t *testing.T) {
	requireRDMA(t)
	for _, what := range []string{"context", "channel", "ID", "listener"} {
		for i, step := range dialSteps {
			if what == "context" || what == "channel" {
				t.Run(fmt.Sprintf("dial, %s, %s", step, what), func(t *testing.T) {
					r := newStepRace(t, what, step)
					r.end(t, r.dial(r.inStep), r.serve(nil), i == len(dialSteps)-1)
				})
			}
		}
		for _, step := range acceptSteps {
			t.Run(fmt.Sprintf("accept, %s, %s", step, what), func(t *testing.T) {
				r := newStepRace(t, what, step)
				served := r.serve(r.inStep)
				// A listener is not needed any more once it gave the request.
				r.end(t, r.dial(nil), served, what == "listener" || step == "establish")
			})
		}
	}
}

// A stepRace is one handshake and what ends it.
type stepRace struct {
	*watchdog
	ctx        context.Context
	what, step string
	endCtx     context.Context // of the end that has the callback
	cancel     context.CancelFunc
	channel    *cm.EventChannel
	listener   *cm.Listener
	request    chan *cm.Request
	hit        bool
}

func newStepRace(t *testing.T, what, step string) *stepRace {
	checkLeaks(t)
	r := &stepRace{watchdog: &watchdog{tb: t}, ctx: testContext(t), what: what, step: step, request: make(chan *cm.Request, 1)}
	r.endCtx, r.cancel = context.WithCancel(r.ctx)
	t.Cleanup(r.cancel)
	var err error
	if r.channel, err = cm.NewEventChannel(nil); err != nil {
		t.Fatal(err)
	}
	verbsClose(t, r.channel)
	return r
}

// inStep is the callback.
func (r *stepRace) inStep(s cm.Step) {
	if s.Name != r.step {
		return
	}
	r.hit = true
	var err error
	switch r.what {
	case "context":
		r.cancel()
	case "channel":
		err = r.closeTwice("channel", r.channel)
	case "ID":
		err = r.closeTwice("ID", (<-r.request).ID())
	case "listener":
		err = r.closeTwice("listener", r.listener)
	}
	if err != nil {
		r.tb.Errorf("close in the callback: %v", err)
	}
}

// own returns context and channel of an end: those that the callback ends, if it
// is that end's.
func (r *stepRace) own(onStep func(cm.Step)) (context.Context, *cm.EventChannel) {
	if onStep == nil {
		return r.ctx, nil
	}
	return r.endCtx, r.channel
}

// handshakeEnd is what one end got.
type handshakeEnd struct {
	conn *cm.Conn
	err  error
}

func (r *stepRace) serve(onStep func(cm.Step)) <-chan handshakeEnd {
	ctx, ch := r.own(onStep)
	l, err := cm.Listen(r.ctx, addrV4+":0", &cm.ListenConfig{Channel: ch})
	if err != nil {
		r.tb.Fatal(err)
	}
	r.listener = l
	r.tb.Cleanup(func() {
		if err := l.Close(); err != nil {
			r.tb.Error(err)
		}
	})
	got := make(chan handshakeEnd, 1)
	acceptCtx, stop := context.WithCancel(r.ctx)
	r.tb.Cleanup(stop)
	go func() {
		req, err := l.Accept(acceptCtx)
		if err != nil {
			got <- handshakeEnd{err: err}
			return
		}
		r.request <- req
		var c *cm.Conn
		err = r.do("accept", func() (err error) {
			c, err = req.Accept(ctx, &cm.AcceptOptions{OnStep: onStep})
			return err
		})
		got <- handshakeEnd{c, err}
	}()
	return got
}

func (r *stepRace) dial(onStep func(cm.Step)) func() handshakeEnd {
	ctx, ch := r.own(onStep)
	return func() handshakeEnd {
		var c *cm.Conn
		err := r.do("dial", func() (err error) {
			c, err = (&cm.Dialer{Channel: ch, OnStep: onStep}).Dial(ctx, r.listener.Addr().String())
			return err
		})
		return handshakeEnd{c, err}
	}
}

// end dials and looks at what both ends got. late says that the callback came
// when the handshake was as good as done.
func (r *stepRace) end(t *testing.T, dial func() handshakeEnd, served <-chan handshakeEnd, late bool) {
	t.Helper()
	d := dial()
	if d.err != nil {
		// A server that has no request yet will get none.
		if err := r.closeTwice("listener", r.listener); err != nil {
			t.Error(err)
		}
	}
	s := <-served
	if !r.hit {
		t.Errorf("there was no step %q", r.step)
	}
	if d.err == nil && s.err == nil && !late {
		t.Error("both ends are connected")
	}
	for _, e := range []handshakeEnd{d, s} {
		if e.err != nil && !cutShort(e.err) && !errors.Is(e.err, net.ErrClosed) {
			t.Errorf("the handshake ended with %v", e.err)
		}
		if e.conn == nil {
			continue
		}
		if err := r.closeTwice("connection", e.conn); err != nil && r.what == "context" {
			t.Errorf("close: %v", err)
		}
	}
}

// TestRaceCloseTwice closes each thing from two goroutines at once, while
// somebody uses it.
func TestRaceCloseTwice(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	w := &watchdog{tb: t}
	for round := range raceCount(t, 40) {
		l := listenOn(t, addrV4+":0", nil)
		client, server, _ := connect(t, l, &cm.Dialer{}, nil)
		mem, err := client.Alloc(4096, 0)
		if err != nil {
			t.Fatal(err)
		}
		ctx := testContext(t)
		waits := make(chan error, 3)
		go func() { waits <- second(client.Recv(ctx)) }()
		go func() { waits <- second(server.Recv(ctx)) }()
		go func() { waits <- second(l.Accept(ctx)) }()
		both := make(chan error, 1)
		go func() { both <- w.closeTwice("server", server) }()
		errs := []error{
			w.closeTwice("region", mem), w.closeTwice("client", client), <-both, w.closeTwice("listener", l),
		}
		if err := errors.Join(errs...); err != nil {
			t.Errorf("round %d: %v", round, err)
		}
		for range cap(waits) {
			if err := <-waits; !errors.Is(err, net.ErrClosed) && !errors.Is(err, cm.ErrPeerClosed) {
				t.Errorf("round %d: a wait ended with %v", round, err)
			}
		}
	}
}

// second is the error of a call whose result does not matter.
func second[T any](_ T, err error) error { return err }
