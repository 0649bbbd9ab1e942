//go:build linux

package integration

import (
	"io"
	"net"
	"testing"

	"github.com/purerdma/rdma/uverbs"
)

// Ports of guest 0: where the two keep in step, and those of the servers.
const (
	pingpongControl = ":7491"
	pingpongGoPort  = "7492"
	pingpongCPort   = "7493"
)

// TestNodesPingpong plays between two kernels: guest 0 serves, first in Go and
// then with the C program, guest 1 is the client in the other language.
func TestNodesPingpong(t *testing.T) {
	node := requireNodes(t)
	requireTool(t, "ibv_rc_pingpong", "ibverbs-utils")
	checkLeaks(t)
	other := controlConn(t, node, pingpongControl)
	// inStep returns when the other guest has come to the same point.
	inStep := func(t *testing.T) {
		t.Helper()
		if _, err := other.Write([]byte{1}); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(other, make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
	}
	play := pingpongNodeServe
	if node == 1 {
		play = pingpongNodeDial
	}
	eachPingpong(t, func(t *testing.T, kind pingpongKind, events bool) {
		t.Cleanup(func() {
			if t.Failed() {
				_ = other.Close() // or the other guest would wait
			}
		})
		play(t, kind, events, func() { inStep(t) })
	})
}

func pingpongNodeServe(t *testing.T, kind pingpongKind, events bool, inStep func()) {
	p := newPingpongPeer(t, verbsOpen(t, uverbs.StyleAuto), kind, events)
	l, err := net.Listen("tcp", ":"+pingpongGoPort)
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll(t, l)
	inStep()
	servePingpong(testContext(t), t, p, l)
	inStep() // the client has ended

	server := startPingpong(t, kind, events, pingpongCPort, "")
	wantPingpongEnd(t, server)
	inStep()
}

func pingpongNodeDial(t *testing.T, kind pingpongKind, events bool, inStep func()) {
	inStep()
	wantPingpongEnd(t, startPingpong(t, kind, events, pingpongGoPort, nodeV4(0)))
	inStep()

	p := newPingpongPeer(t, verbsOpen(t, uverbs.StyleAuto), kind, events)
	dialPingpong(testContext(t), t, p, nodeV4(0)+":"+pingpongCPort)
	inStep() // the server has ended
}
