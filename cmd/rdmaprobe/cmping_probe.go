package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"syscall"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/internal/rdmanl"
	"github.com/purerdma/rdma/ucma"
	"github.com/purerdma/rdma/uverbs"
)

// cmQuery is one request of cmping.
type cmQuery struct {
	Remote netip.AddrPort
	Local  netip.AddrPort // the zero value lets the kernel choose
	TOS    uint8
	QPNum  uint32 // 0 for a random one
}

// cmAnswer is what came of it.
type cmAnswer struct {
	State    string
	Text     string // the answer in words
	Listener bool
	Local    netip.AddrPort // once resolved
	Device   string
	Resolve  time.Duration
	Answer   time.Duration // from request to answer; 0 without one
	Took     time.Duration // all of it
	Reject   *rejectDoc
	Step     string // where it failed
	Err      error  // nil when up
}

// answered tells whether the far end said anything.
func (got *cmAnswer) answered() bool { return got.State == stateUp || got.State == stateRejected }

func (got cmAnswer) doc(seq uint64) cmProbeDoc {
	return cmProbeDoc{Seq: seq, State: got.State, Answer: got.Text, ResolveMS: milliseconds(got.Resolve),
		TimeMS: milliseconds(got.Answer), WaitedMS: milliseconds(got.Took), Listener: got.Listener, Reject: got.Reject}
}

// cmProbe sends one connect request. Nothing of it is left when it returns.
func cmProbe(ctx context.Context, q cmQuery) cmAnswer {
	var got cmAnswer
	start := time.Now()
	if err := got.run(ctx, q); err != nil {
		got.fail(err)
	}
	got.Took = time.Since(start)
	return got
}

func (got *cmAnswer) run(ctx context.Context, q cmQuery) error {
	got.Step = "open the connection manager"
	id, err := cm.NewID(nil)
	if err != nil {
		return err
	}
	defer id.Close() // it holds nothing that could be lost
	start := time.Now()
	if err := got.resolve(ctx, id, q); err != nil {
		return err
	}
	got.Resolve = time.Since(start)
	got.Step = "prepare a queue pair"
	p := &ucma.ConnParam{QPNum: q.QPNum, RetryCount: 6, RNRRetryCount: 6}
	if p.QPNum == 0 {
		p.QPNum = freeQPNum(ctx, got.Device)
	}
	release, err := queuePairFor(id, p)
	if err != nil {
		return err
	}
	defer release()
	got.Step = "connect"
	start = time.Now()
	_, err = id.Connect(ctx, p, ucma.ECE{})
	got.Answer = time.Since(start)
	if err != nil {
		return err
	}
	got.State, got.Listener = stateUp, true
	got.Text = "a listener accepted"
	hangUp(ctx, id)
	return nil
}

// resolve finds device, source address and path.
func (got *cmAnswer) resolve(ctx context.Context, id *cm.ID, q cmQuery) error {
	got.Step = "resolve address"
	dst, err := ucma.SockaddrFrom(q.Remote)
	if err != nil {
		return err
	}
	if q.Local.IsValid() {
		src, err := ucma.SockaddrFrom(q.Local)
		if err != nil {
			return err
		}
		got.Step = "bind " + q.Local.Addr().String()
		if err := id.Bind(src); err != nil {
			return err
		}
		got.Step = "resolve address"
	}
	if err := id.ResolveAddr(ctx, ucma.Sockaddr{}, dst); err != nil {
		if isTimeout(err) && !rdmaTowards(q.Remote) {
			err = fmt.Errorf("%w: %w", cm.ErrNoDevice, err)
		}
		return err
	}
	if local, err := id.LocalAddr(); err == nil {
		got.Local, _ = local.AddrPort()
	}
	if d, err := id.Device(); err == nil {
		got.Device = d.Name
	}
	got.Step = "resolve route"
	if q.TOS != 0 {
		if err := id.SetTOS(q.TOS); err != nil {
			return err
		}
	}
	return id.ResolveRoute(ctx)
}

