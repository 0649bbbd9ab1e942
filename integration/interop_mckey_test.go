//go:build linux

package integration

import (
	"strings"
	"testing"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/uverbs"
)

// mckey joins a group and waits 3 s; then its sender sends 10 datagrams and
// ends, and its receiver waits until it has 10.
const mckeyGroup = "239.1.2.3"

// mckeyArgs are the arguments for the guest's address.
func mckeyArgs(more ...string) []string {
	return append([]string{"-m", mckeyGroup, "-b", addrV4}, more...)
}

// joinGroup makes a datagram queue pair and joins the group with its ID. As in
// C the address is that of the group.
func joinGroup(t *testing.T, opts *cm.JoinOptions) (*idPeer, *cm.Group) {
	t.Helper()
	id := newID(t, abi.RDMA_PS_UDP)
	dst := sockaddr(t, addrPort(mckeyGroup, 0))
	if err := id.ResolveAddr(testContext(t), sockaddr(t, addrPort(addrV4, 0)), dst); err != nil {
		t.Fatal(err)
	}
	p := newIDPeer(t, id, false)
	p.readyUD()
	g, err := id.JoinMulticast(testContext(t), dst, opts)
	p.check(err)
	if param := g.Param(); param.QPNum != uverbs.MulticastQPN || param.QKey == 0 {
		t.Errorf("group: %+v", param)
	}
	return p, g
}

// sendToGroup sends n datagrams to the group.
func (p *idPeer) sendToGroup(g *cm.Group, n int) {
	p.t.Helper()
	ah, err := p.pd.CreateAH(g.AHAttr())
	p.check(err)
	defer func() { p.check(ah.Close()) }()
	p.sendDatagrams(ah, g.Param().QPNum, g.Param().QKey, n)
}

// TestInteropMckey: C and Go send to a group and receive from it (parity
// scenarios 23, 24, 4, 5).
func TestInteropMckey(t *testing.T) {
	requireRDMA(t)
	for name, more := range map[string][]string{"C sends": nil, "C sends, send-only": {"-o"}} {
		t.Run(name, func(t *testing.T) { mckeyReceive(t, more) })
	}
	for name, opts := range map[string]*cm.JoinOptions{"Go sends": nil, "Go sends, send-only": {SendOnly: true}} {
		t.Run(name, func(t *testing.T) { mckeySend(t, opts) })
	}
}

// mckeySenders is how many queue pairs the C sender has. It destroys them right
// after it has posted the sends, and what is not sent by then is lost: kernels
// from 6.12 on send in the background (rxe_sched_task). The first of several
// queue pairs have time until the last one's sends are posted; should that not be
// enough, the program runs again.
const mckeySenders = "8"

// mckeyReceive: Go receives what the C program sends.
func mckeyReceive(t *testing.T, more []string) {
	checkLeaks(t)
	p, g := joinGroup(t, nil)
	p.check(p.qp.AttachMulticast(g.MGID(), g.MLID()))
	p.postDatagrams(0, udaddyCount)
	args := mckeyArgs(append(more, "-s", "-c", mckeySenders)...)
	last := p.collect(udaddyCount, func() { startTool(t, "mckey", args...).wantSuccess(t) })
	grh, err := uverbs.ParseGRH(p.slot(int(last.ID)))
	if err != nil || grh.Dst != g.MGID() || grh.Src.Addr().String() != addrV4 {
		t.Errorf("header %+v, %v", grh, err)
	}
	p.check(p.qp.DetachMulticast(g.MGID(), g.MLID()))
	p.check(g.Leave())
}

// mckeySend: the C program receives and counts what Go sends. A member that is
// not attached gets nothing itself.
func mckeySend(t *testing.T, opts *cm.JoinOptions) {
	checkLeaks(t)
	p, g := joinGroup(t, opts)
	p.postDatagrams(udaddyCount, udaddyCount)
	receiver := startTool(t, "mckey", mckeyArgs()...)
	// It does not say when it has joined: what comes too early, it misses.
	for ctx := testContext(t); !strings.Contains(receiver.out.String(), "complete"); time.Sleep(200 * time.Millisecond) {
		if ctx.Err() != nil {
			t.Fatalf("mckey does not receive:\n%s", receiver.out)
		}
		p.sendToGroup(g, udaddyCount)
	}
	receiver.wantSuccess(t)
	p.quiet()
	p.check(g.Leave())
}

// quiet wants no datagram to come before one that p sends to itself.
func (p *idPeer) quiet() {
	p.t.Helper()
	gid := verbsGID(p.t, p.dev)
	ah, err := p.pd.CreateAH(uverbs.AHAttr{DGID: gid.GID, SGIDIndex: uint8(gid.Index), Port: p.ps})
	p.check(err)
	defer func() { p.check(ah.Close()) }()
	p.check(p.qp.PostSend(uverbs.SendWR{
		Opcode: abi.IB_UVERBS_WR_SEND, Flags: uverbs.SendSignaled, Inline: []byte("own"),
		AH: ah, RemoteQPN: p.qp.Number(), RemoteQKey: cm.DatagramQKey,
	}))
	p.want(abi.IB_WC_SEND)
	if wc := p.want(abi.IB_WC_RECV); wc.SrcQPN != p.qp.Number() || wc.ByteLen != uverbs.GRHSize+3 {
		p.t.Errorf("a datagram that should not come: %+v", wc)
	}
}

// TestInteropMckeyLeave: after it has left the group, a member gets nothing of
// what the C program sends (parity scenario 6).
func TestInteropMckeyLeave(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	p, g := joinGroup(t, nil)
	p.check(p.qp.AttachMulticast(g.MGID(), g.MLID()))
	p.postDatagrams(0, udaddyCount)
	p.check(p.qp.DetachMulticast(g.MGID(), g.MLID()))
	p.check(g.Leave())
	startTool(t, "mckey", mckeyArgs("-s", "-c", mckeySenders)...).wantSuccess(t)
	p.quiet()
}
