//go:build linux

package integration

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/purerdma/rdma/uverbs"
)

// TestDoctorHealthy: nothing is found where nothing is wrong. Notes are left out:
// tests before this one may have made counters count, and Linux before 5.12
// has no copy-on-fork.
func TestDoctorHealthy(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	rep := doctorAs(t, nil, 0)
	if bad := rep.bad(); len(bad) > 0 {
		t.Errorf("findings on a healthy machine: %v", rep.Findings)
	}
	for _, f := range rep.Findings {
		if f.ID != "RP-FRK-001" && f.ID != "RP-CNT-002" {
			t.Errorf("note: %v", f)
		}
	}
	if kernelAtLeast(t, 5, 12) {
		for _, f := range rep.Findings {
			if f.ID == "RP-FRK-001" {
				t.Errorf("note: %v", f)
			}
		}
	}
	if len(rep.Devices) == 0 || len(rep.Sections) < 15 {
		t.Errorf("report %+v", rep)
	}
	r := probe(t, "doctor", "--need", "1MiB")
	r.want(t, 0)
	r.wantNarrow(t)
	r.contains(t, "rxe0 port 1 ACTIVE", "v0", "1 MiB fit")
	doctorAs(t, nobody(), 0)
	probe(t, "doctor", "--pod").want(t, 0)
	probe(t, "doctor", "--device", "nope").want(t, 3)
}

// TestDoctorModuleMissing: the connection manager's module is not loaded, and
// the kernel cannot load it by itself.
func TestDoctorModuleMissing(t *testing.T) {
	requireRDMA(t)
	fullSuiteOnly(t, ofProgram)
	requireProbe(t)
	const helper = "/proc/sys/kernel/modprobe"
	old, err := os.ReadFile(helper)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(helper, []byte("/nonexistent"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.WriteFile(helper, old, 0o644); err != nil {
			t.Error(err)
		}
		uverbs.Diagnose() // loads it
		requireRDMA(t)
	})
	if err := unix.DeleteModule("rdma_ucm", 0); err != nil {
		t.Fatal(err)
	}
	wantFault(t, 3, "RP-MOD-003", "rdma_ucm", "modprobe rdma_ucm")
	r := probe(t, "doctor", "--pod")
	r.want(t, 3)
	r.contains(t, "on the host", "modprobe rdma_ucm")
	probe(t, "gids").want(t, 0)
	probe(t, "list").want(t, 0)
	probe(t, "path", addrV4).want(t, 3)
}

// TestDoctorNodes: nodes that are missing, denied, wrong or stale.
func TestDoctorNodes(t *testing.T) {
	requireRDMA(t)
	fullSuiteOnly(t, ofProgram)
	checkLeaks(t)
	d, err := uverbs.DeviceByName("rxe0")
	if err != nil {
		t.Fatal(err)
	}
	path := d.CharDev.Path
	mknod := func(t *testing.T, path string, minor uint32) {
		t.Helper()
		if err := unix.Mknod(path, unix.S_IFCHR|0o666, int(unix.Mkdev(d.CharDev.Major, minor))); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Remove(path) })
	}
	t.Run("missing", func(t *testing.T) {
		moveAway(t, path)
		wantFault(t, 3, "RP-CHR-001", "rxe0", "--device "+path)
		rep := doctorAs(t, nil, 3, "--pod")
		if !strings.Contains(rep.Pod.Docker, "--device "+path) || strings.Contains(rep.Pod.Docker, "rdma_cm") || strings.Contains(rep.Pod.Docker, "memlock") {
			t.Errorf("docker fragment %q", rep.Pod.Docker)
		}
	})
	t.Run("rdma_cm missing", func(t *testing.T) {
		moveAway(t, "/dev/infiniband/rdma_cm")
		f := wantFault(t, 3, "RP-CHR-001", "rdma_cm", "--device /dev/infiniband/rdma_cm")
		if !strings.Contains(f.Evidence, "rdma_ucm") {
			t.Errorf("the module is not named: %v", f)
		}
		for _, command := range []string{"list", "gids", "res", "version"} {
			probe(t, command).want(t, 0)
		}
		for _, command := range []string{"ping", "cmping"} {
			r := probe(t, command, addrV4, "-C", "1")
			r.want(t, 3)
			r.contains(t, "rdma_ucm", "/dev/infiniband/rdma_cm")
		}
	})
	t.Run("no permission", func(t *testing.T) {
		if err := os.Chmod(path, 0o600); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(path, 0o666)
		f := wantFaultAs(t, nobody(), 4, "RP-CHR-003", "rxe0", "chmod 0666 "+path)
		if !strings.Contains(f.Problem, "mode 0600, owner uid 0") {
			t.Errorf("mode and owner are not named: %v", f)
		}
		cmd := exec.CommandContext(testContext(t), requireProbe(t), "list")
		cmd.SysProcAttr = nobody()
		r := runTool(t, cmd)
		r.want(t, 4)
		r.contains(t, "denied (mode)", "mode 0600, owner uid 0", "chmod 0666 "+path)
	})
	t.Run("other numbers", func(t *testing.T) {
		moveAway(t, path)
		mknod(t, path, d.CharDev.Minor+7)
		wantFault(t, 3, "RP-CHR-002", "rxe0", "mknod")
	})
	t.Run("stale", func(t *testing.T) {
		const stale = "/dev/infiniband/uverbs29"
		mknod(t, stale, d.CharDev.Minor+29)
		wantFault(t, 0, "RP-CHR-007", stale, "rm "+stale)
	})
	if bad := doctorAs(t, nil, 0).bad(); len(bad) > 0 {
		t.Errorf("left behind: %v", bad)
	}
}

