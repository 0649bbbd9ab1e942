package gidpick

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/purerdma/rdma/cmd/rdmaprobe/netinfo"
	"github.com/purerdma/rdma/uverbs"
)

func p(s string) netip.Prefix { return netip.MustParsePrefix(s) }

func lab() netinfo.Netdevs {
	return netinfo.Netdevs{
		{Index: 1, Name: "lo", Loopback: true, Up: true, Addrs: []netip.Prefix{p("127.0.0.1/8")}},
		{Index: 2, Name: "eth0", Up: true, Running: true, Addrs: []netip.Prefix{p("10.0.0.1/24"), p("10.0.0.9/24"), p("fe80::1/64"), p("2001:db8::1/64")}},
		{Index: 3, Name: "eth1", Up: true, Running: true, Addrs: []netip.Prefix{p("10.1.0.1/24"), p("fe80::2/64")}},
		{Index: 4, Name: "eth2", Addrs: []netip.Prefix{p("10.2.0.1/24")}},
		{Index: 6, Name: "eth3", Up: true, Addrs: []netip.Prefix{p("10.3.0.1/24")}}, // without carrier
		{Index: 5, Name: "ib0", Up: true, Running: true, HWAddr: append([]byte{0, 0, 0, 0x48}, gidBytes("fe80::2:c903")...)},
	}
}

func gidBytes(s string) []byte {
	g := uverbs.GIDFromAddr(netip.MustParseAddr(s))
	return g[:]
}

func entry(index int, addr, netdev string, t uverbs.GIDType) uverbs.GIDEntry {
	return uverbs.GIDEntry{Index: index, GID: uverbs.GIDFromAddr(netip.MustParseAddr(addr)), Netdev: netdev, Type: t}
}

func ports() []Port {
	const v1, v2 = uverbs.GIDTypeRoCEv1, uverbs.GIDTypeRoCEv2
	active := func(netdev string) uverbs.PortInfo {
		return uverbs.PortInfo{Number: 1, State: uverbs.PortActive, Netdev: netdev}
	}
	down := active("eth2")
	down.State = uverbs.PortDown
	return []Port{
		{Device: "rxe0", Protocol: uverbs.ProtocolRoCE, Info: active("eth0"), GIDs: []uverbs.GIDEntry{
			entry(0, "fe80::1", "eth0", v2), entry(1, "10.0.0.1", "eth0", v1), entry(2, "10.0.0.1", "eth0", v2),
			entry(3, "2001:db8::1", "eth0", v2), entry(4, "10.0.0.9", "eth0", v2), entry(5, "10.0.0.8", "eth0", v2),
			entry(9, "10.7.0.1", "pod7", v2)}},
		{Device: "rxe1", Protocol: uverbs.ProtocolRoCE, Info: active("eth1"), GIDs: []uverbs.GIDEntry{
			entry(0, "fe80::2", "eth1", v2), entry(1, "10.1.0.1", "", v2)}},
		{Device: "rxe2", Protocol: uverbs.ProtocolRoCE, Info: down, GIDs: []uverbs.GIDEntry{entry(1, "10.2.0.1", "eth2", v2)}},
		{Device: "siw0", Protocol: uverbs.ProtocolIWARP, Info: active("eth0"), GIDs: []uverbs.GIDEntry{entry(0, "5254:12::", "", 0)}},
		{Device: "mlx5_0", Protocol: uverbs.ProtocolIB, Info: active(""), GIDs: []uverbs.GIDEntry{entry(0, "fe80::2:c903", "", 0)}},
		{Device: "rxe3", Protocol: uverbs.ProtocolRoCE, Info: active("eth3"), GIDs: []uverbs.GIDEntry{entry(0, "10.3.0.1", "eth3", v2)}},
		{Device: "hfi1_0", Protocol: uverbs.ProtocolOPA, Info: active(""), GIDs: []uverbs.GIDEntry{entry(0, "fe80::2:c903", "", 0)}},
		{Device: "hfi1_1", Protocol: uverbs.ProtocolOPA, Info: active(""), GIDs: []uverbs.GIDEntry{entry(0, "fe80::2:dead", "", 0)}},
	}
}

