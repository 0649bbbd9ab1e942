//go:build linux

package integration

import (
	"context"
	"errors"
	"syscall"
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/ucma"
	"github.com/purerdma/rdma/uverbs"
)

// TestScenarioPortSpaceIB connects in port space IB over IP addresses of both
// families; its ports are not those of TCP (parity scenario 20).
func TestScenarioPortSpaceIB(t *testing.T) {
	requireRDMA(t)
	for _, host := range []string{addrV4, addrV6} {
		t.Run(host, func(t *testing.T) {
			checkLeaks(t)
			addr := addrPort(host, 7498)
			l := listeningID(t, abi.RDMA_PS_IB, addr)
			tcp := listeningID(t, abi.RDMA_PS_TCP, addr) // no conflict
			a := resolvedID(t, abi.RDMA_PS_IB, "", addr)
			pd := idsPD(t)
			client := idsSide(t, a, pd)
			answer := idsConnect(testContext(t), a, idsParam(client.qp.Number()), ucma.ECE{})
			b, _ := idsRequest(t, l)
			server := idsSide(t, b, pd)
			err := errors.Join(b.ModifyQP(server.qp, abi.IB_QPS_RTR), b.ModifyQP(server.qp, abi.IB_QPS_RTS),
				b.Accept(idsParam(server.qp.Number()), ucma.ECE{}))
			if err != nil {
				t.Fatal(err)
			}
			if r := <-answer; r.err != nil {
				t.Fatal(r.err)
			}
			err = errors.Join(a.ModifyQP(client.qp, abi.IB_QPS_RTR), a.ModifyQP(client.qp, abi.IB_QPS_RTS), a.Establish())
			if err != nil {
				t.Fatal(err)
			}
			idsPing(t, client, server)
			if b.PortSpace() != abi.RDMA_PS_IB || tcp.PortSpace() != abi.RDMA_PS_TCP {
				t.Errorf("the request is of port space %v", b.PortSpace())
			}
		})
	}
}

// ucmatoseRC moves the messages of ucmatose over an ID and queue pair of the
// test's own: slots below ucmatoseCount receive, the one after sends.
func (p *idPeer) ucmatoseRC(first string) {
	p.t.Helper()
	send := func() {
		for range ucmatoseCount {
			p.check(p.qp.PostSend(uverbs.SendWR{
				Opcode: abi.IB_UVERBS_WR_SEND, Flags: uverbs.SendSignaled,
				SGEs: []uverbs.SGE{p.mr.SGE(ucmatoseCount*slotSize, ucmatoseSize)},
			}))
		}
	}
	receive := func() {
		for range ucmatoseCount {
			if wc := p.want(abi.IB_WC_RECV); wc.ByteLen != ucmatoseSize {
				p.t.Errorf("%d bytes", wc.ByteLen)
			}
		}
	}
	if first == "send" {
		send()
		receive()
		return
	}
	receive()
	send()
}

func (p *idPeer) postUcmatose() {
	p.t.Helper()
	for i := range ucmatoseCount {
		p.post(i, ucmatoseSize)
	}
}

// TestScenarioPortSpaceIBClient: the C client connects to Go in port space IB
// (ucmatose -P ib; parity scenario 20).
func TestScenarioPortSpaceIBClient(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	l := listeningID(t, abi.RDMA_PS_IB, addrPort(addrV4, 7471))
	client := startTool(t, "ucmatose", "-P", "ib", "-s", addrV4)
	id, _ := nextRequest(t, l, client)
	p := newIDPeer(t, id, false)
	p.postUcmatose()
	p.acceptRC(ucma.ConnParam{})
	p.ucmatoseRC("send")
	p.disconnectRC()
	client.wantSuccess(t)
}