// TestDoctorMemlock: 64 KiB, 0, and a capability that does not count (P4).
func TestDoctorMemlock(t *testing.T) {
	requireRDMA(t)
	fullSuiteOnly(t, ofProgram)
	checkLeaks(t)
	withMemlock(t, 64<<10, func() {
		f := wantFaultAs(t, nobody(), 4, "RP-MEM-002", "RLIMIT_MEMLOCK", "--ulimit memlock=-1")
		if !strings.Contains(f.Problem, "64 KiB") {
			t.Errorf("the limit is not named: %v", f)
		}
		f = wantFaultAs(t, nobody(), 4, "RP-MEM-004", "RLIMIT_MEMLOCK", "LimitMEMLOCK=infinity", "--need", "1MiB")
		if !strings.Contains(f.Problem, "64 KiB") || !strings.Contains(f.Problem, "1 MiB") || !strings.Contains(f.Evidence, "CAP_IPC_LOCK is not effective") {
			t.Errorf("numbers or capability are not named: %v", f)
		}
		doctorAs(t, nobody(), 0, "--need", "16KiB")
		rep := doctorAs(t, nobodyInUserNamespace(), 4, "--need", "1MiB")
		rep.find(t, "RP-MEM-004", "RLIMIT_MEMLOCK")
		rep.find(t, "RP-MEM-003", "CAP_IPC_LOCK")
		rep = doctorAs(t, nobodyInUserNamespace(), 4, "--need", "1MiB", "--pod")
		if pod := rep.Pod.Kubernetes; !strings.Contains(pod, "hostUsers: true") || strings.Contains(pod, "IPC_LOCK]") {
			t.Errorf("pod in a user namespace: %s", pod)
		}
		doctorAs(t, nil, 0, "--need", "1MiB") // root has the capability
	})
	withMemlock(t, 0, func() {
		wantFaultAs(t, nobody(), 4, "RP-MEM-001", "RLIMIT_MEMLOCK", "IPC_LOCK")
		rep := doctorAs(t, nobody(), 4, "--need", "1MiB", "--pod")
		rep.find(t, "RP-MEM-001", "RLIMIT_MEMLOCK")
		if !strings.Contains(rep.Pod.Kubernetes, "runAsUser: 0") || !strings.Contains(rep.Pod.Kubernetes, "IPC_LOCK") || strings.Contains(rep.Pod.Docker, "--device") {
			t.Errorf("pod %+v", rep.Pod)
		}
	})
}

