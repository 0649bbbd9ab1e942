package uverbs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"github.com/purerdma/rdma/internal/rdmanl"
)

// Diagnosis is what this process can see of the machine's RDMA: what is there, what is
// missing, and what to do about it.
type Diagnosis struct {
	// Kernel is the kernel release; empty when not known.
	Kernel string
	// NetlinkErr is nil when RDMA netlink answers; SysfsErr is nil when
	// /sys/class/infiniband can be read.
	NetlinkErr, SysfsErr error
	// NetnsMode is "shared", "exclusive" or, when not known, empty.
	NetnsMode string
	// CopyOnFork says that fork copies registered memory, so that children cannot
	// disturb it.
	CopyOnFork bool
	// Modules has ib_core, ib_uverbs, rdma_ucm and rdma_rxe, in this order.
	Modules []ModuleStatus
	// CM is the connection manager's character device and CMUsability what opening it
	// showed. CM.Exists() is false when the kernel has none.
	CM          CharDev
	CMUsability Usability
	// Devices holds what [Devices] returned and Usability, in the same order, what
	// trying to open each showed.
	Devices   []*Device
	Usability []Usability
	// Findings lists what stands in the way, the most basic first; empty when
	// everything works.
	Findings []Finding
}

// Finding is one thing that stands in the way of using RDMA.
type Finding struct {
	// ID is stable, for scripts: RP-MOD-001 (ib_core) to RP-MOD-004 (rdma_rxe),
	// RP-NET-001 (netlink blocked), RP-DEV-001 (no device), RP-DEV-002 (device not
	// usable), RP-DRV-001 (no data path for its driver), RP-CM-001 (rdma_cm not
	// usable), RP-SYS-001 (discovery failed).
	ID string
	// Object is the module, device or file concerned.
	Object string
	// Problem says in one line what is wrong and how that was found out.
	Problem string
	// Remedy is a command or an advice; may be empty.
	Remedy string
}

// String returns the finding in one line.
func (f Finding) String() string {
	s := f.Object + ": " + f.Problem
	if f.Remedy != "" {
		s += "; " + f.Remedy
	}
	return s
}

// Diagnose looks for everything that using RDMA needs. It needs no privilege and no
// mounted file system: what cannot be read is left out. Like [Devices] it makes the
// kernel load ib_uverbs and rdma_ucm if it can, and like [Device.Usability] it opens
// and closes each character device.
func Diagnose() *Diagnosis { return realHost().diagnose() }

// Err returns nil when nothing stands in the way, else an error with the first finding
// that does. When there is no device, it matches [ErrNoDevice].
func (d *Diagnosis) Err() error {
	if len(d.Findings) == 0 {
		return nil
	}
	if len(d.Devices) == 0 {
		return fmt.Errorf("%w: %s", ErrNoDevice, d.Findings[0])
	}
	return errors.New(d.Findings[0].String())
}

// String returns one line per finding, or "RDMA is usable".
func (d *Diagnosis) String() string {
	if len(d.Findings) == 0 {
		return "RDMA is usable"
	}
	lines := make([]string, len(d.Findings))
	for i, f := range d.Findings {
		lines[i] = f.String()
	}
	return strings.Join(lines, "\n")
}

func (h *host) diagnose() *Diagnosis {
	d := &Diagnosis{Kernel: h.release()}
	_, d.SysfsErr = os.ReadDir(h.path(sysClass))
	// Modules are looked up after netlink was asked, because asking may load them.
	h.askNetlink(d)
	devices, err := h.devices(nil)
	if err != nil {
		d.find("RP-SYS-001", "RDMA", err.Error(), "mount sysfs, or allow RDMA netlink sockets")
	}
	d.Devices = devices
	for _, dev := range devices {
		d.Usability = append(d.Usability, dev.Usability())
	}
	h.findModules(d)
	h.findNetlinkBlocked(d)
	h.findDevices(d)
	h.findCM(d)
	return d
}

