package main

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/purerdma/rdma/cmd/rdmaprobe/doctor"
	"github.com/purerdma/rdma/cmd/rdmaprobe/gidpick"
	"github.com/purerdma/rdma/cmd/rdmaprobe/netinfo"
	"github.com/purerdma/rdma/uverbs"
)

// A downPort is a port that carries nothing, with the reason.
type downPort struct{ name, problem, remedy string }

// findDownPort looks for a port that is not ACTIVE and that the way to a host
// leads through: a port of the device that was used or, where none was found, one
// whose interface the host is reached through or is in the subnet of. An interface
// that is down has no routes, so that packets seem to leave elsewhere.
func (a *app) findDownPort(device, host string) (downPort, bool) {
	netdevs, err := a.sys.netdevs()
	if err != nil {
		netdevs = nil // the port's state counts all the same
	}
	for _, d := range a.sys.diagnose().Devices {
		if device != "" && d.Name != device {
			continue
		}
		for _, p := range d.Ports {
			netdev, here := gidpick.PortNetdev(p, netdevs)
			sure := device != "" && len(d.Ports) == 1
			if p.State == uverbs.PortActive || !sure && !(here && a.leadsTo(netdev, host, netdevs)) {
				continue
			}
			problem, remedy := doctor.WhyDown(p, netdev, here)
			return downPort{fmt.Sprintf("%s port %d", d.Name, p.Number), problem, remedy}, true
		}
	}
	return downPort{}, false
}

// leadsTo tells whether packets to a host leave through an interface, or would
// if it were up.
func (a *app) leadsTo(n netinfo.Netdev, host string, netdevs netinfo.Netdevs) bool {
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	if zone := ip.Zone(); zone != "" {
		return zone == n.Name
	}
	ip = ip.Unmap()
	if slices.ContainsFunc(n.Addrs, func(p netip.Prefix) bool { return p.Contains(ip) }) {
		return true
	}
	route, err := a.sys.routeTo(ip)
	if err != nil {
		return false
	}
	egress, ok := gidpick.Want{Dst: ip, Route: route}.Egress(netdevs)
	return ok && netdevs.Base(egress).Index == n.Index
}

// explain says that the port is the reason.
func (p downPort) explain(e *errorDoc) {
	e.Cause, e.Remedy = p.text(), p.remedy
}

func (p downPort) text() string { return p.name + " is " + p.problem }
