package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/purerdma/rdma/cmd/rdmaprobe/holders"
	"github.com/purerdma/rdma/cmd/rdmaprobe/plain"
	"github.com/purerdma/rdma/uverbs"
)

// resOptions is the command line of res.
type resOptions struct {
	device  string
	pid     int
	verbose bool
}

func newRes(a *app) *cobra.Command {
	o := new(resOptions)
	cmd := &cobra.Command{
		Use:   "res",
		Short: "Show who holds which RDMA objects",
		Long: `res shows which process, or part of the kernel, holds how many RDMA objects on
each device: contexts (CTX), protection domains (PD), completion queues (CQ),
queue pairs (QP), shared receive queues (SRQ), memory regions (MR) with their
bytes, and connection manager IDs (CM ID). For a process in a container it shows
the container or pod.

It needs no privilege. The kernel leaves out processes of PID namespaces that
this one does not see: "others" is what it counts but does not name.`,
		Example: `  rdmaprobe res
  rdmaprobe res --device rxe0 -v
  rdmaprobe res --pid 4711 --json`,
		Args: cobra.NoArgs,
		RunE: action(func(cmd *cobra.Command, _ []string) error {
			if o.pid < 0 {
				return usagef("--pid %d: must not be negative", o.pid)
			}
			return a.res(cmd.Context(), *o)
		}),
	}
	f := cmd.Flags()
	f.StringVar(&o.device, "device", "", "show this device only")
	f.IntVar(&o.pid, "pid", 0, "show this process only")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "show each queue pair and each connection manager ID")
	return cmd
}

func (a *app) res(ctx context.Context, o resOptions) error {
	doc := &resDoc{Devices: []resDeviceDoc{}}
	a.doc = doc
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	devices, err := a.sys.holders(ctx)
	if err != nil {
		return a.resFailed(err)
	}
	for _, d := range devices {
		if o.device == "" || d.Name == o.device {
			doc.Devices = append(doc.Devices, newResDeviceDoc(d, o.pid))
		}
	}
	switch {
	case o.device != "" && len(doc.Devices) == 0:
		return &failure{step: "list RDMA objects", object: o.device, err: uverbs.ErrNoDevice}
	case len(devices) == 0:
		return &failure{step: "list RDMA objects", err: uverbs.ErrNoDevice}
	}
	doc.write(a, o.verbose)
	return nil
}

// resFailed tells a kernel without RDMA from a sandbox that hides its netlink:
// both say that there is no such protocol.
func (a *app) resFailed(err error) error {
	f := &failure{step: "list RDMA objects", object: "RDMA netlink", err: err}
	findings := a.sys.diagnose().Findings
	blocked := slices.IndexFunc(findings, func(f uverbs.Finding) bool { return f.ID == "RP-NET-001" })
	switch {
	case blocked >= 0:
		f.remedy, f.err = findings[blocked].Remedy, checkError{findings[blocked].Problem, fs.ErrPermission}
	case errors.Is(err, syscall.EPROTONOSUPPORT):
		f.err = fmt.Errorf("%w: %w", uverbs.ErrNoDevice, err)
	}
	return f
}

// kinds are the columns, by the kernel's names.
var kinds = []struct {
	name, column string
	count        func(holders.Holder) int
}{
	{"ctx", "CTX", func(h holders.Holder) int { return h.Contexts }},
	{"pd", "PD", func(h holders.Holder) int { return h.PDs }},
	{"cq", "CQ", func(h holders.Holder) int { return h.CQs }},
	{"qp", "QP", func(h holders.Holder) int { return h.QPs }},
	{"srq", "SRQ", func(h holders.Holder) int { return h.SRQs }},
	{"mr", "MR", func(h holders.Holder) int { return h.MRs }},
	{"cm_id", "CM ID", func(h holders.Holder) int { return h.CMIDs }},
}

