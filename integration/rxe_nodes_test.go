//go:build linux

package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs"
)

var nodeGroups = []string{"239.7.7.8", "ff0e::77:8"}

// TestNodesDatagrams runs in two guests at once: guest 1 sends datagrams to the
// addresses of guest 0 and to groups that it is in, guest 0 answers each along
// the path that it came. The two tell each other by TCP when to begin and end.
func TestNodesDatagrams(t *testing.T) {
	node := requireNodes(t)
	s := rxeNodeSide(t)
	ctx, cancel := context.WithTimeout(context.Background(), 2*testTime)
	defer cancel()
	if node == 0 {
		serveDatagrams(ctx, t, s)
		return
	}
	conn := dialControl(ctx, t, controlPort)
	var qpn uint32
	if err := json.NewDecoder(conn).Decode(&qpn); err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"10.78.0.1", "fd00:78::1"} {
		askNode(ctx, t, s, netip.MustParseAddr(host), qpn)
	}
	for _, group := range nodeGroups {
		askNode(ctx, t, s, netip.MustParseAddr(group), uverbs.MulticastQPN)
	}
}

// rxeNodeSide is a datagram queue pair that is ready to send.
func rxeNodeSide(t *testing.T) *verbsSide {
	t.Helper()
	s, _ := udPair(t, uverbs.StyleAuto)
	return s
}

const controlPort = ":7490"

// dialControl connects to a port of guest 0, and waits until it has come so far.
func dialControl(ctx context.Context, t *testing.T, port string) net.Conn {
	t.Helper()
	for {
		d := net.Dialer{Timeout: 2 * time.Second}
		conn, err := d.DialContext(ctx, "tcp", nodeV4(0)+port)
		if err == nil {
			verbsClose(t, conn)
			return conn
		}
		if ctx.Err() != nil {
			t.Fatal(err)
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// controlConn connects two guests, at a port of guest 0.
func controlConn(t *testing.T, node int, port string) net.Conn {
	t.Helper()
	if node == 1 {
		return dialControl(testContext(t), t, port)
	}
	l, err := net.Listen("tcp", port)
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll(t, l)
	if err := l.(*net.TCPListener).SetDeadline(time.Now().Add(testTime)); err != nil {
		t.Fatal(err)
	}
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// nodeQuestions is how many questions in a row must be answered.
const nodeQuestions = 10

// askNode sends questions until one is answered, since the way may have to be found
// first, and then some more, of which none may be lost. Answers to earlier questions
// may be late.
func askNode(ctx context.Context, t *testing.T, s *verbsSide, to netip.Addr, qpn uint32) {
	t.Helper()
	own := gidLike(t, s.qp.Context(), to.AsSlice())
	ah, err := s.qp.PD().CreateAH(uverbs.AHAttr{DGID: uverbs.GIDFromAddr(to), SGIDIndex: uint8(own.Index)})
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll(t, ah)
	answered := 0
	for try := 0; answered <= nodeQuestions; try++ {
		question := fmt.Sprintf("question %d to %v", try, to)
		s.recv(uverbs.RecvWR{ID: uint64(try), SGEs: []uverbs.SGE{s.mr.SGE(0, 1024)}})
		s.send(uverbs.SendWR{Opcode: abi.IB_UVERBS_WR_SEND, Inline: []byte(question), AH: ah, RemoteQPN: qpn, RemoteQKey: udQKey})
		patience := time.Second
		if answered > 0 {
			patience = verbsTimeout
		}
		wc, ok := nodeReceive(ctx, t, s, patience)
		for ok && string(s.mr.Bytes()[uverbs.GRHSize:wc.ByteLen]) != question {
			s.recv(uverbs.RecvWR{SGEs: []uverbs.SGE{s.mr.SGE(0, 1024)}})
			wc, ok = nodeReceive(ctx, t, s, patience)
		}
		switch {
		case ok:
			answered++
		case answered > 0 || ctx.Err() != nil:
			t.Errorf("no answer to %s, after %d answers", question, answered)
			return
		}
	}
}

// nodeReceive waits for a message.
func nodeReceive(ctx context.Context, t *testing.T, s *verbsSide, patience time.Duration) (uverbs.WC, bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		var wcs [1]uverbs.WC
		_, err := s.cq.Wait(ctx, wcs[:])
		if err != nil && ctx.Err() == nil {
			t.Fatal(err)
		}
		if err != nil {
			return wcs[0], false
		}
		if err := wcs[0].Err(); err != nil {
			t.Fatal(err)
		}
		if wcs[0].Opcode == abi.IB_WC_RECV {
			return wcs[0], true
		}
	}
}

// serveDatagrams answers each datagram with its own text until the other guest
// hangs up.
func serveDatagrams(ctx context.Context, t *testing.T, s *verbsSide) {
	for _, g := range nodeGroups {
		ip := net.ParseIP(g)
		joinIP(t, gidLike(t, s.qp.Context(), ip).Netdev, ip)
		if err := s.qp.AttachMulticast(uverbs.GID(ip.To16()), 0); err != nil {
			t.Fatal(err)
		}
	}
	l, err := net.Listen("tcp", controlPort)
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll(t, l)
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll(t, conn)
	if err := json.NewEncoder(conn).Encode(s.qp.Number()); err != nil {
		t.Fatal(err)
	}
	hungUp := make(chan struct{})
	go func() {
		defer close(hungUp)
		_, _ = conn.Read(make([]byte, 1)) // ends with the other guest
	}()
	s.recv(uverbs.RecvWR{SGEs: []uverbs.SGE{s.mr.SGE(0, 1024)}})
	for {
		wc, ok := nodeReceive(ctx, t, s, time.Second)
		for ok {
			wc, ok = answerDatagram(ctx, t, s, wc)
		}
		select {
		case <-hungUp:
			return
		case <-ctx.Done():
			t.Fatal("the other guest does not hang up")
		default:
		}
	}
}

// answerDatagram returns the next question if that comes before the answer has completed.
func answerDatagram(ctx context.Context, t *testing.T, s *verbsSide, wc uverbs.WC) (next uverbs.WC, more bool) {
	t.Helper()
	ah, err := s.qp.PD().CreateAHFromWC(1, &wc, s.mr.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	copy(s.mr.Bytes()[4096:], s.mr.Bytes()[uverbs.GRHSize:wc.ByteLen])
	// Before the answer, or the next question could come too early and be dropped.
	s.recv(uverbs.RecvWR{SGEs: []uverbs.SGE{s.mr.SGE(0, 1024)}})
	s.send(uverbs.SendWR{
		ID: 3, Opcode: abi.IB_UVERBS_WR_SEND, Flags: uverbs.SendSignaled,
		SGEs: []uverbs.SGE{s.mr.SGE(4096, int(wc.ByteLen)-uverbs.GRHSize)}, AH: ah, RemoteQPN: wc.SrcQPN, RemoteQKey: udQKey,
	})
	defer closeAll(t, ah) // it must live until the answer has completed
	for {
		var wcs [1]uverbs.WC
		if _, err := s.cq.Wait(ctx, wcs[:]); err != nil {
			t.Fatal(err)
		}
		if err := wcs[0].Err(); err != nil {
			t.Fatal(err)
		}
		if wcs[0].Opcode == abi.IB_WC_SEND {
			return next, more
		}
		next, more = wcs[0], true
	}
}
