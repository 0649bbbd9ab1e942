//go:build linux

package integration

import (
	"context"
	"errors"
	"io"
	"net/netip"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/cmd/rdmaprobe/rping"
	"github.com/purerdma/rdma/ucma"
	"github.com/purerdma/rdma/uverbs"
)

// ownQP is rping's transport over an ID and a queue pair of the test's own, as
// rping -q has it.
type ownQP struct{ *idPeer }

// ownQPReceives is how many receives are posted.
const ownQPReceives = 4

func (o ownQP) postAll() {
	for i := range ownQPReceives {
		o.post(i, 4*rping.InfoSize)
	}
}

func (o ownQP) run(ctx context.Context, done abi.IBWCOpcode, wr uverbs.SendWR) error {
	wr.Flags = uverbs.SendSignaled
	if err := o.qp.PostSend(wr); err != nil {
		return err
	}
	_, err := o.next(ctx, done)
	return err
}

// Send leaves the completion to the next read or write: see sendMessage.
func (o ownQP) Send(_ context.Context, p []byte) error {
	return o.qp.PostSend(uverbs.SendWR{Opcode: abi.IB_UVERBS_WR_SEND, Inline: p})
}

// Recv ends with io.EOF when the peer has disconnected. That is an event; the
// queue pair of an application stays as it is.
func (o ownQP) Recv(ctx context.Context, p []byte) (int, error) {
	wait, cancel := context.WithCancel(ctx)
	defer cancel()
	var watch sync.WaitGroup
	gone := false
	watch.Go(func() {
		if o.id.WaitDisconnected(wait) == nil {
			gone = true
			cancel()
		}
	})
	wc, err := o.next(wait, abi.IB_WC_RECV)
	if err != nil && onIWARP() {
		// The queue pair learns of the end before its event is here.
		defer time.AfterFunc(testTime, cancel).Stop()
		watch.Wait()
	}
	cancel()
	watch.Wait()
	if err != nil {
		if gone {
			err = io.EOF
		}
		return 0, err
	}
	slot := int(wc.ID)
	n := copy(p, o.slot(slot)[:wc.ByteLen])
	return n, o.qp.PostRecv(uverbs.RecvWR{ID: wc.ID, SGEs: []uverbs.SGE{o.mr.SGE(slot*slotSize, 4*rping.InfoSize)}})
}

func (o ownQP) Alloc(n int, rights rping.Rights) (rping.Memory, error) {
	mem, err := uverbs.NewMemory(n)
	if err != nil {
		return nil, err
	}
	access := uverbs.AccessLocalWrite
	switch rights {
	case rping.PeerReads:
		access |= uverbs.AccessRemoteRead
	case rping.PeerWrites:
		access |= uverbs.AccessRemoteWrite
	}
	mr, err := o.pd.RegMRRange(mem, 0, n, access)
	if err != nil {
		return nil, errors.Join(err, mem.Close())
	}
	return ownMemory{mr, mem}, nil
}

func (o ownQP) Read(ctx context.Context, dst rping.Memory, src rping.Info) error {
	return o.run(ctx, abi.IB_WC_RDMA_READ, uverbs.SendWR{
		Opcode: abi.IB_UVERBS_WR_RDMA_READ, RemoteAddr: src.Addr, RKey: src.RKey,
		SGEs: []uverbs.SGE{dst.(ownMemory).mr.SGE(0, int(src.Size))},
	})
}

func (o ownQP) Write(ctx context.Context, dst rping.Info, src rping.Memory, n int) error {
	return o.run(ctx, abi.IB_WC_RDMA_WRITE, uverbs.SendWR{
		Opcode: abi.IB_UVERBS_WR_RDMA_WRITE, RemoteAddr: dst.Addr, RKey: dst.RKey,
		SGEs: []uverbs.SGE{src.(ownMemory).mr.SGE(0, n)},
	})
}

