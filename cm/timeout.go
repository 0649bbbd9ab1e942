package cm

import (
	"fmt"
	"net"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/ucma"
	"github.com/purerdma/rdma/uverbs"
)

// describeTimeout says what to look at when nobody answered in a step. In the step
// "connect" the kernel does not tell whether the peer's kernel has the request and its
// program has yet to accept (it confirms the receipt with an MRA, of which it reports
// nothing: cma_ib_handler), or whether nothing came through.
func describeTimeout(step string, remote net.Addr) string {
	switch step {
	case stepResolveAddr:
		return fmt.Sprintf("no neighbour answered for %v: host down, wrong address, or no ARP/ND on that link", remote)
	case stepConnect:
		return fmt.Sprintf("no answer from %v: its program has not accepted in time, or nothing comes through: "+
			"UDP port %d (RoCE) or the TCP port (iWARP) filtered, or RDMA not running there", remote, abi.ROCE_V2_UDP_DPORT)
	case stepAccept:
		return "the peer did not confirm: it may have gone, or its packets are lost"
	}
	return ""
}

// blamePort makes the own port, if it is down, the first thing to look at for a
// time-out: neither peer nor network are to blame then. The port is that of the route,
// nil if there is none yet; netns is the namespace of the ID.
func (e *OpError) blamePort(netns string, route *ucma.Route) {
	if !e.Timeout() || route == nil || route.Port == 0 {
		return
	}
	var hint string
	_ = inNetNS(netns, func() error { // without an answer there is no hint
		if d, err := findDevice(route); err == nil {
			hint = portHint(d, int(route.Port))
		}
		return nil
	})
	if hint != "" {
		e.Hint = hint
	}
}

// portHint says that a port is down and what to do; it is empty for a port that is up.
func portHint(d *uverbs.Device, number int) string {
	p, ok := d.Port(number)
	if !ok || p.State == uverbs.PortActive || p.State == 0 {
		return ""
	}
	text := fmt.Sprintf("port %d of %s is %v", number, d.Name, p.State)
	if p.Netdev != "" {
		text += fmt.Sprintf(": set its interface up (ip link set %s up) and look at its cable", p.Netdev)
	}
	if d.DriverID == abi.RDMA_DRIVER_RXE {
		// rxe refuses the send, and the kernel's queue of the connection manager
		// stays in state ERROR.
		text += "; a soft-RoCE device that was asked to connect meanwhile has to be deleted and added again"
	}
	return text
}
