//go:build linux

package integration

import (
	"context"
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/ucma"
	"github.com/purerdma/rdma/uverbs"
)

// idPeer is one end of a connection or datagram service that was made with the
// steps of an ID and a queue pair of the test's own, as the C programs make
// theirs. All ends with the test.
type idPeer struct {
	t   *testing.T
	id  *cm.ID
	dev *uverbs.Context
	pd  *uverbs.PD
	cq  *uverbs.CQ
	srq *uverbs.SRQ // nil unless asked for
	qp  *uverbs.QP
	mr  *uverbs.MR
	ps  uint8 // port of the device

	waiting []uverbs.WC // taken off the queue, not yet looked at
}

const idPeerDepth = 64 // requests of each queue

// newID makes an ID of a port space that ends with the test.
func newID(t *testing.T, ps abi.RDMAUCMPortSpace) *cm.ID {
	t.Helper()
	id, err := cm.NewID(&cm.IDOptions{PortSpace: ps})
	if err != nil {
		t.Fatal(err)
	}
	verbsClose(t, id)
	return id
}

// resolvedID is an ID whose route to dst is resolved. src may be empty.
func resolvedID(t *testing.T, ps abi.RDMAUCMPortSpace, src, dst string) *cm.ID {
	t.Helper()
	ctx := testContext(t)
	id := newID(t, ps)
	var from ucma.Sockaddr
	if src != "" {
		from = sockaddr(t, src)
	}
	if err := errors.Join(id.ResolveAddr(ctx, from, sockaddr(t, dst)), id.ResolveRoute(ctx)); err != nil {
		t.Fatal(err)
	}
	return id
}

// listeningID is an ID that listens.
func listeningID(t *testing.T, ps abi.RDMAUCMPortSpace, addr string) *cm.ID {
	t.Helper()
	id := newID(t, ps)
	if err := errors.Join(id.Bind(sockaddr(t, addr)), id.Listen(0)); err != nil {
		t.Fatal(err)
	}
	return id
}

// newIDPeer opens the device of an ID and makes a queue pair there in state
// INIT, with a shared receive queue if asked.
func newIDPeer(t *testing.T, id *cm.ID, shared bool) *idPeer {
	t.Helper()
	p := &idPeer{t: t, id: id}
	d, err := id.Device()
	p.check(err)
	p.ps, err = id.Port()
	p.check(err)
	p.dev, err = d.Open(nil)
	p.check(err)
	verbsClose(t, p.dev)
	p.pd, err = p.dev.AllocPD()
	p.check(err)
	verbsClose(t, p.pd)
	ch, err := p.dev.CreateCompChannel()
	p.check(err)
	verbsClose(t, ch)
	p.cq, err = p.dev.CreateCQ(uverbs.CQConfig{Entries: 2 * idPeerDepth, Channel: ch})
	p.check(err)
	verbsClose(t, p.cq)
	if shared {
		p.srq, err = p.pd.CreateSRQ(uverbs.SRQConfig{MaxWR: idPeerDepth})
		p.check(err)
		verbsClose(t, p.srq)
	}
	mem, err := uverbs.NewMemory(verbsMemSize)
	p.check(err)
	verbsClose(t, mem)
	p.mr, err = p.pd.RegMR(mem, uverbs.AccessLocalWrite)
	p.check(err)
	verbsClose(t, p.mr)
	p.qp, err = p.pd.CreateQP(uverbs.QPConfig{
		Type: id.QPType(), SendCQ: p.cq, RecvCQ: p.cq, SRQ: p.srq,
		Cap: uverbs.QPCap{MaxSendWR: idPeerDepth, MaxRecvWR: idPeerDepth, MaxInline: 16},
	})
	p.check(err)
	verbsClose(t, p.qp)
	p.init()
	return p
}

// init takes the queue pair to INIT. What peers may do is the program's affair:
// before a connection the kernel says nothing, or writes only (cma_ib_init_qp_attr).
func (p *idPeer) init() {
	p.t.Helper()
	got, err := p.id.InitQPAttr(abi.IB_QPS_INIT)
	p.check(err)
	attr, mask := uverbs.QPAttrFromCM(got)
	if mask&abi.IB_QP_ACCESS_FLAGS != 0 {
		attr.Access = uverbs.AccessLocalWrite | uverbs.AccessRemoteRead | uverbs.AccessRemoteWrite
	}
	p.check(p.qp.Modify(attr, mask))
}