// ownMemory is memory and its registration.
type ownMemory struct {
	mr  *uverbs.MR
	mem *uverbs.Memory
}

func (m ownMemory) Bytes() []byte { return m.mr.Bytes() }
func (m ownMemory) Close() error  { return errors.Join(m.mr.Close(), m.mem.Close()) }
func (m ownMemory) Info() rping.Info {
	return rping.Info{Addr: m.mr.Addr(), RKey: m.mr.RKey(), Size: uint32(m.mr.Len())}
}

// one read or write is under way at a time.
var ownQPParam = ucma.ConnParam{ResponderResources: 1, InitiatorDepth: 1}

// TestInteropRpingOwnQPClient: the C client, whose queue pair is its own or
// librdmacm's, and a Go server whose queue pair is its own (parity scenarios
// 12, 13).
func TestInteropRpingOwnQPClient(t *testing.T) {
	requireRDMA(t)
	for name, args := range map[string][]string{"own": {"-q"}, "of librdmacm": nil} {
		if args != nil && onIWARP() {
			continue // rping -q completes the handshake itself (rdma_establish), which has no place there
		}
		t.Run(name, func(t *testing.T) {
			checkLeaks(t)
			l := listeningID(t, abi.RDMA_PS_TCP, addrV4+":7291")
			pinged := make(chan struct{})
			go func() {
				defer close(pinged)
				rpingClientOK(t, addrV4, "7291", 20, args...)
			}()
			id, _, err := l.NextRequest(testContext(t))
			if err != nil {
				t.Fatal(err)
			}
			verbsClose(t, id)
			o := ownQP{newIDPeer(t, id, false)}
			o.postAll()
			o.acceptRC(ownQPParam)
			if n, err := rping.Serve(testContext(t), o, nil); err != nil || n.Pings != 20 {
				t.Errorf("%+v, %v", n, err)
			}
			o.check(id.Disconnect())
			<-pinged
		})
	}
}

// TestInteropRpingOwnQPServer: the C server, whose queue pair is its own, and a
// Go client whose queue pair is its own (parity scenarios 12, 13).
func TestInteropRpingOwnQPServer(t *testing.T) {
	requireRDMA(t)
	needsInfiniBand(t, "a C server on siw may overlook the first message, and IDs send no other after it, as connections do (siw_accept)")
	checkLeaks(t)
	server := startTool(t, "rping", "-s", "-q", "-a", addrV4, "-p", "7292", "-v")
	var o ownQP
	retryConnect(t, server, func(ctx context.Context) error {
		o = ownQP{newIDPeer(t, resolvedID(t, abi.RDMA_PS_TCP, "", addrV4+":7292"), false)}
		o.postAll()
		return o.tryConnect(ctx)
	})
	client, err := rping.NewClient(o, 0)
	o.check(err)
	for range 20 {
		if _, err := client.Ping(testContext(t)); err != nil {
			t.Fatal(err)
		}
	}
	o.check(client.Close())
	o.disconnectRC()
	server.wantRpingEnd(t)
	if n := strings.Count(server.out.String(), "server ping data: rdma-ping-"); n != 20 {
		t.Errorf("server saw %d pings, want 20", n)
	}
}

// wantRpingEnd is wantSuccess for a server, which may end with 255 because one
// of its threads still reads events of the channel that another has closed.
func (tl *tool) wantRpingEnd(t *testing.T) {
	t.Helper()
	timer := time.AfterFunc(testTime, func() { _ = tl.cmd.Process.Kill() })
	defer timer.Stop()
	err := tl.cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 255 && strings.Contains(tl.out.String(), "Bad file descriptor") {
		return
	}
	if err != nil {
		t.Errorf("%v: %v\n%s", tl.cmd.Args, err, tl.out)
	}
}

