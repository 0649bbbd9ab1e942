//go:build linux

package integration

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/uverbs"
)

// newNetNS makes a network namespace and returns its file. set runs inside it.
func newNetNS(t *testing.T, set func()) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "netns")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // for good: the thread dies with the goroutine
		err := unix.Unshare(unix.CLONE_NEWNET)
		if err == nil {
			err = unix.Mount(fmt.Sprintf("/proc/self/task/%d/ns/net", unix.Gettid()), path, "", unix.MS_BIND, "")
		}
		if err == nil {
			set()
		}
		done <- err
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(path, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return path
}

// TestNetNSPorts: one port in two network namespaces (parity scenario 61).
func TestNetNSPorts(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	netns := newNetNS(t, func() {})
	const address = "0.0.0.0:7475"
	here := listenOn(t, address, nil)
	there := listenOn(t, address, &cm.ListenConfig{NetNS: netns})
	if here.Addr().String() != there.Addr().String() {
		t.Errorf("addresses %v and %v", here.Addr(), there.Addr())
	}
	if _, err := cm.Listen(testContext(t), address, &cm.ListenConfig{NetNS: netns}); !errors.Is(err, cm.ErrAddrInUse) {
		t.Errorf("a second listener in the namespace: %v", err)
	}
	if _, err := cm.Listen(testContext(t), addrV4+":7475", &cm.ListenConfig{NetNS: netns}); err == nil {
		t.Error("the namespace has this host's address")
	}
	_, err := cm.Listen(testContext(t), address, &cm.ListenConfig{NetNS: "/proc/self/status"})
	if err == nil {
		t.Error("a file that is no namespace was taken for one")
	}
}

// TestNetNSConnect moves data inside a network namespace, from a goroutine
// outside. rxe has sockets of its own for each namespace since 7.3.
func TestNetNSConnect(t *testing.T) {
	requireRDMA(t)
	if !kernelAtLeast(t, 7, 2) {
		t.Skip("rxe of this kernel carries traffic in the first network namespace only")
	}
	checkLeaks(t)
	ctx := testContext(t)
	var setErr error
	netns := newNetNS(t, func() {
		link := &netlink.Dummy{LinkAttrs: netlink.LinkAttrs{Name: "nsd0"}}
		addr, _ := netlink.ParseAddr("10.80.0.1/24")
		setErr = errors.Join(netlink.LinkAdd(link), netlink.AddrAdd(link, addr), netlink.LinkSetUp(link))
		if setErr == nil {
			_, setErr = uverbs.AddLink(ctx, uverbs.LinkConfig{Name: "nsr0", Type: "rxe", Netdev: "nsd0"})
		}
	})
	if setErr != nil {
		t.Fatal(setErr)
	}
	t.Cleanup(func() { _ = uverbs.DeleteLink(ctx, "nsr0") })
	waitForGID(t, "nsr0", "10.80.0.1")
	l := listenOn(t, "10.80.0.1:0", &cm.ListenConfig{NetNS: netns})
	client, server, _ := connect(t, l, &cm.Dialer{NetNS: netns}, nil)
	exchange(t, client, server, 100)
	if _, err := cm.Dial(ctx, l.Addr().String()); err == nil {
		t.Error("the address is reached from outside the namespace")
	}
}
