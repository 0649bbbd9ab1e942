//go:build linux

package integration

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs"
)

// pingpongKind is one of the C programs and what its peer must be like.
type pingpongKind struct {
	program string
	typ     abi.IBUverbsQPType
	qps     int  // queue pairs
	shared  bool // receives are in a shared queue
	size    int  // bytes of a message
	initial byte // what the program's memory holds at first
}

const (
	pingpongDepth = 64         // receives that are posted
	pingpongQKey  = 0x11111111 // the programs' own
	pingpongSend  = 1 << 32    // in the ID of a send request, with the queue pair's position
)

// addresses is how many addresses the program sends and wants: the one with
// many queue pairs sends all places of its table.
func (k pingpongKind) addresses() int {
	if k.shared {
		return 256
	}
	return 1
}

// header is what datagrams have before their data.
func (k pingpongKind) header() int {
	if k.typ == abi.IB_UVERBS_QPT_UD {
		return uverbs.GRHSize
	}
	return 0
}

// pingpongAddr is what the programs tell each other.
type pingpongAddr struct {
	lid      uint16
	qpn, psn uint32
	gid      uverbs.GID
}

// pingpongAddrSize is the size of a message: text and a zero byte.
const pingpongAddrSize = 4 + 1 + 6 + 1 + 6 + 1 + 32 + 1

func (a pingpongAddr) wire() []byte {
	return fmt.Appendf(nil, "%04x:%06x:%06x:%x\x00", a.lid, a.qpn, a.psn, a.gid[:])
}

func readPingpongAddr(r io.Reader) (a pingpongAddr, err error) {
	b := make([]byte, pingpongAddrSize)
	if _, err := io.ReadFull(r, b); err != nil {
		return a, err
	}
	var gid string
	if _, err := fmt.Sscanf(string(b[:len(b)-1]), "%04x:%06x:%06x:%32s", &a.lid, &a.qpn, &a.psn, &gid); err != nil {
		return a, fmt.Errorf("address %q: %w", b, err)
	}
	n, err := hex.Decode(a.gid[:], []byte(gid))
	if err != nil || n != len(a.gid) {
		return a, fmt.Errorf("address %q: GID of %d bytes, %w", b, n, err)
	}
	return a, nil
}

// pingpongPeer is the other end of a C program, made with package uverbs alone.
type pingpongPeer struct {
	t      *testing.T
	kind   pingpongKind
	gid    uverbs.GIDEntry
	cq     *uverbs.CQ
	srq    *uverbs.SRQ
	mr     *uverbs.MR // places of receives, then one place per queue pair to send from
	sides  []*pingpongSide
	events bool // wait for events; otherwise poll

	sent, received int
}

// pingpongSide is one of the peer's queue pairs.
type pingpongSide struct {
	qp          *uverbs.QP
	psn         uint32
	ah          *uverbs.AH // of datagrams
	remote      pingpongAddr
	sending     bool   // a send is outstanding
	waiting     bool   // an answer is
	theirs      []byte // what the program's memory holds, and so what it sends
	theirsMixed bool   // or partly what it held before
}

func newPingpongPeer(t *testing.T, c *uverbs.Context, kind pingpongKind, events bool) *pingpongPeer {
	t.Helper()
	p := &pingpongPeer{t: t, kind: kind, events: events, gid: verbsGID(t, c)}
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	cfg := uverbs.CQConfig{Entries: pingpongDepth + kind.qps}
	if events {
		cfg.Channel = verbsChannel(t, c)
	}
	var err error
	p.cq, err = c.CreateCQ(cfg)
	check(err)
	verbsClose(t, p.cq)
	pd := verbsPD(t, c)
	mem, err := uverbs.NewMemory(p.place(pingpongDepth + kind.qps))
	check(err)
	verbsClose(t, mem)
	p.mr, err = pd.RegMR(mem, uverbs.AccessLocalWrite)
	check(err)
	verbsClose(t, p.mr)
	if kind.shared {
		p.srq, err = pd.CreateSRQ(uverbs.SRQConfig{MaxWR: pingpongDepth})
		check(err)
		verbsClose(t, p.srq)
	}
	for range kind.qps {
		p.addSide(t, pd)
	}
	for i := range pingpongDepth {
		check(p.postRecv(i))
	}
	return p
}

