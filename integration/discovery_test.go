//go:build linux

package integration

import (
	"context"
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/vishvananda/netlink"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs"
)

// discDevice returns the soft device that the guest has on its first interface.
func discDevice(t *testing.T) *uverbs.Device {
	t.Helper()
	requireRDMA(t)
	devices, err := uverbs.Devices()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range devices {
		if d.DriverID == abi.RDMA_DRIVER_RXE && d.Ports[0].Netdev == netdev {
			return d
		}
	}
	missing(t, "an rxe device on "+netdev, "run through scripts/vm")
	return nil
}

func discLink(t *testing.T, name string) netlink.Link {
	t.Helper()
	l, err := netlink.LinkByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestDiscoveryDevice(t *testing.T) {
	checkLeaks(t)
	d := discDevice(t)
	link := discLink(t, netdev)
	want := &uverbs.Device{
		Index: d.Index, Name: "rxe0", NodeGUID: discEUI64(link), SysImageGUID: discEUI64(link),
		NodeType: uverbs.NodeCA, Protocol: uverbs.ProtocolRoCE, DriverID: abi.RDMA_DRIVER_RXE,
		CapFlags: d.CapFlags, Source: "netlink",
		Ports: []uverbs.PortInfo{{
			Number: 1, State: uverbs.PortActive, Phys: uverbs.PhysLinkUp, LinkLayer: uverbs.LinkEthernet,
			Netdev: netdev, NetdevIndex: link.Attrs().Index, NetdevMTU: link.Attrs().MTU,
			SpeedMbps: d.Ports[0].SpeedMbps, Width: 1,
		}},
		CharDev: uverbs.CharDev{Name: "uverbs0", Path: "/dev/infiniband/uverbs0", Major: 231, Minor: 192, ABIVersion: 2},
	}
	if diff := cmp.Diff(want, d, cmpopts.IgnoreUnexported(uverbs.Device{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if d.Ports[0].SpeedMbps == 0 || d.CapFlags == 0 {
		t.Errorf("speed %d Mbit/s, capabilities %#x", d.Ports[0].SpeedMbps, d.CapFlags)
	}
	for how, find := range map[string]func() (*uverbs.Device, error){
		"name":  func() (*uverbs.Device, error) { return uverbs.DeviceByName("rxe0") },
		"index": func() (*uverbs.Device, error) { return uverbs.DeviceByIndex(d.Index) },
		"GUID":  func() (*uverbs.Device, error) { return uverbs.DeviceByGUID(d.NodeGUID) },
	} {
		if got, err := find(); err != nil || got.Index != d.Index {
			t.Errorf("by %s: got %v, %v", how, got, err)
		}
	}
	if _, err := uverbs.DeviceByName("nonesuch"); !errors.Is(err, uverbs.ErrNoDevice) || !strings.Contains(err.Error(), "rxe0") {
		t.Errorf("by a wrong name: %v", err)
	}
}

// discEUI64 is the GUID that rxe makes of a MAC address (addrconf_addr_eui48).
func discEUI64(l netlink.Link) uverbs.GUID {
	m := l.Attrs().HardwareAddr
	return uverbs.GUIDFromBytes([8]byte{m[0] ^ 2, m[1], m[2], 0xff, 0xfe, m[3], m[4], m[5]})
}

func TestDiscoveryGIDs(t *testing.T) {
	checkLeaks(t)
	d := discDevice(t)
	table, err := d.GIDTable(1)
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[netip.Addr]uverbs.GIDEntry)
	for _, e := range table {
		found[e.GID.Addr()] = e
		if e.Netdev != netdev || e.Type != uverbs.GIDTypeRoCEv2 {
			t.Errorf("got %+v, want RoCE v2 on %s", e, netdev)
		}
	}
	for _, a := range []string{addrV4, addrV6} {
		if _, ok := found[netip.MustParseAddr(a)]; !ok {
			t.Errorf("%s is not in %v", a, table)
		}
	}
	if len(table) == 0 || table[0].Index != 0 || !table[0].GID.IsLinkLocal() {
		t.Errorf("got %v, want the link-local default GID first", table)
	}
	c, err := d.Open(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fromVerbs, err := c.QueryGIDs(1)
	if diff := cmp.Diff(table, fromVerbs); err != nil || diff != "" {
		t.Errorf("QueryGIDs: error %v, (-sysfs +verbs):\n%s", err, diff)
	}
}

func TestDiscoveryDiagnose(t *testing.T) {
	checkLeaks(t)
	discDevice(t)
	diag := uverbs.Diagnose()
	if err := diag.Err(); err != nil {
		t.Errorf("something is missing: %v", diag)
	}
	want := []uverbs.UsabilityState{uverbs.Usable}
	var got []uverbs.UsabilityState
	for _, u := range append(diag.Usability, diag.CMUsability) {
		got = append(got, u.State)
	}
	if diff := cmp.Diff(append(want, uverbs.Usable), got); diff != "" || diag.NetnsMode != "shared" || diag.Kernel == "" {
		t.Errorf("got %+v, (-want +got):\n%s", diag, diff)
	}
	if diag.CM.Path != "/dev/infiniband/rdma_cm" || diag.CM.Major != 10 || diag.CM.ABIVersion != 4 {
		t.Errorf("connection manager %+v", diag.CM)
	}
}

// TestDiscoveryWithoutRDMA runs where there is none: in scripts/test's guest without
// RDMA (scripts/vm --no-rdma), which says so with RDMA_WITHOUT=1.
func TestDiscoveryWithoutRDMA(t *testing.T) {
	if _, err := os.Stat("/sys/class/infiniband"); err == nil {
		if os.Getenv("RDMA_WITHOUT") == "1" {
			t.Fatal("this machine has RDMA")
		}
		// Not "missing": all the other tests want a machine with it.
		t.Skip("this machine has RDMA")
	}
	devices, err := uverbs.Devices()
	if err != nil || len(devices) != 0 {
		t.Errorf("got %v, %v", devices, err)
	}
	diag := uverbs.Diagnose()
	if !errors.Is(diag.Err(), uverbs.ErrNoDevice) || len(diag.Findings) == 0 || diag.Findings[0].ID != "RP-MOD-001" {
		t.Errorf("got %v", diag)
	}
	t.Log(diag)
	_, err = uverbs.AddLink(t.Context(), uverbs.LinkConfig{Netdev: "lo"})
	var le *uverbs.LinkError
	if !errors.Is(err, uverbs.ErrModuleMissing) || !errors.As(err, &le) || le.Module != "ib_core" {
		t.Errorf("add a link: %v", err)
	}
}

// TestDiscoveryNode moves and spoils the device node.
func TestDiscoveryNode(t *testing.T) {
	checkLeaks(t)
	d := discDevice(t)
	moved := filepath.Join(filepath.Dir(d.CharDev.Path), "moved")
	if err := os.Rename(d.CharDev.Path, moved); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.Rename(moved, d.CharDev.Path); err != nil {
			t.Error(err)
		}
	})
	if u := d.Usability(); u.State != uverbs.NoCharDevice || !strings.Contains(u.Reason, "231:192") {
		t.Errorf("node missing: %v", u)
	}
	if again := discDeviceAnywhere(t, d.Index); again.CharDev.Path != moved || !again.Usability().OK() {
		t.Errorf("under another name: %v, %v", again.CharDev, again.Usability())
	}
	if err := syscall.Mknod(d.CharDev.Path, syscall.S_IFCHR|0o666, 231<<8|250); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(d.CharDev.Path)
	if u := d.Usability(); u.State != uverbs.NoCharDevice || !strings.Contains(u.Reason, "231:250") {
		t.Errorf("wrong numbers: %v", u)
	}
	stale := *d
	stale.CharDev.Minor = 250
	if u := stale.Usability(); u.State != uverbs.Gone || !errors.Is(u.Err, syscall.ENXIO) {
		t.Errorf("nothing behind the node: %v", u)
	}
}

func discDeviceAnywhere(t *testing.T, index int) *uverbs.Device {
	t.Helper()
	d, err := uverbs.DeviceByIndex(index)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDiscoveryResources(t *testing.T) {
	checkLeaks(t)
	d := discDevice(t)
	count := func() map[string]uint64 {
		m, err := uverbs.ResourceSummary(d)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	before := count()
	if before["pd"] != 1 || before["cq"] != 1 || before["qp"] != 1 {
		t.Errorf("an idle rxe device has %v", before)
	}
	c, err := d.Open(nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := count(); got["ctx"] != before["ctx"]+1 {
		t.Errorf("with a context: %v, before %v", got, before)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, count()); diff != "" {
		t.Errorf("after Close (-before +after):\n%s", diff)
	}
}

// discContext is a context with the time limit of one step. It is not made of the
// test's own, which has ended when a cleanup runs.
func discContext(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), testTime)
	t.Cleanup(cancel)
	return ctx
}
