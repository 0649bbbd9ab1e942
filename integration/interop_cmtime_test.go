//go:build linux

package integration

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/ucma"
	"github.com/purerdma/rdma/uverbs"
)

// cmtimeConns is how many connections are made at once: 150, or as many as the
// device has address handles for. Each end of a connection needs one in the
// kernel (cm_alloc_msg), and rxe of 5.10 has 100.
func cmtimeConns(t *testing.T) int {
	t.Helper()
	if onIWARP() {
		return 40 // of 100 the C program loses some with siw, and never ends
	}
	dev, err := verbsDevice(t).Open(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	attr, err := dev.QueryDevice()
	if err != nil {
		t.Fatal(err)
	}
	return min(150, attr.MaxAH*2/5)
}

// timedConns are many connections with one queue pair each on one device, all
// driven by the events of one channel in raw mode, as cmtime does it.
type timedConns struct {
	*idPeer
	ctx   context.Context
	ch    *cm.EventChannel
	conns map[*cm.ID]*uverbs.QP
	seen  map[abi.RDMACMEventType]int
}

func newTimedConns(t *testing.T) *timedConns {
	t.Helper()
	ch, err := cm.NewRawEventChannel(nil)
	if err != nil {
		t.Fatal(err)
	}
	verbsClose(t, ch)
	// When all ask at once packets get lost; some retries take seconds.
	ctx, cancel := context.WithTimeout(context.Background(), 4*testTime)
	t.Cleanup(cancel)
	return &timedConns{
		idPeer: &idPeer{t: t}, ctx: ctx, ch: ch,
		conns: map[*cm.ID]*uverbs.QP{}, seen: map[abi.RDMACMEventType]int{},
	}
}

func (c *timedConns) newID() *cm.ID {
	c.t.Helper()
	id, err := cm.NewID(&cm.IDOptions{Channel: c.ch})
	c.check(err)
	verbsClose(c.t, id)
	return id
}

// addQP makes the queue pair of a connection; the first call opens the device.
func (c *timedConns) addQP(id *cm.ID) error {
	if c.dev == nil {
		c.idPeer = newIDPeer(c.t, id, false) // its own queue pair serves nobody
		c.t.Cleanup(c.closeAll)
	}
	qp, err := c.pd.CreateQP(uverbs.QPConfig{SendCQ: c.cq, RecvCQ: c.cq, Cap: uverbs.QPCap{MaxSendWR: 1, MaxRecvWR: 1}})
	if err != nil {
		return err
	}
	c.conns[id] = qp
	return move(id, qp, abi.IB_QPS_INIT)
}

func move(id *cm.ID, qp *uverbs.QP, states ...abi.IBQPState) error {
	for _, s := range states {
		attr, err := id.InitQPAttr(s)
		if err != nil {
			return err
		}
		if err := qp.ModifyFromCM(attr); err != nil {
			return err
		}
	}
	return nil
}

// next takes one event and does what follows from it.
func (c *timedConns) next() error {
	id, ev, err := c.ch.NextEvent(c.ctx)
	if err != nil {
		return err
	}
	if err := ev.Err(); err != nil && ev.Type != abi.RDMA_CM_EVENT_DISCONNECTED {
		return err
	}
	c.seen[ev.Type]++
	qp := c.conns[id]
	switch ev.Type {
	case abi.RDMA_CM_EVENT_ADDR_RESOLVED:
		return id.StartResolveRoute(testTime)
	case abi.RDMA_CM_EVENT_ROUTE_RESOLVED:
		if err := c.addQP(id); err != nil {
			return err
		}
		return id.StartConnect(c.param(id), ucma.ECE{})
	case abi.RDMA_CM_EVENT_CONNECT_RESPONSE:
		return errors.Join(move(id, qp, abi.IB_QPS_RTR, abi.IB_QPS_RTS), id.Establish())
	case abi.RDMA_CM_EVENT_CONNECT_REQUEST:
		return c.accept(ev.Request)
	case abi.RDMA_CM_EVENT_DISCONNECTED:
		delete(c.conns, id)
		return errors.Join(id.Disconnect(), qp.Close(), id.Close())
	}
	return nil
}

func (c *timedConns) accept(id *cm.ID) error {
	if err := c.addQP(id); err != nil {
		return err
	}
	if err := move(id, c.conns[id], abi.IB_QPS_RTR, abi.IB_QPS_RTS); err != nil {
		return err
	}
	return id.Accept(c.param(id), ucma.ECE{})
}

func (c *timedConns) param(id *cm.ID) *ucma.ConnParam {
	return &ucma.ConnParam{ResponderResources: 1, InitiatorDepth: 1, RetryCount: 2, QPNum: c.conns[id].Number()}
}

// until takes events until n of a type have come.
func (c *timedConns) until(typ abi.RDMACMEventType, n int) error {
	for c.seen[typ] < n {
		if err := c.next(); err != nil {
			return fmt.Errorf("%d of %d %v; of all: %v: %w", c.seen[typ], n, typ, c.seen, err)
		}
	}
	return nil
}

// closeAll ends what an error left.
func (c *timedConns) closeAll() {
	for id, qp := range c.conns {
		_ = errors.Join(qp.Close(), id.Close())
	}
}

// TestInteropCmtimeClient: the C client makes many connections with a Go server
// at once and ends them (parity scenario 30).
func TestInteropCmtimeClient(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	c, conns := newTimedConns(t), cmtimeConns(t)
	l := c.newID()
	c.check(errors.Join(l.Bind(sockaddr(t, addrV4+":7478")), l.Listen(0)))
	client := startTool(t, "cmtime", "-s", addrV4, "-p", "7478", "-c", strconv.Itoa(conns))
	if err := c.until(abi.RDMA_CM_EVENT_DISCONNECTED, conns); err != nil {
		t.Fatalf("%v\n%s", err, client.out)
	}
	client.wantSuccess(t)
	// Its status does not tell of connections that failed.
	for _, bad := range []string{"error", "fail"} {
		if out := client.out.String(); strings.Contains(out, bad) {
			t.Errorf("C client:\n%s", out)
		}
	}
	if n := c.seen[abi.RDMA_CM_EVENT_ESTABLISHED]; n != conns {
		t.Errorf("%d ESTABLISHED, want %d: %v", n, conns, c.seen)
	}
	if len(c.conns) != 0 {
		t.Errorf("%d connections left", len(c.conns))
	}
}

// TestInteropCmtimeServer: a Go client makes many connections with the C server
// at once and ends them; then the server has no ID left but its listener
// (parity scenario 30). The server never ends.
func TestInteropCmtimeServer(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	c, conns := newTimedConns(t), cmtimeConns(t)
	idle := kernelObjects(t, "cm_id")
	startTool(t, "cmtime", "-b", addrV4, "-p", "7479")
	waitForObjects(c.ctx, t, "cm_id", idle+1)
	for range conns {
		c.check(c.newID().StartResolveAddr(ucma.Sockaddr{}, sockaddr(t, addrV4+":7479"), testTime))
	}
	answered := abi.RDMA_CM_EVENT_CONNECT_RESPONSE
	if onIWARP() {
		answered = abi.RDMA_CM_EVENT_ESTABLISHED
	}
	c.check(c.until(answered, conns))
	for id, qp := range c.conns {
		c.check(errors.Join(qp.ToError(), id.Disconnect()))
	}
	c.check(c.until(abi.RDMA_CM_EVENT_DISCONNECTED, conns))
	waitForObjects(c.ctx, t, "cm_id", idle+1)
}