func newResDeviceDoc(d holders.Device, pid int) resDeviceDoc {
	doc := resDeviceDoc{Device: d.Name, Index: d.Index, Totals: []resCountDoc{}, Unknown: d.Unknown, Holders: []resHolderDoc{}}
	for _, kind := range slices.Sorted(maps.Keys(d.Totals)) {
		doc.Totals = append(doc.Totals, resCountDoc{kind, d.Totals[kind]})
	}
	for _, h := range d.Holders {
		if pid == 0 || h.PID == pid {
			doc.Holders = append(doc.Holders, newResHolderDoc(h))
		}
	}
	if pid == 0 {
		doc.addOthers(d)
	}
	return doc
}

// addOthers adds a holder for what the kernel counts but does not list.
func (doc *resDeviceDoc) addOthers(d holders.Device) {
	others := resHolderDoc{Kind: "others", Objects: []resCountDoc{}, Queues: []resQPDoc{}, IDs: []resIDDoc{}}
	for _, k := range kinds {
		listed := uint64(0)
		for _, h := range d.Holders {
			listed += uint64(k.count(h))
		}
		if total := d.Totals[k.name]; total > listed {
			others.Objects = append(others.Objects, resCountDoc{k.name, total - listed})
		}
	}
	if len(others.Objects) > 0 {
		doc.Holders = append(doc.Holders, others)
	}
}

func newResHolderDoc(h holders.Holder) resHolderDoc {
	doc := resHolderDoc{Kind: "process", PID: h.PID, Command: h.Command, Kernel: h.Kernel, Cgroup: h.Cgroup, Pod: h.Pod,
		Container: h.Container, Host: h.Host, Objects: []resCountDoc{}, MemoryBytes: h.Memory, Queues: []resQPDoc{}, IDs: []resIDDoc{}}
	switch {
	case h.Kernel != "":
		doc.Kind = "kernel"
	case h.PID == 0:
		doc.Kind = "unknown"
	}
	for _, k := range kinds {
		if n := k.count(h); n > 0 {
			doc.Objects = append(doc.Objects, resCountDoc{k.name, uint64(n)})
		}
	}
	for _, q := range h.Queues {
		doc.Queues = append(doc.Queues, resQPDoc{Number: q.Number, Remote: q.Remote, Port: q.Port, Type: q.Type, State: q.State})
	}
	for _, id := range h.IDs {
		doc.IDs = append(doc.IDs, resIDDoc{State: id.State, PortSpace: id.PortSpace, Source: addrText(id.Source),
			Destination: addrText(id.Dest), QPNumber: id.QPNum})
	}
	return doc
}

// addrText is empty for an address that is not set.
func addrText(a netip.AddrPort) string {
	if !a.IsValid() || a.Addr().IsUnspecified() && a.Port() == 0 {
		return ""
	}
	return a.String()
}

// write prints the table for people.
func (doc *resDoc) write(a *app, verbose bool) {
	head := []string{"DEVICE", "HOLDER", "PID"}
	for _, k := range kinds {
		head = append(head, k.column)
	}
	rows := [][]string{append(head, "MR BYTES", "WHERE")}
	for _, d := range doc.Devices {
		for _, h := range d.Holders {
			rows = append(rows, h.row(d))
		}
	}
	if len(rows) == 1 {
		a.printf("nobody holds RDMA objects\n")
	} else {
		table(a.out, narrow(rows))
	}
	for _, d := range doc.Devices {
		if len(d.Unknown) > 0 {
			a.printf("\n%s: this kernel does not say who holds %s\n", plain.Text(d.Device), plain.Text(joinList(d.Unknown)))
		}
	}
	if verbose {
		doc.writeQueues(a)
		doc.writeIDs(a)
	}
}