// addSide makes one more queue pair, in state INIT.
func (p *pingpongPeer) addSide(t *testing.T, pd *uverbs.PD) {
	t.Helper()
	qp, err := pd.CreateQP(uverbs.QPConfig{
		Type: p.kind.typ, SendCQ: p.cq, RecvCQ: p.cq, SRQ: p.srq,
		Cap: uverbs.QPCap{MaxSendWR: 1, MaxRecvWR: pingpongDepth},
	})
	if err != nil {
		t.Fatal(err)
	}
	verbsClose(t, qp)
	if p.kind.typ == abi.IB_UVERBS_QPT_UD {
		err = qp.ToInitUD(1, pingpongQKey)
	} else {
		err = qp.ToInit(1, uverbs.AccessLocalWrite)
	}
	if err != nil {
		t.Fatal(err)
	}
	s := &pingpongSide{qp: qp, psn: uverbs.NewPSN(), theirs: bytes.Repeat([]byte{p.kind.initial}, p.kind.size)}
	zeroPageStarts(s.theirs)
	p.sides = append(p.sides, s)
}

// place is where a place in the memory begins.
func (p *pingpongPeer) place(i int) int { return i * (p.kind.header() + p.kind.size) }

func (p *pingpongPeer) postRecv(place int) error {
	wr := uverbs.RecvWR{
		ID: uint64(place), SGEs: []uverbs.SGE{p.mr.SGE(p.place(place), p.kind.header()+p.kind.size)},
	}
	if p.srq != nil {
		return p.srq.PostRecv(wr)
	}
	return p.sides[0].qp.PostRecv(wr)
}

// zeroPageStarts makes a message one that the programs' option -c accepts: they
// look at the first byte of each page.
func zeroPageStarts(b []byte) {
	for i := 0; i < len(b); i += os.Getpagesize() {
		b[i] = 0
	}
}

func (p *pingpongPeer) sendAddrs(w io.Writer) error {
	var b []byte
	for i := range p.kind.addresses() {
		a := pingpongAddr{gid: p.gid.GID}
		if i < len(p.sides) {
			a.qpn, a.psn = p.sides[i].qp.Number(), p.sides[i].psn
		}
		b = append(b, a.wire()...)
	}
	_, err := w.Write(b)
	return err
}

func (p *pingpongPeer) readAddrs(r io.Reader) error {
	for i := range p.kind.addresses() {
		a, err := readPingpongAddr(r)
		if err != nil {
			return err
		}
		if i < len(p.sides) {
			p.sides[i].remote = a
		}
	}
	return nil
}

// ready takes the queue pairs from INIT to RTS.
func (p *pingpongPeer) ready() error {
	for _, s := range p.sides {
		path := uverbs.AHAttr{DGID: s.remote.gid, SGIDIndex: uint8(p.gid.Index), Port: 1}
		err := s.qp.ToRTR(uverbs.RTRConfig{AH: path, DestQPN: s.remote.qpn, PSN: s.remote.psn, MinRNRTimer: 12})
		if err != nil {
			return err
		}
		if err := s.qp.ToRTS(uverbs.RTSConfig{PSN: s.psn, Timeout: 14, RetryCount: 7, RNRRetry: 7}); err != nil {
			return err
		}
		if p.kind.typ != abi.IB_UVERBS_QPT_UD {
			continue
		}
		if s.ah, err = s.qp.PD().CreateAH(path); err != nil {
			return err
		}
		verbsClose(p.t, s.ah)
	}
	return nil
}

// dial plays against a C server.
func (p *pingpongPeer) dial(ctx context.Context, conn net.Conn, rounds int) error {
	if err := errors.Join(p.sendAddrs(conn), p.readAddrs(conn), p.ready()); err != nil {
		return err
	}
	if _, err := conn.Write([]byte("done\x00")); err != nil {
		return err
	}
	for i := range p.sides {
		if err := p.postSend(i); err != nil {
			return err
		}
	}
	return p.play(ctx, rounds)
}

// serve plays against a C client. It reads the client's confirmation, since
// the client may begin before it is there.
func (p *pingpongPeer) serve(ctx context.Context, conn net.Conn, rounds int) error {
	if err := errors.Join(p.readAddrs(conn), p.ready(), p.sendAddrs(conn)); err != nil {
		return err
	}
	if _, err := io.ReadFull(conn, make([]byte, len("done\x00"))); err != nil {
		return err
	}
	for _, s := range p.sides {
		s.waiting = true
		s.theirsMixed = len(p.sides) > 1
	}
	return p.play(ctx, rounds)
}

