//go:build linux

package integration

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/ucma"
	"github.com/purerdma/rdma/uverbs"
)

// udaddy sends so many datagrams of this size, each with its queue pair number
// as the immediate value, by which the server finds the way back.
const (
	udaddyPort  = 7174
	udaddySize  = 100
	udaddyCount = 10
)

var udaddyFamilies = []struct {
	name, host string
	args       []string
}{
	{"IPv4", addrV4, nil},
	{"IPv6", addrV6, nil},
	{"traffic class", addrV4, []string{"-t", "32"}},
}

// TestInteropUdaddyClient: the C client finds the service of a Go server by
// its request; datagrams go both ways (parity scenarios 22, 8, 64).
func TestInteropUdaddyClient(t *testing.T) {
	requireRDMA(t)
	for _, tt := range udaddyFamilies {
		t.Run(tt.name, func(t *testing.T) {
			checkLeaks(t)
			l := listeningID(t, abi.RDMA_PS_UDP, addrPort(tt.host, udaddyPort))
			client := startTool(t, "udaddy", append([]string{"-s", tt.host}, tt.args...)...)
			id, _ := nextRequest(t, l, client)
			p := newIDPeer(t, id, false)
			p.readyUD()
			p.postDatagrams(0, udaddyCount)
			p.check(p.id.AcceptDatagram(&cm.DatagramReply{QPNum: p.qp.Number()}))

			first := p.receiveDatagrams(udaddyCount)
			back, err := p.pd.CreateAHFromWC(int(p.ps), &first, p.slot(int(first.ID)))
			p.check(err)
			verbsClose(t, back)
			p.sendDatagrams(back, first.Imm, cm.DatagramQKey, udaddyCount)
			client.wantSuccess(t)
		})
	}
}

// TestInteropUdaddyServer: a Go client asks the C server how to reach it;
// datagrams go both ways (parity scenarios 22, 8, 64).
func TestInteropUdaddyServer(t *testing.T) {
	requireRDMA(t)
	for _, tt := range udaddyFamilies {
		t.Run(tt.name, func(t *testing.T) {
			checkLeaks(t)
			server := startTool(t, "udaddy", "-b", tt.host)
			var reply *ucma.UDParam
			var p *idPeer
			retryConnect(t, server, func(ctx context.Context) error {
				id := resolvedID(t, abi.RDMA_PS_UDP, "", addrPort(tt.host, udaddyPort))
				if p == nil {
					p = newIDPeer(t, id, false)
					p.readyUD()
					p.postDatagrams(udaddyCount, udaddyCount)
				}
				var err error
				reply, err = id.ConnectDatagram(ctx, nil)
				return err
			})
			if reply.QKey != cm.DatagramQKey || reply.QPNum == 0 {
				t.Errorf("reply %+v", reply)
			}
			there, err := p.pd.CreateAH(uverbs.AHAttrFromCM(&reply.AHAttr))
			p.check(err)
			verbsClose(t, there)
			last := p.collect(udaddyCount, func() { p.sendDatagrams(there, reply.QPNum, reply.QKey, udaddyCount) })
			// The C program answers from the memory that it receives into:
			// the header of our datagram, then the start of its content.
			got := p.slot(int(last.ID))[uverbs.GRHSize:][:udaddySize]
			grh, err := uverbs.ParseGRH(got)
			if err != nil || grh.Dst.Addr().String() != tt.host {
				t.Errorf("our header as the server saw it: %+v, %v", grh, err)
			}
			sent := p.slot(0)[:udaddySize-uverbs.GRHSize]
			if !bytes.Equal(got[uverbs.GRHSize:], sent) {
				t.Errorf("our datagram as the server saw it:\n% x, want\n% x", got[uverbs.GRHSize:], sent)
			}
			server.wantSuccess(t)
		})
	}
}

// postDatagrams posts n receives from a slot on.
func (p *idPeer) postDatagrams(slot, n int) {
	p.t.Helper()
	for i := range n {
		p.post(slot+i, uverbs.GRHSize+udaddySize)
	}
}

// receiveDatagrams takes n datagrams of one sender and returns one of them.
func (p *idPeer) receiveDatagrams(n int) (wc uverbs.WC) {
	p.t.Helper()
	ctx := testContext(p.t)
	for i := range n {
		wc = p.receiveDatagram(ctx, i)
	}
	return wc
}

// collect takes n datagrams of one sender and returns the last. It makes the peer send
// again when some are missing: nobody repeats lost datagrams, and what the peer has
// no receive for any more is dropped.
func (p *idPeer) collect(n int, send func()) (wc uverbs.WC) {
	p.t.Helper()
	ctx := testContext(p.t)
	for got := 0; got < n; {
		if ctx.Err() != nil {
			p.t.Fatalf("%d datagrams of %d came", got, n)
		}
		send()
		soon, cancel := context.WithTimeout(ctx, 2*time.Second)
		for ; got < n; got++ {
			next, err := p.next(soon, abi.IB_WC_RECV)
			if errors.Is(err, context.DeadlineExceeded) {
				break
			}
			p.check(errors.Join(err, checkDatagram(&next)))
			wc = next
		}
		cancel()
	}
	return wc
}

func (p *idPeer) receiveDatagram(ctx context.Context, i int) uverbs.WC {
	p.t.Helper()
	wc, err := p.next(ctx, abi.IB_WC_RECV)
	if err != nil {
		p.t.Fatalf("datagram %d: %v", i, err)
	}
	if err := checkDatagram(&wc); err != nil {
		p.t.Fatalf("datagram %d: %v: %+v", i, err, wc)
	}
	return wc
}

func checkDatagram(wc *uverbs.WC) error {
	switch {
	case wc.ByteLen != uverbs.GRHSize+udaddySize:
		return errors.New("wrong length")
	case wc.Flags&abi.IB_WC_GRH == 0 || wc.Flags&abi.IB_WC_WITH_IMM == 0:
		return errors.New("no header or no immediate value")
	case wc.Imm != wc.SrcQPN:
		return errors.New("the immediate value is not the sender's number")
	}
	return nil
}

// sendDatagrams sends n datagrams with the same content from slot 0.
func (p *idPeer) sendDatagrams(ah *uverbs.AH, qpn, qkey uint32, n int) {
	p.t.Helper()
	pattern(p.slot(0)[:udaddySize], n)
	for range n {
		p.check(p.qp.PostSend(uverbs.SendWR{
			Opcode: abi.IB_UVERBS_WR_SEND_WITH_IMM, Flags: uverbs.SendSignaled, Imm: p.qp.Number(),
			SGEs: []uverbs.SGE{p.mr.SGE(0, udaddySize)}, AH: ah, RemoteQPN: qpn, RemoteQKey: qkey,
		}))
	}
	for range n {
		p.want(abi.IB_WC_SEND)
	}
}