// rdmaTowards tells whether the route to an address leaves through an RDMA
// device. The kernel looks for the neighbour first (addr_resolve), and would
// blame one that is silent also where it has no device anyway.
func rdmaTowards(remote netip.AddrPort) bool {
	// Connecting a datagram socket sends nothing and shows the route's source.
	c, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(remote))
	if err != nil {
		return true // nothing is known that says otherwise
	}
	defer c.Close()
	from, ok := c.LocalAddr().(*net.UDPAddr)
	if !ok {
		return true
	}
	sa, err := ucma.SockaddrFrom(netip.AddrPortFrom(from.AddrPort().Addr(), 0))
	if err != nil {
		return true
	}
	id, err := cm.NewID(nil)
	if err != nil {
		return true
	}
	defer id.Close() // nothing is bound that could be lost
	return !errors.Is(id.Bind(sa), cm.ErrNoDevice)
}

// hangUp completes the connection and ends it, as an application that has
// nothing to say would; a reject of the answer would look like a fault in the
// peer's log. That the peer does not confirm is not for this command to say.
func hangUp(ctx context.Context, id *cm.ID) {
	if err := id.Establish(); err != nil {
		return
	}
	if err := id.Disconnect(); err != nil {
		return
	}
	short, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
	defer cancel()
	_ = id.WaitDisconnected(short)
}

// queuePairFor makes a queue pair where the protocol cannot do without: on
// iWARP the kernel takes over the queue pair's stream (iw_cm_connect), and so
// needs a real one. Elsewhere the number is only carried.
func queuePairFor(id *cm.ID, p *ucma.ConnParam) (release func(), err error) {
	d, err := id.Device()
	if err != nil || d.Protocol != uverbs.ProtocolIWARP {
		return func() {}, nil
	}
	if !uverbs.HasProvider(d.DriverID) {
		return nil, fmt.Errorf("%w: iWARP connects through a queue pair, which this build cannot make with driver %s", uverbs.ErrNoProvider, d.Driver())
	}
	ctx, err := d.Open(nil)
	if err != nil {
		return nil, err
	}
	undo := []func() error{ctx.Close}
	release = func() {
		for _, f := range slices.Backward(undo) {
			_ = f() // the ID's end takes what is left with it
		}
	}
	pd, err := ctx.AllocPD()
	if err != nil {
		release()
		return nil, err
	}
	undo = append(undo, pd.Close)
	cq, err := ctx.CreateCQ(uverbs.CQConfig{Entries: 4})
	if err != nil {
		release()
		return nil, err
	}
	undo = append(undo, cq.Close)
	qp, err := id.CreateQP(pd, uverbs.QPConfig{SendCQ: cq, RecvCQ: cq, Cap: uverbs.QPCap{MaxSendWR: 1, MaxRecvWR: 1}})
	if err != nil {
		release()
		return nil, err
	}
	undo = append(undo, qp.Close)
	p.QPNum = qp.Number()
	return release, nil
}

// freeQPNum chooses a queue pair number that this host does not use. The far
// connection manager takes a request with the number of a connection that it
// still has for the news that the old one is dead, and ends that
// (cm_match_req). Drivers count from the bottom, so the upper half is chosen
// from, and what RDMA netlink lists there is left out.
func freeQPNum(ctx context.Context, device string) uint32 {
	used := usedQPNums(ctx, device)
	for {
		n := 0x800000 + rand.Uint32N(0x7ffffe) // not 0xffffff, which is for multicast
		if !slices.Contains(used, n) {
			return n
		}
	}
}

func usedQPNums(ctx context.Context, device string) (used []uint32) {
	c, err := rdmanl.Open()
	if err != nil {
		return nil // the odds remain
	}
	defer c.Close()
	devices, err := c.Devices(ctx)
	if err != nil {
		return nil
	}
	for _, d := range devices {
		if d.Name != device {
			continue
		}
		qps, _ := c.QPs(ctx, int(d.Index))
		for _, q := range qps {
			used = append(used, q.Number)
		}
	}
	return used
}

