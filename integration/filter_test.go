//go:build linux

package integration

import (
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/purerdma/rdma/abi"
)

// roceFilter is a firewall that swallows what comes in for RoCE's UDP port and
// lets everything else through. Guests have no nftables; this is the same with
// traffic control: an ingress queue whose filter hands matching packets to a
// dummy device, which drops them.
type roceFilter struct {
	link, dummy netlink.Link
	ingress     *netlink.Ingress
}

// newRoCEFilter prepares a filter of an interface; add puts it into force.
func newRoCEFilter(t *testing.T, dev string) *roceFilter {
	t.Helper()
	link, err := netlink.LinkByName(dev)
	if err != nil {
		t.Fatal(err)
	}
	attrs := netlink.NewLinkAttrs()
	attrs.Name = "hole0"
	if err := netlink.LinkAdd(&netlink.Dummy{LinkAttrs: attrs}); err != nil {
		t.Fatalf("dummy device: %v", err)
	}
	dummy, err := netlink.LinkByName(attrs.Name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := netlink.LinkDel(dummy); err != nil {
			t.Errorf("delete %s: %v", attrs.Name, err)
		}
	})
	if err := netlink.LinkSetUp(dummy); err != nil {
		t.Fatal(err)
	}
	return &roceFilter{link: link, dummy: dummy, ingress: &netlink.Ingress{QdiscAttrs: netlink.QdiscAttrs{
		LinkIndex: link.Attrs().Index, Handle: netlink.MakeHandle(0xffff, 0), Parent: netlink.HANDLE_INGRESS,
	}}}
}

// add begins to filter both address families.
func (f *roceFilter) add(t *testing.T) {
	t.Helper()
	if err := netlink.QdiscAdd(f.ingress); err != nil {
		t.Fatalf("ingress queue: %v", err)
	}
	t.Cleanup(func() { _ = netlink.QdiscDel(f.ingress) }) // if the test ends before remove
	// Where the headers have the next protocol, and where UDP begins.
	f.match(t, 1, unix.ETH_P_IP, netlink.TcU32Key{Off: 8, Mask: 0x00ff0000, Val: unix.IPPROTO_UDP << 16}, 20)
	f.match(t, 2, unix.ETH_P_IPV6, netlink.TcU32Key{Off: 4, Mask: 0x0000ff00, Val: unix.IPPROTO_UDP << 8}, 40)
}

func (f *roceFilter) match(t *testing.T, priority, protocol uint16, isUDP netlink.TcU32Key, udp int32) {
	t.Helper()
	err := netlink.FilterAdd(&netlink.U32{
		FilterAttrs: netlink.FilterAttrs{LinkIndex: f.link.Attrs().Index, Parent: f.ingress.Handle, Priority: priority, Protocol: protocol},
		Sel: &netlink.TcU32Sel{Flags: netlink.TC_U32_TERMINAL, Keys: []netlink.TcU32Key{
			isUDP, {Off: udp, Mask: 0xffff, Val: abi.ROCE_V2_UDP_DPORT},
		}},
		Actions: []netlink.Action{netlink.NewMirredAction(f.dummy.Attrs().Index)},
	})
	if err != nil {
		t.Fatalf("filter of protocol %#x: %v", protocol, err)
	}
}

// remove lets everything through again, and returns how many packets the filter
// has swallowed.
func (f *roceFilter) remove(t *testing.T) (swallowed int) {
	t.Helper()
	filters, err := netlink.FilterList(f.link, f.ingress.Handle)
	if err != nil {
		t.Fatal(err)
	}
	for _, filter := range filters {
		u32, ok := filter.(*netlink.U32)
		if !ok {
			t.Fatalf("filter %v", filter)
		}
		for _, action := range u32.Actions {
			if s := action.Attrs().Statistics; s != nil && s.Basic != nil {
				swallowed += int(s.Basic.Packets)
			}
		}
	}
	if err := netlink.QdiscDel(f.ingress); err != nil {
		t.Fatal(err)
	}
	return swallowed
}
