package uverbs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// ErrModuleMissing is matched by errors of [AddLink] that a kernel module which is not
// loaded caused; [LinkError.Module] names it.
var ErrModuleMissing = errors.New("kernel module missing")

// LinkConfig describes a soft RDMA device. Netdev is mandatory.
type LinkConfig struct {
	// Name of the new device, up to 63 bytes. Empty: the first free name made of Type
	// and a number, e.g. "rxe0".
	Name string
	// Type of link: "rxe" (soft-RoCE) or "siw" (soft-iWARP). Empty means "rxe".
	Type string
	// Netdev is the network device that carries the traffic. rxe refuses VLAN devices
	// and a second link on one netdev.
	Netdev string
}

// LinkError is a failed attempt to add or delete a soft RDMA device.
type LinkError struct {
	Op                 string // "add" or "delete"
	Name, Type, Netdev string
	// Module is the kernel module that is missing; empty when that is not the cause.
	Module string
	// Cause says in plain words what the errno means here.
	Cause string
	// Remedy is a command or an advice; may be empty.
	Remedy string
	// Err is the error of RDMA netlink; errors.Is reaches the errno.
	Err error
}

// Error returns step, object, cause, errno and remedy in one line.
func (e *LinkError) Error() string {
	s := e.Op + " RDMA link"
	if e.Name != "" {
		s += " " + e.Name
	}
	if e.Netdev != "" {
		s += fmt.Sprintf(" (%s on %s)", e.Type, e.Netdev)
	}
	if e.Cause != "" {
		s += ": " + e.Cause
	}
	s += ": " + e.Err.Error()
	if e.Remedy != "" {
		s += "; " + e.Remedy
	}
	return s
}

// Unwrap returns Err.
func (e *LinkError) Unwrap() error { return e.Err }

// Is reports whether target is ErrModuleMissing and a module is what was missing.
func (e *LinkError) Is(target error) bool { return target == ErrModuleMissing && e.Module != "" }

// AddLink makes a soft RDMA device on a network device (RDMA_NLDEV_CMD_NEWLINK, kernel
// 5.3) and returns it. It needs CAP_NET_ADMIN in the initial user namespace. The kernel
// loads the driver's module itself where it has a modprobe; this function runs no
// program. Bring the netdev up before the first connection: a connection attempt over
// rxe while it is down breaks the device's connection manager until it is deleted.
//
// Errors are *[LinkError] and match, among others, [ErrModuleMissing]; EEXIST when the
// netdev has such a link already; ENFILE when the name is taken; ENODEV when there is no
// such netdev in this network namespace; EPERM without privilege or on a VLAN.
// When ctx ends first, the link may still appear.
func AddLink(ctx context.Context, cfg LinkConfig) (*Device, error) {
	return realHost().addLink(ctx, cfg)
}

// DeleteLink removes a soft RDMA device (RDMA_NLDEV_CMD_DELLINK, kernel 5.3). It needs
// CAP_NET_ADMIN in the initial user namespace. On kernels before 7.x the removal of an
// rxe device waits until each process has closed it. When ctx ends first, the error
// matches ctx's error and names the processes; the removal goes on in the kernel and
// ends when they close the device.
//
// Errors are *[LinkError]; they match [ErrNoDevice] when there is no such device, and
// EINVAL when it is not a soft device.
func DeleteLink(ctx context.Context, name string) error {
	return realHost().deleteLinkByName(ctx, name)
}

const (
	maxLinkName    = 63 // IB_DEVICE_NAME_MAX - 1
	linkNameTries  = 16
	maxLinkNumbers = 1 << 16
)