// fail sorts an error into a state.
func (got *cmAnswer) fail(err error) {
	got.Err = err
	var rej *cm.RejectError
	switch {
	case errors.As(err, &rej):
		got.rejected(rej)
		return
	case got.Step == "connect" && isTimeout(err):
		got.State, got.Text = stateNoAnswer, "its connection manager does not answer"
	case errors.Is(err, cm.ErrNoPorts):
		got.State, got.Text = stateNoPort, "all local ports are taken (net.ipv4.ip_local_port_range)"
	case errors.Is(err, cm.ErrNoDevice), errors.Is(err, cm.ErrDeviceRemoved), errors.Is(err, fs.ErrNotExist),
		errors.Is(err, fs.ErrPermission), errors.Is(err, uverbs.ErrNoProvider), errors.Is(err, syscall.ENODEV):
		got.State, got.Text = stateNoDevice, noDeviceText(got.Step, err)
	case isTimeout(err) && got.Step == "resolve address":
		got.State, got.Text = stateUnresolved, "no neighbour answered for that address"
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		got.State, got.Text = stateUnresolved, "no route to that address"
	default:
		got.State, got.Text = stateUnresolved, got.Step+": "+err.Error()
		if got.Step == "connect" {
			got.State = stateNoAnswer
		}
	}
	got.Answer = 0
}

func noDeviceText(step string, err error) string {
	switch {
	case step == "resolve address" && errors.Is(err, cm.ErrNoDevice):
		return "the way there does not lead through an RDMA device"
	case errors.Is(err, fs.ErrNotExist):
		return "this machine lacks the connection manager"
	case errors.Is(err, fs.ErrPermission):
		return "the connection manager may not be opened"
	}
	return err.Error()
}

// rejected: any reject was sent by the far end. That nobody listens is an
// answer of its kernel, and all that was asked.
func (got *cmAnswer) rejected(rej *cm.RejectError) {
	got.Reject = &rejectDoc{Reason: int(int32(rej.Reason)), Name: rej.Reason.String(), Text: rej.Text(), Advice: rej.Reason.Explain()}
	switch {
	case errors.Is(rej, cm.ErrNoListener), errors.Is(rej, syscall.ECONNREFUSED) && got.Reject.Reason == -int(syscall.ECONNREFUSED):
		got.State, got.Err = stateUp, nil
		got.Text = fmt.Sprintf("no listener on that port (CM reason %d), the host answers", got.Reject.Reason)
		return
	case rej.Reason == abi.IB_CM_REJ_CONSUMER_DEFINED:
		got.Listener = true
		got.Text = "by the application (CM reason 28)"
		got.Reject.Advice = "an application listens there, so the way is all right; its log should say why it refused"
		if errors.Is(rej, cm.ErrBusy) {
			got.Reject.Advice = remedies["busy"]
		}
		if wordless(rej) {
			got.Text, got.Reject.Advice = "without a word (CM reason 28, no data)", wordlessAdvice
		}
		if text := nvmeReject(rej.PrivateData); text != "" && got.Reject.Text == "" {
			got.Reject.Text = text
		}
	default:
		got.Text = fmt.Sprintf("CM reason %d, %s", got.Reject.Reason, got.Reject.Name)
	}
	if got.Reject.Text != "" {
		got.Text += ": " + got.Reject.Text
	}
	got.State = stateRejected
}

// nvmeReject reads the private data with which a target of NVMe over fabrics
// refuses (struct nvme_rdma_cm_rej: record format 0, status, little endian).
func nvmeReject(p []byte) string {
	if len(p) < 4 || binary.LittleEndian.Uint16(p) != 0 {
		return ""
	}
	for _, b := range p[4:] {
		if b != 0 {
			return ""
		}
	}
	names := map[uint16]string{
		1: "invalid private data length", 2: "invalid record format", 3: "invalid queue ID",
		4: "invalid host send queue size", 5: "invalid host receive queue size", 6: "resource not found",
		7: "invalid IRD", 8: "invalid ORD", 9: "invalid controller ID",
	}
	if name := names[binary.LittleEndian.Uint16(p[2:])]; name != "" {
		return "NVMe/F target: " + name
	}
	return ""
}
