package ucma

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/purerdma/rdma/abi"
)

func TestSockaddrFromGID(t *testing.T) {
	gid := netip.MustParseAddr("fe80::1").As16()
	s := SockaddrFromGID(gid, abi.RDMA_PS_TCP, 7471)
	want := []byte{0, 0, 0, 0, 0x01, 0x06, 0x1d, 0x2f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}
	if diff := cmp.Diff(want, s.bytes()[24:40]); diff != "" {
		t.Errorf("service ID and mask (-want +got):\n%s", diff)
	}
	if s.Family() != abi.AF_IB || s.Port() != 7471 || s.String() != "[fe80::1]#0x1061d2f" {
		t.Errorf("%v, family %d, port %d", s, s.Family(), s.Port())
	}
	wild := SockaddrFromGID(gid, abi.RDMA_PS_UDP, 0)
	if diff := cmp.Diff([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0}, wild.bytes()[32:40]); diff != "" {
		t.Errorf("mask without port (-want +got):\n%s", diff)
	}
}

func TestSockaddrPort(t *testing.T) {
	for in, want := range map[string]uint16{"10.0.0.1:7471": 7471, "[fd00::1]:9": 9} {
		s, err := SockaddrFrom(netip.MustParseAddrPort(in))
		if err != nil || s.Port() != want {
			t.Errorf("%s: port %d, %v", in, s.Port(), err)
		}
	}
	if (Sockaddr{}).Port() != 0 {
		t.Error("no address has a port")
	}
}

func TestReads(t *testing.T) {
	var p ConnParam
	p.SetReads(3, 5)
	if p.InitiatorDepth != 3 || p.ResponderResources != 5 || p.LocalReads() != 3 || p.PeerReads() != 5 {
		t.Errorf("%+v", p)
	}
}