func (d *Diagnosis) find(id, object, problem, remedy string) {
	d.Findings = append(d.Findings, Finding{id, object, problem, remedy})
}

func (h *host) askNetlink(d *Diagnosis) {
	c, err := h.dial()
	if err != nil {
		d.NetlinkErr = err
		return
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), discoveryTimeout)
	defer cancel()
	sys, err := c.System(ctx)
	if err != nil {
		d.NetlinkErr = err
		return
	}
	d.CopyOnFork = sys.CopyOnFork
	if sys.HasNetnsMode {
		d.NetnsMode = "exclusive"
		if sys.Shared {
			d.NetnsMode = "shared"
		}
	}
	if cm, err := c.CharDev(ctx, rdmanl.NoIndex, rdmanl.CharDevCM); err == nil {
		d.CM = CharDev{Name: cm.Name, Major: cm.Major, Minor: cm.Minor, ABIVersion: int(uint32(cm.ABI)),
			Path: h.nodePath(cm.Name, cm.Major, cm.Minor)}
	}
}

// findModules combines what netlink told with what files tell.
func (h *host) findModules(d *Diagnosis) {
	core := h.module("ib_core")
	switch {
	case d.NetlinkErr == nil:
		core.State, core.Evidence = ModulePresent, "RDMA netlink answers"
	case core.State != ModulePresent && noSuchProtocol(d.NetlinkErr):
		core.Evidence = "no RDMA netlink (EPROTONOSUPPORT); " + core.Evidence
		if core.State == ModuleUnknown {
			core.State = ModuleNotLoaded
		}
	}
	d.Modules = []ModuleStatus{core, h.verbsModule(d), h.cmModule(d), h.rxeModule(d)}
	for i, m := range d.Modules {
		if m.State == ModuleUnknown && (core.State == ModuleNotLoaded || core.State == ModuleNotInstalled) {
			d.Modules[i].State, d.Modules[i].Evidence = ModuleNotLoaded, "it needs ib_core"
		}
	}
	remedies := []string{
		"it comes with any RDMA driver: modprobe rdma_rxe",
		"modprobe ib_uverbs (on the host)",
		"modprobe rdma_ucm (on the host)",
		"modprobe rdma_rxe (on the host), for soft-RoCE",
	}
	for i, m := range d.Modules {
		// rxe is one driver among many: missed only where there is no device.
		if m.State == ModulePresent || m.Name == "rdma_rxe" && len(d.Devices) > 0 {
			continue
		}
		if m.State == ModuleUnknown {
			continue
		}
		remedy := remedies[i]
		if m.State == ModuleNotInstalled {
			remedy = h.installRemedy(m.Name)
		}
		d.find(fmt.Sprintf("RP-MOD-%03d", i+1), "module "+m.Name, string(m.State)+" ("+m.Evidence+")", remedy)
	}
}

func (h *host) verbsModule(d *Diagnosis) ModuleStatus {
	for _, dev := range d.Devices {
		if dev.CharDev.Exists() {
			return ModuleStatus{"ib_uverbs", ModulePresent, "the kernel names a character device for " + dev.Name}
		}
	}
	return h.module("ib_uverbs")
}

// miscMajor is the major number of the kernel's misc devices, rdma_cm among them.
const miscMajor = 10

func (h *host) cmModule(d *Diagnosis) ModuleStatus {
	if d.CM.Exists() {
		return ModuleStatus{"rdma_ucm", ModulePresent, "RDMA netlink names its character device"}
	}
	m := h.module("rdma_ucm")
	if m.State != ModulePresent {
		return m
	}
	// Netlink did not tell; sysfs may.
	dir := h.path("sys/class/misc/rdma_cm")
	if major, minor, ok := parseDev(attribute(dir, "dev")); ok {
		d.CM = CharDev{Name: "rdma_cm", Major: major, Minor: minor, Path: h.nodePath("rdma_cm", major, minor)}
		_, _ = fmt.Sscan(attribute(dir, "abi_version"), &d.CM.ABIVersion) // stays 0 when absent
		return m
	}
	_, _ = h.fileHas("proc/misc", func(l string) bool { // without it the numbers stay unknown
		var minor uint32
		var name string
		if n, _ := fmt.Sscan(l, &minor, &name); n != 2 || name != "rdma_cm" {
			return false
		}
		d.CM = CharDev{Name: name, Major: miscMajor, Minor: minor, Path: h.nodePath(name, miscMajor, minor)}
		return true
	})
	return m
}

