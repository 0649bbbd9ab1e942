//go:build linux

package integration

import (
	"errors"
	"testing"

	"github.com/vishvananda/netlink"

	"github.com/purerdma/rdma/uverbs"
)

// TestProbeTwinElsewhere: a device of another network namespace, whose interface has
// the name, the number and the address of one here, is shown as not here by gids, is
// not chosen, and makes doctor say nothing of the interface here.
func TestProbeTwinElsewhere(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	const name, device, number, address = "twin0", "twinp0", 4712, "10.82.0.1"
	ctx := testContext(t)
	addLink := func() error {
		link := &netlink.Dummy{LinkAttrs: netlink.LinkAttrs{Name: name, Index: number}}
		addr, _ := netlink.ParseAddr(address + "/24")
		return errors.Join(netlink.LinkAdd(link), netlink.AddrAdd(link, addr), netlink.LinkSetUp(link))
	}
	var setErr error
	newNetNS(t, func() {
		if setErr = addLink(); setErr == nil {
			_, setErr = uverbs.AddLink(ctx, uverbs.LinkConfig{Name: device, Type: "rxe", Netdev: name})
		}
	})
	t.Cleanup(func() { _ = uverbs.DeleteLink(ctx, device) })
	if setErr != nil {
		t.Fatal(setErr)
	}
	if err := addLink(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = netlink.LinkDel(&netlink.Dummy{LinkAttrs: netlink.LinkAttrs{Name: name}}) })
	waitForGID(t, device, address)
	found := 0
	for _, g := range probeGIDs(t, 3, "--to", "10.82.0.7").GIDs {
		if g.Device != device {
			continue
		}
		found++
		if g.Here || g.Usable || g.Picked || g.Address != "" {
			t.Errorf("taken for an interface here: %+v", g)
		}
	}
	if found == 0 {
		t.Error("gids does not list the device")
	}
	probePath(t, 3, "10.82.0.7").wantFailed(t, "device")
	for _, f := range doctorAs(t, nil, 0).Findings {
		switch f.ID {
		case "RP-MAP-003", "RP-NNS-004": // of another namespace
		case "RP-PRT-001", "RP-GID-001", "RP-GID-002", "RP-GID-005", "RP-GID-006":
			t.Errorf("doctor: %v", f)
		}
	}
}
