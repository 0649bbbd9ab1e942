package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/purerdma/rdma/cmd/rdmaprobe/doctor"
	"github.com/purerdma/rdma/cmd/rdmaprobe/gidpick"
	"github.com/purerdma/rdma/cmd/rdmaprobe/netinfo"
	"github.com/purerdma/rdma/uverbs"
)

func (r *pathRun) stageRoute(context.Context) stageOutcome {
	var err error
	if r.route, err = r.sys.routeTo(r.dst); err != nil {
		if p, down := r.findDownPort("", r.dst.String()); down { // its routes have gone with it
			return r.fail("look up the route", checkError{p.text(), err}, p.remedy)
		}
		return r.fail("look up the route", err, "add a route to "+r.dst.String()+", or check the address")
	}
	w := gidpick.Want{Dst: r.dst, Route: r.route}
	r.egress, _ = w.Egress(r.netdevs)
	r.doc.Netdev, r.doc.Source = r.egress.Name, ipText(r.route.Source)
	d := routeDoc{Netdev: r.egress.Name, Source: r.doc.Source, Gateway: ipText(r.route.Gateway), Local: r.route.Local}
	return stageOutcome{detail: d.text()}
}

func (r *pathRun) stageInterface(context.Context) stageOutcome {
	d := r.egress
	if d.Name == "" {
		return r.fail("look up the interface", checkError{"packets leave through an interface that is not known here", syscall.ENODEV}, "")
	}
	text := fmt.Sprintf("%s (%s) is %s, MTU %d B", d.Name, orDash(d.Kind), d.State(), d.MTU)
	if base := r.netdevs.Base(d); base.Name != d.Name {
		text += ", on " + base.Name
	}
	if master, ok := r.netdevs.ByIndex(d.MasterIndex); ok {
		text += ", member of " + master.Kind + " " + master.Name
	}
	if !d.Up {
		return r.fail("look up the interface", checkError{d.Name + " is down", syscall.ENETDOWN}, "ip link set "+d.Name+" up")
	}
	return stageOutcome{detail: text, warning: !d.Running}
}

// stageDevice finds the port whose GIDs belong to the interface.
func (r *pathRun) stageDevice(context.Context) stageOutcome {
	diag := r.sys.diagnose()
	r.devices, r.usable = diag.Devices, map[string]uverbs.Usability{}
	for i, d := range diag.Devices {
		r.usable[d.Name] = diag.Usability[i]
	}
	r.rows, _ = r.gidRows(r.netdevs)
	const step = "look for the RDMA device"
	if len(r.devices) == 0 {
		return r.fail(step, uverbs.ErrNoDevice, "rdmaprobe doctor says what is missing")
	}
	r.findDevice()
	if r.device == nil {
		text := "packets leave through " + r.egress.Name + ", which leads to no RDMA device"
		if p, down := r.findDownPort("", r.dst.String()); down {
			return r.fail(step, checkError{text + "; " + p.text(), uverbs.ErrNoDevice}, p.remedy)
		}
		return r.fail(step, checkError{text, uverbs.ErrNoDevice}, r.otherInterfaces())
	}
	r.doc.Device, r.doc.Port = r.device.Name, r.port.Number
	text := fmt.Sprintf("%s port %d is %v, driver %s", r.device.Name, r.port.Number, r.port.State, r.device.Driver())
	if r.port.State != uverbs.PortActive {
		netdev, here := gidpick.PortNetdev(r.port, r.netdevs)
		problem, remedy := doctor.WhyDown(r.port, netdev, here)
		return r.fail(step, checkError{text + ": " + problem, errCheckFailed}, remedy)
	}
	if s, stuck := r.stuckCM(r.device.Name, !r.opts.noProbe); stuck {
		return r.fail("look at the connection manager", checkError{r.device.Name + ": " + s.Problem + " (" + s.Evidence + ")", errCheckFailed}, s.Remedy)
	}
	u := r.usable[r.device.Name]
	if !u.OK() {
		text += "; " + u.String()
	}
	return stageOutcome{detail: text, warning: !u.OK()}
}

// findDevice prefers a port with a usable GID on the interface.
func (r *pathRun) findDevice() {
	for _, usableOnly := range []bool{true, false} {
		for _, row := range r.rows {
			if !row.On(r.egress.Name) || usableOnly && row.Unusable != "" {
				continue
			}
			for _, d := range r.devices {
				if p, ok := d.Port(row.Port); ok && d.Name == row.Device {
					r.device, r.port = d, p
					return
				}
			}
		}
	}
	for _, d := range r.devices {
		for _, p := range d.Ports {
			if n, here := gidpick.PortNetdev(p, r.netdevs); here && n.Index == r.egress.Index {
				r.device, r.port = d, p
				return
			}
		}
	}
}

// otherInterfaces says where RDMA is instead.
func (r *pathRun) otherInterfaces() string {
	var names []string
	for _, row := range r.rows {
		name := fmt.Sprintf("%s (%s)", row.Netdev, row.Device)
		if row.Here && row.Unusable == "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if names == nil {
		return "rdmaprobe doctor says what is missing"
	}
	return "use an address that is reached through " + strings.Join(names, " or ")
}

