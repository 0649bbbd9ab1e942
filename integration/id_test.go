//go:build linux

package integration

import (
	"errors"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/ucma"
	"github.com/purerdma/rdma/uverbs"
)

// TestIDRaw drives both ends of a connection from one goroutine: events come
// in exact order, and queue pairs have the ACK time-out that was set (parity
// scenario 2).
func TestIDRaw(t *testing.T) {
	needsInfiniBand(t, "there the kernel moves the queue pairs (TestSiwIDs)")
	checkLeaks(t)
	pd, ch := idsPD(t), idsRawChannel(t)
	l, dst := idsListen(t, &cm.IDOptions{Channel: ch})
	a := idsNew(t, &cm.IDOptions{Channel: ch})
	const timeout = 21
	if err := errors.Join(a.SetACKTimeout(timeout), a.StartResolveAddr(ucma.Sockaddr{}, dst, 2*time.Second)); err != nil {
		t.Fatal(err)
	}
	idsNext(t, ch, a, abi.RDMA_CM_EVENT_ADDR_RESOLVED)
	if err := a.StartResolveRoute(2 * time.Second); err != nil {
		t.Fatal(err)
	}
	idsNext(t, ch, a, abi.RDMA_CM_EVENT_ROUTE_RESOLVED)
	client := idsSide(t, a, pd)
	if err := a.StartConnect(idsParam(client.qp.Number()), ucma.ECE{}); err != nil {
		t.Fatal(err)
	}
	b := idsNext(t, ch, l, abi.RDMA_CM_EVENT_CONNECT_REQUEST).Request
	verbsClose(t, b)
	server := idsSide(t, b, pd)
	err := errors.Join(b.SetACKTimeout(timeout), b.ModifyQP(server.qp, abi.IB_QPS_RTR), b.ModifyQP(server.qp, abi.IB_QPS_RTS),
		b.Accept(idsParam(server.qp.Number()), ucma.ECE{}))
	if err != nil {
		t.Fatal(err)
	}
	idsNext(t, ch, a, abi.RDMA_CM_EVENT_CONNECT_RESPONSE)
	if err := errors.Join(a.ModifyQP(client.qp, abi.IB_QPS_RTR), a.ModifyQP(client.qp, abi.IB_QPS_RTS), a.Establish()); err != nil {
		t.Fatal(err)
	}
	idsNext(t, ch, b, abi.RDMA_CM_EVENT_ESTABLISHED)
	for _, s := range []*verbsSide{client, server} {
		if attr, err := s.qp.Query(); err != nil || attr.State != abi.IB_QPS_RTS || attr.Timeout != timeout {
			t.Errorf("%v: state %v, time-out %d, %v", s.qp, attr.State, attr.Timeout, err)
		} else if attr.MinRNRTimer != 12 { // 0.64 ms: ModifyQP's, not the kernel's
			t.Errorf("%v asks its peer to repeat after pause %d", s.qp, attr.MinRNRTimer)
		}
	}
	idsPing(t, client, server)
	if err := a.Disconnect(); err != nil {
		t.Fatal(err)
	}
	idsNext(t, ch, b, abi.RDMA_CM_EVENT_DISCONNECTED)
	if err := b.Disconnect(); err != nil {
		t.Fatal(err)
	}
	idsNext(t, ch, a, abi.RDMA_CM_EVENT_DISCONNECTED)
	for _, s := range []*verbsSide{client, server} { // which are the program's to move
		if attr, err := s.qp.Query(); err != nil || attr.State != abi.IB_QPS_RTS {
			t.Errorf("%v after the end of the connection: state %v, %v", s.qp, attr.State, err)
		}
	}
}

