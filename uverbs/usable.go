package uverbs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/purerdma/rdma/internal/devfile"
	"github.com/purerdma/rdma/internal/rdmanl"
)

// UsabilityState says whether a device can be used by this process, and if not, what
// stands in the way.
type UsabilityState string

// Usability states.
const (
	Usable UsabilityState = "usable"
	// NoCharDevice: the kernel has no character device for the RDMA device, or its
	// node is missing or has other numbers.
	NoCharDevice UsabilityState = "no char device"
	// DeniedMode: owner and mode of the node do not let this user open it.
	DeniedMode UsabilityState = "denied (mode)"
	// DeniedPolicy: the mode would allow it, so mount option nodev or a security
	// module (SELinux, AppArmor) refuses.
	DeniedPolicy UsabilityState = "denied (policy)"
	// DeniedCgroup: the device cgroup, that is the container's list of devices, does
	// not contain the node.
	DeniedCgroup UsabilityState = "denied (device cgroup)"
	// WrongNetns: the RDMA subsystem is in exclusive mode and the device belongs to
	// another network namespace.
	WrongNetns UsabilityState = "wrong netns (exclusive mode)"
	// Gone: the device was removed; the node is stale.
	Gone UsabilityState = "gone"
	// ModuleRemoved: the driver's module is being unloaded.
	ModuleRemoved UsabilityState = "driver being removed"
	// NoDataPath: the device opens, but this module has no data path for its driver.
	// Queries and connection management work.
	NoDataPath UsabilityState = "driver data path unsupported"
	// UnknownTrouble: opening failed in a way that none of the above explains.
	UnknownTrouble UsabilityState = "cannot be opened"
)

// Usability is what trying to use a character device showed.
type Usability struct {
	State UsabilityState
	// Path is the node that was tried.
	Path string
	// Reason says in one line what is wrong, with the numbers; empty when usable.
	Reason string
	// Remedy says what to do about it; may be empty.
	Remedy string
	// Err is the cause where there is one; errors.Is reaches the errno.
	Err error
}

// OK reports whether everything works, data transfer included.
func (u Usability) OK() bool { return u.State == Usable }

// String returns the state and, when there is one, the reason.
func (u Usability) String() string {
	if u.Reason == "" {
		return string(u.State)
	}
	return string(u.State) + ": " + u.Reason
}

// Usability finds out whether this process can use the device, by opening and closing
// its character device. It makes no verbs context. The result holds for this moment,
// this user and this container.
func (d *Device) Usability() Usability {
	h := d.machine()
	if !d.CharDev.Exists() {
		if u, gone := h.goneOrMoved(d, nil); gone {
			return u
		}
		return Usability{
			State:  NoCharDevice,
			Reason: "the kernel has no verbs character device for " + d.Name + ": module ib_uverbs is not loaded",
			Remedy: "modprobe ib_uverbs (on the host)",
		}
	}
	u := h.checkNode(d.CharDev, d)
	if u.State == Usable && !h.hasProvider(d.DriverID) {
		u.State = NoDataPath
		u.Reason = fmt.Sprintf("no data path for driver %s in this module; queries and connection management work", d.Driver())
		u.Err = ErrNoProvider
	}
	return u
}

// checkNode tries a character device; d is nil when it belongs to no RDMA device.
func (h *host) checkNode(cd CharDev, d *Device) Usability {
	if u, bad := h.checkNumbers(cd, d); bad {
		return u
	}
	if err := h.open(cd.Path); err != nil {
		return h.explainOpen(cd, d, err)
	}
	return Usability{State: Usable, Path: cd.Path}
}

// checkNumbers looks for the node before it is opened: opening one with the numbers of
// another device would tell about that one.
func (h *host) checkNumbers(cd CharDev, d *Device) (Usability, bool) {
	n, err := h.stat(cd.Path)
	u := Usability{State: NoCharDevice, Path: cd.Path, Err: err, Remedy: nodeRemedy(cd)}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if u, gone := h.goneOrMoved(d, err); gone {
			return u, true
		}
		u.Reason = fmt.Sprintf("%s is missing (expected a character device %d:%d)", cd.Path, cd.Major, cd.Minor)
	case errors.Is(err, errors.ErrUnsupported):
		return Usability{State: UnknownTrouble, Path: cd.Path, Err: err, Reason: err.Error()}, true
	case err != nil:
		return Usability{State: DeniedMode, Path: cd.Path, Err: err,
			Reason: "the folder of the node cannot be searched: " + err.Error()}, true
	case !n.charDev:
		u.Reason = fmt.Sprintf("%s is not a character device (expected %d:%d)", cd.Path, cd.Major, cd.Minor)
	case !n.is(cd.Major, cd.Minor):
		if u, gone := h.goneOrMoved(d, nil); gone {
			return u, true
		}
		u.Reason = fmt.Sprintf("%s is %d:%d, expected %d:%d", cd.Path, n.major, n.minor, cd.Major, cd.Minor)
	default:
		return Usability{}, false
	}
	return u, true
}

func nodeRemedy(cd CharDev) string {
	return fmt.Sprintf("in a container: pass it in (docker --device %[1]s, or the device plugin must list it); on a host: mknod %[1]s c %[2]d %[3]d",
		cd.Path, cd.Major, cd.Minor)
}