func (h *host) addLink(ctx context.Context, cfg LinkConfig) (*Device, error) {
	if cfg.Type == "" {
		cfg.Type = "rxe"
	}
	if err := checkLinkConfig(cfg); err != nil {
		return nil, err
	}
	name, err := cfg.Name, error(nil)
	for try := 0; ; try++ {
		if cfg.Name == "" {
			if name, err = h.freeLinkName(cfg.Type, try); err != nil {
				return nil, &LinkError{Op: "add", Type: cfg.Type, Netdev: cfg.Netdev, Err: err}
			}
		}
		err = h.newLink(ctx, name, cfg.Type, cfg.Netdev)
		if err == nil {
			return h.byName(name)
		}
		// Someone else took the name meanwhile: take the next.
		if cfg.Name != "" || !errors.Is(err, syscall.ENFILE) || try == linkNameTries {
			break
		}
	}
	e := &LinkError{Op: "add", Name: name, Type: cfg.Type, Netdev: cfg.Netdev, Err: err}
	h.explainAdd(e)
	return nil, e
}

func checkLinkConfig(cfg LinkConfig) error {
	bad := func(cause string) error {
		return &LinkError{Op: "add", Name: cfg.Name, Type: cfg.Type, Netdev: cfg.Netdev, Cause: cause, Err: syscall.EINVAL}
	}
	switch {
	case cfg.Netdev == "":
		return bad("no network device given")
	case len(cfg.Name) > maxLinkName:
		return bad(fmt.Sprintf("the name is longer than %d bytes", maxLinkName))
	case strings.ContainsAny(cfg.Name, "%/\x00") || strings.ContainsRune(cfg.Netdev, 0) || strings.ContainsRune(cfg.Type, 0):
		return bad("a name contains %, / or a NUL byte")
	}
	return nil
}

// freeLinkName returns the first name of the form TYPE + number that no device has,
// leaving out the first skip of them.
func (h *host) freeLinkName(linkType string, skip int) (string, error) {
	taken := make(map[string]bool)
	_, err := h.devices(func(d *Device) bool {
		taken[d.Name] = true
		return false
	})
	if err != nil {
		return "", err
	}
	for n := range maxLinkNumbers {
		name := fmt.Sprint(linkType, n)
		if taken[name] {
			continue
		}
		if skip == 0 {
			return name, nil
		}
		skip--
	}
	return "", errors.New("no free device name")
}

// linkModules names the driver module of a link type.
var linkModules = map[string]string{"rxe": "rdma_rxe", "siw": "siw"}

func linkModule(linkType string) string {
	if m := linkModules[linkType]; m != "" {
		return m
	}
	return "rdma-link-" + linkType // the alias that the kernel asks modprobe for
}

// explainAdd says what the errno of RDMA_NLDEV_CMD_NEWLINK means (nldev_newlink,
// rxe_newlink).
func (h *host) explainAdd(e *LinkError) {
	switch {
	case noSuchProtocol(e.Err):
		e.Module, e.Cause = "ib_core", "this kernel has no RDMA (module ib_core is not loaded)"
		e.Remedy = h.moduleRemedy(linkModule(e.Type))
	case errors.Is(e.Err, syscall.ENODEV):
		e.Cause = "no network device " + e.Netdev + " in this network namespace"
	case errors.Is(e.Err, syscall.EINVAL) && !h.hasNetdev(e.Netdev):
		e.Cause = "no network device " + e.Netdev + " in this network namespace"
	case errors.Is(e.Err, syscall.EINVAL):
		e.Module = linkModule(e.Type)
		e.Cause = fmt.Sprintf("the kernel has no link type %q: module %s is not loaded", e.Type, e.Module)
		e.Remedy = h.moduleRemedy(e.Module)
	case errors.Is(e.Err, syscall.ENOENT):
		// rxe up to 6.12 takes CRC32 from the crypto API (rxe_register_device).
		e.Module, e.Cause = "crc32_generic", "the driver found no CRC32 implementation: module crc32_generic is not loaded"
		e.Remedy = h.moduleRemedy(e.Module)
	case errors.Is(e.Err, syscall.EEXIST):
		e.Cause = h.explainExists(e)
	case errors.Is(e.Err, syscall.ENFILE):
		e.Cause, e.Remedy = "a device of that name exists", "give another name"
	case errors.Is(e.Err, syscall.EPERM):
		h.explainLinkPermission(e)
	}
}

