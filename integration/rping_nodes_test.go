//go:build linux

package integration

import (
	"net"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// Addresses of node 0 on the common segment, and where it waits for the other
// to be done.
const (
	rpingNode4    = "10.78.0.1"
	rpingNode6    = "fd00:78::1"
	rpingNodeDone = "10.78.0.1:7999"
	rpingCPort    = "7300"
)

// TestNodesRping pings between two kernels: node 0 serves with both programs,
// node 1 is the client with both.
func TestNodesRping(t *testing.T) {
	node := requireNodes(t)
	requireTool(t, "rping", "rdmacm-utils")
	checkLeaks(t)
	switch node {
	case 0:
		rpingNodeServe(t)
	case 1:
		rpingNodePing(t)
	}
}

func rpingNodeServe(t *testing.T) {
	l, err := net.Listen("tcp", rpingNodeDone)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	server := start(t, requireProbe(t), "serve")
	server.await(t, "listening on ")
	everywhere := []string{"::0"}
	if onIWARP() {
		everywhere = []string{rpingNode4, rpingNode6} // the kernel refuses IPv4 on the wildcard
	}
	for _, address := range everywhere {
		start(t, requireTool(t, "rping", "rdmacm-utils"), "-s", "-P", "-a", address, "-p", rpingCPort, "-S", "4096")
	}
	if err := l.(*net.TCPListener).SetDeadline(time.Now().Add(3 * testTime)); err != nil {
		t.Fatal(err)
	}
	c, err := l.Accept()
	if err != nil {
		t.Fatalf("node 1 does not say that it is done: %v", err)
	}
	_ = c.Close()
	if code := server.signal(t, syscall.SIGTERM); code != 0 {
		t.Errorf("server's exit code %d", code)
	}
}

func rpingNodePing(t *testing.T) {
	defer func() {
		if c, err := net.DialTimeout("tcp", rpingNodeDone, testTime); err == nil {
			_ = c.Close()
		}
	}()
	for _, host := range []string{rpingNode4, rpingNode6} {
		for _, port := range []string{"7174", rpingCPort} {
			rpingRetry(t, "ping", net.JoinHostPort(host, port), "-C", "50", "--interval", "0", "-S", "4096")
			if port == rpingCPort && onIWARP() {
				// Two C programs may wait for each other for ever there: siw can
				// overlook the first message (siw_accept), and they send no more.
				continue
			}
			rpingClientOK(t, host, port, 50, "-S", "4096")
		}
		for range 3 { // every connection has a first message
			rpingClientOK(t, host, "7174", 1)
		}
	}
	probe(t, "ping", rpingNode4+":9").want(t, 6)
}

// rpingRetry runs the program until the server is up.
func rpingRetry(t *testing.T, args ...string) {
	t.Helper()
	for deadline := time.Now().Add(testTime); ; time.Sleep(100 * time.Millisecond) {
		r := runTool(t, exec.CommandContext(testContext(t), requireProbe(t), patient(args)...))
		if r.code == 6 && time.Now().Before(deadline) {
			continue
		}
		r.want(t, 0)
		return
	}
}
