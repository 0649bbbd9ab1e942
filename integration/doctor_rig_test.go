//go:build linux

package integration

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/purerdma/rdma/uverbs"
)

// doctorReport is what tests look at in the doctor's JSON.
type doctorReport struct {
	Devices  []string
	Sections []struct{ Name, Result, Summary string }
	Findings []doctorFinding
	Pod      struct{ Kubernetes, Docker string }
	Error    struct {
		Class    string
		ExitCode int `json:"exit_code"`
	}
}

type doctorFinding struct{ ID, Severity, Object, Problem, Evidence, Remedy, Doc string }

func (f doctorFinding) String() string {
	return f.Severity + " " + f.ID + " " + f.Object + ": " + f.Problem + " (" + f.Evidence + "); " + f.Remedy
}

// find returns the finding with an id, about an object whose name contains a
// text.
func (r doctorReport) find(t *testing.T, id, object string) doctorFinding {
	t.Helper()
	for _, f := range r.Findings {
		if f.ID == id && strings.Contains(f.Object, object) {
			return f
		}
	}
	t.Fatalf("no finding %s about %q among %v", id, object, r.Findings)
	return doctorFinding{}
}

// bad lists the ids of warnings and errors.
func (r doctorReport) bad() (ids []string) {
	for _, f := range r.Findings {
		if f.Severity != "note" {
			ids = append(ids, f.ID)
		}
	}
	return ids
}

// doctorAs runs the doctor with other attributes of the process; nil for none.
func doctorAs(t *testing.T, attr *syscall.SysProcAttr, code int, args ...string) doctorReport {
	t.Helper()
	cmd := exec.CommandContext(testContext(t), requireProbe(t), append([]string{"doctor", "--json"}, args...)...)
	cmd.SysProcAttr = attr
	r := runTool(t, cmd)
	r.want(t, code)
	var rep doctorReport
	if err := json.Unmarshal([]byte(r.stdout), &rep); err != nil {
		t.Fatalf("%v in\n%s%s", err, r.stdout, r.stderr)
	}
	if rep.Error.ExitCode != code {
		t.Errorf("JSON says exit code %d, want %d", rep.Error.ExitCode, code)
	}
	return rep
}

// wantFault runs the doctor and wants an error, or a warning, with an id, about
// an object, with a remedy that contains a text.
func wantFault(t *testing.T, code int, id, object, remedy string, args ...string) doctorFinding {
	t.Helper()
	return wantFaultAs(t, nil, code, id, object, remedy, args...)
}

func wantFaultAs(t *testing.T, attr *syscall.SysProcAttr, code int, id, object, remedy string, args ...string) doctorFinding {
	t.Helper()
	f := doctorAs(t, attr, code, args...).find(t, id, object)
	if !strings.Contains(f.Remedy, remedy) {
		t.Errorf("remedy lacks %q: %v", remedy, f)
	}
	if f.Evidence == "" {
		t.Errorf("no evidence: %v", f)
	}
	return f
}

// nobody is an unprivileged user.
func nobody() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
}

// nobodyInUserNamespace has all capabilities in a user namespace of its own.
func nobodyInUserNamespace() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER,
		Credential:  &syscall.Credential{Uid: 0, Gid: 0, NoSetGroups: true},
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: 65534, Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: 65534, Size: 1}}}
}

// withMemlock runs f with another limit, which children inherit.
func withMemlock(t *testing.T, bytes uint64, f func()) {
	t.Helper()
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_MEMLOCK, &old); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_MEMLOCK, &unix.Rlimit{Cur: bytes, Max: old.Max}); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := unix.Setrlimit(unix.RLIMIT_MEMLOCK, &old); err != nil {
			t.Error(err)
		}
	}()
	f()
}

// wire is a pair of interfaces, one of which carries a soft-RoCE device.
type wire struct {
	near, far, device string
	dev               *uverbs.Device
	ns                string // of the far end; empty for this one
}

// newWire makes dr0 with 10.90.0.1/24, on which is the device drx, and dr1.
func newWire(t *testing.T) *wire {
	t.Helper()
	w := &wire{near: "dr0", far: "dr1", device: "drx"}
	attrs := netlink.NewLinkAttrs()
	attrs.Name = w.near
	if err := netlink.LinkAdd(&netlink.Veth{LinkAttrs: attrs, PeerName: w.far}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if l, err := netlink.LinkByName(w.near); err == nil {
			// It goes by itself when its other end's namespace has gone.
			if err := netlink.LinkDel(l); err != nil && !errors.Is(err, syscall.ENODEV) {
				t.Error(err)
			}
		}
		waitGone(t, w.device)
	})
	w.up(t, w.far)
	w.up(t, w.near)
	w.address(t, "10.90.0.1/24")
	dev, err := uverbs.AddLink(testContext(t), uverbs.LinkConfig{Name: w.device, Type: "rxe", Netdev: w.near})
	if err != nil {
		t.Fatal(err)
	}
	w.dev = dev
	waitForGID(t, w.device, "10.90.0.1")
	w.waitState(t, uverbs.PortActive)
	return w
}

