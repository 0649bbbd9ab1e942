package main

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/purerdma/rdma/cm"
)

// TestServeTooMany: a peer with too many clients is told so, and others are served; when
// one leaves another may come.
func TestServeTooMany(t *testing.T) {
	w := rxeWorld()
	server := w.startCommand(t, "serve")
	server.await("ADDRESS")
	links := make([]link, maxPeerClients)
	for i := range links {
		var err error
		if links[i], err = w.dial(t.Context(), new(cm.Dialer), "10.0.0.1:7174"); err != nil {
			t.Fatal(err)
		}
	}
	r := w.command(t, "ping", "10.0.0.1", "-C", "1")
	wantCode(t, r, exitRejected)
	if !strings.Contains(strings.Join(strings.Fields(r.stderr), " "), "256 clients of 10.0.0.1 are here, no more are served at a time") {
		t.Errorf("output:\n%s", r.both())
	}
	server.await("refused: 256 clients of 10.0.0.1")
	wantCode(t, w.command(t, "ping", "10.0.0.2", "-C", "1"), exitOK) // whose client has another address
	if err := links[0].Close(); err != nil {
		t.Fatal(err)
	}
	server.await("ended")
	for w.command(t, "ping", "10.0.0.1", "-C", "1").code != exitOK { // the place is free once the end was told
	}
	wantCode(t, server.stop(), exitOK)
}

func TestClientCount(t *testing.T) {
	var c clientCount
	peer := func(i int) netip.Addr { return netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}) }
	for i := range maxClients {
		if err := c.enter(peer(i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.enter(peer(maxClients)); err == nil || err.Error() != "1024 clients are here, no more are served at a time" {
		t.Errorf("one too many: %v", err)
	}
	for i := range maxClients {
		c.leave(peer(i))
	}
	if c.all != 0 || len(c.of) != 0 {
		t.Errorf("left: %d, %v", c.all, c.of)
	}
}
