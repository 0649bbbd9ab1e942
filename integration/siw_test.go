//go:build linux

package integration

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/ucma"
	"github.com/purerdma/rdma/uverbs"
)

// TestSiwOpcodes runs what siw can do, and checks memory and completions.
func TestSiwOpcodes(t *testing.T) {
	siwEach(t, func(t *testing.T, pd *uverbs.PD) {
		if name, err := pd.Context().Provider(); name != "siw" || err != nil {
			t.Fatalf("data path %q, %v", name, err)
		}
		e := siwConnect(t, pd)
		a, b := e.client, e.server
		idsPing(t, a, b)
		idsPing(t, b, a)

		const sig = uverbs.SendSignaled
		want := append([]byte(nil), a.fill(9)...)
		b.fill(50)
		a.send(uverbs.SendWR{ID: 1, Opcode: abi.IB_UVERBS_WR_RDMA_WRITE, Flags: sig, RemoteAddr: b.mr.Addr() + 100, RKey: b.mr.RKey(),
			SGEs: []uverbs.SGE{a.mr.SGE(0, 1000), a.mr.SGE(2000, 5000)}})
		a.want(1, abi.IB_WC_RDMA_WRITE)
		// The completion of a write says that TCP has it; a read comes behind.
		a.send(uverbs.SendWR{ID: 2, Opcode: abi.IB_UVERBS_WR_RDMA_READ, Flags: sig, RemoteAddr: b.mr.Addr() + 100, RKey: b.mr.RKey(),
			SGEs: []uverbs.SGE{a.mr.SGE(20000, 6000)}})
		if wc := a.want(2, abi.IB_WC_RDMA_READ); wc.ByteLen != 6000 {
			t.Errorf("read of %d bytes", wc.ByteLen)
		}
		verbsEqual(t, "written, first entry", b.mr.Bytes()[100:1100], want[:1000])
		verbsEqual(t, "written, second entry", b.mr.Bytes()[1100:6100], want[2000:7000])
		verbsEqual(t, "read back", a.mr.Bytes()[20000:26000], b.mr.Bytes()[100:6100])

		a.send(
			uverbs.SendWR{Opcode: abi.IB_UVERBS_WR_RDMA_WRITE, Inline: []byte("inline, unsignalled"), RemoteAddr: b.mr.Addr(), RKey: b.mr.RKey()},
			uverbs.SendWR{ID: 3, Opcode: abi.IB_UVERBS_WR_RDMA_READ, Flags: sig, RemoteAddr: b.mr.Addr(), RKey: b.mr.RKey(),
				SGEs: []uverbs.SGE{a.mr.SGE(0, 19)}})
		a.want(3, abi.IB_WC_RDMA_READ)
		verbsEqual(t, "inline", a.mr.Bytes()[:19], []byte("inline, unsignalled"))

		b.recv(uverbs.RecvWR{ID: 4})
		a.send(uverbs.SendWR{ID: 5, Opcode: abi.IB_UVERBS_WR_SEND, Flags: sig | uverbs.SendFence | uverbs.SendSolicited})
		a.want(5, abi.IB_WC_SEND)
		if wc := b.want(4, abi.IB_WC_RECV); wc.ByteLen != 0 {
			t.Errorf("empty message of %d bytes", wc.ByteLen)
		}
	})
}

// TestSiwInvalidate: a peer's send takes a key away, and so does a local request.
func TestSiwInvalidate(t *testing.T) {
	siwEach(t, func(t *testing.T, pd *uverbs.PD) {
		e := siwConnect(t, pd)
		a, b := e.client, e.server
		a.send(uverbs.SendWR{ID: 1, Opcode: abi.IB_UVERBS_WR_LOCAL_INV, Flags: uverbs.SendSignaled, InvalidateKey: a.mr.RKey()})
		a.want(1, abi.IB_WC_LOCAL_INV)
		b.recv(uverbs.RecvWR{ID: 2})
		a.send(uverbs.SendWR{ID: 3, Opcode: abi.IB_UVERBS_WR_SEND_WITH_INV, Flags: uverbs.SendSignaled, InvalidateKey: b.mr.RKey()})
		a.want(3, abi.IB_WC_SEND)
		b.want(2, abi.IB_WC_RECV)
		// The memory is out of reach now for both.
		a.send(uverbs.SendWR{Opcode: abi.IB_UVERBS_WR_RDMA_WRITE, Inline: []byte("x"), RemoteAddr: b.mr.Addr(), RKey: b.mr.RKey()})
		for _, id := range []*cm.ID{e.a, e.b} {
			if err := id.WaitDisconnected(testContext(t)); err != nil {
				t.Errorf("after a write with an invalid key: %v", err)
			}
		}
	})
}