// waitGone waits until the device has followed its interface.
func waitGone(t *testing.T, device string) {
	for deadline := time.Now().Add(testTime); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if _, err := uverbs.DeviceByName(device); errors.Is(err, uverbs.ErrNoDevice) {
			return
		}
	}
	t.Errorf("%s is still there", device)
}

func (w *wire) link(t *testing.T, name string) netlink.Link {
	t.Helper()
	l, err := netlink.LinkByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func (w *wire) up(t *testing.T, name string) {
	t.Helper()
	if err := netlink.LinkSetUp(w.link(t, name)); err != nil {
		t.Fatal(err)
	}
}

func (w *wire) down(t *testing.T, name string) {
	t.Helper()
	if err := netlink.LinkSetDown(w.link(t, name)); err != nil {
		t.Fatal(err)
	}
	w.waitState(t, uverbs.PortDown)
}

func (w *wire) mtu(t *testing.T, name string, bytes int) {
	t.Helper()
	if err := netlink.LinkSetMTU(w.link(t, name), bytes); err != nil {
		t.Fatal(err)
	}
}

// address adds an address to the near end.
func (w *wire) address(t *testing.T, cidr string) {
	t.Helper()
	a, err := netlink.ParseAddr(cidr)
	if err != nil {
		t.Fatal(err)
	}
	a.Flags = unix.IFA_F_NODAD
	if err := netlink.AddrAdd(w.link(t, w.near), a); err != nil {
		t.Fatal(err)
	}
}

// flush removes the addresses of the near end that match.
func (w *wire) flush(t *testing.T, family int) {
	t.Helper()
	l := w.link(t, w.near)
	addrs, err := netlink.AddrList(l, family)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addrs {
		if err := netlink.AddrDel(l, &a); err != nil {
			t.Fatal(err)
		}
	}
}

// waitState waits for the state of the device's port.
func (w *wire) waitState(t *testing.T, want uverbs.PortState) {
	t.Helper()
	var got uverbs.PortState
	for deadline := time.Now().Add(testTime); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		d, err := uverbs.DeviceByName(w.device)
		if err != nil {
			t.Fatal(err)
		}
		if got = d.Ports[0].State; got == want {
			return
		}
	}
	t.Fatalf("port is %v, want %v", got, want)
}

// wantNarrow checks that no line is longer than a terminal of 100 columns.
func (r probeResult) wantNarrow(t *testing.T) {
	t.Helper()
	for line := range strings.Lines(r.stdout + r.stderr) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 100 {
			t.Errorf("line of %d columns: %s", n, line)
		}
	}
}

// moveAway moves a device node out of the way for the time of the test.
func moveAway(t *testing.T, path string) {
	t.Helper()
	saved := "/dev/saved" + strings.ReplaceAll(path, "/", "-")
	if err := os.Rename(path, saved); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.Rename(saved, path); err != nil {
			t.Error(err)
		}
	})
}

func hasID(ids []string, id string) bool { return slices.Contains(ids, id) }

// emptyImage is a folder with the program and nothing else, where everybody may
// go, as long as they may go to os.TempDir.
func emptyImage(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for _, dir := range []string{root, filepath.Dir(root)} { // what TempDir made, and no more
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	binary, err := os.ReadFile(requireProbe(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "rdmaprobe"), binary, 0o755); err != nil {
		t.Fatal(err)
	}
	return root
}

// withMounts runs f on a thread with mounts of its own, which it may change.
func withMounts(t *testing.T, f func()) {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		var err error
		defer func() { done <- err }()
		runtime.LockOSThread() // for good: the thread dies with the goroutine
		if err = unix.Unshare(unix.CLONE_NEWNS | unix.CLONE_FS); err != nil {
			return
		}
		if err = unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err == nil {
			f()
		}
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// partOfNodes gives the calling thread, which has mounts of its own, a
// /dev/infiniband with some of the nodes.
func partOfNodes(names ...string) error {
	stats := map[string]unix.Stat_t{}
	for _, n := range names {
		var st unix.Stat_t
		if err := unix.Stat("/dev/infiniband/"+n, &st); err != nil {
			return err
		}
		stats[n] = st
	}
	if err := unix.Mount("none", "/dev/infiniband", "tmpfs", 0, ""); err != nil {
		return err
	}
	for n, st := range stats {
		if err := unix.Mknod("/dev/infiniband/"+n, st.Mode, int(st.Rdev)); err != nil {
			return err
		}
		if err := os.Chmod("/dev/infiniband/"+n, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// linkLocals lists the link-local addresses with zone of an interface.
func linkLocals(t *testing.T, name string) (out []string) {
	t.Helper()
	l, err := netlink.LinkByName(name)
	if err != nil {
		t.Fatal(err)
	}
	addrs, err := netlink.AddrList(l, unix.AF_INET6)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addrs {
		if a.IP.IsLinkLocalUnicast() {
			out = append(out, a.IP.String()+"%"+name)
		}
	}
	return out
}
