//go:build linux

package integration

import (
	"bytes"
	"context"
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs"
)

const verbsMemSize = 64 << 10

var verbsStyles = []uverbs.CallStyle{uverbs.StyleIoctl, uverbs.StyleWrite}

// verbsDevice finds a device whose data path this module has.
func verbsDevice(t testing.TB) *uverbs.Device {
	t.Helper()
	devices, err := uverbs.Devices()
	if err != nil {
		t.Fatalf("list devices: %v", err)
	}
	for _, d := range devices {
		if uverbs.HasProvider(d.DriverID) && d.CharDev.Exists() {
			return d
		}
	}
	missing(t, "an RDMA device with a data path", "run through scripts/vm")
	return nil
}

func verbsOpen(t *testing.T, style uverbs.CallStyle) *uverbs.Context {
	t.Helper()
	checkLeaks(t)
	c, err := verbsDevice(t).Open(&uverbs.OpenOptions{CallStyle: style})
	if err != nil {
		t.Fatal(err)
	}
	verbsClose(t, c)
	return c
}

// verbsClose closes an object at the end of the test, before those it needs.
func verbsClose(t testing.TB, c interface{ Close() error }) {
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
}

// verbsEach runs a test with both call styles.
func verbsEach(t *testing.T, f func(t *testing.T, c *uverbs.Context)) {
	for _, style := range verbsStyles {
		t.Run(style.String(), func(t *testing.T) { f(t, verbsOpen(t, style)) })
	}
}

// eachCallStyle runs a test with both kernel interfaces.
func eachCallStyle(t *testing.T, f func(t *testing.T, style uverbs.CallStyle)) {
	for _, style := range verbsStyles {
		t.Run(style.String(), func(t *testing.T) { f(t, style) })
	}
}

// verbsSide is one end of a connection: a QP with its own CQ and memory.
type verbsSide struct {
	t   testing.TB
	qp  *uverbs.QP
	cq  *uverbs.CQ
	mr  *uverbs.MR
	psn uint32
}

func verbsNewSide(t testing.TB, pd *uverbs.PD, ch *uverbs.CompChannel, cap uverbs.QPCap) *verbsSide {
	t.Helper()
	c := pd.Context()
	cq, err := c.CreateCQ(uverbs.CQConfig{Entries: 64, Channel: ch})
	if err != nil {
		t.Fatal(err)
	}
	verbsClose(t, cq)
	mem, err := uverbs.NewMemory(verbsMemSize)
	if err != nil {
		t.Fatal(err)
	}
	verbsClose(t, mem)
	mr, err := pd.RegMR(mem, uverbs.AccessLocalWrite|uverbs.AccessRemoteWrite|uverbs.AccessRemoteRead|uverbs.AccessRemoteAtomic)
	if err != nil {
		t.Fatal(err)
	}
	verbsClose(t, mr)
	qp, err := pd.CreateQP(uverbs.QPConfig{Type: abi.IB_UVERBS_QPT_RC, SendCQ: cq, RecvCQ: cq, Cap: cap})
	if err != nil {
		t.Fatal(err)
	}
	verbsClose(t, qp)
	return &verbsSide{t: t, qp: qp, cq: cq, mr: mr, psn: uverbs.NewPSN()}
}

var verbsCap = uverbs.QPCap{MaxSendWR: 16, MaxRecvWR: 16, MaxSendSGE: 4, MaxRecvSGE: 4, MaxInline: 64}

func verbsPD(t testing.TB, c *uverbs.Context) *uverbs.PD {
	t.Helper()
	pd, err := c.AllocPD()
	if err != nil {
		t.Fatal(err)
	}
	verbsClose(t, pd)
	return pd
}

func verbsChannel(t testing.TB, c *uverbs.Context) *uverbs.CompChannel {
	t.Helper()
	ch, err := c.CreateCompChannel()
	if err != nil {
		t.Fatal(err)
	}
	verbsClose(t, ch)
	return ch
}

