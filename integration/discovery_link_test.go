//go:build linux

package integration

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/purerdma/rdma/uverbs"
)

// discVeth makes a veth pair that is up, and returns the name of one end.
func discVeth(t *testing.T) string {
	t.Helper()
	const name, peer = "disc0", "disc1"
	attrs := netlink.NewLinkAttrs()
	attrs.Name = name
	if err := netlink.LinkAdd(&netlink.Veth{LinkAttrs: attrs, PeerName: peer}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := netlink.LinkDel(discLink(t, name)); err != nil {
			t.Error(err)
		}
	})
	for _, n := range []string{name, peer} {
		if err := netlink.LinkSetUp(discLink(t, n)); err != nil {
			t.Fatal(err)
		}
	}
	return name
}

func TestDiscoveryLink(t *testing.T) {
	checkLeaks(t)
	first := discDevice(t)
	veth := discVeth(t)
	ctx := discContext(t)
	d, err := uverbs.AddLink(ctx, uverbs.LinkConfig{Netdev: veth})
	if err != nil {
		t.Fatal(err)
	}
	if d.Name != "rxe1" || d.Index == first.Index || d.Ports[0].Netdev != veth || d.NodeGUID != discEUI64(discLink(t, veth)) {
		t.Errorf("got %+v", d)
	}
	if u := d.Usability(); !u.OK() {
		t.Error(u)
	}
	discRefused(t, veth)
	if err := uverbs.DeleteLink(ctx, d.Name); err != nil {
		t.Fatal(err)
	}
	if u := d.Usability(); u.State != uverbs.Gone {
		t.Errorf("after it was deleted: %v", u)
	}
	if err := uverbs.DeleteLink(ctx, d.Name); !errors.Is(err, uverbs.ErrNoDevice) {
		t.Errorf("deleted again: %v", err)
	}
}

// discRefused tries links that the kernel refuses. veth has one already.
func discRefused(t *testing.T, veth string) {
	t.Helper()
	for name, tc := range map[string]struct {
		cfg   uverbs.LinkConfig
		errno error
		say   string
	}{
		"second on a netdev": {uverbs.LinkConfig{Netdev: veth}, syscall.EEXIST, veth + " has an rxe device already: rxe1"},
		"unknown netdev":     {uverbs.LinkConfig{Netdev: "nonesuch"}, syscall.ENODEV, "no network device nonesuch"},
		"name taken":         {uverbs.LinkConfig{Name: "rxe0", Netdev: "disc1"}, syscall.ENFILE, "of that name"},
		"unknown type":       {uverbs.LinkConfig{Type: "nonesuch", Netdev: "disc1"}, uverbs.ErrModuleMissing, "rdma-link-nonesuch"},
	} {
		d, err := uverbs.AddLink(discContext(t), tc.cfg)
		if !errors.Is(err, tc.errno) || !strings.Contains(err.Error(), tc.say) {
			t.Errorf("%s: got %v, %v, want %q", name, d, err, tc.say)
		}
	}
}

func TestDiscoveryLinkVLAN(t *testing.T) {
	checkLeaks(t)
	discDevice(t)
	veth := discVeth(t)
	attrs := netlink.NewLinkAttrs()
	attrs.Name, attrs.ParentIndex = veth+".5", discLink(t, veth).Attrs().Index
	vlan := &netlink.Vlan{LinkAttrs: attrs, VlanId: 5}
	if err := netlink.LinkAdd(vlan); err != nil {
		missing(t, fmt.Sprintf("a VLAN device, of module 8021q (%v),", err), "run through scripts/vm")
	}
	defer netlink.LinkDel(vlan)
	_, err := uverbs.AddLink(discContext(t), uverbs.LinkConfig{Netdev: attrs.Name})
	if !errors.Is(err, syscall.EPERM) || !strings.Contains(err.Error(), "VLAN") {
		t.Errorf("got %v", err)
	}
}

// TestDiscoveryDeleteBusy deletes a device that is open. Before 7.x the kernel waits,
// and the caller's context must end that.
func TestDiscoveryDeleteBusy(t *testing.T) {
	checkLeaks(t)
	discDevice(t)
	d, err := uverbs.AddLink(discContext(t), uverbs.LinkConfig{Netdev: discVeth(t)})
	if err != nil {
		t.Fatal(err)
	}
	c, err := d.Open(nil)
	if err != nil {
		t.Fatal(err)
	}
	waits, limit := !kernelAtLeast(t, 7, 0), testTime
	if waits {
		limit = time.Second
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	start := time.Now()
	err = uverbs.DeleteLink(ctx, d.Name)
	if waits != errors.Is(err, context.DeadlineExceeded) || !waits && err != nil {
		t.Errorf("delete while open: %v", err)
	} else if me := strconv.Itoa(os.Getpid()) + " ("; waits && !strings.Contains(err.Error(), me) {
		t.Errorf("the error does not name this process, %s: %v", me, err)
	}
	t.Logf("after %v: %v", time.Since(start), err)
	_ = c.Close() // the device may be gone already
	for deadline := time.Now().Add(testTime); ; time.Sleep(20 * time.Millisecond) {
		if _, err := uverbs.DeviceByName(d.Name); errors.Is(err, uverbs.ErrNoDevice) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the device is still there after it was closed")
		}
	}
}

// TestDiscoveryMissingModule unloads rdma_rxe and keeps the kernel from loading it.
// Everybody's rxe0 goes with it and is made anew.
func TestDiscoveryMissingModule(t *testing.T) {
	if os.Getenv("RDMA_NODES") != "" {
		t.Skip("the other guests need this one's device")
	}
	discDevice(t)
	const helper = "/proc/sys/kernel/modprobe"
	modprobe, err := os.ReadFile(helper)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.WriteFile(helper, modprobe, 0); err != nil {
			t.Error(err)
		}
		// The kernel loads the module again.
		if _, err := uverbs.AddLink(discContext(t), uverbs.LinkConfig{Name: "rxe0", Netdev: netdev}); err != nil {
			t.Error(err)
		}
	})
	if err := uverbs.DeleteLink(discContext(t), "rxe0"); err != nil {
		t.Fatal(err)
	}
	if err := unix.DeleteModule("rdma_rxe", unix.O_NONBLOCK); err != nil {
		missing(t, fmt.Sprintf("a kernel that unloads rdma_rxe (%v)", err), "run through scripts/vm")
	}
	if err := os.WriteFile(helper, []byte("\n"), 0); err != nil {
		t.Fatal(err)
	}
	_, err = uverbs.AddLink(discContext(t), uverbs.LinkConfig{Netdev: netdev})
	var le *uverbs.LinkError
	if !errors.Is(err, uverbs.ErrModuleMissing) || !errors.As(err, &le) || le.Module != "rdma_rxe" {
		t.Errorf("without rdma_rxe: %v", err)
	}
	diag := uverbs.Diagnose()
	if !errors.Is(diag.Err(), uverbs.ErrNoDevice) || !strings.Contains(diag.String(), "rdma_rxe") {
		t.Errorf("got %v", diag)
	}
	t.Logf("%v\n%v", err, diag)
}