// TestDoctorPort: down, without carrier, without addresses, MTU mismatch.
func TestDoctorPort(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	w := newWire(t)
	only := []string{"--device", w.device}
	if bad := doctorAs(t, nil, 0, only...).bad(); len(bad) > 0 {
		t.Fatalf("a new device has %v", bad)
	}
	t.Run("no carrier", func(t *testing.T) {
		w.down(t, w.far)
		wantFault(t, 1, "RP-PRT-001", w.device, "other end", only...)
		w.up(t, w.far)
		w.waitState(t, uverbs.PortActive)
	})
	t.Run("MTU mismatch", func(t *testing.T) {
		w.mtu(t, w.far, 1280)
		wantFault(t, 1, "RP-PRT-005", w.device, "ip link set dr1 mtu 1500", only...)
		w.mtu(t, w.far, 1500)
		w.mtu(t, w.near, 300)
		w.mtu(t, w.far, 300)
		wantFault(t, 1, "RP-PRT-003", w.device, "ip link set dr0 mtu 336", only...)
		w.mtu(t, w.near, 1500)
		w.mtu(t, w.far, 1500)
	})
	t.Run("no IPv4 address", func(t *testing.T) {
		w.flush(t, unix.AF_INET)
		w.flush(t, unix.AF_INET6)
		wantFault(t, 1, "RP-GID-001", w.device, "ip addr add ADDRESS/LENGTH dev dr0", only...)
		w.address(t, "fe80::90/64")
		wantFault(t, 1, "RP-GID-002", w.device, "ip addr add ADDRESS/LENGTH dev dr0", only...)
		w.address(t, "fd00:90::1/64")
		wantFault(t, 0, "RP-GID-003", w.device, "ip addr add", only...)
		w.address(t, "10.90.0.1/24")
	})
	t.Run("port down", func(t *testing.T) {
		w.down(t, w.near)
		wantFault(t, 1, "RP-PRT-001", w.device, "ip link set dr0 up", only...)
		r := probe(t, "doctor", "--device", w.device)
		r.want(t, 1)
		r.wantNarrow(t)
		if bad := doctorAs(t, nil, 0, "--device", "rxe0").bad(); len(bad) > 0 {
			t.Errorf("rxe0 has %v", bad)
		}
	})
}

// TestDoctorSubnet: two RDMA interfaces in one subnet.
func TestDoctorSubnet(t *testing.T) {
	requireRDMA(t)
	fullSuiteOnly(t, ofProgram)
	checkLeaks(t)
	w := newWire(t)
	w.address(t, "10.77.0.31/24")
	wantFault(t, 0, "RP-MAP-002", "10.77.0.0/24", "arp_ignore=1")
}

// TestDoctorNamespace: what shared and exclusive mode mean in a network
// namespace of its own.
func TestDoctorNamespace(t *testing.T) {
	requireRDMA(t)
	fullSuiteOnly(t, ofProgram)
	checkLeaks(t)
	away := func() *syscall.SysProcAttr { return &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET} }
	rep := doctorAs(t, away(), 1, "--pod")
	rep.find(t, "RP-MAP-001", "rxe0")
	if !strings.Contains(rep.Pod.Kubernetes, "k8s.v1.cni.cncf.io/networks") || !strings.Contains(rep.Pod.Docker, "--network host") {
		t.Errorf("pod %+v", rep.Pod)
	}
	discSetMode(t, "exclusive")
	t.Cleanup(func() { discSetMode(t, "shared") })
	rep = doctorAs(t, nil, 0)
	rep.find(t, "RP-NNS-002", "")
	wantFaultAs(t, away(), 3, "RP-NNS-001", "namespace", "rdma dev set DEVICE netns NAME")
}

// TestDoctorSoftNamespace: a soft device on an interface of another network
// namespace works since Linux 7.2 only.
func TestDoctorSoftNamespace(t *testing.T) {
	requireRDMA(t)
	fullSuiteOnly(t, ofProgram)
	checkLeaks(t)
	w := newWire(t)
	deleted := uverbs.DeleteLink(testContext(t), w.device)
	if deleted != nil {
		t.Fatal(deleted)
	}
	w.peer(t, "10.90.0.9/24", 1500)
	inNamespace(t, w.ns, func() {
		if _, err := uverbs.AddLink(testContext(t), uverbs.LinkConfig{Name: w.device, Type: "rxe", Netdev: w.far}); err != nil {
			t.Error(err)
			return
		}
		waitForGID(t, w.device, "10.90.0.9")
		w.waitState(t, uverbs.PortActive)
		if kernelAtLeast(t, 7, 2) {
			rep := doctorAs(t, nil, 0, "--device", w.device)
			if bad := rep.bad(); len(bad) > 0 {
				t.Errorf("findings %v", rep.Findings)
			}
			return
		}
		wantFault(t, 1, "RP-NNS-003", w.device, "--network host", "--device", w.device)
	})
}

