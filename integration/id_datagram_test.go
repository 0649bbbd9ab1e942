//go:build linux

package integration

import (
	"bytes"
	"errors"
	"net"
	"net/netip"
	"syscall"
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/ucma"
	"github.com/purerdma/rdma/uverbs"
)

var idsUDP = &cm.IDOptions{PortSpace: abi.RDMA_PS_UDP}

// idsFound is what a lookup in another goroutine returned.
type idsFound struct {
	param *ucma.UDParam
	err   error
}

func idsLookUp(t *testing.T, id *cm.ID, data []byte) <-chan idsFound {
	ctx := testContext(t)
	ch := make(chan idsFound, 1)
	go func() {
		p, err := id.ConnectDatagram(ctx, data)
		ch <- idsFound{p, err}
	}()
	return ch
}

// TestIDDatagram looks a service up and exchanges datagrams; the answer goes
// back along the path that the request came (parity scenarios 8, 46).
func TestIDDatagram(t *testing.T) {
	needsDatagrams(t)
	checkLeaks(t)
	pd := idsPD(t)
	l, dst := idsListen(t, idsUDP)
	a := idsResolved(t, idsUDP, dst)
	client := idsSide(t, a, pd)
	hello, here := make([]byte, a.MaxPrivateData(cm.OpConnect)), make([]byte, a.MaxPrivateData(cm.OpAccept))
	pattern(hello, 1)
	pattern(here, 2)
	if _, err := a.ConnectDatagram(testContext(t), append(hello, 0)); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("too much private data: %v", err)
	}
	found := idsLookUp(t, a, hello)
	b, ev := idsRequest(t, l)
	if got := ev.UD(); !bytes.Equal(got.PrivateData, hello) {
		t.Errorf("%d bytes in the request", len(got.PrivateData))
	}
	server := idsSide(t, b, pd)
	if err := b.AcceptDatagram(&cm.DatagramReply{QPNum: server.qp.Number(), PrivateData: append(here, 0)}); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("too much private data: %v", err)
	}
	if err := b.AcceptDatagram(&cm.DatagramReply{QPNum: server.qp.Number(), PrivateData: here}); err != nil {
		t.Fatal(err)
	}
	r := <-found
	if r.err != nil {
		t.Fatal(r.err)
	}
	p := r.param
	if p.QPNum != server.qp.Number() || p.QKey != cm.DatagramQKey || !bytes.Equal(p.PrivateData, here) {
		t.Errorf("answer: queue pair %#x, Q_Key %#x, %d bytes", p.QPNum, p.QKey, len(p.PrivateData))
	}
	if attr, err := client.qp.Query(); err != nil || attr.State != abi.IB_QPS_RTS || attr.QKey != cm.DatagramQKey {
		t.Errorf("own queue pair: state %v, Q_Key %#x, %v", attr.State, attr.QKey, err)
	}
	to := udHandle(t, client, uverbs.AHAttrFromCM(&p.AHAttr))
	wc := idsDatagram(t, client, server, to, p.QPNum, p.QKey)
	back, err := pd.CreateAHFromWC(1, &wc, server.mr.Bytes()[:uverbs.GRHSize])
	if err != nil {
		t.Fatal(err)
	}
	verbsClose(t, back)
	idsDatagram(t, server, client, back, wc.SrcQPN, cm.DatagramQKey)
}

// idsDatagram sends one datagram and compares it.
func idsDatagram(t *testing.T, from, to *verbsSide, ah *uverbs.AH, qpn, qkey uint32) uverbs.WC {
	t.Helper()
	const n = 512
	want := append([]byte(nil), from.fill(9)[:n]...)
	to.fill(55)
	to.recv(uverbs.RecvWR{ID: 1, SGEs: []uverbs.SGE{to.mr.SGE(0, n+uverbs.GRHSize)}})
	from.send(uverbs.SendWR{
		ID: 2, Opcode: abi.IB_UVERBS_WR_SEND, Flags: uverbs.SendSignaled,
		SGEs: []uverbs.SGE{from.mr.SGE(0, n)}, AH: ah, RemoteQPN: qpn, RemoteQKey: qkey,
	})
	from.want(2, abi.IB_WC_SEND)
	wc := to.want(1, abi.IB_WC_RECV)
	verbsEqual(t, "datagram", to.mr.Bytes()[uverbs.GRHSize:uverbs.GRHSize+n], want)
	return wc
}

// TestIDDatagramErrors: no service and a refusal are told apart (parity
// scenario 44).
func TestIDDatagramErrors(t *testing.T) {
	needsDatagrams(t)
	checkLeaks(t)
	ctx := testContext(t)
	_, err := idsResolved(t, idsUDP, sockaddr(t, addrV4+":9")).ConnectDatagram(ctx, nil)
	var se *cm.SIDRError
	if !errors.As(err, &se) || se.Status != abi.IB_SIDR_UNSUPPORTED || !errors.Is(err, cm.ErrNoListener) {
		t.Errorf("no service: %v", err)
	}
	l, dst := idsListen(t, idsUDP)
	found := idsLookUp(t, idsResolved(t, idsUDP, dst), nil)
	b, _ := idsRequest(t, l)
	if err := b.Reject(make([]byte, b.MaxPrivateData(cm.OpReject)+1)); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("too much private data: %v", err)
	}
	if err := b.Reject([]byte("not now")); err != nil {
		t.Fatal(err)
	}
	if r := <-found; !errors.As(r.err, &se) || se.Status != abi.IB_SIDR_REJECT || !bytes.HasPrefix(se.PrivateData, []byte("not now")) {
		t.Errorf("refused: %v", r.err)
	}
}

// TestIDMulticast joins as a full and as a sending member, and leaves (parity
// scenarios 4, 5, 24).
func TestIDMulticast(t *testing.T) {
	needsDatagrams(t)
	checkLeaks(t)
	ctx := testContext(t)
	id := idsNew(t, idsUDP)
	if err := id.Bind(sockaddr(t, addrV4+":0")); err != nil {
		t.Fatal(err)
	}
	group := netip.MustParseAddr("239.77.1.2")
	for _, opts := range []*cm.JoinOptions{nil, {SendOnly: true}} {
		g, err := id.JoinMulticast(ctx, sockaddr(t, group.String()+":0"), opts)
		if err != nil {
			t.Fatal(err)
		}
		if p := g.Param(); p.QPNum != 0xffffff || p.QKey == 0 || g.MGID().Addr().Unmap() != group {
			t.Errorf("queue pair %#x, Q_Key %#x, group %v", p.QPNum, p.QKey, g.MGID())
		}
		if err := g.Leave(); err != nil {
			t.Fatal(err)
		}
		if !errors.Is(g.Err(), net.ErrClosed) {
			t.Errorf("after leaving: %v", g.Err())
		}
	}
	if _, err := id.JoinMulticast(ctx, sockaddr(t, "[ff0e::1234]:0"), nil); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("IPv6 group: %v", err)
	}
	g, err := id.JoinMulticast(ctx, sockaddr(t, group.String()+":0"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(id.Migrate(idsRawChannel(t)), g.Leave(), id.Migrate(nil)); err != nil { // groups move along
		t.Fatal(err)
	}
	if g, err = id.JoinMulticast(ctx, sockaddr(t, group.String()+":0"), nil); err != nil {
		t.Fatal(err)
	}
	if err := id.Close(); err != nil { // leaves too
		t.Fatal(err)
	}
	<-g.Done()
}