// TestInteropRpingBursts: bursts of C clients of a Go server, each of which is
// served exactly once, and Go clients of the persistent C server, one after the
// other: that of rdma-core 44 mixes up clients that come at the same time
// (parity scenario 14).
func TestInteropRpingBursts(t *testing.T) {
	requireRDMA(t)
	requireTool(t, "rping", "rdmacm-utils")
	const clients = 8
	bursts := 2
	if shortSuite() {
		bursts = 1
	}
	t.Run("C server", func(t *testing.T) {
		checkLeaks(t)
		idle := kernelObjects(t, "cm_id")
		startTool(t, "rping", "-s", "-P", "-a", addrV4, "-p", "7293")
		waitForObjects(testContext(t), t, "cm_id", idle+1)
		for range bursts * clients {
			rpingOnce(t, addrV4+":7293")
		}
		waitForObjects(testContext(t), t, "cm_id", idle+1)
	})
	t.Run("Go server", func(t *testing.T) {
		checkLeaks(t)
		addr, ended := rpingListen(t)
		_, port, _ := strings.Cut(addr, ":")
		for range bursts {
			var wg sync.WaitGroup
			for range clients {
				wg.Go(func() { rpingClientOK(t, addrV4, port, 2) })
			}
			wg.Wait()
		}
		for range bursts * clients {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
		if len(ended) != 0 {
			t.Errorf("%d clients more than there were", len(ended))
		}
	})
}

// TestInteropRpingSource: both ends see the source address that the client
// chose (parity scenario 15).
func TestInteropRpingSource(t *testing.T) {
	requireRDMA(t)
	requireTool(t, "rping", "rdmacm-utils")
	const source = "10.77.0.2"
	addAddress(t, netdev, source+"/24")
	checkLeaks(t)
	peers := make(chan netip.Addr, 1)
	l := listenOn(t, addrV4+":0", &cm.ListenConfig{Config: rping.ConnConfig()})
	go func() {
		defer close(peers)
		req, err := l.Accept(testContext(t))
		if err != nil {
			t.Error(err)
			return
		}
		peers <- req.RemoteAddr().(cm.Addr).Addr()
		conn, err := req.Accept(testContext(t), nil)
		if err != nil {
			t.Error(err)
			return
		}
		if _, err = rping.Serve(testContext(t), rping.Over(conn), nil); err != nil {
			t.Error(err)
		}
		closeConn(t, conn)
	}()
	port := l.Addr().(cm.Addr).Port()
	rpingClientOK(t, addrV4, strconv.Itoa(int(port)), 3, "-I", source)
	if peer := <-peers; peer.String() != source {
		t.Errorf("the server sees %v", peer)
	}
	<-peers

	server := startTool(t, "rping", "-s", "-a", addrV4, "-p", "7294", "-v")
	var o ownQP
	retryConnect(t, server, func(ctx context.Context) error {
		o = ownQP{newIDPeer(t, resolvedID(t, abi.RDMA_PS_TCP, source+":0", addrV4+":7294"), false)}
		o.postAll()
		return o.tryConnect(ctx)
	})
	if a, err := o.id.LocalAddr(); err != nil || !strings.HasPrefix(a.String(), source+":") {
		t.Errorf("local address %v, %v", a, err)
	}
	client, err := rping.NewClient(o, 0)
	o.check(err)
	_, err = client.Ping(testContext(t))
	o.check(errors.Join(err, client.Close()))
	o.disconnectRC()
	server.wantRpingEnd(t)
}

// addAddress gives an interface one more address until the test ends, and
// waits for the device to have it.
func addAddress(t *testing.T, netdev, cidr string) {
	t.Helper()
	link, err := netlink.LinkByName(netdev)
	if err != nil {
		t.Fatal(err)
	}
	a, err := netlink.ParseAddr(cidr)
	if err != nil {
		t.Fatal(err)
	}
	if err := netlink.AddrAdd(link, a); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = netlink.AddrDel(link, a) })
	waitForGID(t, verbsDevice(t).Name, a.IP.String())
}
