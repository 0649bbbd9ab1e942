package main

import (
	"fmt"
	"io"
	"net/netip"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/purerdma/rdma/uverbs"
)

func newList(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "Show RDMA devices, ports and GIDs, and whether they are usable",
		Long: `list shows RDMA devices with their ports, GIDs, network and character devices.
USABLE comes from opening the character device as this user in this container. A
device whose driver has no data path in this build is there all the same: only
ping and bench do not work with it.

Exit code 3 without any device, 4 when access to all devices is denied.`,
		Example: "  rdmaprobe list\n  rdmaprobe list --json",
		Args:    cobra.NoArgs,
		RunE: action(func(*cobra.Command, []string) error {
			diag := a.sys.diagnose()
			doc := newListDoc(diag, a.sys)
			doc.addFullTables(a)
			a.doc = doc
			doc.write(a.out)
			return listError(diag)
		}),
	}
}

// listError is nil when at least one device opens, be it without a data path here.
func listError(diag *uverbs.Diagnosis) error {
	if len(diag.Devices) == 0 {
		return &failure{step: "look for RDMA devices", object: "this machine", err: uverbs.ErrNoDevice,
			remedy: "see the findings, the first one first"}
	}
	var first error
	for i, u := range diag.Usability {
		if u.OK() || u.State == uverbs.NoDataPath {
			return nil
		}
		if first == nil {
			cause := u.Err
			if cause == nil {
				cause = uverbs.ErrNoDevice
			}
			first = &failure{step: "open device", object: diag.Devices[i].Name, remedy: u.Remedy,
				err: fmt.Errorf("%s: %w", u, cause)}
		}
	}
	return first
}

func (*listDoc) hasFindings() {}

// addFullTables says of each device which GID tables are full.
func (doc *listDoc) addFullTables(a *app) {
	netdevs, err := a.sys.netdevs()
	if err != nil {
		return // an extra
	}
	rows, _ := a.gidRows(netdevs)
	for _, text := range a.fullTables(rows, netdevs) {
		name, what, _ := strings.Cut(text, " ")
		for i := range doc.Devices {
			if doc.Devices[i].Name == name {
				doc.Devices[i].Problems = append(doc.Devices[i].Problems, what)
			}
		}
	}
}

// sourceOf says where devices were looked up.
func sourceOf(diag *uverbs.Diagnosis) string {
	switch {
	case diag.NetlinkErr == nil:
		return "netlink"
	case diag.SysfsErr == nil:
		return "sysfs"
	}
	return "none"
}

func newListDoc(diag *uverbs.Diagnosis, sys system) *listDoc {
	doc := &listDoc{
		Kernel: diag.Kernel, Source: sourceOf(diag), NetnsMode: diag.NetnsMode, CopyOnFork: diag.CopyOnFork,
		CM: cmDoc{Path: diag.CM.Path, Major: diag.CM.Major, Minor: diag.CM.Minor, ABIVersion: diag.CM.ABIVersion,
			usabilityDoc: newUsabilityDoc(diag.CMUsability)},
		Modules: []moduleDoc{}, Devices: []deviceDoc{}, Findings: []findingDoc{},
	}
	for _, m := range diag.Modules {
		doc.Modules = append(doc.Modules, moduleDoc{Name: m.Name, State: string(m.State), Evidence: m.Evidence})
	}
	for _, f := range diag.Findings {
		doc.Findings = append(doc.Findings, newFindingDoc(f))
	}
	have := sys.addresses()
	for i, d := range diag.Devices {
		doc.Devices = append(doc.Devices, newDeviceDoc(d, diag.Usability[i], sys, have))
	}
	return doc
}

func newDeviceDoc(d *uverbs.Device, u uverbs.Usability, sys system, have map[string][]netip.Addr) deviceDoc {
	doc := deviceDoc{
		Name: d.Name, Index: d.Index, Driver: d.Driver(), Protocol: string(d.Protocol), NodeType: d.NodeType.String(),
		NodeGUID: d.NodeGUID.String(), SysImageGUID: d.SysImageGUID.String(), Firmware: d.FirmwareVersion,
		CharDevice: charDoc{Path: d.CharDev.Path, Major: d.CharDev.Major, Minor: d.CharDev.Minor,
			ABIVersion: d.CharDev.ABIVersion},
		Ports: []portDoc{}, Problems: []string{}, usabilityDoc: newUsabilityDoc(u),
	}
	for _, err := range d.Problems {
		doc.Problems = append(doc.Problems, err.Error())
	}
	for _, p := range d.Ports {
		port := portDoc{
			Port: p.Number, State: p.State.String(), PhysState: p.Phys.String(), LinkLayer: string(p.LinkLayer),
			LID: p.LID, Netdev: p.Netdev, NetdevMTU: p.NetdevMTU, SpeedMbps: p.SpeedMbps, Width: p.Width,
			GIDs: []gidDoc{},
		}
		gids, err := sys.gids(d, p.Number)
		if err != nil {
			doc.Problems = append(doc.Problems, err.Error())
		}
		for _, g := range gids {
			port.GIDs = append(port.GIDs, newGIDDoc(g, p, have))
		}
		doc.Ports = append(doc.Ports, port)
	}
	return doc
}

