//go:build linux

package integration

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/uverbs"
)

// TestDeviceRemoval deletes the device under a connection: both ends learn it
// by name, the deletion is not held up, and the device added again works
// without a restart (parity scenario 57).
func TestDeviceRemoval(t *testing.T) {
	requireRDMA(t)
	ctx := testContext(t)
	addr := newLink(t, "rdmt0", "rmt0", "10.79.0.1/24")
	checkLeaks(t)
	wildcard := listenOn(t, "0.0.0.0:0", nil)
	_, port, _ := strings.Cut(wildcard.Addr().String(), ":")

	for round := range 2 {
		client, server, _ := connectTo(t, wildcard, &cm.Dialer{}, nil, addr+":"+port)
		exchange(t, client, server, 10)
		waiting := make(chan error, 1)
		go func() {
			_, err := server.Recv(ctx)
			waiting <- err
		}()
		if err := uverbs.DeleteLink(ctx, "rmt0"); err != nil { // ends with ctx if somebody holds it up
			t.Fatal(err)
		}
		// Both ends are on the device: one learns of the removal itself, and
		// the other perhaps first that its peer has gone.
		<-client.Done()
		ends := []error{<-waiting, client.Err()}
		removed := 0
		for _, err := range ends {
			if errors.Is(err, cm.ErrDeviceRemoved) {
				removed++
			} else if !errors.Is(err, cm.ErrPeerClosed) {
				t.Errorf("round %d: a connection ended with %v", round, err)
			}
		}
		if removed == 0 {
			t.Errorf("round %d: nobody was told of the removal: %v", round, ends)
		}
		closeConn(t, client)
		closeConn(t, server)
		if _, err := uverbs.AddLink(ctx, uverbs.LinkConfig{Name: "rmt0", Type: linkType(), Netdev: "rdmt0"}); err != nil {
			t.Fatal(err)
		}
		waitForGID(t, "rmt0", addr)
	}
}

// TestListenerRemoval deletes the device under a listener on its address:
// Accept ends and says why, instead of waiting for clients who cannot come,
// and the address is free when the device is back.
func TestListenerRemoval(t *testing.T) {
	requireRDMA(t)
	ctx := testContext(t)
	addr := newLink(t, "rdmt1", "rmt1", "10.79.1.1/24")
	checkLeaks(t)
	l, err := cm.Listen(ctx, addr+":0", nil)
	if err != nil {
		t.Fatal(err)
	}
	accepted := make(chan error, 1)
	go func() {
		_, err := l.Accept(ctx)
		accepted <- err
	}()
	if err := uverbs.DeleteLink(ctx, "rmt1"); err != nil {
		t.Fatal(err)
	}
	if err := <-accepted; !errors.Is(err, cm.ErrDeviceRemoved) {
		t.Errorf("accept: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if _, err := uverbs.AddLink(ctx, uverbs.LinkConfig{Name: "rmt1", Type: linkType(), Netdev: "rdmt1"}); err != nil {
		t.Fatal(err)
	}
	waitForGID(t, "rmt1", addr)
	again := listenOn(t, l.Addr().String(), nil)
	client, server, _ := connectTo(t, again, &cm.Dialer{}, nil, l.Addr().String())
	exchange(t, client, server, 10)
	closeConn(t, client)
	closeConn(t, server)
}

// newLink makes a dummy interface with a soft RDMA device and an address.
func newLink(t *testing.T, netdev, name, cidr string) (addr string) {
	t.Helper()
	link := &netlink.Dummy{LinkAttrs: netlink.LinkAttrs{Name: netdev}}
	if err := netlink.LinkAdd(link); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = netlink.LinkDel(link) })
	a, err := netlink.ParseAddr(cidr)
	if err != nil {
		t.Fatal(err)
	}
	if err := netlink.AddrAdd(link, a); err != nil {
		t.Fatal(err)
	}
	if err := netlink.LinkSetUp(link); err != nil {
		t.Fatal(err)
	}
	ctx := testContext(t)
	if _, err := uverbs.AddLink(ctx, uverbs.LinkConfig{Name: name, Type: linkType(), Netdev: netdev}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = uverbs.DeleteLink(context.Background(), name) })
	waitForGID(t, name, a.IP.String())
	return a.IP.String()
}

// waitForGID waits until the device has a GID of the address: the kernel adds
// it in the background.
func waitForGID(t *testing.T, name, addr string) {
	t.Helper()
	for deadline := time.Now().Add(testTime); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		dev, err := uverbs.DeviceByName(name)
		if err == nil && onIWARP() {
			return // its one GID has no address
		}
		if err == nil {
			if gids, err := dev.GIDTable(1); err == nil {
				for _, g := range gids {
					if g.GID.Addr().Unmap().String() == addr {
						return
					}
				}
			}
		}
	}
	t.Fatalf("%s got no GID of %s", name, addr)
}

// TestPeerKilled: the peer's process dies without a word; its kernel tells
// this end at once (parity scenario 54).
func TestPeerKilled(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	ctx := testContext(t)
	l := listenOn(t, addrV4+":0", nil)
	peer, conn := connectedPeer(ctx, t, l, "TestChildDials", "RDMA_CHILD_DIALS")
	if err := peer.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = peer.Wait()
	if _, err := conn.Recv(ctx); !errors.Is(err, cm.ErrPeerClosed) {
		t.Errorf("receive from a killed peer: %v", err)
	}
	closeConn(t, conn)
}

// connectedPeer starts a test of this program that dials the listener, whose address it
// gets in a variable, and returns it and its connection.
func connectedPeer(ctx context.Context, t *testing.T, l *cm.Listener, test, variable string) (*exec.Cmd, *cm.Conn) {
	t.Helper()
	ch := acceptOne(ctx, l, nil)
	peer := exec.Command("/proc/self/exe", "-test.run=^"+test+"$")
	peer.Env = append(os.Environ(), variable+"="+l.Addr().String())
	peer.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := peer.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := peer.Start(); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	a := <-ch
	if a.err != nil || !strings.Contains(line, "connected") {
		t.Fatalf("child said %q; accept: %v", line, a.err)
	}
	return peer, a.conn
}

// TestChildDials is the peer of TestPeerKilled.
func TestChildDials(t *testing.T) {
	address := os.Getenv("RDMA_CHILD_DIALS")
	if address == "" {
		return // nobody's child
	}
	c, err := cm.Dial(context.Background(), address)
	if err != nil {
		os.Stdout.WriteString("dial: " + err.Error() + "\n")
		os.Exit(1)
	}
	os.Stdout.WriteString("connected\n")
	<-c.Done()
}
