//go:build linux

package integration

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/ucma"
)

// TestScenarioPrivilegedPort: ports below 1024 need a capability (parity
// scenario 36).
func TestScenarioPrivilegedPort(t *testing.T) {
	requireRDMA(t)
	l := listenOn(t, addrV4+":80", nil) // this process has it
	closeAll(t, l)
	cmd := exec.Command("/proc/self/exe", "-test.run=^TestChildPrivilegedPort$", "-test.v")
	cmd.Env = append(os.Environ(), "RDMA_CHILD_PORTS=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	cmd.Dir = "/"
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestChildPrivilegedPort") {
		t.Fatalf("%v\n%s", err, out)
	}
}

// TestChildPrivilegedPort runs as a user without capabilities.
func TestChildPrivilegedPort(t *testing.T) {
	if os.Getenv("RDMA_CHILD_PORTS") == "" {
		return // nobody's child
	}
	for _, host := range []string{addrV4, "[" + addrV6 + "]", "0.0.0.0"} {
		for _, port := range []int{1, 1023} {
			l, err := cm.Listen(testContext(t), fmt.Sprintf("%s:%d", host, port), nil)
			if !errors.Is(err, os.ErrPermission) || !errors.Is(err, syscall.EACCES) ||
				!strings.Contains(err.Error(), "CAP_NET_BIND_SERVICE") {
				t.Errorf("%s:%d: %v", host, port, err)
			}
			if err == nil {
				closeAll(t, l)
			}
		}
		closeAll(t, listenOn(t, host+":1024", nil))
	}
}

// TestScenarioNeighbour: when the neighbour's address on the wire changes,
// kernels since 6.0 report UNREACHABLE for connections to it. An established
// one that works does not end by it (parity scenario 58).
func TestScenarioNeighbour(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	l := listenOn(t, addrV4+":0", nil)
	client, server, _ := connect(t, l, &cm.Dialer{}, nil)
	_, dst := idsListen(t, nil)
	resolved := idsResolved(t, nil, dst)
	for i := range 3 {
		changeNeighbour(t, addrV4, byte(i))
		exchange(t, client, server, 100)
	}
	if client.Err() != nil || server.Err() != nil {
		t.Errorf("the connection ended: %v, %v", client.Err(), server.Err())
	}
	if kernelAtLeast(t, 6, 1) {
		for _, id := range []*cm.ID{client.ID(), resolved} {
			ev, err := id.NextEvent(testContext(t))
			if err != nil || ev.Type != abi.RDMA_CM_EVENT_UNREACHABLE {
				t.Errorf("the kernel reports %v, %v", ev.Type, err)
			}
		}
	}
	exchange(t, client, server, 100)
}

// changeNeighbour tells the kernel another hardware address for a host, until
// the test's end.
func changeNeighbour(t *testing.T, host string, last byte) {
	t.Helper()
	link, err := netlink.LinkByName(netdev)
	if err != nil {
		missing(t, "the guest's link "+netdev, "run through scripts/vm")
	}
	neigh := &netlink.Neigh{
		LinkIndex: link.Attrs().Index, IP: net.ParseIP(host), State: netlink.NUD_PERMANENT,
		HardwareAddr: net.HardwareAddr{2, 0, 0, 0, 1, last},
	}
	if err := netlink.NeighSet(neigh); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = netlink.NeighDel(neigh) })
}

// TestScenarioManyIDs: a process can have more than 65535 IDs, which are as many
// as librdmacm's table of handles has; the last of them connects (parity scenario
// 63).
func TestScenarioManyIDs(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	n := 70_000
	if rxeRace {
		n = 2000
	}
	start := time.Now()
	ids := make([]*cm.ID, n)
	defer func() {
		for _, id := range ids {
			if id == nil {
				continue
			}
			if err := id.Close(); err != nil {
				t.Error(err)
			}
		}
	}()
	for i := range ids {
		var err error
		if ids[i], err = cm.NewID(nil); err != nil {
			t.Fatalf("ID %d: %v", i, err)
		}
	}
	t.Logf("%d IDs in %v", n, time.Since(start).Round(time.Millisecond))
	l, dst := idsListen(t, nil)
	ctx, last := testContext(t), ids[n-1]
	if err := errors.Join(last.ResolveAddr(ctx, ucma.Sockaddr{}, dst), last.ResolveRoute(ctx)); err != nil {
		t.Fatal(err)
	}
	answer := idsConnect(ctx, last, idsParam(0), ucma.ECE{})
	b, _ := idsRequest(t, l)
	if err := b.Accept(idsParam(0), ucma.ECE{}); err != nil {
		t.Fatal(err)
	}
	if r := <-answer; r.err != nil {
		t.Fatal(r.err)
	}
	if err := errors.Join(last.Establish(), b.WaitEstablished(ctx)); err != nil {
		t.Error(err)
	}
}
