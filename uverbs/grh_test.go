package uverbs

import (
	"encoding/binary"
	"net/netip"
	"reflect"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"github.com/purerdma/rdma/uverbs/internal/provider"
)

// header4 is what RoCE v2 delivers with an IPv4 datagram.
func header4(first20 byte, corrupt bool) []byte {
	b := make([]byte, GRHSize)
	for i := range 20 {
		b[i] = first20
	}
	h := b[20:]
	copy(h, []byte{0x45, 0xb8, 0, 60, 0, 1, 0x40, 0, 63, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2})
	binary.BigEndian.PutUint16(h[10:], ^checksum(h))
	if corrupt {
		h[11] ^= 1
	}
	return b
}

func header6() []byte {
	b := make([]byte, GRHSize)
	copy(b, []byte{0x6b, 0x8a, 0xbc, 0xde, 0, 20, 17, 5})
	b[8], b[23], b[24], b[39] = 0xfe, 1, 0xfd, 2
	return b
}

func gidOf(s string) GID { return GIDFromAddr(netip.MustParseAddr(s)) }

func TestParseGRH(t *testing.T) {
	four := GRH{Src: gidOf("10.0.0.1"), Dst: gidOf("10.0.0.2"), TrafficClass: 0xb8, HopLimit: 63, NextHeader: 17}
	six := GRH{Src: gidOf("fe00::1"), Dst: gidOf("fd00::2"), TrafficClass: 0xb8, FlowLabel: 0xabcde, HopLimit: 5, NextHeader: 17}
	// An IPv6 header whose addresses look like an IPv4 header that is not one.
	tricky := header6()
	tricky[20] = 0x45
	trickySix := six
	trickySix.Src[12] = 0x45
	for _, tc := range []struct {
		name string
		b    []byte
		want GRH
		ok   bool
	}{
		{"IPv4", header4(0, false), four, true},
		{"IPv4 as soft-RoCE leaves it, without checksum", header4(0, true), four, true},
		{"IPv4 behind garbage", header4(0x66, false), four, true},
		{"IPv6", header6(), six, true},
		{"IPv6, ambiguous", tricky, trickySix, true},
		{"longer", append(header6(), 1, 2, 3), six, true},
		{"nothing", make([]byte, GRHSize), GRH{}, false},
		{"short", header6()[:39], GRH{}, false},
		{"empty", nil, GRH{}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := ParseGRH(tc.b)
			if diff := cmp.Diff(tc.want, got); diff != "" || tc.ok != (err == nil) {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

func FuzzParseGRH(f *testing.F) {
	f.Add(header4(0, false))
	f.Add(header4(0x66, true))
	f.Add(header6())
	table := []GIDEntry{{GID: gidOf("fd00::2"), Type: GIDTypeRoCEv2}, {Index: 1, GID: gidOf("10.0.0.2"), Type: GIDTypeRoCEv1}}
	f.Fuzz(func(t *testing.T, b []byte) {
		g, err := ParseGRH(b)
		if err != nil && g != (GRH{}) {
			t.Errorf("%+v with %v", g, err)
		}
		if e, ok := g.ownGID(table); ok && e.GID != g.Dst && !netip.AddrFrom16(g.Dst).Unmap().IsMulticast() {
			t.Errorf("%+v answered from %+v", g, e)
		}
	})
}

func TestOwnGID(t *testing.T) {
	table := []GIDEntry{
		{Index: 0, GID: gidOf("fe80::1"), Type: GIDTypeRoCEv1}, {Index: 1, GID: gidOf("fe80::1"), Type: GIDTypeRoCEv2},
		{Index: 2, GID: gidOf("10.0.0.2"), Type: GIDTypeRoCEv2}, {Index: 3, GID: gidOf("fd00::2"), Type: GIDTypeRoCEv2},
	}
	for _, tc := range []struct {
		name     string
		src, dst string
		next     uint8
		index    int // -1 for none
	}{
		{"RoCE v2", "fe80::9", "fe80::1", 17, 1},
		{"RoCE v1", "fe80::9", "fe80::1", 0x1b, 0},
		{"protocol not known", "fe80::9", "fe80::1", 0, 0},
		{"IPv4", "10.0.0.1", "10.0.0.2", 17, 2},
		{"address gone", "10.0.0.1", "10.0.0.3", 17, -1},
		{"group, link-local sender", "fe80::9", "ff02::1", 17, 1},
		{"group, global sender", "fd00::9", "ff0e::1", 17, 3},
		{"IPv4 group", "10.0.0.1", "239.1.1.1", 17, 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := GRH{Src: gidOf(tc.src), Dst: gidOf(tc.dst), NextHeader: tc.next}
			e, ok := g.ownGID(table)
			if ok != (tc.index >= 0) || ok && e.Index != tc.index {
				t.Errorf("got %+v, %v", e, ok)
			}
		})
	}
	if _, ok := (&GRH{Dst: gidOf("fe80::1"), NextHeader: 0x1b}).ownGID([]GIDEntry{{GID: gidOf("fe80::1"), Type: GIDTypeIB}}); !ok {
		t.Error("InfiniBand")
	}
}

// TestRequestsAreAlike proves what the conversions of requests and completions
// rely on.
func TestRequestsAreAlike(t *testing.T) {
	for _, tc := range []struct{ here, there any }{
		{SendWR{}, provider.SendWR{}}, {RecvWR{}, provider.RecvWR{}}, {WC{}, provider.WC{}}, {Bind{}, provider.Bind{}},
	} {
		a, b := reflect.TypeOf(tc.here), reflect.TypeOf(tc.there)
		if a.NumField() != b.NumField() || a.Size() != b.Size() {
			t.Errorf("%v has %d fields in %d bytes, %v has %d in %d", a, a.NumField(), a.Size(), b, b.NumField(), b.Size())
			continue
		}
		for i := range a.NumField() {
			f, g := a.Field(i), b.Field(i)
			if f.Name != g.Name || f.Offset != g.Offset || f.Type != g.Type && f.Name != "AH" && f.Name != "Bind" {
				t.Errorf("%v: field %+v, there %+v", a, f, g)
			}
		}
	}
	if unsafe.Offsetof(AH{}.driver) != 0 {
		t.Error("the driver's part of an address handle must come first")
	}
}
