//go:build linux

package integration

import (
	"context"
	"errors"
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/ucma"
	"github.com/purerdma/rdma/uverbs"
)

// idsNew makes an ID that closes with the test.
func idsNew(t *testing.T, opts *cm.IDOptions) *cm.ID {
	t.Helper()
	id, err := cm.NewID(opts)
	if err != nil {
		t.Fatal(err)
	}
	verbsClose(t, id)
	return id
}

// idsListen makes a listening ID on the guest's address.
func idsListen(t *testing.T, opts *cm.IDOptions) (*cm.ID, ucma.Sockaddr) {
	t.Helper()
	l := idsNew(t, opts)
	if err := errors.Join(l.Bind(sockaddr(t, addrV4+":0")), l.Listen(0)); err != nil {
		t.Fatal(err)
	}
	addr, err := l.LocalAddr()
	if err != nil {
		t.Fatal(err)
	}
	return l, addr
}

// idsResolved makes an ID that can connect to dst.
func idsResolved(t *testing.T, opts *cm.IDOptions, dst ucma.Sockaddr) *cm.ID {
	t.Helper()
	id, ctx := idsNew(t, opts), testContext(t)
	if err := id.ResolveAddr(ctx, ucma.Sockaddr{}, dst); err != nil {
		t.Fatal(err)
	}
	if err := id.ResolveRoute(ctx); err != nil {
		t.Fatal(err)
	}
	return id
}

// idsAnswer is what a connect in another goroutine returned.
type idsAnswer struct {
	param *ucma.ConnParam
	err   error
}

func idsConnect(ctx context.Context, id *cm.ID, p *ucma.ConnParam, ece ucma.ECE) <-chan idsAnswer {
	ch := make(chan idsAnswer, 1)
	go func() {
		param, err := id.Connect(ctx, p, ece)
		ch <- idsAnswer{param, err}
	}()
	return ch
}

// idsRequest takes the next request.
func idsRequest(t *testing.T, l *cm.ID) (*cm.ID, *ucma.Event) {
	t.Helper()
	id, ev, err := l.NextRequest(testContext(t))
	if err != nil {
		t.Fatal(err)
	}
	verbsClose(t, id)
	return id, ev
}

// idsNumbers has the numbers of queue pairs that tests connect. The connection
// manager of InfiniBand does not miss queue pairs that do not exist; that of iWARP
// does, so there they are made.
type idsNumbers struct {
	t  *testing.T
	pd *uverbs.PD // nil where any number will do
	cq *uverbs.CQ
}

// idsQPs begins a test that needs nothing of its queue pairs but their numbers.
func idsQPs(t *testing.T) *idsNumbers {
	t.Helper()
	requireRDMA(t)
	checkLeaks(t)
	n := &idsNumbers{t: t}
	if !onIWARP() {
		return n
	}
	n.pd = idsPD(t)
	var err error
	if n.cq, err = n.pd.Context().CreateCQ(uverbs.CQConfig{Entries: 64}); err != nil {
		t.Fatal(err)
	}
	verbsClose(t, n.cq)
	return n
}

// param makes the parameters to connect or accept with.
func (n *idsNumbers) param(id *cm.ID) *ucma.ConnParam {
	n.t.Helper()
	if n.pd == nil {
		return idsParam(0)
	}
	qp, err := id.CreateQP(n.pd, uverbs.QPConfig{SendCQ: n.cq, RecvCQ: n.cq, Cap: uverbs.QPCap{MaxSendWR: 1, MaxRecvWR: 1, MaxSendSGE: 1, MaxRecvSGE: 1}})
	if err != nil {
		n.t.Fatal(err)
	}
	verbsClose(n.t, qp)
	return idsParam(qp.Number())
}

// pair is a connection.
func (n *idsNumbers) pair(l *cm.ID, dst ucma.Sockaddr, opts *cm.IDOptions) (a, b *cm.ID) {
	t := n.t
	t.Helper()
	ctx := testContext(t)
	a = idsResolved(t, opts, dst)
	answer := idsConnect(ctx, a, n.param(a), ucma.ECE{})
	b, _ = idsRequest(t, l)
	if err := b.Accept(n.param(b), ucma.ECE{}); err != nil {
		t.Fatal(err)
	}
	if r := <-answer; r.err != nil {
		t.Fatal(r.err)
	}
	if err := a.Establish(); err != nil {
		t.Fatal(err)
	}
	if err := b.WaitEstablished(ctx); err != nil {
		t.Fatal(err)
	}
	return a, b
}

// idsQPN hands out numbers of queue pairs that do not exist.
var idsQPN uint32 = 0x8000

func idsParam(qpn uint32) *ucma.ConnParam {
	if qpn == 0 {
		idsQPN++
		qpn = idsQPN
	}
	return &ucma.ConnParam{QPNum: qpn, RetryCount: 7, RNRRetryCount: 7, InitiatorDepth: 1, ResponderResources: 1}
}

// idsPD opens the guest's device.
func idsPD(t *testing.T) *uverbs.PD {
	t.Helper()
	c, err := verbsDevice(t).Open(nil)
	if err != nil {
		t.Fatal(err)
	}
	verbsClose(t, c)
	return verbsPD(t, c)
}

// idsSide makes a queue pair for the ID, with memory.
func idsSide(t *testing.T, id *cm.ID, pd *uverbs.PD) *verbsSide {
	t.Helper()
	cq, err := pd.Context().CreateCQ(uverbs.CQConfig{Entries: 64, Channel: verbsChannel(t, pd.Context())})
	if err != nil {
		t.Fatal(err)
	}
	verbsClose(t, cq)
	mem, err := uverbs.NewMemory(verbsMemSize)
	if err != nil {
		t.Fatal(err)
	}
	verbsClose(t, mem)
	mr, err := pd.RegMR(mem, uverbs.AccessLocalWrite|uverbs.AccessRemoteWrite|uverbs.AccessRemoteRead)
	if err != nil {
		t.Fatal(err)
	}
	verbsClose(t, mr)
	qp, err := id.CreateQP(pd, uverbs.QPConfig{SendCQ: cq, RecvCQ: cq, Cap: verbsCap})
	if err != nil {
		t.Fatal(err)
	}
	verbsClose(t, qp)
	return &verbsSide{t: t, qp: qp, cq: cq, mr: mr}
}

// idsNext fetches from a channel in raw mode and checks ID and type.
func idsNext(t *testing.T, ch *cm.EventChannel, id *cm.ID, want abi.RDMACMEventType) cm.Event {
	t.Helper()
	got, ev, err := ch.NextEvent(testContext(t))
	if err != nil {
		t.Fatal(err)
	}
	if ev.Type != want || got != id {
		t.Fatalf("event %v, status %d; want %v (right ID: %v)", ev.Type, ev.Status, want, got == id)
	}
	return ev
}

func idsRawChannel(t *testing.T) *cm.EventChannel {
	t.Helper()
	ch, err := cm.NewRawEventChannel(nil)
	if err != nil {
		t.Fatal(err)
	}
	verbsClose(t, ch)
	return ch
}
