//go:build linux

package integration

import (
	"errors"
	"net"
	"net/netip"
	"testing"

	"github.com/vishvananda/netlink"

	"github.com/purerdma/rdma/uverbs"
)

// TestGIDsOfOtherNamespace: of a device whose interface is in another network namespace
// no GID is taken for one of an interface here that has the same name, number and
// address; and in that namespace each one is.
func TestGIDsOfOtherNamespace(t *testing.T) {
	requireRDMA(t)
	ctx := testContext(t)
	const name, device, number = "twin0", "twinr0", 4711
	const address = "10.81.0.1"
	addLink := func() error {
		link := &netlink.Dummy{LinkAttrs: netlink.LinkAttrs{Name: name, Index: number}}
		addr, _ := netlink.ParseAddr(address + "/24")
		return errors.Join(netlink.LinkAdd(link), netlink.AddrAdd(link, addr), netlink.LinkSetUp(link))
	}
	var setErr error
	var there []uverbs.GIDEntry
	netns := newNetNS(t, func() {
		if setErr = addLink(); setErr != nil {
			return
		}
		if _, setErr = uverbs.AddLink(ctx, uverbs.LinkConfig{Name: device, Type: "rxe", Netdev: name}); setErr != nil {
			return
		}
		waitForGID(t, device, address)
		d, err := uverbs.DeviceByName(device)
		if err != nil {
			setErr = err
			return
		}
		there, setErr = d.GIDTable(1)
	})
	_ = netns
	t.Cleanup(func() { _ = uverbs.DeleteLink(ctx, device) })
	if setErr != nil {
		t.Fatal(setErr)
	}
	if err := addLink(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = netlink.LinkDel(&netlink.Dummy{LinkAttrs: netlink.LinkAttrs{Name: name}}) })
	if ifi, err := net.InterfaceByName(name); err != nil || ifi.Index != number {
		t.Fatalf("the twin has not the same number: %+v, %v", ifi, err)
	}
	for _, e := range there {
		if e.OtherNetNS || e.Netdev != name || e.NetdevIndex != number {
			t.Errorf("in the namespace: %+v", e)
		}
	}
	d, err := uverbs.DeviceByName(device)
	if err != nil {
		t.Fatal(err)
	}
	if p := d.Ports[0]; p.Netdev != "" || p.NetdevIndex != 0 {
		t.Errorf("the port has the interface %q, number %d", p.Netdev, p.NetdevIndex)
	}
	fromSysfs, err := d.GIDTable(1)
	checkElsewhere(t, "sysfs", fromSysfs, err, address)
	c, err := d.Open(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fromVerbs, err := c.QueryGIDs(1)
	checkElsewhere(t, "verbs", fromVerbs, err, address)
	for _, e := range fromVerbs {
		one, err := c.QueryGID(1, e.Index)
		checkElsewhere(t, "one slot", []uverbs.GIDEntry{one}, err, e.GID.Addr().String())
	}
}

// checkElsewhere requires a GID with the address, and that all are of another namespace.
func checkElsewhere(t *testing.T, source string, table []uverbs.GIDEntry, err error, address string) {
	t.Helper()
	found := false
	for _, e := range table {
		found = found || e.GID.Addr() == netip.MustParseAddr(address)
		if !e.OtherNetNS {
			t.Errorf("%s: taken for an interface here: %+v", source, e)
		}
	}
	if err != nil || !found {
		t.Errorf("%s: %v, error %v", source, table, err)
	}
}
