// Package gather finds out the facts that the doctor looks at: through RDMA
// netlink, rtnetlink, device files, sysfs and procfs. It needs no privilege and
// none of these in particular; what one of them does not give is left out.
package gather

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/purerdma/rdma/cmd/rdmaprobe/doctor"
	"github.com/purerdma/rdma/cmd/rdmaprobe/gidpick"
	"github.com/purerdma/rdma/cmd/rdmaprobe/netinfo"
	"github.com/purerdma/rdma/uverbs"
)

// Options change what is gathered.
type Options struct {
	// Root is the folder that stands for / in tests; empty for / itself.
	Root string
	// Diagnose looks for devices; nil for uverbs.Diagnose.
	Diagnose func() *uverbs.Diagnosis
	// Sample is the time between two looks at the counters.
	Sample time.Duration
	// GIDs reads a table; nil for the open device or sysfs.
	GIDs func(d *uverbs.Device, port int) ([]uverbs.GIDEntry, error)
}

type gatherer struct {
	Options
	f *doctor.Facts
}

// Gather finds out everything. It ends early, with what it has, when ctx does.
func Gather(ctx context.Context, opts Options) *doctor.Facts {
	if opts.Diagnose == nil {
		opts.Diagnose = uverbs.Diagnose
	}
	g := &gatherer{opts, &doctor.Facts{}}
	g.f.Diagnosis = g.Diagnose()
	var err error
	if g.f.Netdevs, err = netinfo.List(); err != nil {
		g.unknown("network interfaces: " + err.Error())
	}
	g.versions()
	g.sysfs()
	g.nodes()
	g.process()
	g.cgroups()
	g.arp()
	g.f.MaxBacklog, g.f.BacklogKnown = g.maxBacklog()
	for i, d := range g.f.Diagnosis.Devices {
		g.f.Devices = append(g.f.Devices, g.device(d, g.f.Diagnosis.Usability[i]))
	}
	g.sample(ctx)
	return g.f
}

func (g *gatherer) unknown(what string) { g.f.Unknown = append(g.f.Unknown, what) }

func (g *gatherer) path(elem ...string) string {
	return filepath.Join(append([]string{"/", g.Root}, elem...)...)
}

