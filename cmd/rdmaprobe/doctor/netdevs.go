package doctor

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/purerdma/rdma/cmd/rdmaprobe/gidpick"
	"github.com/purerdma/rdma/cmd/rdmaprobe/netinfo"
)

// checkNetdevs maps network interfaces to RDMA ports.
func checkNetdevs(f *Facts, r *Result) {
	r.Table = netdevTable(f)
	r.Summary = fmt.Sprintf("%d interfaces lead to RDMA devices", len(r.Table)-1)
	if len(r.Table) == 2 {
		r.Summary = "1 interface leads to an RDMA device"
	}
	switch {
	case len(f.Devices) == 0:
		r.nothing("no device")
	case f.Netdevs == nil:
		r.unknown("network interfaces cannot be listed")
	}
	for _, d := range f.Devices {
		for _, p := range d.Ports {
			checkPortNetdev(f, r, d, p)
		}
	}
	checkSubnets(f, r)
}

// checkPortNetdev: a pod sees devices whose interfaces it does not have.
func checkPortNetdev(f *Facts, r *Result, d Device, p Port) {
	if n, here := gidpick.PortNetdev(p.PortInfo, f.Netdevs); here && n.Loopback {
		r.find("RP-MAP-004", portName(d, p), "it is on the loopback interface "+n.Name+": no peer reaches it, and the connection manager takes no loopback address",
			n.Name+" is a loopback interface", "rdmaprobe rxe del "+d.Name+", and make one on another interface: rdmaprobe rxe add NETDEV")
	}
	if !f.elsewhere(d, p) {
		return // perhaps it is reached through a macvlan, ipvlan or VLAN
	}
	const evidence = "neither the port's interface nor that of any of its GIDs is here"
	if f.anyWorks() {
		r.find("RP-MAP-003", portName(d, p), "its interface is not in this network namespace; other devices work here", evidence,
			"none is needed, unless this device is wanted")
		return
	}
	remedy := "give this namespace the interface, a macvlan or ipvlan on it, or a virtual function (Kubernetes: a secondary network), or use the host's network"
	if d.DriverID == rxeDriver {
		remedy = "make a soft device in this namespace (kernel 7.2 or newer): rdma link add NAME type rxe netdev NETDEV; or use the host's network"
	}
	r.find("RP-MAP-001", portName(d, p), "its interface is not in this network namespace, so nothing can connect through it",
		evidence, remedy)
}

// portsOf lists the ports that an interface leads to.
func portsOf(f *Facts, n netinfo.Netdev) (out []string) {
	for _, d := range f.Devices {
		for _, p := range d.Ports {
			own, here := gidpick.PortNetdev(p.PortInfo, f.Netdevs)
			if here && own.Index == n.Index || slices.ContainsFunc(p.GIDs, gidOn(n.Name)) {
				out = append(out, d.Name+"/"+strconv.Itoa(p.Number))
			}
		}
	}
	return out
}

func gidOn(netdev string) func(gidpick.Row) bool {
	return func(g gidpick.Row) bool { return g.On(netdev) }
}

// Interface is a network interface that leads to RDMA ports.
type Interface struct {
	netinfo.Netdev
	On       string   // the interface below, "other netns" when it is elsewhere
	MemberOf string   // bond or bridge
	Ports    []string // such as rxe0/1
}

// Interfaces maps network interfaces to the ports that they lead to.
func Interfaces(f *Facts) (out []Interface) {
	name := func(index int) string { d, _ := f.Netdevs.ByIndex(index); return d.Name }
	for _, n := range f.Netdevs {
		ports := portsOf(f, n)
		if len(ports) == 0 {
			continue
		}
		i := Interface{Netdev: n, MemberOf: name(n.MasterIndex), Ports: ports}
		switch {
		case n.Stacked() && n.ParentElsewhere:
			i.On = "other netns"
		case n.Stacked():
			i.On = name(n.ParentIndex)
		}
		out = append(out, i)
	}
	return out
}

func netdevTable(f *Facts) [][]string {
	rows := [][]string{{"NETDEV", "KIND", "ON", "MEMBER OF", "STATE", "MTU", "RDMA"}}
	for _, n := range Interfaces(f) {
		kind := n.Kind
		if n.VLAN != 0 {
			kind += " " + strconv.Itoa(n.VLAN)
		}
		rows = append(rows, []string{n.Name, kind, n.On, n.MemberOf, n.State(), bytesOrNone(n.MTU), strings.Join(n.Ports, ", ")})
	}
	return rows
}
