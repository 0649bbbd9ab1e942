package main

import (
	"context"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/purerdma/rdma/cmd/rdmaprobe/doctor/gather"
	"github.com/purerdma/rdma/cmd/rdmaprobe/gidpick"
	"github.com/purerdma/rdma/cmd/rdmaprobe/netinfo"
	"github.com/purerdma/rdma/uverbs"
)

func newGIDs(a *app) *cobra.Command {
	var to string
	cmd := &cobra.Command{
		Use:   "gids",
		Short: "Show all GIDs, and which one is used towards an address",
		Long: `gids shows the GID tables of all ports: each GID with its type, its network
interface, whether that is in this network namespace, and whether something can
be sent from it.

With --to it says which GID connections to that address use, and of each other
one why they do not. A link-local address needs its zone: fe80::1%eth0.

Exit code 3 when there is no GID, or none for the address; 5 without a route.`,
		Example: "  rdmaprobe gids\n  rdmaprobe gids --to 10.0.0.7\n  rdmaprobe gids --to fe80::1%eth0 --json",
		Args:    cobra.NoArgs,
		RunE: action(func(cmd *cobra.Command, _ []string) error {
			return a.gids(cmd.Context(), to, cmd.Flags().Changed("to"))
		}),
	}
	cmd.Flags().StringVar(&to, "to", "", "also say which GID is used towards `ADDR`")
	return cmd
}

func (a *app) gids(ctx context.Context, to string, asked bool) error {
	doc := &gidsDoc{GIDs: []rowDoc{}}
	netdevs, err := a.sys.netdevs()
	if err != nil {
		return &failure{step: "list network interfaces", err: err}
	}
	var dst netip.Addr
	if asked {
		if dst, err = a.destination(ctx, to, netdevs); err != nil {
			return err
		}
		doc.To = dst.String()
	}
	a.doc = doc
	rows, problems := a.gidRows(netdevs)
	doc.Full = a.fullTables(rows, netdevs)
	problems = append(problems, doc.Full...)
	if asked {
		err = a.pick(doc, rows, dst, netdevs)
	}
	doc.GIDs = rowDocs(rows)
	doc.write(a, problems)
	switch {
	case len(rows) == 0:
		return &failure{step: "look for GIDs", object: "this machine", err: uverbs.ErrNoDevice, remedy: "rdmaprobe doctor says what is missing"}
	case err == nil && !asked && !slices.ContainsFunc(rows, func(r gidpick.Row) bool { return r.Unusable == "" }):
		return &failure{step: "look for a usable GID", object: "this machine", remedy: "rdmaprobe doctor says what to do",
			err: checkError{"none of them is usable", uverbs.ErrNoDevice}}
	}
	return err
}

// gidRows reads the tables of all ports. A table that cannot be read does not
// hide the others.
func (a *app) gidRows(netdevs netinfo.Netdevs) (rows []gidpick.Row, problems []string) {
	var ports []gidpick.Port
	for _, d := range a.sys.diagnose().Devices {
		for _, p := range d.Ports {
			entries, err := a.sys.gids(d, p.Number)
			if err != nil {
				problems = append(problems, err.Error())
				continue
			}
			mode, _ := a.sys.cmDefaults(d.Name, p.Number)
			ports = append(ports, gidpick.Port{Device: d.Name, Protocol: d.Protocol, Info: p, GIDs: entries, Default: gather.GIDTypeOf(mode)})
		}
	}
	return gidpick.Rows(ports, netdevs), problems
}

// pick finds the route and marks the GID.
func (a *app) pick(doc *gidsDoc, rows []gidpick.Row, dst netip.Addr, netdevs netinfo.Netdevs) error {
	route, err := a.sys.routeTo(dst)
	if err != nil {
		return &failure{step: "look up the route", object: dst.String(), err: err, remedy: "check the routes: is there one to " + dst.String() + "?"}
	}
	w := gidpick.Want{Dst: dst, Route: route}
	egress, _ := w.Egress(netdevs)
	doc.Route = &routeDoc{Netdev: egress.Name, Source: ipText(route.Source), Gateway: ipText(route.Gateway), Local: route.Local}
	if gidpick.Pick(rows, w, netdevs) < 0 {
		return noGID(rows, dst, egress.Name, doc.Full)
	}
	return nil
}

// noGID says what was wrong with the GIDs that came closest.
func noGID(rows []gidpick.Row, dst netip.Addr, netdev string, full []string) error {
	remedy := "rdmaprobe gids shows which interfaces have RDMA; choose an address that is reached through one of them"
	for _, r := range rows {
		if r.On(netdev) {
			remedy = "the reasons are in the table; rdmaprobe doctor says more"
		}
	}
	text := "packets leave through " + orDash(netdev) + ", which has no GID for them"
	if len(full) > 0 {
		text += "; " + joinList(full)
	}
	return &failure{step: "choose a GID", object: dst.String(), remedy: remedy, err: checkError{text, uverbs.ErrNoDevice}}
}

func ipText(ip netip.Addr) string {
	if !ip.IsValid() {
		return ""
	}
	return ip.String()
}

func rowDocs(rows []gidpick.Row) []rowDoc {
	out := []rowDoc{}
	for _, r := range rows {
		out = append(out, rowDoc{Device: r.Device, Port: r.Port, Index: r.Index, GID: r.GID.String(), Type: r.Type.String(), Netdev: r.Netdev,
			Here: r.Here, Address: ipText(r.Address), Usable: r.Unusable == "", Unusable: r.Unusable, Picked: r.Picked, Lost: r.Lost})
	}
	return out
}

// write prints the table for people.
func (doc *gidsDoc) write(a *app, problems []string) {
	if doc.Route != nil {
		fmt.Fprintf(a.out, "%s\n\n", wrap("to "+doc.To+": "+doc.Route.text(), 0))
	}
	if len(doc.GIDs) == 0 {
		fmt.Fprintln(a.out, "no GID")
	} else {
		doc.writeRows(a)
	}
	writeProblems(a.out, problems)
}

func writeProblems(w io.Writer, problems []string) {
	for _, p := range problems {
		fmt.Fprintf(w, "\n%s\n", wrap(p, 0))
	}
}

func (r *routeDoc) text() string {
	switch {
	case r.Local:
		return "an address of this machine, on " + orDash(r.Netdev)
	case r.Gateway != "":
		return fmt.Sprintf("through %s by way of %s, from %s", orDash(r.Netdev), r.Gateway, orDash(r.Source))
	}
	return fmt.Sprintf("on the link of %s, from %s", orDash(r.Netdev), orDash(r.Source))
}

func (doc *gidsDoc) writeRows(a *app) {
	last := "USABLE"
	if doc.Route != nil {
		last = "USED"
	}
	rows := [][]string{{"DEVICE", "PORT", "GID#", "TYPE", "NETDEV", "HERE", "GID", last}}
	for _, g := range doc.GIDs {
		rows = append(rows, []string{g.Device, strconv.Itoa(g.Port), strconv.Itoa(g.Index), g.Type, g.Netdev, yesNo(g.Here), g.GID, g.verdict(doc.Route != nil)})
	}
	paint := a.painter()
	paintedColumns(a.out, rows, func(row, column int, cell string) string {
		if row == 0 || column != len(rows[0])-1 || cell != "yes" {
			return cell
		}
		return paint(colourGreen, cell)
	})
}

func (g rowDoc) verdict(picking bool) string {
	switch {
	case picking && g.Picked, !picking && g.Usable:
		return "yes"
	case picking:
		return "no: " + g.Lost
	}
	return "no: " + g.Unusable
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
