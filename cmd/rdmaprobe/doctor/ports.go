package doctor

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/cmd/rdmaprobe/gidpick"
	"github.com/purerdma/rdma/cmd/rdmaprobe/netinfo"
	"github.com/purerdma/rdma/uverbs"
)

// checkPorts looks at state, MTU and speed.
func checkPorts(f *Facts, r *Result) {
	var states []string
	for _, d := range f.Devices {
		for _, p := range d.Ports {
			object := portName(d, p)
			states = append(states, object+" "+p.State.String())
			netdev, here := gidpick.PortNetdev(p.PortInfo, f.Netdevs)
			if !f.elsewhere(d, p) { // the interfaces' section tells
				checkState(r, object, d, p, netdev, here)
			}
			if p.Attr != nil && here && d.Protocol == uverbs.ProtocolRoCE {
				checkMTU(r, object, p, netdev)
			}
			if here {
				checkOtherEnd(f, r, object, netdev)
			}
		}
	}
	r.Summary = strings.Join(states, ", ")
	if len(states) == 0 {
		r.nothing("no device")
	}
	r.Table = portTable(f)
}

func portName(d Device, p Port) string { return d.Name + " port " + strconv.Itoa(p.Number) }

func checkState(r *Result, object string, d Device, p Port, netdev netinfo.Netdev, here bool) {
	if p.State == uverbs.PortActive {
		return
	}
	evidence := fmt.Sprintf("state %v, physical state %v", p.State, p.Phys)
	if d.Protocol == uverbs.ProtocolIB || d.Protocol == uverbs.ProtocolOPA {
		if p.State == uverbs.PortInit || p.State == uverbs.PortArmed {
			r.find("RP-PRT-002", object, "the link is up, but no subnet manager has configured the port", evidence,
				"start a subnet manager (opensm, or the one of the switch)")
			return
		}
	}
	if here && !netdev.Up {
		evidence += "; " + netdev.Name + " is administratively down"
	} else if here && !netdev.Running {
		evidence += "; " + netdev.Name + " has no carrier"
	}
	problem, remedy := WhyDown(p.PortInfo, netdev, here)
	r.find("RP-PRT-001", object, problem, evidence, remedy)
}

// WhyDown says why a port is not ACTIVE, and what to do about it. here tells
// whether netdev, its interface, is known.
func WhyDown(p uverbs.PortInfo, netdev netinfo.Netdev, here bool) (problem, remedy string) {
	switch {
	case here && !netdev.Up:
		return "down, because " + netdev.Name + " is", "ip link set " + netdev.Name + " up"
	case here && !netdev.Running && netdev.Kind == "veth":
		return "down, because " + netdev.Name + " has no carrier", "set the other end of the veth pair up"
	case here && !netdev.Running:
		return "down, because " + netdev.Name + " has no carrier", "check cable and the other end of " + netdev.Name
	case p.Phys == uverbs.PhysDisabled:
		return "down", "enable the port: set its network interface up"
	}
	return "down", "check cable, switch port and transceiver"
}

// packetRoom is what an Ethernet interface's MTU must hold besides the data of
// a RoCE v2 packet: IPv6, UDP, base transport, the largest extended headers and
// the check sum.
const packetRoom = 40 + 8 + 12 + 16 + 4

// driverRoom is what hardware drivers leave (iboe_get_mtu in the kernel): for
// atomics and extended connections too.
const driverRoom = 40 + 8 + 12 + 28 + 4 + 4

// checkMTU compares the size of RDMA packets with that of the interface's.
func checkMTU(r *Result, object string, p Port, netdev netinfo.Netdev) {
	active := p.Attr.ActiveMTU.Bytes()
	if active == 0 || netdev.MTU == 0 {
		return
	}
	evidence := fmt.Sprintf("active MTU %d, MTU of %s %d, packets need up to %d more than their data", active, netdev.Name, netdev.MTU, packetRoom)
	if active+packetRoom > netdev.MTU {
		r.find("RP-PRT-003", object, fmt.Sprintf("packets carry up to %d bytes, %s takes %d in all: large messages are lost", active, netdev.Name, netdev.MTU),
			evidence, fmt.Sprintf("ip link set %s mtu %d, or more, at both ends and in between", netdev.Name, active+packetRoom))
		return
	}
	best, _ := abi.IBMTUFromBytes(netdev.MTU - driverRoom)
	best = min(best, p.Attr.MaxMTU)
	if best > p.Attr.ActiveMTU {
		r.find("RP-PRT-004", object, fmt.Sprintf("packets carry %d bytes, %s allows %d", active, netdev.Name, best.Bytes()), evidence,
			fmt.Sprintf("set the MTU of %s anew, so that the driver reads it, and look at the kernel log", netdev.Name))
	}
}

// checkOtherEnd compares with what an interface is connected to, as far as
// that is on this machine. A veth drops frames above its own MTU without a
// trace. A bridge passes them on, but its MTU is that of its smallest port.
func checkOtherEnd(f *Facts, r *Result, object string, netdev netinfo.Netdev) {
	remedy := func(other netinfo.Netdev) string {
		return fmt.Sprintf("ip link set %s mtu %d, or ip link set %s mtu %d", other.Name, netdev.MTU, netdev.Name, other.MTU)
	}
	if peer, ok := f.Netdevs.Peer(netdev); ok && peer.MTU < netdev.MTU {
		r.find("RP-PRT-005", object, fmt.Sprintf("MTU mismatch: %s has %d, the other end of the veth pair, %s, has %d: larger packets are lost",
			netdev.Name, netdev.MTU, peer.Name, peer.MTU), "the MTU of both interfaces", remedy(peer))
	}
	if master, ok := f.Netdevs.ByIndex(netdev.MasterIndex); ok && master.Kind == "bridge" && master.MTU < netdev.MTU {
		r.find("RP-PRT-006", object, fmt.Sprintf("%s has an MTU of %d, its bridge %s %d: larger packets do not pass all its ports",
			netdev.Name, netdev.MTU, master.Name, master.MTU), "the MTU of both interfaces", remedy(master))
	}
}

func portTable(f *Facts) [][]string {
	rows := [][]string{{"DEVICE", "PORT", "PROTOCOL", "STATE", "MTU", "NETDEV", "NETDEV MTU", "SPEED"}}
	for _, d := range f.Devices {
		for _, p := range d.Ports {
			mtu := ""
			if p.Attr != nil {
				mtu = bytesOrNone(p.Attr.ActiveMTU.Bytes())
			}
			rows = append(rows, []string{d.Name, strconv.Itoa(p.Number), string(d.Protocol), p.State.String(), mtu, p.Netdev,
				bytesOrNone(p.NetdevMTU), Speed(p.SpeedMbps)})
		}
	}
	return rows
}

func bytesOrNone(n int) string {
	if n <= 0 {
		return ""
	}
	return strconv.Itoa(n) + " B"
}

// Speed prints Mbit/s; empty when not known.
func Speed(mbps int) string {
	switch {
	case mbps <= 0:
		return ""
	case mbps%1000 == 0:
		return fmt.Sprintf("%d Gb/s", mbps/1000)
	}
	return fmt.Sprintf("%.1f Gb/s", float64(mbps)/1000)
}
