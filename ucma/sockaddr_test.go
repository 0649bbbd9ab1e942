package ucma

import (
	"errors"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/purerdma/rdma/abi"
)

func TestSockaddrFrom(t *testing.T) {
	for _, tc := range []struct {
		in   string
		raw  []byte
		fam  uint16
		text string
	}{
		{"10.0.0.1:7174", in4Raw, 2, "10.0.0.1:7174"},
		{"[::ffff:10.0.0.1]:7174", in4Raw, 2, "10.0.0.1:7174"},
		{"0.0.0.0:0", in4(0, 0, 0, 0, 0), 2, "0.0.0.0:0"},
		{"[2001:db8::1]:65535", in6(65535, 0, [16]byte{0x20, 0x01, 0x0d, 0xb8, 15: 1}), 10, "[2001:db8::1]:65535"},
		{"[fe80::2%4000000000]:1", in6(1, 4000000000, [16]byte{0xfe, 0x80, 15: 2}), 10, "[fe80::2%4000000000]:1"},
	} {
		t.Run(tc.in, func(t *testing.T) {
			s := sockaddr(t, netip.MustParseAddrPort(tc.in))
			if diff := cmp.Diff(tc.raw, s.bytes()); diff != "" {
				t.Errorf("bytes (-want +got):\n%s", diff)
			}
			if s.IsZero() || s.Family() != tc.fam || s.String() != tc.text {
				t.Errorf("family %d, text %q", s.Family(), s)
			}
			if _, ok := s.IB(); ok {
				t.Error("is an InfiniBand address")
			}
		})
	}
}

func TestSockaddrErrors(t *testing.T) {
	if _, err := SockaddrFrom(netip.AddrPort{}); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("no address: %v", err)
	}
	ap := netip.MustParseAddrPort("[fe80::1%no-such-if]:1")
	if _, err := SockaddrFrom(ap); !errors.Is(err, syscall.ENODEV) || !strings.Contains(err.Error(), "no-such-if") {
		t.Errorf("unknown zone: %v", err)
	}
}

func TestSockaddrZoneName(t *testing.T) {
	ifis, err := net.Interfaces()
	if err != nil || len(ifis) == 0 {
		t.Fatalf("no interface, not even loopback: %v", err)
	}
	want := "[fe80::1%" + ifis[0].Name + "]:1"
	s := sockaddr(t, netip.MustParseAddrPort(want))
	if got := s.in6().ScopeID; got != uint32(ifis[0].Index) || s.String() != want {
		t.Errorf("scope %d, text %v", got, s)
	}
}

func TestSockaddrIB(t *testing.T) {
	s := SockaddrFromIB(testIB())
	if diff := cmp.Diff(ibRaw(), s.bytes()); diff != "" {
		t.Errorf("bytes (-want +got):\n%s", diff)
	}
	ib, ok := s.IB()
	if !ok || ib.Addr != testIB().Addr || s.String() != "[fd00::1]#0x106" {
		t.Errorf("got %v, %v", ib, s)
	}
	if _, ok := s.AddrPort(); ok {
		t.Error("has an IP address")
	}
}

func TestSockaddrUnknownFamily(t *testing.T) {
	var raw abi.SockaddrStorage
	raw.Family = 99
	if s := sockaddrFromRaw(raw.Bytes()); !s.IsZero() || s.String() != "none" {
		t.Errorf("got %v", s)
	}
}

func FuzzSockaddr(f *testing.F) {
	f.Add([]byte{10, 0, 0, 1}, uint16(7174), uint32(0))
	f.Add([]byte{0xfe, 0x80, 15: 2}, uint16(0), uint32(1<<31))
	f.Fuzz(func(t *testing.T, ip []byte, port uint16, scope uint32) {
		addr, ok := netip.AddrFromSlice(ip)
		if !ok {
			return
		}
		addr = addr.Unmap()
		if addr.Is6() && scope != 0 {
			addr = addr.WithZone(zone(scope))
		}
		s, err := SockaddrFrom(netip.AddrPortFrom(addr, port))
		if err != nil {
			t.Fatal(err)
		}
		for _, back := range []Sockaddr{s, sockaddrFromRaw(s.bytes())} {
			if got, ok := back.AddrPort(); !ok || got != netip.AddrPortFrom(addr, port) {
				t.Errorf("%v came back as %v", netip.AddrPortFrom(addr, port), got)
			}
		}
	})
}

func FuzzSockaddrFromKernel(f *testing.F) {
	f.Add(in4Raw)
	f.Add(in6Raw)
	f.Add(ibRaw())
	f.Fuzz(func(_ *testing.T, b []byte) {
		var raw abi.SockaddrStorage
		copy(raw.Bytes(), b)
		s := sockaddrFromRaw(raw.Bytes())
		_ = s.String()
		_, _ = s.legacy()
	})
}
