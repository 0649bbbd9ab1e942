package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"github.com/purerdma/rdma/cmd/rdmaprobe/doctor"
	"github.com/purerdma/rdma/uverbs"
)

type doctorOptions struct {
	need, device string
	pod          bool
}

func newDoctor(a *app) *cobra.Command {
	var o doctorOptions
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Find what is wrong with RDMA here, and say what to do about it",
		Long: `doctor looks at everything that RDMA needs, from kernel modules to counters, and
names what is wrong, how it found out, and the remedy. It changes nothing, needs
no privilege, and leaves out what it cannot read. It asks soft-RoCE's connection
managers whether they answer themselves; nothing leaves the machine. Each finding has an id, which
rdmaprobe explain tells about.

With --pod it prints what this container lacks, as a part of a Kubernetes
manifest and as options of docker run.

Exit code 1 when something is wrong, 3 when a device, module or node is missing,
4 when permission or a limit of this user stands in the way. Warnings and notes
leave it at 0.`,
		Example: "  rdmaprobe doctor\n  rdmaprobe doctor --need 4GiB --device mlx5_0\n  rdmaprobe doctor --pod",
		Args:    cobra.NoArgs,
		RunE:    action(func(cmd *cobra.Command, _ []string) error { return a.doctor(cmd, o) }),
	}
	f := cmd.Flags()
	f.StringVar(&o.need, "need", "", "also check whether `SIZE` of memory, such as 4GiB, could be registered")
	f.BoolVar(&o.pod, "pod", false, "print what this container lacks, for Kubernetes and for Docker")
	f.StringVar(&o.device, "device", "", "look at RDMA device `NAME` only")
	return cmd
}

func (a *app) doctor(cmd *cobra.Command, o doctorOptions) error {
	var need uint64
	if o.need != "" {
		var err error
		if need, err = parseSize(o.need); err != nil {
			return err
		}
	}
	f := a.sys.facts(cmd.Context())
	f.Need = need
	if err := selectDevice(f, o.device); err != nil {
		return err
	}
	a.askDevices(cmd.Context(), f)
	rep := doctor.Run(f)
	doc := newDoctorDoc(f, rep)
	a.doc = doc
	if o.pod {
		p := doctor.PodFor(f, rep)
		doc.Pod = &podDoc{p.Kubernetes, p.Docker, append([]string{}, p.Host...)}
		doc.Pod.write(a.out)
	} else {
		doc.write(a, rep)
	}
	return doctorError(rep)
}

// selectDevice leaves the choice to the report when there is no device at all.
func selectDevice(f *doctor.Facts, name string) error {
	if name == "" || len(f.Devices) == 0 {
		return nil
	}
	var names []string
	for _, d := range f.Devices {
		if d.Name == name {
			f.Selected = name
			return nil
		}
		names = append(names, d.Name)
	}
	return &failure{step: "look for the device", object: name, err: uverbs.ErrNoDevice, remedy: "there are " + joinList(names)}
}

// errCheckFailed is the cause when the doctor found errors.
var errCheckFailed = errors.New("something is wrong")

// doctorError makes the failure of a report with errors.
func doctorError(rep *doctor.Report) error {
	n := rep.Count(doctor.Error)
	if n == 0 {
		return nil
	}
	cause := errCheckFailed
	switch rep.ExitCode() {
	case exitNoDevice:
		cause = uverbs.ErrNoDevice
	case exitPermission:
		cause = fs.ErrPermission
	}
	first := rep.Findings()[0]
	return &failure{step: "check RDMA", object: first.Object, remedy: first.Remedy,
		err: checkError{fmt.Sprintf("%s, first %s: %s", plural(n, "error"), first.ID, first.Problem), cause}}
}

// checkError has a text of its own and the class of its cause.
type checkError struct {
	text  string
	cause error
}

func (e checkError) Error() string { return e.text }
func (e checkError) Unwrap() error { return e.cause }

// write prints the report for people.
func (doc *doctorDoc) write(a *app, rep *doctor.Report) {
	paint := a.painter()
	rows := [][]string{{"SECTION", "RESULT", "WHAT THERE IS"}}
	for _, s := range doc.Sections {
		result := s.Result
		if result == doctor.Nothing {
			result = "" // a dash
		}
		rows = append(rows, []string{s.Name, result, s.Summary})
	}
	paintedColumns(a.out, rows, func(row, column int, cell string) string {
		if row == 0 || column != 1 {
			return cell
		}
		return paint(severityColour(cell), cell)
	})
	for _, r := range rep.Results {
		if len(r.Table) > 1 {
			fmt.Fprintln(a.out)
			columns(a.out, r.Table)
		}
	}
	for _, f := range doc.Findings {
		fmt.Fprintf(a.out, "\n%s %s %s\n", paint(severityColour(f.Severity), f.Severity), f.ID, wrap(f.Object+": "+f.Problem, len(f.Severity+f.ID)+2))
		for _, line := range [][2]string{{"evidence", f.Evidence}, {"remedy", f.Remedy}} {
			if line[1] != "" {
				fmt.Fprintf(a.out, "  %-8s  %s\n", line[0], wrap(line[1], 12))
			}
		}
	}
	if len(doc.Unknown) > 0 {
		fmt.Fprintln(a.out, "\nnot found out:")
		for _, u := range doc.Unknown {
			fmt.Fprintf(a.out, "  %s\n", wrap(u, 2))
		}
	}
	fmt.Fprintf(a.out, "\n%s\n", wrap(verdict(rep), 0))
}

func severityColour(s string) string {
	switch s {
	case string(doctor.Error):
		return colourRed
	case string(doctor.Warning), doctor.Unknown:
		return colourYellow
	case string(doctor.Note):
		return colourBlue
	case doctor.OK:
		return colourGreen
	}
	return ""
}

func verdict(rep *doctor.Report) string {
	e, w, n := rep.Count(doctor.Error), rep.Count(doctor.Warning), rep.Count(doctor.Note)
	blind := rep.Blind()
	switch {
	case e+w+n == 0 && len(blind) > 0:
		return "nothing wrong was found; not looked at, because it could not be read: " + joinList(blind)
	case e+w+n == 0:
		return "nothing is wrong"
	case e == 0:
		return fmt.Sprintf("no error, %s, %s", plural(w, "warning"), plural(n, "note"))
	}
	return fmt.Sprintf("%s, %s, %s; rdmaprobe explain ID tells more", plural(e, "error"), plural(w, "warning"), plural(n, "note"))
}

// write prints the fragments, ready to be copied.
func (p *podDoc) write(w io.Writer) {
	if p.Kubernetes == "" && p.Docker == "" {
		fmt.Fprintln(w, "nothing that a container could be given is missing")
	}
	if p.Kubernetes != "" {
		fmt.Fprintf(w, "# Kubernetes: add to the pod\n%s", p.Kubernetes)
	}
	if p.Docker != "" {
		fmt.Fprintf(w, "\n# Docker\n%s\n", p.Docker)
	}
	if len(p.Host) > 0 {
		fmt.Fprintln(w, "\n# on the host")
		for _, h := range p.Host {
			fmt.Fprintf(w, "# %s\n", strings.ReplaceAll(wrap(h, 2), "\n  ", "\n# "))
		}
	}
}
