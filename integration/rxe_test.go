//go:build linux

package integration

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs"
)

// rxeConfig is what a test of the soft-RoCE data path wants of both sides.
type rxeConfig struct {
	typ     abi.IBUverbsQPType
	cap     uverbs.QPCap
	entries int // of each CQ; 0 becomes 256
	style   uverbs.CallStyle
	srq     *uverbs.SRQ

	blocking bool   // CreateBlockingCompChannel
	notify   func() // CQConfig.Notify of both queues
}

const rxeAccess = uverbs.AccessLocalWrite | uverbs.AccessRemoteWrite | uverbs.AccessRemoteRead | uverbs.AccessRemoteAtomic

// rxePair connects two queue pairs that wait for receives for ever.
func rxePair(t testing.TB, cfg rxeConfig) (a, b *verbsSide) {
	t.Helper()
	a, b = rxeUnconnected(t, cfg)
	rxeConnect(t, a, b)
	return a, b
}

func rxeUnconnected(t testing.TB, cfg rxeConfig) (a, b *verbsSide) {
	t.Helper()
	if t, ok := t.(*testing.T); ok {
		checkLeaks(t)
	}
	c, err := verbsDevice(t).Open(&uverbs.OpenOptions{CallStyle: cfg.style})
	if err != nil {
		t.Fatal(err)
	}
	verbsClose(t, c)
	if name, err := c.Provider(); name != "rxe" {
		missing(t, fmt.Sprintf("a soft-RoCE device (this one is %q, %v)", name, err), "run through scripts/vm")
	}
	pd, ch := verbsPD(t, c), verbsChannel(t, c)
	if cfg.blocking {
		if ch, err = c.CreateBlockingCompChannel(); err != nil {
			t.Fatal(err)
		}
		verbsClose(t, ch)
	}
	return rxeSide(t, pd, ch, cfg), rxeSide(t, pd, ch, cfg)
}

func rxeSide(t testing.TB, pd *uverbs.PD, ch *uverbs.CompChannel, cfg rxeConfig) *verbsSide {
	t.Helper()
	if cfg.entries == 0 {
		cfg.entries = 256
	}
	cq, err := pd.Context().CreateCQ(uverbs.CQConfig{Entries: cfg.entries, Channel: ch, Notify: cfg.notify})
	if err != nil {
		t.Fatal(err)
	}
	verbsClose(t, cq)
	mem, err := uverbs.NewMemory(verbsMemSize)
	if err != nil {
		t.Fatal(err)
	}
	verbsClose(t, mem)
	mr, err := pd.RegMR(mem, rxeAccess)
	if err != nil {
		t.Fatal(err)
	}
	verbsClose(t, mr)
	qp, err := pd.CreateQP(uverbs.QPConfig{Type: cfg.typ, SendCQ: cq, RecvCQ: cq, SRQ: cfg.srq, Cap: cfg.cap})
	if err != nil {
		t.Fatal(err)
	}
	verbsClose(t, qp)
	return &verbsSide{t: t, qp: qp, cq: cq, mr: mr, psn: uverbs.NewPSN()}
}

func rxeConnect(t testing.TB, a, b *verbsSide) {
	t.Helper()
	gid := verbsGID(t, a.qp.Context())
	for _, s := range [][2]*verbsSide{{a, b}, {b, a}} {
		if err := rxeToRTS(s[0], s[1], gid); err != nil {
			t.Fatal(err)
		}
	}
}

func rxeToRTS(s, peer *verbsSide, gid uverbs.GIDEntry) error {
	access := rxeAccess
	if s.qp.Type() == abi.IB_UVERBS_QPT_UC {
		access = uverbs.AccessLocalWrite | uverbs.AccessRemoteWrite
	}
	path := uverbs.AHAttr{DGID: gid.GID, SGIDIndex: uint8(gid.Index), Port: 1}
	return errors.Join(s.qp.ToInit(1, access),
		s.qp.ToRTR(uverbs.RTRConfig{AH: path, DestQPN: peer.qp.Number(), PSN: peer.psn, MaxDestRdAtomic: 4, MinRNRTimer: 1}),
		s.qp.ToRTS(uverbs.RTSConfig{PSN: s.psn, Timeout: 14, RetryCount: 7, RNRRetry: 7, MaxRdAtomic: 4}))
}

// rxeWait returns the next n completions, whatever their status.
func rxeWait(t testing.TB, s *verbsSide, n int) []uverbs.WC {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), verbsTimeout)
	defer cancel()
	wcs := make([]uverbs.WC, n)
	for got := 0; got < n; {
		k, err := s.cq.Wait(ctx, wcs[got:])
		if err != nil {
			t.Fatalf("%d of %d completions, then %v", got, n, err)
		}
		got += k
	}
	return wcs
}

// TestRxeWrapAround sends many times more messages than the rings have slots,
// in batches of every size that fits, both ways.
func TestRxeWrapAround(t *testing.T) { eachCallStyle(t, rxeWrapAround) }