func (h *host) rxeModule(d *Diagnosis) ModuleStatus {
	for _, dev := range d.Devices {
		if dev.Driver() == "rxe" {
			return ModuleStatus{"rdma_rxe", ModulePresent, dev.Name + " uses it"}
		}
	}
	return h.module("rdma_rxe")
}

// findNetlinkBlocked notices a sandbox: sysfs shows RDMA, but the socket is refused.
func (h *host) findNetlinkBlocked(d *Diagnosis) {
	if d.NetlinkErr == nil || errors.Is(d.NetlinkErr, errors.ErrUnsupported) {
		return
	}
	if noSuchProtocol(d.NetlinkErr) && d.Modules[0].State != ModulePresent {
		return // no RDMA at all, said already
	}
	d.find("RP-NET-001", "RDMA netlink", d.NetlinkErr.Error()+", although the kernel has RDMA: this looks like a sandbox (seccomp, gVisor); devices were listed from sysfs",
		"allow socket(AF_NETLINK, SOCK_RAW, NETLINK_RDMA) in the seccomp profile")
}

func (h *host) findDevices(d *Diagnosis) {
	if len(d.Devices) == 0 {
		problem := "this machine has none"
		if d.NetlinkErr == nil && d.NetnsMode == "exclusive" {
			problem = "none in this network namespace (RDMA is in exclusive mode)"
		}
		d.find("RP-DEV-001", "RDMA device", problem+" ("+d.sources()+")",
			"for soft-RoCE: rdma link add rxe0 type rxe netdev NETDEV, or rdmaprobe rxe add NETDEV")
	}
	for i, u := range d.Usability {
		switch u.State {
		case Usable:
		case NoDataPath:
			d.find("RP-DRV-001", "device "+d.Devices[i].Name, u.Reason, "reachability needs no data path: rdmaprobe cmping ADDRESS")
		default:
			d.find("RP-DEV-002", "device "+d.Devices[i].Name, u.String(), u.Remedy)
		}
	}
}

// sources says where was looked, for messages about what was not found.
func (d *Diagnosis) sources() string {
	say := func(what string, err error) string {
		switch {
		case err == nil:
			return what + " lists none"
		case noSuchProtocol(err):
			return "no " + what
		case errors.Is(err, syscall.ENOENT):
			return what + " is not there"
		}
		return what + " cannot be read"
	}
	return say("RDMA netlink", d.NetlinkErr) + ", " + say("/sys/class/infiniband", d.SysfsErr)
}

// findCM checks the connection manager's device.
func (h *host) findCM(d *Diagnosis) {
	if !d.CM.Exists() {
		d.CMUsability = Usability{State: NoCharDevice, Reason: "the kernel has no rdma_cm device: module rdma_ucm is not loaded",
			Remedy: "modprobe rdma_ucm (on the host)"}
		if s := d.Modules[2].State; s == ModuleNotLoaded || s == ModuleNotInstalled {
			return // the finding about the module says so
		}
		if n, err := h.stat(h.path(devFolder, "rdma_cm")); err == nil && n.charDev {
			d.CM = CharDev{Name: "rdma_cm", Path: h.path(devFolder, "rdma_cm"), Major: n.major, Minor: n.minor}
		}
	}
	if d.CM.Exists() {
		d.CMUsability = h.checkNode(d.CM, nil)
	}
	if d.CMUsability.State != Usable {
		d.find("RP-CM-001", "rdma_cm", d.CMUsability.String(), d.CMUsability.Remedy)
	}
}