func TestRows(t *testing.T) {
	want := []string{
		"rxe0/1/0 eth0 fe80::1%eth0 ",
		"rxe0/1/1 eth0 10.0.0.1 ",
		"rxe0/1/2 eth0 10.0.0.1 ",
		"rxe0/1/3 eth0 2001:db8::1 ",
		"rxe0/1/4 eth0 10.0.0.9 ",
		"rxe0/1/5 eth0 invalid IP eth0 does not have the address 10.0.0.8",
		"rxe0/1/9 pod7 invalid IP pod7 is in another network namespace",
		"rxe1/1/0 eth1 fe80::2%eth1 ",
		"rxe1/1/1 eth1 10.1.0.1 ",
		"rxe2/1/1 eth2 10.2.0.1 port is DOWN",
		"siw0/1/0 eth0 invalid IP ",
		"mlx5_0/1/0 ib0 invalid IP ",
		"rxe3/1/0 eth3 10.3.0.1 ",
		"hfi1_0/1/0 ib0 invalid IP ",
		"hfi1_1/1/0  invalid IP ",
	}
	var got []string
	for _, r := range Rows(ports(), lab()) {
		got = append(got, fmt.Sprintf("%s/%d/%d %s %v %s", r.Device, r.Port, r.Index, r.Netdev, r.Address, r.Unusable))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestUnusableNetdev(t *testing.T) {
	info := uverbs.PortInfo{Number: 1, State: uverbs.PortActive, Netdev: "eth2"}
	rows := Rows([]Port{{Device: "rxe2", Protocol: uverbs.ProtocolRoCE, Info: info, GIDs: []uverbs.GIDEntry{entry(1, "10.2.0.1", "eth2", uverbs.GIDTypeRoCEv2)}}}, lab())
	if got := rows[0].Unusable; got != "eth2 is down" {
		t.Errorf("unusable: %q", got)
	}
	info.Netdev = ""
	rows = Rows([]Port{{Device: "rxe2", Protocol: uverbs.ProtocolRoCE, Info: info, GIDs: []uverbs.GIDEntry{entry(1, "10.2.0.1", "", uverbs.GIDTypeRoCEv2)}}}, lab())
	if got := rows[0].Unusable; got != "its interface is in another network namespace" {
		t.Errorf("unusable: %q", got)
	}
}

func TestPick(t *testing.T) {
	addr := netip.MustParseAddr
	for _, tt := range []struct {
		name   string
		want   Want
		picked string
		lost   map[int]string
	}{
		{"on the link, IPv4", Want{addr("10.0.0.7"), netinfo.Route{Index: 2, Source: addr("10.0.0.1")}}, "rxe0/2", map[int]string{
			0: "IPv6, not IPv4", 1: "RoCE v1, connections use RoCE v2", 3: "IPv6, not IPv4",
			4: "the route's source address is 10.0.0.1", 6: "pod7 is in another network namespace",
			8: "packets leave through eth0", 9: "port is DOWN", 10: "rxe0 GID 2 is found first", 11: "packets leave through eth0"}},
		{"other source", Want{addr("10.0.0.7"), netinfo.Route{Index: 2, Source: addr("10.0.0.9")}}, "rxe0/4", nil},
		{"IPv6", Want{addr("2001:db8::7"), netinfo.Route{Index: 2, Source: addr("2001:db8::1")}}, "rxe0/3", map[int]string{
			0: "link-local, not global", 7: "link-local, not global"}},
		{"link-local", Want{addr("fe80::7%eth1"), netinfo.Route{Index: 3, Source: addr("fe80::2%eth1")}}, "rxe1/0", map[int]string{
			0: "packets leave through eth1", 3: "global, not link-local"}},
		{"own address", Want{addr("10.1.0.1"), netinfo.Route{Index: 1, Local: true, Source: addr("10.1.0.1")}}, "rxe1/1", nil},
		{"IP over InfiniBand", Want{addr("10.5.0.7"), netinfo.Route{Index: 5, Source: addr("10.5.0.1")}}, "mlx5_0/0", nil},
		{"no RDMA there", Want{addr("10.9.0.7"), netinfo.Route{Index: 42, Source: addr("10.9.0.1")}}, "", map[int]string{
			1: "packets leave through no interface known here"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rows := Rows(ports(), lab())
			i := Pick(rows, tt.want, lab())
			got := ""
			if i >= 0 {
				got = fmt.Sprintf("%s/%d", rows[i].Device, rows[i].Index)
			}
			if got != tt.picked {
				t.Errorf("picked %q, want %q", got, tt.picked)
			}
			for n, want := range tt.lost {
				if rows[n].Lost != want {
					t.Errorf("row %d lost: %q, want %q", n, rows[n].Lost, want)
				}
			}
			for n, r := range rows {
				if r.Picked != (n == i) || (r.Lost == "") != r.Picked {
					t.Errorf("row %d: picked %v, lost %q", n, r.Picked, r.Lost)
				}
			}
		})
	}
}

// TestPickV1 honours what configfs says.
func TestPickV1(t *testing.T) {
	all := ports()
	all[0].Default = uverbs.GIDTypeRoCEv1
	rows := Rows(all, lab())
	w := Want{netip.MustParseAddr("10.0.0.7"), netinfo.Route{Index: 2, Source: netip.MustParseAddr("10.0.0.1")}}
	if i := Pick(rows, w, lab()); i != 1 {
		t.Errorf("picked %d, want 1", i)
	}
}

// TestDefaultType: what configfs says, else RoCE v2 where the port has it.
func TestDefaultType(t *testing.T) {
	const ib, v1, v2 = uverbs.GIDTypeIB, uverbs.GIDTypeRoCEv1, uverbs.GIDTypeRoCEv2
	for _, tt := range []struct {
		set  uverbs.GIDType
		has  []uverbs.GIDType
		want uverbs.GIDType
	}{
		{0, nil, ib}, {0, []uverbs.GIDType{ib}, ib}, {0, []uverbs.GIDType{v1}, v1}, {0, []uverbs.GIDType{v1, v2}, v2}, {0, []uverbs.GIDType{v2}, v2},
		{v1, []uverbs.GIDType{v1, v2}, v1}, {v2, []uverbs.GIDType{v1}, v2},
	} {
		port := Port{Default: tt.set}
		for i, typ := range tt.has {
			port.GIDs = append(port.GIDs, entry(i, "10.0.0.1", "eth0", typ))
		}
		if got := port.defaultType(); got != tt.want {
			t.Errorf("set %v, has %v: %v, want %v", tt.set, tt.has, got, tt.want)
		}
	}
}

// TestInterfaceOf: the number counts before the name, which may have changed, and that
// before the port's own interface.
func TestInterfaceOf(t *testing.T) {
	for _, tt := range []struct {
		netdev string
		index  int
		want   string
	}{{"renamed", 3, "eth1"}, {"eth0", 3, "eth1"}, {"eth1", 0, "eth1"}, {"", 0, "eth0"}, {"gone", 0, ""}, {"eth1", 99, ""}} {
		g := entry(0, "10.0.0.1", tt.netdev, uverbs.GIDTypeRoCEv2)
		g.NetdevIndex = tt.index
		n, here := interfaceOf(Port{Protocol: uverbs.ProtocolRoCE, Info: uverbs.PortInfo{Netdev: "eth0"}}, g, lab())
		if n.Name != tt.want || here != (tt.want != "") {
			t.Errorf("%q number %d: %q, %v, want %q", tt.netdev, tt.index, n.Name, here, tt.want)
		}
	}
}
