//go:build linux

package integration

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs"
)

// The example programs of libibverbs. Messages of connected queue pairs have
// several pages and packets, datagrams one packet.
var pingpongKinds = []pingpongKind{
	{program: "ibv_rc_pingpong", typ: abi.IB_UVERBS_QPT_RC, qps: 1, size: 10000, initial: 0x7b},
	{program: "ibv_uc_pingpong", typ: abi.IB_UVERBS_QPT_UC, qps: 1, size: 10000, initial: 0x7b},
	{program: "ibv_ud_pingpong", typ: abi.IB_UVERBS_QPT_UD, qps: 1, size: 1024, initial: 0x7b},
	{program: "ibv_srq_pingpong", typ: abi.IB_UVERBS_QPT_RC, qps: 16, shared: true, size: 10000},
}

const pingpongRounds = 100

// eachPingpong runs a test with each program, where both sides poll and where
// both wait for events.
func eachPingpong(t *testing.T, f func(t *testing.T, kind pingpongKind, events bool)) {
	for _, kind := range pingpongKinds {
		for _, events := range []bool{false, true} {
			name := strings.TrimPrefix(kind.program, "ibv_")
			if events {
				name += ", events"
			}
			t.Run(name, func(t *testing.T) { f(t, kind, events) })
		}
	}
}

// startPingpong starts the C program; host is empty for a server.
func startPingpong(t *testing.T, kind pingpongKind, events bool, port, host string) *process {
	t.Helper()
	d := verbsDevice(t)
	args := []string{
		"-d", d.Name, "-g", strconv.Itoa(pingpongGID(t, d)), "-c", "-p", port, "-s", strconv.Itoa(kind.size),
		"-n", strconv.Itoa(pingpongRounds), "-r", strconv.Itoa(pingpongDepth),
	}
	if events {
		args = append(args, "-e")
	}
	if kind.shared {
		args = append(args, "-q", strconv.Itoa(kind.qps))
	}
	if host != "" {
		args = append(args, host)
	}
	return start(t, requireTool(t, kind.program, "ibverbs-utils"), args...)
}

// pingpongGID is the slot of verbsGID.
func pingpongGID(t *testing.T, d *uverbs.Device) int {
	t.Helper()
	c, err := d.Open(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll(t, c)
	return verbsGID(t, c).Index
}

// wantPingpongEnd waits for the end of the C program and looks at what it says.
func wantPingpongEnd(t *testing.T, p *process) {
	t.Helper()
	if code := p.exit(t); code != 0 {
		t.Errorf("the program's exit status is %d", code)
	}
	want := fmt.Sprintf("%d iters in ", pingpongRounds)
	if out := p.text(); !strings.Contains(out, want) || strings.Contains(out, "invalid data") {
		t.Errorf("the program's output should have %q and no invalid data", want)
	}
}

// servePingpong is a Go server for one client.
func servePingpong(ctx context.Context, t *testing.T, p *pingpongPeer, l net.Listener) {
	t.Helper()
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll(t, conn)
	if err := p.serve(ctx, conn, pingpongRounds); err != nil {
		t.Fatal(err)
	}
}

// dialPingpong is a Go client. The C server says nothing when it listens.
func dialPingpong(ctx context.Context, t *testing.T, p *pingpongPeer, address string) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	for err != nil && ctx.Err() == nil {
		time.Sleep(50 * time.Millisecond)
		conn, err = net.Dial("tcp", address)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll(t, conn)
	if err := p.dial(ctx, conn, pingpongRounds); err != nil {
		t.Fatal(err)
	}
}

// TestInteropPingpongServer: Go clients of the C servers of libibverbs, whose
// queue pairs know their peer from TCP.
func TestInteropPingpongServer(t *testing.T) {
	requireRDMA(t)
	port := 7800
	eachPingpong(t, func(t *testing.T, kind pingpongKind, events bool) {
		port++
		p := newPingpongPeer(t, verbsOpen(t, uverbs.StyleAuto), kind, events)
		server := startPingpong(t, kind, events, strconv.Itoa(port), "")
		dialPingpong(testContext(t), t, p, addrPort(addrV4, uint16(port)))
		wantPingpongEnd(t, server)
	})
}

// TestInteropPingpongClient: C clients of a Go server.
func TestInteropPingpongClient(t *testing.T) {
	requireRDMA(t)
	eachPingpong(t, func(t *testing.T, kind pingpongKind, events bool) {
		p := newPingpongPeer(t, verbsOpen(t, uverbs.StyleAuto), kind, events)
		l, err := net.Listen("tcp", addrV4+":0")
		if err != nil {
			t.Fatal(err)
		}
		defer closeAll(t, l)
		_, port, err := net.SplitHostPort(l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		client := startPingpong(t, kind, events, port, addrV4)
		servePingpong(testContext(t), t, p, l)
		wantPingpongEnd(t, client)
	})
}