func rxeWrapAround(t *testing.T, style uverbs.CallStyle) {
	a, b := rxePair(t, rxeConfig{cap: uverbs.QPCap{MaxSendWR: 5, MaxRecvWR: 5, MaxInline: 64}, style: style})
	from, to := a, b
	id := uint64(0)
	for round := range 200 {
		n := 1 + round%5
		var sends []uverbs.SendWR
		var recvs []uverbs.RecvWR
		for i := range n {
			recvs = append(recvs, uverbs.RecvWR{ID: id + uint64(i), SGEs: []uverbs.SGE{to.mr.SGE(i*64, 64)}})
			sends = append(sends, uverbs.SendWR{
				ID: id + uint64(i), Opcode: abi.IB_UVERBS_WR_SEND, Flags: uverbs.SendSignaled,
				Inline: fmt.Appendf(nil, "message %d", id+uint64(i)),
			})
		}
		to.recv(recvs...)
		from.send(sends...)
		for i := range n {
			wc := to.want(id+uint64(i), abi.IB_WC_RECV)
			verbsEqual(t, "message", to.mr.Bytes()[i*64:i*64+int(wc.ByteLen)], sends[i].Inline)
			from.want(id+uint64(i), abi.IB_WC_SEND)
		}
		id += uint64(n)
		from, to = to, from
	}
}

// rxeToNobody is a queue pair whose sends stay outstanding: its peer does not
// listen yet. A peer that listens but has posted no receive would not do: 5.10
// then repeats the send within the POST_SEND command for as long as RNR retries
// last, when both are on one device (rxe_requester and rxe_completer call each
// other and do not wait for the timer).
func rxeToNobody(t testing.TB, cfg rxeConfig) (a, nobody *verbsSide) {
	t.Helper()
	a, b := rxeUnconnected(t, cfg)
	gid := verbsGID(t, a.qp.Context())
	if err := errors.Join(b.qp.ToInit(1, rxeAccess), rxeToRTS(a, b, gid)); err != nil {
		t.Fatal(err)
	}
	return a, b
}

// TestRxeSendQueueFull fills the send queue: exactly the reported number of
// requests fits, and all of them arrive, in order, when the peer listens.
func TestRxeSendQueueFull(t *testing.T) { eachCallStyle(t, rxeSendQueueFull) }

func rxeSendQueueFull(t *testing.T, style uverbs.CallStyle) {
	a, b := rxeToNobody(t, rxeConfig{cap: uverbs.QPCap{MaxSendWR: 9, MaxRecvWR: 40}, style: style})
	fits := a.qp.Cap().MaxSendWR
	for i := range fits {
		a.send(uverbs.SendWR{ID: uint64(i), Opcode: abi.IB_UVERBS_WR_SEND_WITH_IMM, Flags: uverbs.SendSignaled, Imm: uint32(i)})
	}
	if err := a.qp.PostSend(uverbs.SendWR{Opcode: abi.IB_UVERBS_WR_SEND}); !errors.Is(err, uverbs.ErrQueueFull) {
		t.Fatalf("request %d of %d: %v", fits+1, fits, err)
	}
	b.recv(make([]uverbs.RecvWR, fits)...)
	if err := rxeToRTS(b, a, verbsGID(t, a.qp.Context())); err != nil {
		t.Fatal(err)
	}
	for i := range fits {
		if wc := b.want(0, abi.IB_WC_RECV); wc.Imm != uint32(i) {
			t.Fatalf("got message %d, want %d", wc.Imm, i)
		}
		a.want(uint64(i), abi.IB_WC_SEND)
	}
	a.send(uverbs.SendWR{ID: 50, Opcode: abi.IB_UVERBS_WR_RDMA_WRITE, Flags: uverbs.SendSignaled, RemoteAddr: b.mr.Addr(), RKey: b.mr.RKey()})
	a.want(50, abi.IB_WC_RDMA_WRITE)
}

// TestRxeBatch posts a batch as long as the queue at once; only its last
// request is signaled.
func TestRxeBatch(t *testing.T) { eachCallStyle(t, rxeBatch) }

func rxeBatch(t *testing.T, style uverbs.CallStyle) {
	const n, piece = 120, 512
	a, b := rxePair(t, rxeConfig{cap: uverbs.QPCap{MaxSendWR: n, MaxRecvWR: 1}, style: style})
	for round := range 5 {
		want := bytes.Clone(a.fill(byte(round))[:n*piece])
		b.fill(byte(round + 100))
		wrs := make([]uverbs.SendWR, n)
		for i := range wrs {
			wrs[i] = uverbs.SendWR{
				ID: uint64(i), Opcode: abi.IB_UVERBS_WR_RDMA_WRITE, SGEs: []uverbs.SGE{a.mr.SGE(i*piece, piece)},
				RemoteAddr: b.mr.Addr() + uint64(i*piece), RKey: b.mr.RKey(),
			}
		}
		wrs[n-1].Flags = uverbs.SendSignaled
		a.send(wrs...)
		a.want(n-1, abi.IB_WC_RDMA_WRITE)
		verbsEqual(t, "written", b.mr.Bytes()[:n*piece], want)
	}
}