// text reads a small file of one line; "" when it cannot be read.
func (g *gatherer) text(elem ...string) string {
	b, err := os.ReadFile(g.path(elem...))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

func (g *gatherer) number(elem ...string) int {
	n, _ := strconv.Atoi(g.text(elem...)) // 0 stands for not known
	return n
}

func (g *gatherer) versions() {
	g.f.VerbsABI = g.number("sys/class/infiniband_verbs/abi_version")
	g.f.CMABI = g.f.Diagnosis.CM.ABIVersion
	if g.f.CMABI == 0 {
		g.f.CMABI = g.number("sys/class/misc/rdma_cm/abi_version")
	}
}

func (g *gatherer) sysfs() {
	_, err := os.Stat(g.path("sys/class"))
	g.f.Sysfs.Mounted = err == nil
	entries, _ := os.ReadDir(g.path("sys/class/infiniband")) // absent: no names
	for _, e := range entries {
		g.f.Sysfs.Devices = append(g.f.Sysfs.Devices, e.Name())
	}
}

// device opens a device for what only a verbs context tells.
func (g *gatherer) device(d *uverbs.Device, u uverbs.Usability) doctor.Device {
	out := doctor.Device{Device: d, Usability: u, DataPath: uverbs.HasProvider(d.DriverID)}
	if counts, err := uverbs.ResourceSummary(d); err == nil {
		out.Resources = counts
	} else {
		g.unknown(err.Error())
	}
	var ctx *uverbs.Context
	if u.State == uverbs.Usable || u.State == uverbs.NoDataPath {
		ctx, out.OpenErr = d.Open(nil)
	}
	if ctx != nil {
		defer ctx.Close()
		if out.DataPath {
			_, out.PathErr = ctx.Provider()
		}
		out.Style, out.WriteErr = ctx.CallStyle(), WriteRefused(d)
		var err error
		if out.Attr, err = ctx.QueryDevice(); err != nil {
			g.unknown(err.Error())
		}
	}
	for _, p := range d.Ports {
		out.Ports = append(out.Ports, g.port(d, p, ctx))
	}
	return out
}

// WriteRefused opens a device that takes commands by ioctl once more, for
// commands by write, and returns the error when a sandbox does not let them
// pass.
func WriteRefused(d *uverbs.Device) error {
	ctx, err := d.Open(&uverbs.OpenOptions{CallStyle: uverbs.StyleWrite})
	if err == nil {
		return ctx.Close()
	}
	for _, errno := range []syscall.Errno{syscall.EPERM, syscall.EACCES, syscall.ENOSYS, syscall.EOPNOTSUPP, syscall.EINVAL} {
		if errors.Is(err, errno) {
			return err
		}
	}
	return nil // no memory, no files: not the interface's fault
}

func (g *gatherer) port(d *uverbs.Device, info uverbs.PortInfo, ctx *uverbs.Context) doctor.Port {
	p := doctor.Port{PortInfo: info, CMDefault: g.cmDefault(d.Name, info.Number)}
	var entries []uverbs.GIDEntry
	switch {
	case g.GIDs != nil:
		entries, p.GIDErr = g.GIDs(d, info.Number)
	case ctx != nil:
		entries, p.GIDErr = ctx.QueryGIDs(info.Number)
	default:
		entries, p.GIDErr = d.GIDTable(info.Number)
	}
	if ctx != nil {
		var err error
		if p.Attr, err = ctx.QueryPort(info.Number); err != nil {
			g.unknown(err.Error())
		}
	}
	p.GIDs = gidpick.Rows([]gidpick.Port{{Device: d.Name, Protocol: d.Protocol, Info: info, GIDs: entries,
		Default: GIDTypeOf(p.CMDefault)}}, g.f.Netdevs)
	p.Counters.Before, p.Counters.Unreadable = g.counters(d.Name, info.Number)
	return p
}

// cmDefault reads the connection manager's default type of GID. The folder is
// there only after somebody has made it.
func (g *gatherer) cmDefault(device string, port int) string {
	return g.text(cmConfig(device, port), "default_roce_mode")
}

// GIDTypeOf reads the connection manager's word for a type of GID; 0 for none.
func GIDTypeOf(mode string) uverbs.GIDType {
	switch {
	case strings.Contains(mode, "v2"):
		return uverbs.GIDTypeRoCEv2
	case strings.Contains(mode, "v1"):
		return uverbs.GIDTypeRoCEv1
	}
	return 0
}

// counters reads the counters of a port. One that has no number, or cannot be
// read, does not hide the others.
func (g *gatherer) counters(device string, port int) (map[string]uint64, []string) {
	values := map[string]uint64{}
	var unreadable []string
	for _, folder := range []string{"counters", "hw_counters"} {
		dir := g.path("sys/class/infiniband", device, "ports", strconv.Itoa(port), folder)
		entries, _ := os.ReadDir(dir) // absent: no counters
		for _, e := range entries {
			if !doctor.IsErrorCounter(e.Name()) {
				continue
			}
			b, err := os.ReadFile(filepath.Join(dir, e.Name()))
			v, numErr := strconv.ParseUint(strings.TrimSpace(string(b)), 10, 64)
			if err != nil || numErr != nil {
				unreadable = append(unreadable, e.Name())
				continue
			}
			values[e.Name()] = v
		}
	}
	slices.Sort(unreadable)
	return values, unreadable
}

// sample reads the counters once more, after a while.
func (g *gatherer) sample(ctx context.Context) {
	if len(g.f.Devices) == 0 {
		return
	}
	t := time.NewTimer(g.Sample)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
	for _, d := range g.f.Devices {
		for i := range d.Ports {
			p := &d.Ports[i]
			p.Counters.After, _ = g.counters(d.Name, p.Number)
		}
	}
}

// arp reads what decides which interface answers for an address. Each setting
// counts for all interfaces or for the one, whichever is larger.
func (g *gatherer) arp() {
	g.f.ARP = map[string]doctor.ARP{}
	read := func(netdev, name string) int {
		const dir = "proc/sys/net/ipv4/conf"
		return max(g.number(dir, "all", name), g.number(dir, netdev, name))
	}
	for _, d := range g.f.Netdevs {
		if _, err := os.Stat(g.path("proc/sys/net/ipv4/conf", d.Name)); errors.Is(err, os.ErrNotExist) {
			continue
		}
		g.f.ARP[d.Name] = doctor.ARP{Ignore: read(d.Name, "arp_ignore"), Announce: read(d.Name, "arp_announce"), RPFilter: read(d.Name, "rp_filter")}
	}
}

// CMDefaults reads the connection manager's defaults of a port: the type of GID
// and the type of service. Both are empty when configfs does not tell.
func CMDefaults(device string, port int) (mode, tos string) {
	g := &gatherer{}
	return g.cmDefault(device, port), g.text(cmConfig(device, port), "default_roce_tos")
}

// MaxBacklog reads how many connect requests may wait for a listener.
func MaxBacklog() (n int, known bool) { return (&gatherer{}).maxBacklog() }

func (g *gatherer) maxBacklog() (n int, known bool) {
	n, err := strconv.Atoi(g.text("proc/sys/net/rdma_ucm/max_backlog"))
	return n, err == nil
}

func cmConfig(device string, port int) string {
	return filepath.Join("sys/kernel/config/rdma_cm", device, "ports", strconv.Itoa(port))
}