func newGIDDoc(g uverbs.GIDEntry, p uverbs.PortInfo, have map[string][]netip.Addr) gidDoc {
	doc := gidDoc{Index: g.Index, GID: g.GID.String(), Type: g.Type.String(), Netdev: g.Netdev}
	if a := addressOf(g, p, have); a.IsValid() {
		doc.Address = a.String()
	}
	return doc
}

// write prints the list for people.
func (doc *listDoc) write(w io.Writer) {
	if doc.Source == "none" {
		fmt.Fprintf(w, "kernel %s, neither RDMA netlink nor /sys/class/infiniband", orDash(doc.Kernel))
	} else {
		fmt.Fprintf(w, "kernel %s, devices looked up through %s", orDash(doc.Kernel), doc.Source)
	}
	if doc.NetnsMode != "" {
		fmt.Fprintf(w, ", network namespaces %s", doc.NetnsMode)
	}
	fmt.Fprintln(w)
	if doc.CM.Path != "" {
		fmt.Fprintf(w, "connection manager %s %d:%d, %s\n", doc.CM.Path, doc.CM.Major, doc.CM.Minor, doc.CM.State)
	} else {
		fmt.Fprintln(w, "connection manager: none")
	}
	fmt.Fprintln(w)
	if len(doc.Devices) == 0 {
		fmt.Fprintln(w, "no RDMA device")
	} else {
		doc.writeDevices(w)
	}
	if len(doc.Findings) > 0 {
		fmt.Fprintln(w, "\nfindings:")
		writeFindings(w, doc.Findings)
	}
}

func (doc *listDoc) writeDevices(w io.Writer) {
	devices := [][]string{{"DEVICE", "INDEX", "DRIVER", "NODE GUID", "CHAR DEVICE", "USABLE"}}
	ports := [][]string{{"DEVICE", "PORT", "PROTOCOL", "STATE", "LINK", "NETDEV", "MTU", "SPEED"}}
	gids := [][]string{{"DEVICE", "PORT", "GID#", "TYPE", "NETDEV", "GID", "CONFIGURED"}}
	var problems []string
	for _, d := range doc.Devices {
		index := "-"
		if d.Index >= 0 {
			index = strconv.Itoa(d.Index)
		}
		devices = append(devices, []string{d.Name, index, d.Driver, d.NodeGUID, d.CharDevice.short(), d.State})
		for _, p := range d.Ports {
			number := strconv.Itoa(p.Port)
			ports = append(ports, []string{d.Name, number, d.Protocol, p.State, p.LinkLayer, p.Netdev,
				positive(p.NetdevMTU), speed(p.SpeedMbps)})
			for _, g := range p.GIDs {
				gids = append(gids, []string{d.Name, number, strconv.Itoa(g.Index), g.Type, g.Netdev, g.GID, g.configured()})
			}
		}
		for _, text := range d.Problems {
			problems = append(problems, d.Name+": "+text)
		}
	}
	table(w, devices)
	for _, t := range [][][]string{ports, gids} {
		if len(t) > 1 {
			fmt.Fprintln(w)
			table(w, t)
		}
	}
	for _, p := range problems {
		fmt.Fprintf(w, "\n%s\n", wrap(p, 0))
	}
}

// short is the node's name and numbers; the folder is the same for all.
func (c charDoc) short() string {
	if c.Path == "" {
		return ""
	}
	return fmt.Sprintf("%s %d:%d", c.Path[strings.LastIndexByte(c.Path, '/')+1:], c.Major, c.Minor)
}

// configured says whether the GID can be used as an address here.
func (g gidDoc) configured() string {
	if g.Address == "" {
		return "no"
	}
	return "yes"
}

func writeFindings(w io.Writer, findings []findingDoc) {
	for _, f := range findings {
		fmt.Fprintf(w, "  %s %s\n", f.ID, wrap(f.Object+": "+f.Problem, 3+len(f.ID)))
		if f.Remedy != "" {
			fmt.Fprintf(w, "    remedy: %s\n", wrap(f.Remedy, 12))
		}
	}
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func positive(n int) string {
	if n <= 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func speed(mbps int) string {
	switch {
	case mbps <= 0:
		return ""
	case mbps%1000 == 0:
		return fmt.Sprintf("%d Gb/s", mbps/1000)
	}
	return fmt.Sprintf("%.1f Gb/s", float64(mbps)/1000)
}