// TestDoctorStacked: VLANs and macvlans lead to the device below them.
func TestDoctorStacked(t *testing.T) {
	requireRDMA(t)
	fullSuiteOnly(t, ofProgram)
	checkLeaks(t)
	w := newWire(t)
	parent := w.link(t, w.near).Attrs().Index
	for i, l := range []netlink.Link{
		&netlink.Vlan{LinkAttrs: netlink.LinkAttrs{Name: "dr0.5", ParentIndex: parent}, VlanId: 5, VlanProtocol: netlink.VLAN_PROTOCOL_8021Q},
		&netlink.Macvlan{LinkAttrs: netlink.LinkAttrs{Name: "drm0", ParentIndex: parent}, Mode: netlink.MACVLAN_MODE_BRIDGE},
	} {
		cidr := []string{"10.90.5.1/24", "10.90.6.1/24"}[i]
		a, err := netlink.ParseAddr(cidr)
		if err != nil {
			t.Fatal(err)
		}
		if err := netlink.LinkAdd(l); err != nil {
			missing(t, fmt.Sprintf("a device of type %s (%v)", l.Type(), err), "run through scripts/vm")
		}
		if err := errors.Join(netlink.LinkSetUp(l), netlink.AddrAdd(l, a)); err != nil {
			t.Fatal(err)
		}
		ip, _, _ := strings.Cut(cidr, "/")
		waitForGID(t, w.device, ip)
		device, address := probeGIDs(t, 0, "--to", ip).picked(t)
		cmDevice, cmAddress := cmPick(t, ip)
		if device != cmDevice || address != cmAddress {
			t.Errorf("%s: picked %s %s, the connection manager takes %s %s", l.Type(), device, address, cmDevice, cmAddress)
		}
	}
	r := probe(t, "doctor", "--device", w.device)
	r.want(t, 0)
	r.contains(t, "vlan 5", "macvlan", "dr0.5", "drm0")
	for _, line := range strings.Split(r.stdout, "\n") {
		if strings.HasPrefix(line, "drm0") && !strings.Contains(line, w.device+"/1") {
			t.Errorf("table: %s", line)
		}
	}
}

// TestDoctorBond: a bond's addresses are GIDs of the device below it.
func TestDoctorBond(t *testing.T) {
	requireRDMA(t)
	fullSuiteOnly(t, ofProgram)
	checkLeaks(t)
	w := newWire(t)
	attrs := netlink.NewLinkAttrs()
	attrs.Name = "drb0"
	bond := netlink.NewLinkBond(attrs)
	bond.Mode, bond.Miimon = netlink.BOND_MODE_ACTIVE_BACKUP, 100
	if err := netlink.LinkAdd(bond); errors.Is(err, syscall.EOPNOTSUPP) {
		missing(t, "the kernel module bonding", "run through scripts/vm")
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = netlink.LinkDel(bond) })
	a, err := netlink.ParseAddr("10.90.7.1/24")
	if err != nil {
		t.Fatal(err)
	}
	near := w.link(t, w.near)
	if err := errors.Join(netlink.LinkSetDown(near), netlink.LinkSetMaster(near, bond), netlink.LinkSetUp(near),
		netlink.LinkSetUp(bond), netlink.AddrAdd(bond, a)); err != nil {
		t.Fatal(err)
	}
	w.waitState(t, uverbs.PortActive)
	waitForGID(t, w.device, "10.90.7.1")
	r := probe(t, "doctor", "--device", w.device)
	r.want(t, 0)
	for _, line := range strings.Split(r.stdout, "\n") {
		fields := strings.Fields(line)
		switch {
		case len(fields) < 4:
		case fields[0] == "drb0" && (fields[1] != "bond" || fields[len(fields)-1] != w.device+"/1"),
			fields[0] == w.near && fields[1] == "veth" && fields[3] != "drb0":
			t.Errorf("table: %s", line)
		}
	}
	r.contains(t, "drb0")
	device, address := probeGIDs(t, 0, "--to", "10.90.7.1").picked(t)
	if cmDevice, cmAddress := cmPick(t, "10.90.7.1"); device != cmDevice || address != cmAddress {
		t.Errorf("picked %s %s, the connection manager takes %s %s", device, address, cmDevice, cmAddress)
	}
}