// TestScenarioPortSpaceIBServer: Go connects to the C server in port space IB
// (ucmatose -P ib; parity scenario 20).
func TestScenarioPortSpaceIBServer(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	server := startTool(t, "ucmatose", "-P", "ib", "-b", addrV4)
	var p *idPeer
	retryConnect(t, server, func(ctx context.Context) error {
		p = newIDPeer(t, resolvedID(t, abi.RDMA_PS_IB, "", addrPort(addrV4, 7471)), false)
		p.postUcmatose()
		return p.tryConnect(ctx)
	})
	p.ucmatoseRC("receive")
	p.disconnectAfter()
	server.wantSuccess(t)
}

// TestScenarioNativeAddress: addresses of family AF_IB belong to InfiniBand
// ports; on RoCE the kernel says that no device has one. A wildcard of the
// family can be bound and listens, with a service ID for its port (parity
// scenario 21, as far as it goes without InfiniBand).
func TestScenarioNativeAddress(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	ctx := testContext(t)
	const port = 7499
	wildcard := &cm.AddrInfo{
		Passive: true, PortSpace: abi.RDMA_PS_IB, Src: ucma.SockaddrFromGID([16]byte{}, abi.RDMA_PS_IB, port),
	}
	l, err := cm.NewEndpoint(ctx, wildcard, nil)
	if err != nil {
		t.Fatal(err)
	}
	verbsClose(t, l)
	addr, err := l.LocalAddr()
	if ib, ok := addr.IB(); err != nil || !ok || addr.Port() != port || ib.PKey != 0xffff {
		t.Errorf("bound to %+v, %v", addr, err)
	}
	if _, err := l.GIDs(); err != nil {
		t.Errorf("GIDs: %v", err)
	}
	if again, err := cm.NewEndpoint(ctx, wildcard, nil); !errors.Is(err, cm.ErrAddrInUse) {
		t.Errorf("bound twice: %v", err)
		if err == nil {
			verbsClose(t, again)
		}
	}
	if err := l.Listen(0); err != nil {
		t.Error(err)
	}
	gid := rxeGID(t)
	for _, passive := range []bool{true, false} {
		ways, err := cm.ResolveAddrInfo(ctx, gid, "7500", &cm.AddrInfoHints{Passive: passive, Network: "ib", PortSpace: abi.RDMA_PS_IB})
		if err != nil {
			t.Fatal(err)
		}
		if id, err := cm.NewEndpoint(ctx, &ways[0], nil); !errors.Is(err, cm.ErrNoDevice) {
			t.Errorf("endpoint at GID %s, passive %v: %v", gid, passive, err)
			if err == nil {
				verbsClose(t, id)
			}
		}
	}
}

// rxeGID returns a GID of the guest's device as text.
func rxeGID(t *testing.T) string {
	t.Helper()
	gids, err := verbsDevice(t).GIDTable(1)
	if err != nil || len(gids) == 0 {
		t.Fatalf("GIDs: %v, %v", gids, err)
	}
	return gids[0].GID.Addr().String()
}

// TestScenarioServiceRecord: services in InfiniBand's subnet administration
// (RAI_SA) exist on InfiniBand ports only. The kernel says so from 6.18 on; the
// older ones do not know the command (parity scenario 11, the part of
// rdma_resolve_addrinfo that needs InfiniBand).
func TestScenarioServiceRecord(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	ctx := testContext(t)
	service := abi.RDMAUCMIBService{ServiceID: 0x1000000, Flags: abi.RDMA_USER_CM_IB_SERVICE_FLAG_ID}
	id := idsNew(t, nil)
	if _, err := id.ResolveIBService(ctx, service); !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("on an ID without address: %v", err)
	}
	if err := id.Bind(sockaddr(t, addrV4+":0")); err != nil {
		t.Fatal(err)
	}
	_, err := id.ResolveIBService(ctx, service)
	if want := error(errors.ErrUnsupported); kernelAtLeast(t, 6, 18) && !errors.Is(err, want) || !errors.Is(err, want) && !errors.Is(err, syscall.EINVAL) {
		t.Errorf("on an ID of a RoCE device: %v", err)
	}
	if err := id.Listen(0); err != nil {
		t.Errorf("the ID is of no more use: %v", err)
	}
}
