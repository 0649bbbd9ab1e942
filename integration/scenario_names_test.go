//go:build linux

package integration

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/ucma"
)

// namesEnv makes the test's binary the child below.
const namesEnv = "RDMA_CHILD_NAMES"

// The names that the child knows.
const (
	knownHosts = addrV4 + " rdma-v4 rdma-both\n" + addrV6 + " rdma-v6 rdma-both\n" +
		addrSilent + " rdma-half\n" + addrV4 + " rdma-half\n"
	knownServices = "rdma-echo 7496/tcp\nrdma-echo 7497/udp\n"
)

// TestScenarioNames resolves names of hosts and services on both sides and
// connects (parity scenario 11), in a process that has names of its own.
func TestScenarioNames(t *testing.T) {
	requireRDMA(t)
	cmd := exec.Command("/proc/self/exe", "-test.run=^TestChildNames$", "-test.v")
	cmd.Env = append(os.Environ(), namesEnv+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestChildNames") {
		t.Fatalf("%v\n%s", err, out)
	}
}

// TestChildNames runs in a mount namespace of its own, with its own /etc.
func TestChildNames(t *testing.T) {
	if os.Getenv(namesEnv) == "" {
		return // nobody's child
	}
	_ = unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "") // not needed on the guest's first root
	err := os.MkdirAll("/etc", 0o755)
	if err == nil {
		err = unix.Mount("tmpfs", "/etc", "tmpfs", 0, "")
	}
	err = errors.Join(err, os.WriteFile("/etc/hosts", []byte(knownHosts), 0o644),
		os.WriteFile("/etc/services", []byte(knownServices), 0o644))
	if err != nil {
		t.Fatal(err)
	}
	t.Run("endpoints", namesEndpoints)
	t.Run("datagram", namesDatagram)
	t.Run("dial", namesDial)
	t.Run("unknown", namesUnknown)
}

// namesEndpoints goes the way of rdma_getaddrinfo and rdma_create_ep.
func namesEndpoints(t *testing.T) {
	for _, tt := range []struct{ name, network string }{{"rdma-v4", ""}, {"rdma-v6", ""}, {"rdma-both", "ip6"}, {"rdma-both", "ip4"}} {
		t.Run(tt.name+tt.network, func(t *testing.T) {
			checkLeaks(t)
			ctx, pd := testContext(t), idsPD(t)
			l := namesEndpoint(t, tt.name, &cm.AddrInfoHints{Passive: true, Network: tt.network})
			if err := l.Listen(0); err != nil {
				t.Fatal(err)
			}
			if a, err := l.LocalAddr(); err != nil || a.Port() != 7496 {
				t.Errorf("listening on %v, %v", a, err)
			}
			a := namesEndpoint(t, tt.name, &cm.AddrInfoHints{Network: tt.network})
			client := idsSide(t, a, pd)
			answer := idsConnect(ctx, a, idsParam(client.qp.Number()), ucma.ECE{})
			b, _ := idsRequest(t, l)
			server := idsSide(t, b, pd)
			err := errors.Join(b.ModifyQP(server.qp, abi.IB_QPS_RTR), b.ModifyQP(server.qp, abi.IB_QPS_RTS),
				b.Accept(idsParam(server.qp.Number()), ucma.ECE{}))
			if err != nil {
				t.Fatal(err)
			}
			if r := <-answer; r.err != nil {
				t.Fatal(r.err)
			}
			err = errors.Join(a.ModifyQP(client.qp, abi.IB_QPS_RTR), a.ModifyQP(client.qp, abi.IB_QPS_RTS), a.Establish(), b.WaitEstablished(ctx))
			if err != nil {
				t.Fatal(err)
			}
			idsPing(t, client, server)
			idsPing(t, server, client)
			if err := errors.Join(a.Disconnect(), b.WaitDisconnected(ctx), b.Disconnect(), a.WaitDisconnected(ctx)); err != nil {
				t.Error(err)
			}
		})
	}
}

// namesEndpoint makes an endpoint of the first result for a name.
func namesEndpoint(t *testing.T, name string, hints *cm.AddrInfoHints) *cm.ID {
	t.Helper()
	ctx := testContext(t)
	ways, err := cm.ResolveAddrInfo(ctx, name, "rdma-echo", hints)
	if err != nil {
		t.Fatal(err)
	}
	id, err := cm.NewEndpoint(ctx, &ways[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	verbsClose(t, id)
	return id
}

// namesDatagram finds a datagram service, whose port has the same name.
func namesDatagram(t *testing.T) {
	checkLeaks(t)
	ctx := testContext(t)
	l := namesEndpoint(t, "rdma-v4", &cm.AddrInfoHints{Passive: true, PortSpace: abi.RDMA_PS_UDP})
	if err := l.Listen(0); err != nil {
		t.Fatal(err)
	}
	if a, err := l.LocalAddr(); err != nil || a.Port() != 7497 {
		t.Errorf("listening on %v, %v", a, err)
	}
	a := namesEndpoint(t, "rdma-v4", &cm.AddrInfoHints{PortSpace: abi.RDMA_PS_UDP})
	found := make(chan *ucma.UDParam, 1)
	go func() {
		p, err := a.ConnectDatagram(ctx, nil)
		if err != nil {
			t.Error(err)
		}
		found <- p
	}()
	b, _ := idsRequest(t, l)
	if err := b.AcceptDatagram(&cm.DatagramReply{QPNum: 0x1234}); err != nil {
		t.Fatal(err)
	}
	if p := <-found; p == nil || p.QPNum != 0x1234 {
		t.Errorf("found %+v", p)
	}
}

// namesDial: all addresses of a name are tried, and one that is silent costs a
// moment only.
func namesDial(t *testing.T) {
	checkLeaks(t)
	ctx := testContext(t)
	ways, err := cm.ResolveAddrInfo(ctx, "rdma-both", "1", nil)
	if err != nil || len(ways) != 2 {
		t.Errorf("two addresses: %v, %v", ways, err)
	}
	l := listenOn(t, "rdma-v4:0", nil)
	_, port, _ := strings.Cut(l.Addr().String(), ":")
	for _, host := range []string{"rdma-v4", "rdma-both", "rdma-half"} {
		inTime(t, "a dial of "+host, 4*time.Second, func() {
			client, server, _ := connectTo(t, l, &cm.Dialer{}, nil, host+":"+port)
			exchange(t, client, server, 100)
		})
	}
}

func namesUnknown(t *testing.T) {
	checkLeaks(t)
	ctx, cancel := context.WithCancel(testContext(t))
	defer cancel()
	if _, err := cm.ResolveAddrInfo(ctx, "rdma-v4", "no-such-service", nil); err == nil {
		t.Error("a service that does not exist")
	}
	if _, err := cm.ResolveAddrInfo(ctx, "rdma-v4", "1", &cm.AddrInfoHints{NumericHost: true}); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("a name for an address: %v", err)
	}
	if _, err := cm.Dial(ctx, "no-such-host.invalid:1"); err == nil {
		t.Error("a host that does not exist")
	}
}