// TestSiwManyMessages goes round the rings many times, in batches, with one
// completion each.
func TestSiwManyMessages(t *testing.T) {
	siwEach(t, func(t *testing.T, pd *uverbs.PD) {
		e := siwConnect(t, pd)
		const batch, rounds = 8, 60
		for round := range rounds {
			recvs, sends := make([]uverbs.RecvWR, batch), make([]uverbs.SendWR, batch)
			for i := range batch {
				recvs[i] = uverbs.RecvWR{ID: uint64(i), SGEs: []uverbs.SGE{e.server.mr.SGE(i*64, 64)}}
				sends[i] = uverbs.SendWR{Opcode: abi.IB_UVERBS_WR_SEND, Inline: []byte{byte(round), byte(i)}}
			}
			sends[batch-1].ID, sends[batch-1].Flags = 99, uverbs.SendSignaled
			e.server.recv(recvs...)
			e.client.send(sends...)
			for i := range batch {
				wc := e.server.want(uint64(i), abi.IB_WC_RECV)
				verbsEqual(t, "message", e.server.mr.Bytes()[i*64:i*64+2], []byte{byte(round), byte(i)})
				if wc.ByteLen != 2 {
					t.Errorf("message of %d bytes", wc.ByteLen)
				}
			}
			e.client.want(99, abi.IB_WC_SEND)
		}
	})
}

// TestSiwQueueFull: what does not fit is refused, and the rest is not lost.
func TestSiwQueueFull(t *testing.T) {
	siwEach(t, func(t *testing.T, pd *uverbs.PD) {
		e := siwConnect(t, pd)
		posted := 0
		for e.server.qp.PostRecv(uverbs.RecvWR{ID: uint64(posted), SGEs: []uverbs.SGE{e.server.mr.SGE(0, 64)}}) == nil {
			posted++
		}
		if err := e.server.qp.PostRecv(uverbs.RecvWR{}); !errors.Is(err, uverbs.ErrQueueFull) || posted != int(verbsCap.MaxRecvWR) {
			t.Errorf("%d receives fitted: %v", posted, err)
		}
		for i := range posted {
			e.client.send(uverbs.SendWR{ID: 7, Opcode: abi.IB_UVERBS_WR_SEND, Flags: uverbs.SendSignaled, Inline: []byte("x")})
			e.client.want(7, abi.IB_WC_SEND)
			e.server.want(uint64(i), abi.IB_WC_RECV)
		}
	})
}

// TestSiwSRQ: a connection takes its receives from a shared queue, which says when it
// runs low.
func TestSiwSRQ(t *testing.T) {
	siwEach(t, func(t *testing.T, pd *uverbs.PD) {
		srq, err := pd.CreateSRQ(uverbs.SRQConfig{MaxWR: 8, MaxSGE: 2})
		if err != nil {
			t.Fatal(err)
		}
		verbsClose(t, srq)
		e := siwConnect(t, pd, func(cfg *uverbs.QPConfig) { cfg.SRQ = srq })
		for i := range 8 {
			if err := srq.PostRecv(uverbs.RecvWR{ID: uint64(i), SGEs: []uverbs.SGE{e.server.mr.SGE(i*64, 32), e.server.mr.SGE(i*64+32, 32)}}); err != nil {
				t.Fatal(err)
			}
		}
		if err := srq.PostRecv(uverbs.RecvWR{}); !errors.Is(err, uverbs.ErrQueueFull) {
			t.Errorf("a ninth request: %v", err)
		}
		if err := e.server.qp.PostRecv(uverbs.RecvWR{}); err == nil {
			t.Error("the queue pair has a receive queue of its own")
		}
		if err := srq.SetLimit(4); err != nil {
			t.Fatal(err)
		}
		want := e.client.fill(3)[:64]
		for i := range 8 {
			e.client.send(uverbs.SendWR{ID: 9, Opcode: abi.IB_UVERBS_WR_SEND, Flags: uverbs.SendSignaled, SGEs: []uverbs.SGE{e.client.mr.SGE(0, 64)}})
			e.client.want(9, abi.IB_WC_SEND)
			e.server.want(uint64(i), abi.IB_WC_RECV)
			verbsEqual(t, "message", e.server.mr.Bytes()[i*64:i*64+64], want)
		}
		ev, err := pd.Context().NextAsyncEvent(testContext(t))
		if err != nil || ev.Type != abi.IB_EVENT_SRQ_LIMIT_REACHED {
			t.Errorf("event %v, %v", ev.Type, err)
		}
		wantUnsupported(t, "resize", srq.Resize(16))
	})
}

