package uverbs

import (
	"net"
	"net/netip"
	"testing"
)

// TestListNetdevs compares with package net.
func TestListNetdevs(t *testing.T) {
	got, err := listNetdevs()
	if err != nil {
		t.Fatal(err)
	}
	want, err := net.Interfaces()
	if err != nil || len(got) != len(want) {
		t.Fatalf("%d interfaces, package net has %d, %v", len(got), len(want), err)
	}
	for _, w := range want {
		n := got.byIndex(w.Index)
		if n == nil || n.name != w.Name || n.mtu != w.MTU || got.byName(w.Name) != n {
			t.Errorf("%+v, want %+v", n, w)
			continue
		}
		addrs, _ := w.Addrs()
		if len(addrs) != len(n.addrs) {
			t.Errorf("%s has the addresses %v, want %v", w.Name, n.addrs, addrs)
		}
		for _, a := range addrs {
			ip, _ := netip.AddrFromSlice(a.(*net.IPNet).IP)
			if !n.has(GIDFromAddr(ip.Unmap())) {
				t.Errorf("%s does not have %v: %v", w.Name, ip, n.addrs)
			}
		}
	}
}
