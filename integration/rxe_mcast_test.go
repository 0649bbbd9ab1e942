//go:build linux

package integration

import (
	"errors"
	"net"
	"syscall"
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs"
)

// joinIP joins a group at the level of IP, which makes the IP stack hand the
// own datagrams of the group back.
func joinIP(t *testing.T, netdev string, group net.IP) {
	t.Helper()
	ifi, err := net.InterfaceByName(netdev)
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.ListenMulticastUDP("udp", ifi, &net.UDPAddr{IP: group, Port: 50007, Zone: netdev})
	if err != nil {
		t.Fatal(err)
	}
	verbsClose(t, c)
}

// TestRxeMulticast: members of a group receive its datagrams, queue pairs that
// left it do not.
func TestRxeMulticast(t *testing.T) {
	for _, style := range verbsStyles {
		for _, group := range []string{"239.7.7.7", "ff0e::77:7"} {
			t.Run(style.String()+" "+group, func(t *testing.T) { testMulticast(t, style, net.ParseIP(group)) })
		}
	}
}

func testMulticast(t *testing.T, style uverbs.CallStyle, ip net.IP) {
	from, member := udPair(t, style)
	other := rxeSide(t, from.qp.PD(), nil, rxeConfig{typ: abi.IB_UVERBS_QPT_UD, cap: verbsCap})
	udReady(t, other)
	own := gidLike(t, from.qp.Context(), ip)
	joinIP(t, own.Netdev, ip)
	group := uverbs.GID(ip.To16())
	err := errors.Join(member.qp.AttachMulticast(group, 0), member.qp.AttachMulticast(group, 0),
		other.qp.AttachMulticast(group, 0), other.qp.DetachMulticast(group, 0))
	if err != nil {
		t.Fatal(err)
	}
	if err := other.qp.DetachMulticast(group, 0); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("detach of a group that was left: %v", err)
	}
	if err := other.qp.AttachMulticast(own.GID, 0); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("attach to an address that is no group: %v", err)
	}
	ah := udHandle(t, from, uverbs.AHAttr{DGID: group, SGIDIndex: uint8(own.Index), HopLimit: 1})
	for _, s := range []*verbsSide{member, other} {
		s.recv(uverbs.RecvWR{ID: 5, SGEs: []uverbs.SGE{s.mr.SGE(0, 256)}})
	}
	from.send(uverbs.SendWR{
		ID: 6, Opcode: abi.IB_UVERBS_WR_SEND, Flags: uverbs.SendSignaled, Inline: []byte("to all"),
		AH: ah, RemoteQPN: uverbs.MulticastQPN, RemoteQKey: udQKey,
	})
	from.want(6, abi.IB_WC_SEND)
	wantMulticast(t, member, own.GID, group)
	if n, err := other.cq.Poll(make([]uverbs.WC, 1)); n != 0 || err != nil {
		t.Errorf("who left the group received %d datagrams, %v", n, err)
	}
	// The member is closed while it is attached.
}

func wantMulticast(t *testing.T, s *verbsSide, src, group uverbs.GID) {
	t.Helper()
	wc := s.want(5, abi.IB_WC_RECV)
	grh, err := uverbs.ParseGRH(s.mr.Bytes())
	if err != nil || grh.Src != src || grh.Dst != group {
		t.Errorf("%+v, header %+v, %v", wc, grh, err)
	}
	verbsEqual(t, "datagram", s.mr.Bytes()[uverbs.GRHSize:][:6], []byte("to all"))
	back, err := s.qp.PD().CreateAHFromWC(1, &wc, s.mr.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if back.Attr().DGID != src {
		t.Errorf("path back: %+v", back.Attr())
	}
	if err := back.Close(); err != nil {
		t.Error(err)
	}
}

// gidLike finds an own GID that can send to a group.
func gidLike(t *testing.T, c *uverbs.Context, group net.IP) uverbs.GIDEntry {
	t.Helper()
	gids, err := c.QueryGIDs(1)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range gids {
		if g.GID.Is4() == (group.To4() != nil) && !g.GID.IsLinkLocal() {
			waitForAddress(t, g)
			return g
		}
	}
	t.Fatalf("no address for %v among %v", group, gids)
	return uverbs.GIDEntry{}
}