// TestSiwEvents waits for each completion with an event, armed without a command.
func TestSiwEvents(t *testing.T) {
	siwEach(t, func(t *testing.T, pd *uverbs.PD) {
		e := siwConnect(t, pd)
		for i := range 50 {
			done := make(chan error, 1)
			go func() {
				ctx, cancel := context.WithTimeout(context.Background(), verbsTimeout)
				defer cancel()
				var wcs [1]uverbs.WC
				_, err := e.server.cq.Wait(ctx, wcs[:])
				done <- errors.Join(err, wcs[0].Err())
			}()
			e.server.recv(uverbs.RecvWR{ID: uint64(i), SGEs: []uverbs.SGE{e.server.mr.SGE(0, 8)}})
			e.client.send(uverbs.SendWR{ID: 1, Opcode: abi.IB_UVERBS_WR_SEND, Flags: uverbs.SendSignaled, Inline: []byte("event")})
			if err := <-done; err != nil {
				t.Fatalf("message %d: %v", i, err)
			}
			e.client.want(1, abi.IB_WC_SEND)
		}
	})
}

// TestSiwFlush: the end of a connection returns what is in the rings; what is posted
// later is refused, or stays.
func TestSiwFlush(t *testing.T) {
	siwEach(t, func(t *testing.T, pd *uverbs.PD) {
		e := siwConnect(t, pd)
		for i := range 5 {
			e.server.recv(uverbs.RecvWR{ID: uint64(i), SGEs: []uverbs.SGE{e.server.mr.SGE(0, 8)}})
		}
		if err := e.a.Disconnect(); err != nil {
			t.Fatal(err)
		}
		for _, id := range []*cm.ID{e.a, e.b} {
			if err := id.WaitDisconnected(testContext(t)); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 5 {
			wc := rxeWait(t, e.server, 1)[0]
			if wc.ID != uint64(i) || wc.Status != abi.IB_WC_WR_FLUSH_ERR || wc.Opcode != abi.IB_WC_RECV {
				t.Errorf("completion %+v", wc)
			}
		}
		late := uverbs.SendWR{Opcode: abi.IB_UVERBS_WR_SEND, Inline: []byte("late")}
		for _, s := range []*verbsSide{e.client, e.server} {
			if err := s.qp.PostSend(late); err != nil && !errors.Is(err, syscall.ENOTCONN) {
				t.Errorf("late send: %v", err)
			}
		}
	})
}

// TestSiwNoQP: the kernel refuses to connect a queue pair that does not exist.
func TestSiwNoQP(t *testing.T) {
	requireSiw(t)
	checkLeaks(t)
	_, dst := idsListen(t, nil)
	if _, err := idsResolved(t, nil, dst).Connect(testContext(t), idsParam(0), ucma.ECE{}); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("connect without a queue pair: %v", err)
	}
}

// TestSiwPostTooEarly: the doorbell of an unconnected queue pair is refused.
func TestSiwPostTooEarly(t *testing.T) {
	siwEach(t, func(t *testing.T, pd *uverbs.PD) {
		_, dst := idsListen(t, nil)
		s := idsSide(t, idsResolved(t, nil, dst), pd)
		if err := s.qp.PostSend(uverbs.SendWR{Opcode: abi.IB_UVERBS_WR_SEND, Inline: []byte("x")}); !errors.Is(err, syscall.ENOTCONN) {
			t.Errorf("send before the connection: %v", err)
		}
	})
}