// verbsPair connects two QPs of one device to each other.
func verbsPair(t testing.TB, c *uverbs.Context) (a, b *verbsSide) {
	t.Helper()
	pd, ch := verbsPD(t, c), verbsChannel(t, c)
	a, b = verbsNewSide(t, pd, ch, verbsCap), verbsNewSide(t, pd, ch, verbsCap)
	gid := verbsGID(t, c)
	a.connect(gid, b)
	b.connect(gid, a)
	return a, b
}

// verbsGID picks a GID with an IPv4 address: it exists without waiting for
// duplicate address detection.
func verbsGID(t testing.TB, c *uverbs.Context) uverbs.GIDEntry {
	t.Helper()
	gids, err := c.QueryGIDs(1)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range gids {
		if g.GID.Is4() {
			return g
		}
	}
	t.Fatalf("no IPv4 address among the GIDs %v", gids)
	return uverbs.GIDEntry{}
}

func (s *verbsSide) connect(gid uverbs.GIDEntry, peer *verbsSide) {
	s.t.Helper()
	access := uverbs.AccessLocalWrite | uverbs.AccessRemoteWrite | uverbs.AccessRemoteRead | uverbs.AccessRemoteAtomic
	if err := s.qp.ToInit(1, access); err != nil {
		s.t.Fatal(err)
	}
	path := uverbs.AHAttr{DGID: gid.GID, SGIDIndex: uint8(gid.Index), Port: 1}
	err := s.qp.ToRTR(uverbs.RTRConfig{AH: path, DestQPN: peer.qp.Number(), PSN: peer.psn, MaxDestRdAtomic: 4, MinRNRTimer: 1})
	if err != nil {
		s.t.Fatal(err)
	}
	err = s.qp.ToRTS(uverbs.RTSConfig{PSN: s.psn, Timeout: 14, RetryCount: 5, RNRRetry: 6, MaxRdAtomic: 4})
	if err != nil {
		s.t.Fatal(err)
	}
}

// state is the state of the queue pair in the kernel.
func (s *verbsSide) state() abi.IBQPState {
	s.t.Helper()
	attr, err := s.qp.Query()
	if err != nil {
		s.t.Fatal(err)
	}
	return attr.State
}

func (s *verbsSide) fill(seed byte) []byte {
	p := s.mr.Bytes()
	for i := range p {
		p[i] = seed + byte(i*7)
	}
	return p
}

func (s *verbsSide) send(wrs ...uverbs.SendWR) {
	s.t.Helper()
	if err := s.qp.PostSend(wrs...); err != nil {
		s.t.Fatal(err)
	}
}

func (s *verbsSide) recv(wrs ...uverbs.RecvWR) {
	s.t.Helper()
	if err := s.qp.PostRecv(wrs...); err != nil {
		s.t.Fatal(err)
	}
}

// want waits for one successful completion and checks it.
func (s *verbsSide) want(id uint64, op abi.IBWCOpcode) uverbs.WC {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), verbsTimeout)
	defer cancel()
	var wcs [1]uverbs.WC
	if _, err := s.cq.Wait(ctx, wcs[:]); err != nil {
		s.t.Fatalf("wait for request %d: %v", id, err)
	}
	wc := wcs[0]
	if err := wc.Err(); err != nil {
		s.t.Fatal(err)
	}
	if wc.ID != id || wc.Opcode != op || wc.QPN != s.qp.Number() {
		s.t.Fatalf("got %+v, want id %d, opcode %v, QP %#x", wc, id, op, s.qp.Number())
	}
	return wc
}

func verbsEqual(t testing.TB, what string, got, want []byte) {
	t.Helper()
	if !bytes.Equal(got, want) {
		t.Fatalf("%s: got % x…, want % x…", what, got[:min(len(got), 16)], want[:min(len(want), 16)])
	}
}