func (r *pathRun) stageGID(context.Context) stageOutcome {
	i := gidpick.Pick(r.rows, gidpick.Want{Dst: r.dst, Route: r.route}, r.netdevs)
	if i < 0 {
		remedy := "rdmaprobe gids --to " + r.dst.String() + " says why each GID is ruled out"
		text := fmt.Sprintf("no GID of %s fits: source %s", r.egress.Name, orDash(r.doc.Source))
		if full := r.fullTables(r.rows, r.netdevs); len(full) > 0 {
			text += "; " + joinList(full)
		}
		return r.fail("choose a GID", checkError{text, uverbs.ErrNoDevice}, remedy)
	}
	row := r.rows[i]
	r.doc.GIDIndex, r.doc.GID = row.Index, row.GID.String()
	r.doc.Device, r.doc.Port = row.Device, row.Port
	return stageOutcome{detail: fmt.Sprintf("%s port %d GID %d, %v, %v", row.Device, row.Port, row.Index, row.GID, row.Type)}
}

// stageAddress lets the connection manager do what the stages before predicted.
func (r *pathRun) stageAddress(ctx context.Context) stageOutcome {
	start := time.Now()
	r.res = r.sys.resolve(ctx, r.dst, r.tos)
	if r.res.err != nil && !r.res.addressed {
		out := r.fail("resolve address", r.res.err, r.addressRemedy(r.res.err))
		out.took = time.Since(start)
		return out
	}
	text := fmt.Sprintf("%s port %d, from %s", r.res.device, r.res.port, ipText(r.res.local))
	out := stageOutcome{detail: text, took: r.res.addressTook}
	if r.res.device != r.doc.Device || r.res.local.WithZone("") != r.route.Source.WithZone("") && r.route.Source.IsValid() {
		out.warning = true
		out.detail += fmt.Sprintf("; expected %s from %s", r.doc.Device, r.doc.Source)
	}
	r.doc.Device, r.doc.Port = r.res.device, r.res.port
	return out
}

// addressRemedy says what is behind a failed address resolution.
func (r *pathRun) addressRemedy(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission):
		return "rdmaprobe doctor says what is wrong with /dev/infiniband/rdma_cm"
	case isTimeout(err) || errors.Is(err, syscall.EHOSTUNREACH):
		return r.neighbourRemedy()
	}
	return "rdmaprobe doctor"
}

// stageNeighbour lets the kernel find the neighbour before the connection
// manager does: when the answer comes at once, as from the other end of a veth
// pair, the connection manager misses it and waits in vain (queue_req in the
// kernel comes after the request).
func (r *pathRun) stageNeighbour(ctx context.Context) stageOutcome {
	if r.route.Local {
		return stageOutcome{detail: "none: an address of this machine"}
	}
	hop, start := r.route.NextHop(), time.Now()
	n, err := r.sys.neighbour(r.egress.Index, hop)
	if err == nil && !n.Known() && !r.opts.noProbe {
		n, err = r.askNeighbour(ctx)
	}
	took := time.Since(start)
	switch {
	case err != nil:
		return stageOutcome{detail: err.Error(), warning: true}
	case n.Known():
		return stageOutcome{detail: fmt.Sprintf("%v is %s, %s", hop.WithZone(""), orDash(n.MAC), n.State)}
	case r.opts.noProbe:
		return stageOutcome{detail: fmt.Sprintf("%v is not known yet", hop.WithZone(""))}
	}
	out := r.fail("find the neighbour", checkError{fmt.Sprintf("no neighbour %v: nobody on %s answers for it (%s)", hop.WithZone(""), r.egress.Name, n.State), syscall.EHOSTUNREACH},
		r.neighbourRemedy())
	out.took = took
	return out
}

// askNeighbour sends a packet that makes the kernel ask, and waits for the
// outcome.
func (r *pathRun) askNeighbour(ctx context.Context) (netinfo.Neighbour, error) {
	hop := r.route.NextHop()
	if err := r.sys.poke(ctx, r.dst); err != nil {
		return netinfo.Neighbour{}, err
	}
	tick := time.NewTicker(neighbourPoll)
	defer tick.Stop()
	for {
		n, err := r.sys.neighbour(r.egress.Index, hop)
		if err != nil || n.Known() || n.Failed() {
			return n, err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return n, nil
		}
	}
}

const neighbourPoll = 20 * time.Millisecond

func (r *pathRun) neighbourRemedy() string {
	hop, what := r.route.NextHop(), "ARP"
	if hop.Is6() {
		what = "neighbour discovery"
	}
	return fmt.Sprintf("%v does not answer %s on %s: is it up, and in the same network?", hop, what, r.egress.Name)
}

func (r *pathRun) stageCMRoute(context.Context) stageOutcome {
	if r.res.err != nil {
		return r.fail("resolve route", r.res.err, "rdmaprobe doctor; on InfiniBand: does the subnet manager answer?")
	}
	text := "resolved"
	if r.res.paths > 0 {
		text = plural(r.res.paths, "path record")
	}
	return stageOutcome{detail: text, took: r.res.routeTook}
}