// TestSiwLacks: each call exists, and says that iWARP or siw cannot.
func TestSiwLacks(t *testing.T) {
	siwEach(t, func(t *testing.T, pd *uverbs.PD) {
		e := siwConnect(t, pd)
		for name, op := range map[string]abi.IBUverbsWROpcode{
			"immediate": abi.IB_UVERBS_WR_SEND_WITH_IMM, "write with immediate": abi.IB_UVERBS_WR_RDMA_WRITE_WITH_IMM,
			"compare and swap": abi.IB_UVERBS_WR_ATOMIC_CMP_AND_SWP, "fetch and add": abi.IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD,
			"read with invalidation": abi.IB_UVERBS_WR_RDMA_READ_WITH_INV, "bind": abi.IB_UVERBS_WR_BIND_MW,
		} {
			wantUnsupported(t, name, e.client.qp.PostSend(uverbs.SendWR{Opcode: op, SGEs: []uverbs.SGE{e.client.mr.SGE(0, 8)}}))
		}
		wantUnsupported(t, "read into two entries", e.client.qp.PostSend(uverbs.SendWR{Opcode: abi.IB_UVERBS_WR_RDMA_READ,
			SGEs: []uverbs.SGE{e.client.mr.SGE(0, 8), e.client.mr.SGE(8, 8)}}))
		idsPing(t, e.client, e.server) // refusals harm nothing
		for _, typ := range []abi.IBUverbsQPType{abi.IB_UVERBS_QPT_UD, abi.IB_UVERBS_QPT_UC, abi.IB_UVERBS_QPT_RAW_PACKET} {
			_, err := pd.CreateQP(uverbs.QPConfig{Type: typ, SendCQ: e.client.cq, RecvCQ: e.client.cq, Cap: verbsCap})
			wantUnsupported(t, typ.String(), err)
		}
		_, err := pd.CreateAH(uverbs.AHAttr{Port: 1})
		wantUnsupported(t, "address handle", err)
		wantUnsupported(t, "resize CQ", e.client.cq.Resize(128))
		_, err = pd.CreateSRQ(uverbs.SRQConfig{MaxWR: 8, Type: abi.IB_UVERBS_SRQT_XRC})
		wantUnsupported(t, "XRC SRQ", err)
	})
}

// TestSiwIDs drives both ends from one goroutine: the answer to a request establishes
// both at once, and the end comes to both without an answer.
func TestSiwIDs(t *testing.T) {
	requireSiw(t)
	checkLeaks(t)
	pd, ch := idsPD(t), idsRawChannel(t)
	l, dst := idsListen(t, &cm.IDOptions{Channel: ch})
	a := idsNew(t, &cm.IDOptions{Channel: ch})
	if err := a.StartResolveAddr(ucma.Sockaddr{}, dst, 2*time.Second); err != nil {
		t.Fatal(err)
	}
	idsNext(t, ch, a, abi.RDMA_CM_EVENT_ADDR_RESOLVED)
	if err := a.StartResolveRoute(2 * time.Second); err != nil {
		t.Fatal(err)
	}
	idsNext(t, ch, a, abi.RDMA_CM_EVENT_ROUTE_RESOLVED)
	client := idsSide(t, a, pd)
	p := idsParam(client.qp.Number())
	p.SetReads(5, 3)
	p.PrivateData = make([]byte, a.MaxPrivateData(cm.OpConnect))
	pattern(p.PrivateData, 1)
	if err := a.StartConnect(p, ucma.ECE{}); err != nil {
		t.Fatal(err)
	}
	ev := idsNext(t, ch, l, abi.RDMA_CM_EVENT_CONNECT_REQUEST)
	b := ev.Request
	verbsClose(t, b)
	got := ev.Conn()
	verbsEqual(t, "private data of the request", got.PrivateData, p.PrivateData)
	if got.LocalReads() != 3 || got.PeerReads() != 5 {
		t.Errorf("request %+v", got)
	}
	server := idsSide(t, b, pd)
	reply := idsParam(server.qp.Number())
	reply.SetReads(3, 5)
	reply.PrivateData = make([]byte, b.MaxPrivateData(cm.OpAccept))
	pattern(reply.PrivateData, 2)
	if err := b.Accept(reply, ucma.ECE{}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		id, ev, err := ch.NextEvent(testContext(t))
		if err != nil || ev.Type != abi.RDMA_CM_EVENT_ESTABLISHED || ev.Status != 0 {
			t.Fatalf("event %v, status %d, %v", ev.Type, ev.Status, err)
		}
		if id == a {
			verbsEqual(t, "private data of the answer", ev.Conn().PrivateData, reply.PrivateData)
		}
	}
	idsPing(t, client, server)
	idsPing(t, server, client)
	if err := a.Disconnect(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, ev, err := ch.NextEvent(testContext(t)); err != nil || ev.Type != abi.RDMA_CM_EVENT_DISCONNECTED {
			t.Fatalf("event %v, %v", ev.Type, err)
		}
	}
	if err := errors.Join(b.Disconnect(), a.Disconnect()); err != nil {
		t.Errorf("second disconnect: %v", err)
	}
}

