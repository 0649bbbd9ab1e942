package uverbs

import (
	"net"
	"net/netip"
	"syscall"

	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// macIfLocal returns the Ethernet address of a network device if what it sends
// from src to dst stays on this machine, else zero. It asks for the route as
// the kernel does for its own address handles (rdma_addr_find_l2_eth_by_grh).
func macIfLocal(netdev string, src, dst netip.Addr) (mac [6]byte, err error) {
	ifi, err := net.InterfaceByName(netdev)
	if err != nil {
		return mac, err
	}
	typ, err := routeType(ifi.Index, src, dst)
	if err == nil && typ == unix.RTN_LOCAL {
		copy(mac[:], ifi.HardwareAddr)
	}
	return mac, err
}

// routeType asks for the type of a route (RTM_GETROUTE).
func routeType(oif int, src, dst netip.Addr) (uint8, error) {
	msg := &nl.RtMsg{}
	msg.Family = unix.AF_INET
	if dst.Is6() {
		msg.Family = unix.AF_INET6
	}
	msg.Dst_len, msg.Src_len = uint8(dst.BitLen()), uint8(src.BitLen())
	req := nl.NewNetlinkRequest(unix.RTM_GETROUTE, unix.NLM_F_REQUEST)
	req.AddData(msg)
	req.AddData(nl.NewRtAttr(unix.RTA_DST, dst.AsSlice()))
	req.AddData(nl.NewRtAttr(unix.RTA_SRC, src.AsSlice()))
	req.AddData(nl.NewRtAttr(unix.RTA_OIF, nl.Uint32Attr(uint32(oif))))
	answers, err := req.Execute(unix.NETLINK_ROUTE, unix.RTM_NEWROUTE)
	if err != nil {
		return 0, err
	}
	if len(answers) == 0 || len(answers[0]) < unix.SizeofRtMsg {
		return 0, syscall.EPROTO
	}
	return nl.DeserializeRtMsg(answers[0]).Type, nil
}