func (h *host) moduleRemedy(module string) string {
	if h.module(module).State == ModuleNotInstalled {
		return h.installRemedy(module)
	}
	return "modprobe " + module
}

// explainExists names the device that occupies the netdev.
func (h *host) explainExists(e *LinkError) string {
	devs, _ := h.devices(nil) // without a list the message names no device
	for _, d := range devs {
		for _, p := range d.Ports {
			if p.Netdev == e.Netdev && d.Name != e.Name && (d.Driver() == e.Type || d.Driver() == "unknown") {
				return fmt.Sprintf("%s has an %s device already: %s", e.Netdev, e.Type, d.Name)
			}
		}
	}
	return fmt.Sprintf("%s has an %s device already", e.Netdev, e.Type)
}

// explainLinkPermission tells the two causes of EPERM apart.
func (h *host) explainLinkPermission(e *LinkError) {
	const need = "adding and deleting RDMA links needs CAP_NET_ADMIN in the initial user namespace"
	vlan, _ := h.fileHas("sys/class/net/"+e.Netdev+"/uevent", func(l string) bool { return l == "DEVTYPE=vlan" })
	switch {
	case e.Netdev != "" && vlan && h.mayAdminNet():
		e.Cause = e.Netdev + " is a VLAN device, which rxe refuses"
		e.Remedy = "use the device below it: addresses of its VLANs become GIDs of the same RDMA device"
	default:
		e.Cause, e.Remedy = need, "run as root outside of a user namespace"
	}
}

// mayAdminNet reports whether the process has CAP_NET_ADMIN in its own user namespace;
// true when that cannot be read.
func (h *host) mayAdminNet() bool {
	const capNetAdmin = 12
	may := true
	_, _ = h.fileHas("proc/self/status", func(l string) bool { // unreadable: assume it
		set, ok := strings.CutPrefix(l, "CapEff:")
		if ok {
			v, err := strconv.ParseUint(strings.TrimSpace(set), 16, 64)
			may = err != nil || v>>capNetAdmin&1 != 0
		}
		return ok
	})
	return may
}

func (h *host) deleteLinkByName(ctx context.Context, name string) error {
	e := &LinkError{Op: "delete", Name: name}
	d, err := h.byName(name)
	switch {
	case err != nil:
		e.Err = err
		return e
	case d.Index < 0:
		e.Cause, e.Err = "RDMA netlink is not available", errors.ErrUnsupported
		return e
	}
	e.Type = d.Driver()
	if e.Err = h.deleteLink(ctx, d.Index); e.Err == nil {
		return nil
	}
	switch {
	case ctx.Err() != nil && errors.Is(e.Err, ctx.Err()):
		e.Cause = "the kernel waits until the device is closed" + h.holders(d)
	case errors.Is(e.Err, syscall.EPERM):
		h.explainLinkPermission(e)
	case errors.Is(e.Err, syscall.EINVAL):
		e.Cause = "it is not a soft device, or was removed meanwhile"
	}
	return e
}

// holders names the processes that have the device open, as far as this process may
// look at others. Netlink is no help: a device that is being removed does not answer.
func (h *host) holders(d *Device) string {
	processes, _ := os.ReadDir(h.path("proc")) // not mounted: nobody is named
	var names []string
	for _, p := range processes {
		if _, err := strconv.Atoi(p.Name()); err == nil && h.holds(p.Name(), d.CharDev.Path) {
			names = append(names, fmt.Sprintf("%s (%s)", p.Name(), attribute(h.path("proc", p.Name(), "comm"))))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return " by process " + strings.Join(names, ", ")
}

// holds reports whether a process has a file open. The kernel adds " (deleted)" to the
// name once the node is gone.
func (h *host) holds(pid, path string) bool {
	files, _ := os.ReadDir(h.path("proc", pid, "fd")) // another user's: not known
	for _, f := range files {
		target, err := os.Readlink(h.path("proc", pid, "fd", f.Name()))
		if err == nil && strings.TrimSuffix(target, " (deleted)") == path {
			return true
		}
	}
	return false
}