// TestSiwPeerGone: a client that left before the accept shows as such; its kernel lets
// go of it after ten seconds.
func TestSiwPeerGone(t *testing.T) {
	requireSiw(t)
	checkLeaks(t)
	l, dst := idsListen(t, nil)
	pd := idsPD(t)
	ctx, cancel := context.WithCancel(testContext(t))
	a := idsResolved(t, nil, dst)
	answer := idsConnect(ctx, a, idsParam(idsSide(t, a, pd).qp.Number()), ucma.ECE{})
	b, _ := idsRequest(t, l)
	server := idsSide(t, b, pd)
	cancel()
	if r := <-answer; !errors.Is(r.err, context.Canceled) {
		t.Errorf("cancelled connect: %v", r.err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	awaitNoTCP(t, dst)
	if err := b.Accept(idsParam(server.qp.Number()), ucma.ECE{}); !errors.Is(err, cm.ErrPeerGone) {
		t.Errorf("accept: %v", err)
	}
}

// awaitNoTCP waits until the kernel has let go of the TCP connections of a listener,
// which it keeps as long as a request may be accepted.
func awaitNoTCP(t *testing.T, listener ucma.Sockaddr) {
	t.Helper()
	local := fmt.Sprintf(":%04X", listener.Port())
	const listening, timeWait = "0A", "06"
	for ctx := testContext(t); ; time.Sleep(50 * time.Millisecond) {
		b, err := os.ReadFile("/proc/net/tcp")
		if err != nil {
			t.Fatal(err)
		}
		held := false
		for line := range strings.Lines(string(b)) {
			f := strings.Fields(line)
			held = held || strings.HasSuffix(f[1], local) && f[3] != listening && f[3] != timeWait
		}
		if !held {
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("connections of %v:\n%s", listener, b)
		}
	}
}

// TestSiwServerFirst: the side that accepts speaks first, time and again. The kernel
// of the other side must have read the answer to its request before.
func TestSiwServerFirst(t *testing.T) {
	requireSiw(t)
	checkLeaks(t)
	ctx := testContext(t)
	l := listenOn(t, addrV4+":0", nil)
	for range 20 {
		client, server, _ := connect(t, l, &cm.Dialer{}, nil)
		if err := server.SendCopy(ctx, []byte("welcome")); err != nil {
			t.Fatal(err)
		}
		m, err := client.Recv(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Release(); err != nil {
			t.Error(err)
		}
		closeConn(t, client)
		closeConn(t, server)
	}
}

// TestSiwReadSlices: a read into several slices is several reads.
func TestSiwReadSlices(t *testing.T) {
	requireSiw(t)
	checkLeaks(t)
	client, server := pair(t)
	exposed := allocRegion(t, server, 1000, cm.RemoteRead)
	pattern(exposed.Bytes(), 4)
	mem := allocRegion(t, client, 2000, 0)
	parts := []cm.Slice{mem.Slice(500, 10), {}, mem.Slice(1000, 990)}
	if err := client.Read(testContext(t), exposed.Remote(), parts...); err != nil {
		t.Fatal(err)
	}
	verbsEqual(t, "first part", parts[0].Bytes(), exposed.Bytes()[:10])
	verbsEqual(t, "second part", parts[2].Bytes(), exposed.Bytes()[10:])
}