// postSend sends the next message of a queue pair. The program sends from
// where it receives, so this message comes back. All queue pairs of the program
// share its memory: with several of them all messages are the same.
func (p *pingpongPeer) postSend(i int) error {
	s, from := p.sides[i], p.place(pingpongDepth+i)
	b := p.mr.Bytes()[from:][:p.kind.size]
	seed := p.sent
	if len(p.sides) > 1 {
		seed = 0
	}
	pattern(b, seed)
	zeroPageStarts(b)
	copy(s.theirs, b)
	s.sending, s.waiting = true, true
	return s.qp.PostSend(uverbs.SendWR{
		ID: pingpongSend | uint64(i), Opcode: abi.IB_UVERBS_WR_SEND, Flags: uverbs.SendSignaled,
		SGEs: []uverbs.SGE{p.mr.SGE(from, p.kind.size)},
		AH:   s.ah, RemoteQPN: s.remote.qpn, RemoteQKey: pingpongQKey,
	})
}

// play answers messages until there were enough in both directions, as the
// programs count them: over all queue pairs.
func (p *pingpongPeer) play(ctx context.Context, rounds int) error {
	for p.sent < rounds || p.received < rounds {
		wcs := make([]uverbs.WC, 8)
		n, err := p.completions(ctx, wcs)
		if err != nil {
			late, _ := p.cq.Poll(wcs) // whether an event was missed, or nothing came
			return fmt.Errorf("%d messages sent, %d received, %d completions in the queue: %w", p.sent, p.received, late, err)
		}
		for i := range wcs[:n] {
			side, err := p.completed(&wcs[i], rounds)
			if err != nil {
				return fmt.Errorf("%d messages sent, %d received: %w", p.sent, p.received, err)
			}
			if s := p.sides[side]; s.sending || s.waiting || p.sent >= rounds {
				continue
			}
			if err := p.postSend(side); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *pingpongPeer) completions(ctx context.Context, wcs []uverbs.WC) (int, error) {
	if p.events {
		return p.cq.Wait(ctx, wcs)
	}
	for ctx.Err() == nil {
		if n, err := p.cq.Poll(wcs); n != 0 || err != nil {
			return n, err
		}
		runtime.Gosched()
	}
	return 0, ctx.Err()
}

// completed returns which queue pair a completion belongs to.
func (p *pingpongPeer) completed(wc *uverbs.WC, rounds int) (side int, err error) {
	err = wc.Err()
	if wc.ID&pingpongSend != 0 {
		side = int(wc.ID &^ pingpongSend)
		if err != nil && p.received < rounds {
			return side, err
		}
		// Otherwise the program has all it wants, and may be gone before it
		// has acknowledged the last message.
		p.sent++
		p.sides[side].sending = false
		return side, nil
	}
	if err != nil {
		return 0, err
	}
	for p.sides[side].qp.Number() != wc.QPN {
		side++
	}
	if err := p.verify(p.sides[side], wc); err != nil {
		return side, err
	}
	p.received++
	p.sides[side].waiting = false
	return side, p.postRecv(int(wc.ID))
}

// verify compares a message with what the program's memory should hold.
func (p *pingpongPeer) verify(s *pingpongSide, wc *uverbs.WC) error {
	if int(wc.ByteLen) != p.kind.header()+p.kind.size {
		return fmt.Errorf("message of %d bytes, want %d", wc.ByteLen, p.kind.size)
	}
	got := p.mr.Bytes()[p.place(int(wc.ID))+p.kind.header():][:p.kind.size]
	other := s.theirs
	if s.theirsMixed {
		// The answers to other queue pairs come into the same memory.
		other = make([]byte, p.kind.size)
		pattern(other, 0)
		zeroPageStarts(other)
		s.theirsMixed = false
	}
	for i, b := range got {
		if b != s.theirs[i] && b != other[i] {
			return fmt.Errorf("message %d of %v: byte %d is %#x, want %#x", p.received, s.qp, i, b, s.theirs[i])
		}
	}
	return nil
}