// TestIDExternalQP takes a program's own queue pairs through all states, with
// the option for enhanced connection establishment (parity scenario 7).
func TestIDExternalQP(t *testing.T) {
	needsInfiniBand(t, "there the kernel moves the queue pairs (TestSiwIDs), and no option travels")
	checkLeaks(t)
	ctx, pd := testContext(t), idsPD(t)
	l, dst := idsListen(t, nil)
	a := idsResolved(t, nil, dst)
	client := idsSide(t, a, pd)
	ece := ucma.ECE{VendorID: 0x15b3, AttrMod: 0x10}
	answer := idsConnect(ctx, a, idsParam(client.qp.Number()), ece)
	b, ev := idsRequest(t, l)
	if b.RemoteECE() != ece || ev.ECE != ece {
		t.Errorf("the request's option is %+v", b.RemoteECE())
	}
	server := idsSide(t, b, pd)
	err := errors.Join(b.ModifyQP(server.qp, abi.IB_QPS_RTR), b.ModifyQP(server.qp, abi.IB_QPS_RTS),
		b.Accept(idsParam(server.qp.Number()), ucma.ECE{VendorID: 0x15b3, AttrMod: 0x20}))
	if err != nil {
		t.Fatal(err)
	}
	if r := <-answer; r.err != nil || r.param.QPNum != server.qp.Number() {
		t.Fatalf("answer %+v", r)
	}
	if a.RemoteECE().AttrMod != 0x20 {
		t.Errorf("the answer's option is %+v", a.RemoteECE())
	}
	if err := errors.Join(a.ModifyQP(client.qp, abi.IB_QPS_RTR), a.ModifyQP(client.qp, abi.IB_QPS_RTS), a.Establish()); err != nil {
		t.Fatal(err)
	}
	if err := b.WaitEstablished(ctx); err != nil {
		t.Fatal(err)
	}
	idsPing(t, client, server)
	idsPing(t, server, client)
}

// idsPing sends a message and compares it.
func idsPing(t *testing.T, from, to *verbsSide) {
	t.Helper()
	const n = 1024
	want := append([]byte(nil), from.fill(5)[:n]...)
	to.fill(77)
	to.recv(uverbs.RecvWR{ID: 1, SGEs: []uverbs.SGE{to.mr.SGE(0, n)}})
	from.send(uverbs.SendWR{
		ID: 2, Opcode: abi.IB_UVERBS_WR_SEND, Flags: uverbs.SendSignaled, SGEs: []uverbs.SGE{from.mr.SGE(0, n)},
	})
	from.want(2, abi.IB_WC_SEND)
	if wc := to.want(1, abi.IB_WC_RECV); wc.ByteLen != n {
		t.Errorf("%d bytes", wc.ByteLen)
	}
	verbsEqual(t, "message", to.mr.Bytes()[:n], want)
}

// TestIDMany: one goroutine takes both ends of many connections through all
// steps on one channel, and each event arrives once.
func TestIDMany(t *testing.T) {
	qps := idsQPs(t)
	n := 300
	switch {
	case onIWARP():
		n = 60 // siw waits 10 s for an answer (MPAREP_TIMEOUT), which is soon over while all ask at once
	case !kernelAtLeast(t, 6, 1):
		n = 40 // each message under way has an address handle, and soft-RoCE has 100 (RXE_MAX_AH)
	}
	ch := idsRawChannel(t)
	l, dst := idsListen(t, &cm.IDOptions{Channel: ch})
	for range n {
		if err := idsNew(t, &cm.IDOptions{Channel: ch}).StartResolveAddr(ucma.Sockaddr{}, dst, 5*time.Second); err != nil {
			t.Fatal(err)
		}
	}
	seen := map[abi.RDMACMEventType]int{}
	for seen[abi.RDMA_CM_EVENT_DISCONNECTED] < 2*n {
		id, ev, err := ch.NextEvent(testContext(t))
		if err == nil {
			err = qps.advance(id, &ev)
		}
		if err != nil {
			t.Fatalf("%v: %v after %v", ev.Type, err, seen)
		}
		if seen[ev.Type]++; ev.Type == abi.RDMA_CM_EVENT_CONNECT_REQUEST && id != l {
			t.Error("a request for another ID")
		}
	}
	for _, typ := range []abi.RDMACMEventType{
		abi.RDMA_CM_EVENT_ADDR_RESOLVED, abi.RDMA_CM_EVENT_ROUTE_RESOLVED, abi.RDMA_CM_EVENT_CONNECT_REQUEST,
		abi.RDMA_CM_EVENT_CONNECT_RESPONSE, abi.RDMA_CM_EVENT_ESTABLISHED,
	} {
		want := n
		switch { // on iWARP the answer establishes both sides
		case onIWARP() && typ == abi.RDMA_CM_EVENT_CONNECT_RESPONSE:
			want = 0
		case onIWARP() && typ == abi.RDMA_CM_EVENT_ESTABLISHED:
			want = 2 * n
		}
		if seen[typ] != want {
			t.Errorf("%v: %d times, want %d", typ, seen[typ], want)
		}
	}
}

