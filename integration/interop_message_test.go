//go:build linux

package integration

import (
	"bytes"
	"context"
	"encoding/binary"
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/ucma"
	"github.com/purerdma/rdma/uverbs"
)

// The programs of this file send messages of this size.
const messageSize = 16

// sendMessage sends 16 bytes and does not wait for the completion. The C
// programs disconnect as soon as they have the message, and rxe then drops the
// acknowledgement if that is still to come (rxe_xmit_packet): it completes the
// receive first. What the peer does next tells that the message arrived.
func (p *idPeer) sendMessage(b []byte) {
	p.t.Helper()
	p.check(p.qp.PostSend(uverbs.SendWR{Opcode: abi.IB_UVERBS_WR_SEND, Inline: b}))
}

// disconnectAfter waits for the peer to disconnect, and does so too.
func (p *idPeer) disconnectAfter() {
	p.t.Helper()
	p.check(p.id.WaitDisconnected(testContext(p.t)))
	p.check(p.id.Disconnect())
}

// wantMessage receives the 16 bytes into slot 0: the C programs send zeros.
func (p *idPeer) wantMessage() {
	p.t.Helper()
	wc := p.want(abi.IB_WC_RECV)
	if got := p.slot(0)[:wc.ByteLen]; !bytes.Equal(got, make([]byte, messageSize)) {
		p.t.Errorf("received % x", got)
	}
}

// dirty makes the receive memory differ from what will arrive.
func (p *idPeer) dirty() { pattern(p.slot(0), 5) }

// TestInteropRdmaServer: the C server and a Go client exchange a message each
// way (parity scenarios 27, 1, 64).
func TestInteropRdmaServer(t *testing.T) {
	requireRDMA(t)
	for _, host := range []string{addrV4, addrV6} {
		t.Run(host, func(t *testing.T) {
			checkLeaks(t)
			server := startTool(t, "rdma_server", "-s", host, "-p", "7473")
			p := dialMessages(t, server, addrPort(host, 7473), true)
			p.sendMessage([]byte("hello, C server!"))
			p.wantMessage()
			p.disconnectRC()
			server.wantSuccess(t)
		})
	}
}

// dialMessages connects to a C server with an ID and queue pair of its own,
// with a receive posted if asked.
func dialMessages(t *testing.T, server *tool, addr string, receive bool) (p *idPeer) {
	t.Helper()
	retryConnect(t, server, func(ctx context.Context) error {
		p = newIDPeer(t, resolvedID(t, abi.RDMA_PS_TCP, "", addr), false)
		if receive {
			p.dirty()
			p.post(0, messageSize)
		}
		return p.tryConnect(ctx)
	})
	return p
}

// TestInteropRdmaClient: the C client and a Go server exchange a message each
// way; the server's receives are its queue pair's own or shared (parity
// scenarios 27, 1, 64).
func TestInteropRdmaClient(t *testing.T) {
	requireRDMA(t)
	for _, tt := range []struct {
		name, host string
		shared     bool
	}{{"IPv4", addrV4, false}, {"IPv6", addrV6, false}, {"shared receives", addrV4, true}} {
		t.Run(tt.name, func(t *testing.T) {
			checkLeaks(t)
			l := listeningID(t, abi.RDMA_PS_TCP, addrPort(tt.host, 7474))
			client := startTool(t, "rdma_client", "-s", tt.host, "-p", "7474")
			id, _ := nextRequest(t, l, client)
			p := newIDPeer(t, id, tt.shared)
			p.dirty()
			p.post(0, messageSize)
			p.acceptRC(ucma.ConnParam{})
			p.wantMessage()
			p.sendMessage([]byte("hello, C client!"))
			p.disconnectAfter()
			client.wantSuccess(t)
		})
	}
}

// TestInteropRdmaXServer: a Go client sends the C server its one message
// (parity scenario 28).
func TestInteropRdmaXServer(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	server := startTool(t, "rdma_xserver", "-c", "r", "-p", "7475")
	p := dialMessages(t, server, addrPort(addrV4, 7475), false)
	p.sendMessage([]byte("hello, C server!"))
	p.disconnectAfter()
	server.wantSuccess(t)
}

// TestInteropRdmaXClient: the C client sends its one message to a Go server
// that takes it from a shared receive queue, and tells the queue's number as
// the C server does (parity scenario 28).
func TestInteropRdmaXClient(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	l := listeningID(t, abi.RDMA_PS_TCP, addrPort(addrV4, 7476))
	client := startTool(t, "rdma_xclient", "-c", "r", "-s", addrV4, "-p", "7476")
	id, _ := nextRequest(t, l, client)
	p := newIDPeer(t, id, true)
	p.dirty()
	p.post(0, messageSize)
	p.acceptRC(ucma.ConnParam{PrivateData: binary.BigEndian.AppendUint32(nil, p.srq.Number())})
	p.wantMessage()
	p.disconnectRC()
	client.wantSuccess(t)
}
