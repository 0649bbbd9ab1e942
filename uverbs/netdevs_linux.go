package uverbs

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// listNetdevs lists the interfaces of the calling thread's network namespace, with
// their addresses (RTM_GETLINK, RTM_GETADDR).
func listNetdevs() (netdevs, error) {
	var all netdevs
	err := eachRoute(unix.RTM_GETLINK, unix.RTM_NEWLINK, unix.SizeofIfInfomsg, func(head []byte, attrs []syscall.NetlinkRouteAttr) {
		all = append(all, newNetdev(int(binary.NativeEndian.Uint32(head[4:])), attrs))
	})
	if err != nil {
		return nil, fmt.Errorf("list network interfaces: %w", err)
	}
	err = eachRoute(unix.RTM_GETADDR, unix.RTM_NEWADDR, unix.SizeofIfAddrmsg, func(head []byte, attrs []syscall.NetlinkRouteAttr) {
		if n := all.byIndex(int(binary.NativeEndian.Uint32(head[4:]))); n != nil {
			n.addAddr(attrs)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("list IP addresses: %w", err)
	}
	return all, nil
}

// eachRoute calls f with header and attributes of each answer of a dump.
func eachRoute(request, answer int, headLen int, f func(head []byte, attrs []syscall.NetlinkRouteAttr)) error {
	raw, err := syscall.NetlinkRIB(request, unix.AF_UNSPEC)
	if err != nil {
		return err
	}
	messages, err := syscall.ParseNetlinkMessage(raw)
	if err != nil {
		return err
	}
	for i := range messages {
		m := &messages[i]
		if int(m.Header.Type) != answer || len(m.Data) < headLen {
			continue
		}
		attrs, err := syscall.ParseNetlinkRouteAttr(m)
		if err != nil {
			return err
		}
		f(m.Data[:headLen], attrs)
	}
	return nil
}

func newNetdev(index int, attrs []syscall.NetlinkRouteAttr) netdev {
	n := netdev{index: index}
	for _, a := range attrs {
		switch a.Attr.Type {
		case unix.IFLA_IFNAME:
			n.name = cString(a.Value)
		case unix.IFLA_ADDRESS:
			n.mac = a.Value
		case unix.IFLA_MTU:
			n.mtu = number(a.Value)
		case unix.IFLA_LINK:
			if lower := number(a.Value); lower != index {
				n.lower = lower
			}
		case unix.IFLA_LINK_NETNSID:
			n.lowerElsewhere = true
		case unix.IFLA_MASTER:
			n.master = number(a.Value)
		case unix.IFLA_LINKINFO:
			n.kind = kindOf(a.Value)
		}
	}
	return n
}

// kindOf reads IFLA_INFO_KIND, the first attribute in IFLA_LINKINFO.
func kindOf(info []byte) string {
	const head = unix.SizeofRtAttr
	if len(info) < head || binary.NativeEndian.Uint16(info[2:]) != unix.IFLA_INFO_KIND {
		return ""
	}
	end := min(max(int(binary.NativeEndian.Uint16(info)), head), len(info))
	return cString(info[head:end])
}

func cString(b []byte) string {
	s, _, _ := strings.Cut(string(b), "\x00")
	return s
}

func number(b []byte) int {
	if len(b) < 4 {
		return 0
	}
	return int(binary.NativeEndian.Uint32(b))
}

// addAddr adds an address: IFA_LOCAL where there is one, because IFA_ADDRESS is the
// peer's then (a point-to-point interface).
func (n *netdev) addAddr(attrs []syscall.NetlinkRouteAttr) {
	var addr netip.Addr
	for _, a := range attrs {
		ip, ok := netip.AddrFromSlice(a.Value)
		switch {
		case !ok:
		case a.Attr.Type == unix.IFA_LOCAL, a.Attr.Type == unix.IFA_ADDRESS && !addr.IsValid():
			addr = ip
		}
	}
	if addr.IsValid() {
		n.addrs = append(n.addrs, addr)
	}
}