// explainOpen translates the errno of opening a character device. For verbs devices
// the errnos are those of ib_uverbs_open; EACCES comes from the file system, EPERM
// from the device cgroup as well.
func (h *host) explainOpen(cd CharDev, d *Device, err error) Usability {
	u := Usability{State: UnknownTrouble, Path: cd.Path, Err: err, Reason: err.Error()}
	switch {
	case errors.Is(err, syscall.EACCES):
		h.explainAccess(&u)
	case errors.Is(err, syscall.EPERM):
		h.explainPermission(&u, d)
	case errors.Is(err, syscall.ENXIO):
		u.State, u.Reason = Gone, "stale node: no device behind "+cd.Path+" any more (ENXIO)"
		u.Remedy = "list the devices again"
	case errors.Is(err, syscall.EIO):
		u.State, u.Reason = Gone, "the device was removed while its node stayed (EIO)"
		u.Remedy = "list the devices again"
	case errors.Is(err, syscall.ENODEV):
		u.State, u.Reason = ModuleRemoved, "the module of the device's driver is being removed (ENODEV)"
	case errors.Is(err, syscall.ENOENT):
		u.State, u.Reason, u.Remedy = NoCharDevice, cd.Path+" went away", nodeRemedy(cd)
	}
	return u
}

// openHint is what the error of opening the device means and what to do about it. On a
// fake kernel the real one has nothing to say.
func (d *Device) openHint(k devfile.Kernel, err error) string {
	if k != nil {
		return ""
	}
	var u Usability
	if d.CharDev.Exists() {
		u = d.machine().explainOpen(d.CharDev, d, err)
	} else {
		u = d.Usability()
	}
	switch {
	case u.State == UnknownTrouble:
		return "" // the errno is all there is
	case u.Remedy == "":
		return u.Reason
	}
	return u.Reason + "; " + u.Remedy
}

// explainAccess tells refusal by owner and mode from refusal in spite of them.
func (h *host) explainAccess(u *Usability) {
	u.State = DeniedMode
	n, err := h.stat(u.Path)
	if errors.Is(err, syscall.EACCES) {
		u.Reason = fmt.Sprintf("a folder of %s may not be searched by this user: its mode lacks x (EACCES)", u.Path)
		return
	}
	if err != nil {
		u.Reason = "permission denied (EACCES)"
		return
	}
	uid := os.Geteuid()
	owner := fmt.Sprintf("%s has mode %04o, owner uid %d, gid %d; this process has uid %d", u.Path, n.perm, n.uid, n.gid, uid)
	if modeAllows(n, uid) {
		u.State = DeniedPolicy
		u.Reason = owner + ", so the mode allows it: mount option nodev, SELinux or AppArmor refuses"
		u.Remedy = "see the mount options of /dev and the audit log"
		return
	}
	u.Reason = owner
	u.Remedy = fmt.Sprintf("run as a user that may open it, or chmod 0666 %s (udev: MODE=\"0666\")", u.Path)
}

// modeAllows reports whether the permission bits let the process read and write.
func modeAllows(n nodeInfo, uid int) bool {
	const rw = 0o6
	switch {
	case uint32(uid) == n.uid:
		return n.perm>>6&rw == rw
	case inGroup(n.gid):
		return n.perm>>3&rw == rw
	}
	return n.perm&rw == rw
}

func inGroup(gid uint32) bool {
	if uint32(os.Getegid()) == gid {
		return true
	}
	groups, err := os.Getgroups()
	if err != nil {
		return false
	}
	for _, g := range groups {
		if uint32(g) == gid {
			return true
		}
	}
	return false
}

// explainPermission tells the two causes of EPERM apart: in exclusive mode a device of
// another network namespace is not in this namespace's netlink listing.
func (h *host) explainPermission(u *Usability, d *Device) {
	u.State = DeniedCgroup
	u.Reason = "the device cgroup of this container does not allow " + u.Path + " (EPERM)"
	u.Remedy = "pass the device into the container (docker --device, device plugin), not only the file"
	if d == nil {
		return
	}
	l := h.look(d)
	switch {
	case !l.known:
		u.Reason = "EPERM: the device cgroup does not allow it, or the device belongs to another network namespace (RDMA netlink did not answer)"
	case !l.shared && !l.listed:
		u.State = WrongNetns
		u.Reason = fmt.Sprintf("RDMA is in exclusive mode and %s belongs to another network namespace (EPERM)", d.Name)
		u.Remedy = "rdma dev set " + d.Name + " netns NAME, or run in its namespace"
	}
}

// listing is what netlink says now about a device found earlier.
type listing struct {
	known  bool // netlink answered
	shared bool // shared namespace mode
	listed bool // the device is still there, with the same index
	name   string
}

func (h *host) look(d *Device) listing {
	c, err := h.dial()
	if err != nil {
		return listing{}
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), discoveryTimeout)
	defer cancel()
	found, err := c.Devices(ctx)
	if err != nil {
		return listing{}
	}
	l := listing{known: true, shared: true}
	// A kernel that does not tell the mode (before 5.2) knows only shared mode.
	if s, err := c.System(ctx); err == nil && s.HasNetnsMode {
		l.shared = s.Shared
	}
	for _, nd := range found {
		if sameDevice(nd, d) {
			l.listed, l.name = true, nd.Name
		}
	}
	return l
}

func sameDevice(nd rdmanl.Device, d *Device) bool {
	if d.Index < 0 {
		return nd.Name == d.Name
	}
	return int(nd.Index) == d.Index
}

// goneOrMoved reports whether a device found earlier no longer exists, or is no longer
// shown to this network namespace.
func (h *host) goneOrMoved(d *Device, cause error) (Usability, bool) {
	if d == nil {
		return Usability{}, false
	}
	l := h.look(d)
	if !l.known || l.listed {
		return Usability{}, false
	}
	u := Usability{State: Gone, Path: d.CharDev.Path, Err: cause, Reason: d.Name + " was removed", Remedy: "list the devices again"}
	if !l.shared {
		u.Reason += ", or moved to another network namespace"
	}
	return u, true
}
