package main

import (
	"fmt"
	"net/netip"
	"strings"
	"syscall"
	"testing"

	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/cmd/rdmaprobe/netinfo"
	"github.com/purerdma/rdma/uverbs"
)

// TestPortTaken: a port that is taken is said to be held by whom.
func TestPortTaken(t *testing.T) {
	for port, want := range map[int]string{7174: "the port is held by rping (pid 812)", 7999: "rdmaprobe res -v, as root, shows who has it"} {
		for _, command := range []string{"serve", "bench serve"} {
			w := rxeWorld()
			local := cm.Addr{AddrPort: netip.AddrPortFrom(netip.MustParseAddr("10.0.0.1"), uint16(port))}
			w.listenErr = fmt.Errorf("%w: %w", cm.ErrAddrInUse, syscall.EADDRINUSE)
			if command == "serve" { // the library says where
				w.listenErr = &cm.OpError{Op: "listen", Local: local, Err: w.listenErr}
			}
			e := failed(t, w.system(), fmt.Sprintf("%s -a 10.0.0.1:%d", command, port))
			if e.Class != "address-in-use" || !strings.Contains(e.Remedy, "choose another port") || !strings.Contains(e.Remedy, want) {
				t.Errorf("%s, port %d: %+v", command, port, e)
			}
		}
	}
}

// TestLoopback: a device on lo is warned of, and its address is none to reach it at.
func TestLoopback(t *testing.T) {
	w := rxeWorld()
	w.diag.Devices[1].Ports[0].Netdev = "lo"
	w.gids["rxe1"] = []uverbs.GIDEntry{gid(0, "127.0.0.1", "lo")}
	sys := w.system()
	sys.addresses = func() map[string][]netip.Addr {
		return map[string][]netip.Addr{"lo": {netip.MustParseAddr("127.0.0.1")}, "eth0": {netip.MustParseAddr("10.0.0.1")}}
	}
	server := &server{app: &app{sys: sys}}
	for _, l := range server.reachable(cm.Addr{AddrPort: netip.MustParseAddrPort("[::]:7174")}) {
		if strings.Contains(strings.Join(l.Addresses, " "), "127.") {
			t.Errorf("serve lists %+v", l)
		}
	}
	for _, line := range []string{"rxe list", "rxe add lo"} {
		var out, errOut strings.Builder
		runOn(t.Context(), sys, strings.Fields(line), &out, &errOut)
		if !strings.Contains(out.String(), "is on the loopback interface lo") || strings.Contains(out.String(), "127.0.0.1") {
			t.Errorf("%s:\n%s%s", line, &out, &errOut)
		}
	}
	if got := server.warnings(); len(got) != 1 || !strings.Contains(got[0], "rxe1 is on the loopback interface") {
		t.Errorf("serve warns %q", got)
	}
}

// TestSmallBacklog: serve warns of a limit that its clients would meet.
func TestSmallBacklog(t *testing.T) {
	sys := rxeWorld().system()
	sys.maxBacklog = func() (int, bool) { return 4, true }
	sys.netdevs = func() (netinfo.Netdevs, error) { return nil, syscall.EPERM }
	got := (&server{app: &app{sys: sys}}).warnings()
	if len(got) != 1 || !strings.Contains(got[0], "max_backlog is 4") || !strings.Contains(got[0], "sysctl net.rdma_ucm.max_backlog=1024") {
		t.Errorf("serve warns %q", got)
	}
}
