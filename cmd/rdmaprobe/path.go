package main

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/spf13/cobra"

	"github.com/purerdma/rdma/cmd/rdmaprobe/gidpick"
	"github.com/purerdma/rdma/cmd/rdmaprobe/netinfo"
	"github.com/purerdma/rdma/uverbs"
)

type pathOptions struct {
	timeout time.Duration
	tos     uint8
	noProbe bool
}

func newPath(a *app) *cobra.Command {
	var o pathOptions
	cmd := &cobra.Command{
		Use:   "path ADDR",
		Short: "Show the stages of a connection to an address, and where it fails",
		Long: `path goes through what a connection to an address would: route, interface, device
and port, source GID, neighbour, address and route resolution of the connection
manager, path MTU, type of service and hop limit. It stops at the stage that
fails and says why. It connects to nothing; to see whether the far end answers
use cmping.

To find the neighbour and to check the path MTU it sends a few UDP packets, the
latter to a high port where the far end refuses them; --no-probe leaves that out.

Exit code 3 without a device on the way, 5 when the address cannot be reached,
1 when a stage fails otherwise.`,
		Example: "  rdmaprobe path 10.0.0.7\n  rdmaprobe path fe80::1%eth0 --tos 104",
		Args:    needOne("the address to look at"),
		RunE: action(func(cmd *cobra.Command, args []string) error {
			if o.timeout <= 0 {
				return usagef("--timeout must be more than 0")
			}
			tos := -1
			if cmd.Flags().Changed("tos") {
				tos = int(o.tos)
			}
			return a.path(cmd.Context(), args[0], o, tos)
		}),
	}
	f := cmd.Flags()
	f.DurationVarP(&o.timeout, "timeout", letterTimeout, 3*time.Second, "longest time for each stage")
	f.Uint8Var(&o.tos, "tos", 0, "IP type of service to ask for (four times the DSCP)")
	f.BoolVar(&o.noProbe, "no-probe", false, "send no test packets")
	return cmd
}

// Results of a stage.
const (
	stageOK       = "ok"
	stageWarning  = "warning"
	stageFailed   = "failed"
	stageNotTried = "not tried"
)

// pathRun is one run through the stages. Each stage fills what the next ones
// need.
type pathRun struct {
	*app
	opts    pathOptions
	tos     int // -1 for the system's choice
	doc     *pathDoc
	netdevs netinfo.Netdevs
	devices []*uverbs.Device
	usable  map[string]uverbs.Usability
	dst     netip.Addr
	route   netinfo.Route
	egress  netinfo.Netdev
	device  *uverbs.Device
	port    uverbs.PortInfo
	rows    []gidpick.Row
	res     resolved
}

// outcome of a stage.
type stageOutcome struct {
	detail  string
	warning bool
	err     error
	took    time.Duration
}

func (a *app) path(ctx context.Context, target string, o pathOptions, tos int) error {
	r := &pathRun{app: a, opts: o, tos: tos, doc: &pathDoc{Target: target, Stages: []pathStageDoc{}, GIDIndex: -1, TOS: -1}}
	var err error
	if r.netdevs, err = a.sys.netdevs(); err != nil {
		return &failure{step: "list network interfaces", err: err}
	}
	if r.dst, err = a.destination(ctx, target, r.netdevs); err != nil {
		return err
	}
	r.doc.Address = r.dst.String()
	a.doc = r.doc
	err = r.run(ctx)
	r.doc.write(a)
	return err
}

// run goes through the stages until one fails.
func (r *pathRun) run(ctx context.Context) error {
	var failed error
	for _, s := range []struct {
		name string
		do   func(context.Context) stageOutcome
	}{
		{"route", r.stageRoute},
		{"interface", r.stageInterface},
		{"device", r.stageDevice},
		{"source GID", r.stageGID},
		{"neighbour", r.stageNeighbour},
		{"CM address", r.stageAddress},
		{"CM route", r.stageCMRoute},
		{"path MTU", r.stageMTU},
		{"ToS", r.stageTOS},
		{"hop limit", r.stageHopLimit},
	} {
		if failed != nil {
			r.doc.Stages = append(r.doc.Stages, pathStageDoc{Stage: s.name, Result: stageNotTried})
			continue
		}
		stageCtx, cancel := context.WithTimeout(ctx, r.opts.timeout)
		got := s.do(stageCtx)
		cancel()
		d := pathStageDoc{Stage: s.name, Result: stageOK, Detail: got.detail, TimeMS: milliseconds(got.took)}
		switch {
		case got.err != nil:
			failed = got.err
			d.Result, r.doc.Failed = stageFailed, s.name
			d.Detail = describe(got.err).Cause
		case got.warning:
			d.Result = stageWarning
		}
		r.doc.Stages = append(r.doc.Stages, d)
	}
	return failed
}

// fail makes the error of a stage.
func (r *pathRun) fail(step string, err error, remedy string) stageOutcome {
	return stageOutcome{err: &failure{step: step, object: r.dst.String(), err: err, remedy: remedy}}
}

// write prints the stages for people.
func (doc *pathDoc) write(a *app) {
	fmt.Fprintf(a.out, "path to %s\n\n", doc.Address)
	rows := [][]string{{"STAGE", "RESULT", "TIME", "WHAT IT FOUND"}}
	for _, s := range doc.Stages {
		took := ""
		if s.TimeMS > 0 {
			took = formatMS(s.TimeMS)
		}
		rows = append(rows, []string{s.Stage, s.Result, took, s.Detail})
	}
	paint := a.painter()
	colours := map[string]string{stageOK: colourGreen, stageWarning: colourYellow, stageFailed: colourRed}
	paintedColumns(a.out, rows, func(row, column int, cell string) string {
		if row == 0 || column != 1 {
			return cell
		}
		return paint(colours[cell], cell)
	})
}