// TestRxeInlineLimit sends and writes inline data of every length near the
// limits of a slot.
func TestRxeInlineLimit(t *testing.T) { eachCallStyle(t, rxeInlineLimit) }

func rxeInlineLimit(t *testing.T, style uverbs.CallStyle) {
	const most = 512 // RXE_MAX_INLINE_DATA of all kernels
	a, b := rxePair(t, rxeConfig{cap: uverbs.QPCap{MaxSendWR: 4, MaxRecvWR: 4, MaxInline: most}, style: style})
	limit := a.qp.Cap().MaxInline
	if limit < most {
		t.Fatalf("inline limit %d", limit)
	}
	data := make([]byte, limit)
	for i := range data {
		data[i] = byte(i*13 + 1)
	}
	for _, n := range []int{0, 1, 3, 15, 16, 17, 63, 64, 65, limit - 1, limit} {
		b.fill(9)
		b.recv(uverbs.RecvWR{ID: 1, SGEs: []uverbs.SGE{b.mr.SGE(0, 1024)}})
		wr := uverbs.SendWR{ID: 2, Opcode: abi.IB_UVERBS_WR_SEND, Inline: data[:n]}
		write := wr
		write.ID, write.Opcode, write.Flags = 3, abi.IB_UVERBS_WR_RDMA_WRITE, uverbs.SendSignaled
		write.RemoteAddr, write.RKey = b.mr.Addr()+2048, b.mr.RKey()
		a.send(wr, write)
		if wc := b.want(1, abi.IB_WC_RECV); int(wc.ByteLen) != n {
			t.Fatalf("%d bytes received, %d sent", wc.ByteLen, n)
		}
		a.want(3, abi.IB_WC_RDMA_WRITE)
		verbsEqual(t, "received", b.mr.Bytes()[:n], data[:n])
		verbsEqual(t, "written", b.mr.Bytes()[2048:2048+n], data[:n])
	}
	err := a.qp.PostSend(uverbs.SendWR{Opcode: abi.IB_UVERBS_WR_SEND, Inline: make([]byte, limit+1)})
	if !errors.Is(err, uverbs.ErrInlineSize) {
		t.Errorf("one byte more: %v", err)
	}
}

// TestRxeManyEntries gathers from and scatters to 32 pieces of odd sizes, one
// of them empty, by send, write and read.
func TestRxeManyEntries(t *testing.T) { eachCallStyle(t, rxeManyEntries) }

func rxeManyEntries(t *testing.T, style uverbs.CallStyle) {
	const n = 32 // RXE_MAX_SGE
	a, b := rxePair(t, rxeConfig{cap: uverbs.QPCap{MaxSendWR: 4, MaxRecvWR: 4, MaxSendSGE: n, MaxRecvSGE: n}, style: style})
	src := bytes.Clone(a.fill(21))
	var gather, scatter []uverbs.SGE
	var want []byte
	for i := range n {
		at, length := i*1500, 33*i
		gather = append(gather, a.mr.SGE(at, length))
		want = append(want, src[at:at+length]...)
		scatter = append(scatter, b.mr.SGE(i*1200, 33*(n-1-i)))
	}
	scattered := func(mem []byte) (out []byte) {
		for i := range n {
			out = append(out, mem[i*1200:i*1200+33*(n-1-i)]...)
		}
		return out
	}
	b.recv(uverbs.RecvWR{ID: 1, SGEs: scatter})
	a.send(uverbs.SendWR{ID: 2, Opcode: abi.IB_UVERBS_WR_SEND, Flags: uverbs.SendSignaled, SGEs: gather})
	b.want(1, abi.IB_WC_RECV)
	a.want(2, abi.IB_WC_SEND)
	verbsEqual(t, "scattered by a receive", scattered(b.mr.Bytes()), want)

	b.fill(0)
	a.send(uverbs.SendWR{ID: 3, Opcode: abi.IB_UVERBS_WR_RDMA_WRITE, Flags: uverbs.SendSignaled, SGEs: gather, RemoteAddr: b.mr.Addr(), RKey: b.mr.RKey()})
	a.want(3, abi.IB_WC_RDMA_WRITE)
	verbsEqual(t, "gathered by a write", b.mr.Bytes()[:len(want)], want)

	b.fill(0)
	b.send(uverbs.SendWR{ID: 4, Opcode: abi.IB_UVERBS_WR_RDMA_READ, Flags: uverbs.SendSignaled, SGEs: scatter, RemoteAddr: a.mr.Addr(), RKey: a.mr.RKey()})
	b.want(4, abi.IB_WC_RDMA_READ)
	verbsEqual(t, "scattered by a read", scattered(b.mr.Bytes()), src[:len(want)])

	over := append(gather, gather[0])
	if max := a.qp.Cap().MaxSendSGE; max == n {
		if err := a.qp.PostSend(uverbs.SendWR{Opcode: abi.IB_UVERBS_WR_SEND, SGEs: over}); !errors.Is(err, uverbs.ErrTooManySGEs) {
			t.Errorf("one entry more: %v", err)
		}
	}
}