func (p *idPeer) check(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// to takes the queue pair to a state as the connection manager says.
func (p *idPeer) to(state abi.IBQPState) {
	p.t.Helper()
	attr, err := p.id.InitQPAttr(state)
	p.check(err)
	p.check(p.qp.ModifyFromCM(attr))
}

// tryConnect connects; the route is resolved and receives are posted.
func (p *idPeer) tryConnect(ctx context.Context) error {
	p.t.Helper()
	param := &ucma.ConnParam{
		QPNum: p.qp.Number(), RetryCount: 5, RNRRetryCount: 7, ResponderResources: 1, InitiatorDepth: 1,
	}
	_, err := p.id.Connect(ctx, param, ucma.ECE{})
	if err != nil {
		return err
	}
	p.to(abi.IB_QPS_RTR)
	p.to(abi.IB_QPS_RTS)
	return p.id.Establish()
}

// acceptRC accepts the request that brought the ID; receives are posted.
func (p *idPeer) acceptRC(param ucma.ConnParam) {
	p.t.Helper()
	p.to(abi.IB_QPS_RTR)
	p.to(abi.IB_QPS_RTS)
	param.QPNum, param.RNRRetryCount, param.SRQ = p.qp.Number(), 7, p.srq != nil
	p.check(p.id.Accept(&param, ucma.ECE{}))
	p.check(p.id.WaitEstablished(testContext(p.t)))
}

// disconnectRC ends the connection and waits until both sides have.
func (p *idPeer) disconnectRC() {
	p.t.Helper()
	p.check(p.id.Disconnect())
	p.check(p.id.WaitDisconnected(testContext(p.t)))
}

// readyUD makes a datagram queue pair send and receive.
func (p *idPeer) readyUD() {
	p.t.Helper()
	p.check(errors.Join(p.qp.ToRTR(uverbs.RTRConfig{}), p.qp.ToRTS(uverbs.RTSConfig{})))
}

// post posts the receive into slot, of n bytes.
func (p *idPeer) post(slot, n int) {
	p.t.Helper()
	wr := uverbs.RecvWR{ID: uint64(slot), SGEs: []uverbs.SGE{p.mr.SGE(slot*slotSize, n)}}
	if p.srq != nil {
		p.check(p.srq.PostRecv(wr))
		return
	}
	p.check(p.qp.PostRecv(wr))
}

const slotSize = verbsMemSize / idPeerDepth

// slot is the memory of a receive or send.
func (p *idPeer) slot(i int) []byte { return p.mr.Bytes()[i*slotSize : (i+1)*slotSize] }

// next waits for the next successful completion of a kind; others that come
// before are kept for later calls.
func (p *idPeer) next(ctx context.Context, op abi.IBWCOpcode) (uverbs.WC, error) {
	for {
		for i, wc := range p.waiting {
			if wc.Status != abi.IB_WC_SUCCESS || wc.Opcode == op {
				p.waiting = append(p.waiting[:i], p.waiting[i+1:]...)
				return wc, wc.Err()
			}
		}
		var wcs [8]uverbs.WC
		n, err := p.cq.Wait(ctx, wcs[:])
		if err != nil {
			return uverbs.WC{}, err
		}
		p.waiting = append(p.waiting, wcs[:n]...)
	}
}

func (p *idPeer) want(op abi.IBWCOpcode) uverbs.WC {
	p.t.Helper()
	wc, err := p.next(testContext(p.t), op)
	p.check(err)
	return wc
}

// nextRequest waits for the request of a C client, whose ID ends with the test.
func nextRequest(t *testing.T, l *cm.ID, client *tool) (*cm.ID, *ucma.Event) {
	t.Helper()
	id, ev, err := l.NextRequest(testContext(t))
	if err != nil {
		t.Fatalf("no request: %v\n%s", err, client.out)
	}
	verbsClose(t, id)
	return id, ev
}

// retryConnect calls f until a C server listens, which says nothing when it is
// ready.
func retryConnect(t *testing.T, server *tool, f func(ctx context.Context) error) {
	t.Helper()
	ctx := testContext(t)
	for {
		err := f(ctx)
		if err == nil {
			return
		}
		if !errors.Is(err, cm.ErrNoListener) {
			t.Fatalf("%v\n%s", err, server.out)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// addrPort joins a host and a port.
func addrPort(host string, port uint16) string {
	return netip.AddrPortFrom(netip.MustParseAddr(host), port).String()
}

// kernelObjects counts the kernel's objects of a kind that belong to a device,
// of all processes.
func kernelObjects(t *testing.T, kind string) (n int) {
	t.Helper()
	for _, counts := range hold(t).Resources {
		n += int(counts[kind])
	}
	return n
}

// waitForObjects waits until there are n objects of a kind.
func waitForObjects(ctx context.Context, t *testing.T, kind string, n int) {
	t.Helper()
	for kernelObjects(t, kind) != n {
		if ctx.Err() != nil {
			t.Fatalf("%d objects %s, want %d", kernelObjects(t, kind), kind, n)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