func (h resHolderDoc) row(d resDeviceDoc) []string {
	row := []string{d.Device, h.name(), ""}
	if h.PID != 0 {
		row[2] = strconv.Itoa(h.PID)
	}
	for _, k := range kinds {
		n := uint64(0)
		for _, o := range h.Objects {
			if o.Kind == k.name {
				n = o.Count
			}
		}
		cell := strconv.FormatUint(n, 10)
		if n == 0 && slices.Contains(d.Unknown, k.name) {
			cell = "?"
		}
		row = append(row, cell)
	}
	memory := ""
	if h.MemoryBytes > 0 {
		memory = formatBytes(h.MemoryBytes)
	}
	return append(row, memory, h.where())
}

// name is what people know the holder by.
func (h resHolderDoc) name() string {
	switch h.Kind {
	case "kernel":
		return "[" + h.Kernel + "]"
	case "others":
		return "others"
	case "unknown":
		return "not visible"
	}
	if h.Command == "" {
		return "?"
	}
	return h.Command
}

// where is the pod or container, else the cgroup.
func (h resHolderDoc) where() string {
	short := func(id string) string { return id[:min(12, len(id))] }
	switch {
	case h.Kind == "kernel":
		return "kernel"
	case h.Pod != "" && h.Host != "":
		return "pod " + h.Host
	case h.Pod != "":
		return "pod " + h.Pod
	case h.Container != "":
		return "container " + short(h.Container)
	case h.Cgroup == "/":
		return ""
	}
	return h.Cgroup
}

// narrow cuts the last column so that lines fit.
func narrow(rows [][]string) [][]string {
	for _, r := range rows {
		for i := range r {
			r[i] = plain.Text(r[i])
		}
	}
	width := 0
	for i := range len(rows[0]) - 1 {
		widest := 1
		for _, r := range rows {
			widest = max(widest, len([]rune(r[i])))
		}
		width += widest + 2
	}
	for _, r := range rows {
		last := &r[len(r)-1]
		if text := []rune(*last); len(text) > max(lineWidth-width, 8) {
			// The end of a cgroup's path says more than its start.
			*last = "…" + string(text[len(text)-max(lineWidth-width, 8)+1:])
		}
	}
	return rows
}

func (doc *resDoc) writeQueues(a *app) {
	rows := [][]string{{"DEVICE", "HOLDER", "PID", "QP", "TYPE", "STATE", "PEER'S QP"}}
	for _, d := range doc.Devices {
		for _, h := range d.Holders {
			for _, q := range h.Queues {
				peer := ""
				if q.Remote != 0 {
					peer = fmt.Sprintf("%#x", q.Remote)
				}
				rows = append(rows, []string{d.Device, h.name(), pidText(h.PID), fmt.Sprintf("%#x", q.Number), q.Type, q.State, peer})
			}
		}
	}
	if len(rows) > 1 {
		a.printf("\n")
		table(a.out, rows)
	}
}

func (doc *resDoc) writeIDs(a *app) {
	rows := [][]string{{"DEVICE", "HOLDER", "PID", "CM ID STATE", "SERVICE", "QP", "LOCAL", "PEER"}}
	for _, d := range doc.Devices {
		for _, h := range d.Holders {
			for _, id := range h.IDs {
				qp := ""
				if id.QPNumber != 0 {
					qp = fmt.Sprintf("%#x", id.QPNumber)
				}
				rows = append(rows, []string{d.Device, h.name(), pidText(h.PID), id.State, id.PortSpace, qp, id.Source, id.Destination})
			}
		}
	}
	if len(rows) > 1 {
		a.printf("\n")
		table(a.out, rows)
	}
}

func pidText(pid int) string {
	if pid == 0 {
		return ""
	}
	return strconv.Itoa(pid)
}

// formatBytes prints a size in the unit that suits it.
func formatBytes(n uint64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	v, i := float64(n), 0
	for v >= 1024 && i < len(units)-1 {
		v /= 1024
		i++
	}
	return strings.TrimSuffix(strconv.FormatFloat(v, 'f', 1, 64), ".0") + " " + units[i]
}