// advance does what comes after an event.
func (n *idsNumbers) advance(id *cm.ID, ev *cm.Event) error {
	switch ev.Type {
	case abi.RDMA_CM_EVENT_ADDR_RESOLVED:
		return id.StartResolveRoute(5 * time.Second)
	case abi.RDMA_CM_EVENT_ROUTE_RESOLVED:
		return id.StartConnect(n.param(id), ucma.ECE{})
	case abi.RDMA_CM_EVENT_CONNECT_REQUEST:
		verbsClose(n.t, ev.Request)
		return ev.Request.Accept(n.param(ev.Request), ucma.ECE{})
	case abi.RDMA_CM_EVENT_CONNECT_RESPONSE:
		return id.Establish()
	case abi.RDMA_CM_EVENT_ESTABLISHED, abi.RDMA_CM_EVENT_DISCONNECTED:
		return id.Disconnect()
	}
	return ev.Err()
}

// TestIDMigrate: after the move events come through the new channel only, in
// order, those that were waiting included (parity scenario 17).
func TestIDMigrate(t *testing.T) {
	qps := idsQPs(t)
	ctx := testContext(t)
	l, dst := idsListen(t, nil)
	a, b := qps.pair(l, dst, nil)
	raw := idsRawChannel(t)
	if err := b.Disconnect(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(50 * time.Millisecond) // DISCONNECTED waits at the ID
	if err := a.Migrate(raw); err != nil {
		t.Fatal(err)
	}
	idsNext(t, raw, a, abi.RDMA_CM_EVENT_DISCONNECTED)
	if err := a.Disconnect(); err != nil {
		t.Fatal(err)
	}
	if !onIWARP() {
		idsNext(t, raw, a, abi.RDMA_CM_EVENT_TIMEWAIT_EXIT)
	}
	if err := b.WaitDisconnected(ctx); err != nil {
		t.Fatal(err)
	}
	// Back and forth while steps are under way.
	c := idsNew(t, nil)
	for i, to := range []*cm.EventChannel{raw, nil, raw, nil} {
		if err := c.Migrate(to); err != nil {
			t.Fatalf("move %d: %v", i, err)
		}
	}
	if err := c.ResolveAddr(ctx, ucma.Sockaddr{}, dst); err != nil {
		t.Fatal(err)
	}
}

// TestIDMigrateListener: a request that came before the move can be accepted
// after it, and so can later ones.
func TestIDMigrateListener(t *testing.T) {
	qps := idsQPs(t)
	ctx := testContext(t)
	l, dst := idsListen(t, nil)
	other, err := cm.NewEventChannel(nil)
	if err != nil {
		t.Fatal(err)
	}
	verbsClose(t, other)
	var answers []<-chan idsAnswer
	dial := func() {
		a := idsResolved(t, nil, dst)
		answers = append(answers, idsConnect(ctx, a, qps.param(a), ucma.ECE{}))
	}
	for range 3 {
		dial()
	}
	if err := l.Migrate(other); err != nil { // requests may be anywhere now
		t.Fatal(err)
	}
	dial()
	for range answers {
		b, _ := idsRequest(t, l)
		if err := b.Accept(qps.param(b), ucma.ECE{}); err != nil {
			t.Error(err)
		}
	}
	for _, a := range answers {
		if r := <-a; r.err != nil {
			t.Error(r.err)
		}
	}
}

// TestIDOptions: type of service and ACK time-out arrive in path and queue
// pair (parity scenario 18).
func TestIDOptions(t *testing.T) {
	needsInfiniBand(t, "there are no path records, and TCP has the time-outs")
	checkLeaks(t)
	ctx, pd := testContext(t), idsPD(t)
	l, dst := idsListen(t, nil)
	a := idsNew(t, nil)
	if err := errors.Join(a.ResolveAddr(ctx, ucma.Sockaddr{}, dst), a.SetTOS(0x20), a.SetACKTimeout(17), a.ResolveRoute(ctx)); err != nil {
		t.Fatal(err)
	}
	if r, err := a.Route(); err != nil || r.NumPaths != 1 || r.Paths[0].TrafficClass != 0x20 {
		t.Errorf("%d paths, traffic class %#x, %v", r.NumPaths, r.Paths[0].TrafficClass, err)
	}
	// The path of one ID serves another without resolving.
	paths, err := a.Paths()
	if err != nil || len(paths) != 1 {
		t.Fatalf("%d paths, %v", len(paths), err)
	}
	given := idsNew(t, nil)
	if err := errors.Join(given.ResolveAddr(ctx, ucma.Sockaddr{}, dst), given.SetIBPath(ctx, paths)); err != nil {
		t.Fatal(err)
	}
	client := idsSide(t, a, pd)
	answer := idsConnect(ctx, a, idsParam(client.qp.Number()), ucma.ECE{})
	b, _ := idsRequest(t, l)
	if err := b.Accept(idsParam(0), ucma.ECE{}); err != nil {
		t.Fatal(err)
	}
	if r := <-answer; r.err != nil {
		t.Fatal(r.err)
	}
	if err := errors.Join(a.ModifyQP(client.qp, abi.IB_QPS_RTR), a.ModifyQP(client.qp, abi.IB_QPS_RTS)); err != nil {
		t.Fatal(err)
	}
	if attr, err := client.qp.Query(); err != nil || attr.Timeout != 17 || attr.AH.TrafficClass != 0x20 {
		t.Errorf("time-out %d, traffic class %#x, %v", attr.Timeout, attr.AH.TrafficClass, err)
	}
}

// TestIDUserEvent ends a blocked wait on every kernel (parity scenario 60).
func TestIDUserEvent(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	id := idsNew(t, nil)
	got := make(chan ucma.Event, 1)
	go func() {
		ev, err := id.NextEvent(testContext(t))
		if err != nil {
			t.Error(err)
		}
		got <- ev
	}()
	if err := id.WriteEvent(-5, 1<<40); err != nil {
		t.Fatal(err)
	}
	if ev := <-got; ev.Type != abi.RDMA_CM_EVENT_USER || ev.Status != -5 || ev.Arg() != 1<<40 {
		t.Errorf("event %+v", ev)
	}
}

// TestIDSignals: a storm of signals interrupts every call, and no event is
// lost (parity scenario 62).
func TestIDSignals(t *testing.T) {
	sink := make(chan os.Signal, 1)
	signal.Notify(sink, syscall.SIGUSR1) // starts a goroutine that stays
	defer signal.Stop(sink)
	qps := idsQPs(t)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				_ = syscall.Kill(os.Getpid(), syscall.SIGUSR1)
				time.Sleep(100 * time.Microsecond)
			}
		}
	}()
	defer func() { close(stop); <-stopped }()
	l, dst := idsListen(t, nil)
	for range 50 {
		ctx := testContext(t)
		a, b := qps.pair(l, dst, nil)
		if err := errors.Join(a.Disconnect(), b.WaitDisconnected(ctx), b.Disconnect(), a.WaitDisconnected(ctx), a.Close(), b.Close()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestIDDevice: an ID knows its device, and a wildcard has none.
func TestIDDevice(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	l, _ := idsListen(t, nil)
	d, err := l.Device()
	if err != nil || !strings.HasPrefix(d.Name, linkType()) {
		t.Errorf("device %v, %v", d, err)
	}
	if port, err := l.Port(); err != nil || port != 1 {
		t.Errorf("port %d, %v", port, err)
	}
	most := cm.MaxConnectData
	if onIWARP() {
		most = 251
	}
	if n := l.MaxPrivateData(cm.OpConnect); n != most {
		t.Errorf("%d bytes of private data", n)
	}
	if _, err := idsNew(t, nil).Device(); !errors.Is(err, cm.ErrNoDevice) {
		t.Errorf("unbound: %v", err)
	}
}