// TestDoctorEmptyImage: an unprivileged user, no /proc, no /sys, no /dev, and
// no other file than the program (P1).
func TestDoctorEmptyImage(t *testing.T) {
	requireRDMA(t)
	fullSuiteOnly(t, ofProgram)
	checkLeaks(t)
	root := emptyImage(t)
	run := func(args ...string) probeResult {
		cmd := exec.CommandContext(testContext(t), "/rdmaprobe", args...)
		cmd.Err, cmd.Dir, cmd.Env = nil, "/", []string{"A=B"}
		cmd.SysProcAttr = nobody()
		cmd.SysProcAttr.Chroot = root
		return runTool(t, cmd)
	}
	r := run("doctor")
	r.want(t, 3)
	r.contains(t, "RP-CHR-001", "RP-SYS-002", "rxe0", "not found out")
	r.wantNarrow(t)
	for _, args := range [][]string{{"doctor"}, {"gids"}, {"path", addrV4}, {"doctor", "--pod"}} {
		var doc struct {
			Error struct {
				ExitCode int `json:"exit_code"`
			}
		}
		r := run(append(args, "--json")...)
		if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil || doc.Error.ExitCode != r.code || r.stderr != "" {
			t.Errorf("%v: %v, exit code %d\n%s%s", args, err, r.code, r.stdout, r.stderr)
		}
	}
}

// TestDoctorVisibleNotUsable: a container that was given some of the nodes (P2).
func TestDoctorVisibleNotUsable(t *testing.T) {
	requireRDMA(t)
	fullSuiteOnly(t, ofProgram)
	checkLeaks(t)
	w := newWire(t)
	withMounts(t, func() {
		if err := partOfNodes("rdma_cm", "uverbs0"); err != nil {
			t.Error(err)
			return
		}
		list, doc := probe(t, "list"), doctorAs(t, nil, 3, "--pod")
		list.want(t, 0)
		missing := fmt.Sprintf("%s is missing (expected a character device %d:%d)", w.dev.CharDev.Path, w.dev.CharDev.Major, w.dev.CharDev.Minor)
		list.contains(t, "no char device", "rxe0", w.device)
		if flat := strings.Join(strings.Fields(list.stdout), " "); !strings.Contains(flat, missing) {
			t.Errorf("list lacks %q:\n%s", missing, list.stdout)
		}
		f := doc.find(t, "RP-CHR-001", w.device)
		if !strings.Contains(f.Problem, w.dev.CharDev.Path) || hasID(doc.bad(), "RP-MEM-002") {
			t.Errorf("findings %v", doc.Findings)
		}
		if doc.Pod.Docker != "docker run --device "+w.dev.CharDev.Path+" IMAGE" {
			t.Errorf("docker fragment %q", doc.Pod.Docker)
		}
		doctorAs(t, nil, 0, "--device", "rxe0")
		probe(t, "gids").want(t, 0)
		probe(t, "cmping", addrV4, "-C", "1").want(t, 0)
		server, where := probeServe(t, addrV4+":0")
		probe(t, "ping", where, "-C", "1").want(t, 0)
		server.signal(t, syscall.SIGTERM)
	})
}

// TestDoctorCgroup: the RDMA cgroup allows no more.
func TestDoctorCgroup(t *testing.T) {
	requireRDMA(t)
	fullSuiteOnly(t, ofProgram)
	const mount = "/sys/fs/cgroup"
	if _, err := os.Stat(mount + "/cgroup.controllers"); err != nil {
		if err := unix.Mount("none", mount, "cgroup2", 0, ""); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = unix.Unmount(mount, unix.MNT_DETACH) })
	}
	group := mount + "/doctor"
	if err := os.WriteFile(mount+"/cgroup.subtree_control", []byte("+rdma"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(group, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(group) })
	if err := os.WriteFile(group+"/rdma.max", []byte("rxe0 hca_handle=0 hca_object=50"), 0o644); err != nil {
		t.Fatal(err)
	}
	dir, err := os.Open(group)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	attr := &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: int(dir.Fd())}
	rep := doctorAs(t, attr, 1)
	rep.find(t, "RP-CGR-001", "/doctor")
}
