//go:build linux

package integration

import (
	"testing"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs"
)

// eventSide is a side whose queue counts its events. They come to the test
// through events; nobody waits on the queue.
type eventSide struct {
	*verbsSide
	events chan struct{}
}

// eventPair connects a side to one whose events are seen.
func eventPair(t *testing.T, c *uverbs.Context) (a *verbsSide, b *eventSide) {
	t.Helper()
	pd, ch := verbsPD(t, c), verbsChannel(t, c)
	a = verbsNewSide(t, pd, ch, verbsCap)
	b = &eventSide{events: make(chan struct{}, 16)}
	cq, err := c.CreateCQ(uverbs.CQConfig{Entries: 64, Channel: ch, Notify: func() { b.events <- struct{}{} }})
	if err != nil {
		t.Fatal(err)
	}
	verbsClose(t, cq)
	qp, err := pd.CreateQP(uverbs.QPConfig{SendCQ: cq, RecvCQ: cq, Cap: verbsCap})
	if err != nil {
		t.Fatal(err)
	}
	verbsClose(t, qp)
	b.verbsSide = &verbsSide{t: t, qp: qp, cq: cq, mr: a.mr, psn: uverbs.NewPSN()}
	gid := verbsGID(t, c)
	a.connect(gid, b.verbsSide)
	b.connect(gid, a)
	return a, b
}

// message sends one and takes its completion off b's queue, without arming.
func (b *eventSide) message(a *verbsSide, flags uverbs.SendFlags) {
	b.t.Helper()
	b.recv(uverbs.RecvWR{ID: 1})
	a.send(uverbs.SendWR{ID: 2, Opcode: abi.IB_UVERBS_WR_SEND, Flags: uverbs.SendSignaled | flags})
	a.want(2, abi.IB_WC_SEND)
	var wcs [1]uverbs.WC
	for deadline := time.Now().Add(verbsTimeout); ; time.Sleep(time.Millisecond) {
		n, err := b.cq.Poll(wcs[:])
		if n == 1 && wcs[0].Err() == nil {
			return
		}
		if err != nil || n != 0 || time.Now().After(deadline) {
			b.t.Fatalf("%d completions, %+v, %v", n, wcs[0], err)
		}
	}
}

func (b *eventSide) want(events int, what string) {
	b.t.Helper()
	for range events {
		select {
		case <-b.events:
		case <-time.After(verbsTimeout):
			b.t.Fatalf("%s: no event", what)
		}
	}
	select {
	case <-b.events:
		b.t.Errorf("%s: more than %d events", what, events)
	case <-time.After(30 * time.Millisecond):
	}
}

// TestVerbsSolicited: a queue armed for solicited completions raises no event for
// others, an armed one for any, and each raises one only.
func TestVerbsSolicited(t *testing.T) {
	verbsEach(t, func(t *testing.T, c *uverbs.Context) {
		a, b := eventPair(t, c)
		b.message(a, uverbs.SendSolicited)
		b.want(0, "not armed")
		if err := b.cq.ArmSolicited(); err != nil {
			t.Fatal(err)
		}
		b.message(a, 0)
		b.want(0, "armed for solicited messages, message is not")
		b.message(a, uverbs.SendSolicited)
		b.want(1, "solicited message")
		b.message(a, uverbs.SendSolicited)
		b.want(0, "second solicited message")
		if err := b.cq.Arm(); err != nil {
			t.Fatal(err)
		}
		b.message(a, 0)
		b.want(1, "armed for any message")
	})
}

// TestVerbsFence sends what a read before brings, in one list: only with the fence
// the send waits for the read.
func TestVerbsFence(t *testing.T) {
	verbsEach(t, func(t *testing.T, c *uverbs.Context) {
		a, b := verbsPair(t, c)
		const n, last = 32 << 10, 32<<10 - 64
		for round := range 20 {
			a.fill(byte(round))
			want := b.fill(byte(round + 100))[last:n]
			b.recv(uverbs.RecvWR{ID: 1, SGEs: []uverbs.SGE{b.mr.SGE(n, 64)}})
			a.send(uverbs.SendWR{
				ID: 2, Opcode: abi.IB_UVERBS_WR_RDMA_READ, SGEs: []uverbs.SGE{a.mr.SGE(0, n)}, RemoteAddr: b.mr.Addr(), RKey: b.mr.RKey(),
			}, uverbs.SendWR{
				ID: 3, Opcode: abi.IB_UVERBS_WR_SEND, Flags: uverbs.SendSignaled | uverbs.SendFence, SGEs: []uverbs.SGE{a.mr.SGE(last, 64)},
			})
			b.want(1, abi.IB_WC_RECV)
			a.want(3, abi.IB_WC_SEND)
			verbsEqual(t, "sent behind the fence", b.mr.Bytes()[n:n+64], want)
		}
	})
}

// TestVerbsSpin plays with waiters that poll for a time before they sleep, that
// never sleep, and that have no channel to sleep on.
func TestVerbsSpin(t *testing.T) {
	verbsEach(t, func(t *testing.T, c *uverbs.Context) {
		for _, tc := range []struct {
			name    string
			channel bool
			spin    time.Duration
		}{{"then sleep", true, 200 * time.Microsecond}, {"for ever", true, uverbs.SpinForever}, {"without channel", false, uverbs.SpinForever}} {
			t.Run(tc.name, func(t *testing.T) { verbsSpin(t, c, tc.channel, tc.spin) })
		}
	})
}

func verbsSpin(t *testing.T, c *uverbs.Context, channel bool, spin time.Duration) {
	pd, ch := verbsPD(t, c), (*uverbs.CompChannel)(nil)
	if channel {
		ch = verbsChannel(t, c)
	}
	a, b := verbsNewSide(t, pd, ch, verbsCap), verbsNewSide(t, pd, ch, verbsCap)
	gid := verbsGID(t, c)
	a.connect(gid, b)
	b.connect(gid, a)
	for _, s := range []*verbsSide{a, b} {
		s.cq.SetSpin(spin)
		s.recv(uverbs.RecvWR{})
	}
	echoed := make(chan error)
	go func() { echoed <- b.pingPong(30, false) }()
	if err := a.pingPong(30, true); err != nil {
		t.Error(err)
	}
	if err := <-echoed; err != nil {
		t.Error(err)
	}
}
