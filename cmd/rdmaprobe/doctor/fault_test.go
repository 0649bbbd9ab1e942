package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/cmd/rdmaprobe/netinfo"
	"github.com/purerdma/rdma/uverbs"
)

// fault is something planted in a healthy machine.
type fault struct {
	name   string
	plant  func(*Facts)
	ids    []string
	exit   int
	remedy string // part of the first finding's
}

func first(f *Facts) *Device { return &f.Devices[0] }
func port(f *Facts) *Port    { return &f.Devices[0].Ports[0] }

func setUsability(f *Facts, u uverbs.Usability) {
	f.Devices[0].Usability, f.Diagnosis.Usability[0] = u, u
	if u.State != uverbs.NoDataPath {
		f.Devices[0].Attr, f.Devices[0].OpenErr = nil, u.Err
	}
}

func find(f *Facts, id, object, problem, remedy string) {
	f.Diagnosis.Findings = append(f.Diagnosis.Findings, uverbs.Finding{ID: id, Object: object, Problem: problem, Remedy: remedy})
}

func noDevices(f *Facts) {
	f.Devices, f.Diagnosis.Devices, f.Diagnosis.Usability, f.Sysfs.Devices = nil, nil, nil, nil
}

// without drops an address from v0.
func without(f *Facts, keep ...string) {
	f.Netdevs[1].Addrs = nil
	for _, k := range keep {
		f.Netdevs[1].Addrs = append(f.Netdevs[1].Addrs, netip.MustParsePrefix(k))
	}
}

func lockLimit(bytes uint64) func(*Facts) {
	return func(f *Facts) {
		f.Memory.Lock = Limit{true, bytes, bytes}
		f.Memory.IPCLock = false
	}
}

var baseFaults = []fault{
	{"old kernel", func(f *Facts) { f.Diagnosis.Kernel = "5.4.0" }, []string{"RP-KRN-001"}, 0, "newer kernel"},
	{"ABI versions", func(f *Facts) { f.VerbsABI, f.CMABI = 7, 5 }, []string{"RP-ABI-001", "RP-ABI-002"}, 0, "newer rdmaprobe"},
	{"module missing", func(f *Facts) {
		f.Diagnosis.Modules[2].State = uverbs.ModuleNotLoaded
		f.Diagnosis.CM = uverbs.CharDev{}
		f.Diagnosis.CMUsability = uverbs.Usability{State: uverbs.NoCharDevice}
		find(f, "RP-MOD-003", "module rdma_ucm", "not loaded (/proc/modules does not list it)", "modprobe rdma_ucm (on the host)")
	}, []string{"RP-MOD-003"}, 3, "modprobe rdma_ucm"},
	{"no device", func(f *Facts) {
		noDevices(f)
		find(f, "RP-MOD-004", "module rdma_rxe", "not loaded (…)", "modprobe rdma_rxe")
		find(f, "RP-DEV-001", "RDMA device", "this machine has none", "rdma link add")
	}, []string{"RP-DEV-001", "RP-MOD-004"}, 3, "rdma link add"},
	{"netlink blocked", func(f *Facts) {
		find(f, "RP-NET-001", "RDMA netlink", "EPERM", "seccomp")
	}, []string{"RP-NET-001"}, 0, "seccomp"},
	{"problem of a device", func(f *Facts) { first(f).Problems = []error{errors.New("read port 1: EIO")} }, []string{"RP-DEV-004"}, 0, "kernel log"},

	{"node missing", func(f *Facts) {
		setUsability(f, uverbs.Usability{State: uverbs.NoCharDevice, Err: fs.ErrNotExist, Remedy: "docker --device /dev/infiniband/uverbs0",
			Reason: "/dev/infiniband/uverbs0 is missing (expected a character device 231:192)"})
	}, []string{"RP-CHR-001"}, 3, "--device"},
	{"node with other numbers", func(f *Facts) {
		setUsability(f, uverbs.Usability{State: uverbs.NoCharDevice, Reason: "uverbs0 is 231:193, expected 231:192", Remedy: "mknod"})
	}, []string{"RP-CHR-002"}, 3, "mknod"},
	{"node denied", func(f *Facts) {
		setUsability(f, uverbs.Usability{State: uverbs.DeniedMode, Err: syscall.EACCES, Remedy: "chmod 0666"})
	}, []string{"RP-CHR-003"}, 4, "chmod"},
	{"device cgroup", func(f *Facts) {
		setUsability(f, uverbs.Usability{State: uverbs.DeniedCgroup, Err: syscall.EPERM, Remedy: "pass the device into the container"})
	}, []string{"RP-CHR-004"}, 4, "container"},
	{"policy", func(f *Facts) {
		setUsability(f, uverbs.Usability{State: uverbs.DeniedPolicy, Err: syscall.EACCES, Remedy: "audit log"})
	}, []string{"RP-CHR-005"}, 4, "audit"},
	{"gone", func(f *Facts) {
		setUsability(f, uverbs.Usability{State: uverbs.Gone, Err: syscall.ENXIO, Remedy: "list the devices again"})
	}, []string{"RP-CHR-006"}, 3, "again"},
	{"driver leaves", func(f *Facts) { setUsability(f, uverbs.Usability{State: uverbs.ModuleRemoved, Err: syscall.ENODEV}) }, []string{"RP-CHR-006"}, 3, ""},
	{"open fails", func(f *Facts) { setUsability(f, uverbs.Usability{State: uverbs.UnknownTrouble, Err: syscall.EMFILE}) }, []string{"RP-CHR-008"}, 1, ""},
	{"rdma_cm denied", func(f *Facts) {
		f.Diagnosis.CMUsability = uverbs.Usability{State: uverbs.DeniedMode, Err: syscall.EACCES, Remedy: "chmod 0666 /dev/infiniband/rdma_cm"}
		find(f, "RP-CM-001", "rdma_cm", "denied", "chmod")
	}, []string{"RP-CHR-003"}, 4, "rdma_cm"},
	{"stale node", func(f *Facts) {
		f.Nodes = append(f.Nodes, Node{Path: "/dev/infiniband/uverbs7", Major: 231, Minor: 199, Stale: true})
	}, []string{"RP-CHR-007"}, 0, "rm /dev/infiniband/uverbs7"},
	{"no ioctl", func(f *Facts) { first(f).Style = uverbs.StyleWrite }, []string{"RP-ABI-004"}, 0, "RDMA_VERBS_IOCTL"},
	{"no ioctl asked, because the driver is not known", func(f *Facts) { first(f).Style, first(f).DriverID = uverbs.StyleWrite, abi.RDMA_DRIVER_UNKNOWN },
		[]string{}, 0, ""},
	{"no write", func(f *Facts) { first(f).Style, first(f).WriteErr = uverbs.StyleIoctl, syscall.EPERM }, []string{"RP-ABI-005"}, 0, "write()"},
	{"no context", func(f *Facts) { first(f).OpenErr = errors.New("GET_CONTEXT: EINVAL") }, []string{"RP-DEV-003"}, 1, "kernel log"},

	{"wrong namespace", func(f *Facts) {
		f.Diagnosis.NetnsMode = "exclusive"
		setUsability(f, uverbs.Usability{State: uverbs.WrongNetns, Err: syscall.EPERM})
	}, []string{"RP-NNS-001", "RP-NNS-002"}, 3, "rdma dev set"},
	{"no device in this namespace", func(f *Facts) {
		f.Diagnosis.NetnsMode = "exclusive"
		noDevices(f)
		find(f, "RP-DEV-001", "RDMA device", "none in this network namespace", "rdma link add")
	}, []string{"RP-NNS-001"}, 3, "rdma system set netns shared"},
	{"exclusive mode", func(f *Facts) { f.Diagnosis.NetnsMode = "exclusive" }, []string{"RP-NNS-002"}, 0, "netns shared"},
	{"no socket", func(f *Facts) { f.RoCESocket.Open = false }, []string{"RP-NNS-003"}, 1, "--network host"},
	{"no socket, new kernel", func(f *Facts) { f.RoCESocket.Open, f.Diagnosis.Kernel = false, "7.3.4" }, []string{"RP-NNS-003"}, 1, "make the device anew"},
	{"device of another container", func(f *Facts) {
		d := f.addDevice()
		d.Usability = uverbs.Usability{State: uverbs.NoCharDevice, Err: fs.ErrNotExist}
		d.Ports[0].Netdev, d.Ports[0].State = "", uverbs.PortDown
		f.Diagnosis.Usability[1] = d.Usability
	}, []string{"RP-NNS-004"}, 0, "--device NAME"},
	{"interface of another container", func(f *Facts) { f.addDevice().Ports[0].Netdev = "" }, []string{"RP-MAP-003"}, 0, ""},
	{"no sysfs", func(f *Facts) { f.Sysfs = Sysfs{} }, []string{"RP-SYS-002"}, 0, "mount sysfs"},
	{"sysfs of another namespace", func(f *Facts) { f.Sysfs.Devices = nil }, []string{"RP-SYS-003"}, 0, "mount it anew"},
}

var limitFaults = []fault{
	{"memlock 0", lockLimit(0), []string{"RP-MEM-001"}, 4, "ulimit -l"},
	{"memlock 64 KiB", lockLimit(64 * kib), []string{"RP-MEM-002"}, 4, "--ulimit memlock=-1"},
	{"memlock 8 MiB", lockLimit(8 * mib), []string{}, 0, ""},
	{"capability in a user namespace", func(f *Facts) { f.Memory.UserNamespace = "other" }, []string{"RP-MEM-002", "RP-MEM-003"}, 4, "LimitMEMLOCK"},
	{"capability in a user namespace, limit 0", func(f *Facts) { lockLimit(0)(f); f.Memory.IPCLock, f.Memory.UserNamespace = true, "other" },
		[]string{"RP-MEM-001", "RP-MEM-003"}, 4, "IPC_LOCK"},
	{"need does not fit", func(f *Facts) { lockLimit(8 * mib)(f); f.Need, f.Memory.Pinned = 8*mib, kib }, []string{"RP-MEM-004"}, 4, "IPC_LOCK"},
	{"need fits", func(f *Facts) { lockLimit(8 * mib)(f); f.Need = 8 * mib }, []string{}, 0, ""},
	{"small need, small limit", func(f *Facts) { lockLimit(64 * kib)(f); f.Need = 32 * kib }, []string{}, 0, ""},
	{"need beyond the device", func(f *Facts) { f.Need = mib; first(f).Attr.MaxMRSize = 4 * kib }, []string{"RP-MEM-005"}, 1, "several regions"},
	{"need beyond the machine", func(f *Facts) { f.Need = 500 * mib }, []string{"RP-MEM-006"}, 1, "free memory"},
	{"need beyond the cgroup", func(f *Facts) { f.Need, f.Memory.CgroupMax = 50*mib, 40*mib }, []string{"RP-MEM-006"}, 1, "container"},
	{"limits not known", func(f *Facts) { f.Memory = Memory{} }, []string{}, 0, ""},

	{"RDMA cgroup full", func(f *Facts) {
		f.Cgroups = []Cgroup{{"/pod", "rxe0", "hca_object", 100, 100}, {"/pod", "rxe0", "hca_handle", 1, Unlimited}}
	}, []string{"RP-CGR-001"}, 1, "rdma.max"},
	{"RDMA cgroup nearly full", func(f *Facts) { f.Cgroups = []Cgroup{{"/pod", "rxe0", "hca_object", 90, 100}} }, []string{"RP-CGR-002"}, 0, "rdma.max"},
	{"RDMA cgroup of zero", func(f *Facts) { f.Cgroups = []Cgroup{{"/pod", "rxe0", "hca_handle", 0, 0}} }, []string{"RP-CGR-001"}, 1, "rdma.max"},
	{"no QP left", func(f *Facts) { first(f).Resources["qp"] = 1000 }, []string{"RP-LIM-001"}, 1, "rdmaprobe res"},
	{"few CQs left", func(f *Facts) { first(f).Resources["cq"] = 950 }, []string{"RP-LIM-002"}, 0, "rdmaprobe res"},
	{"few files", func(f *Facts) { f.Files.Soft = 64 }, []string{"RP-LIM-003"}, 0, "ulimit -n"},
	{"small backlog", func(f *Facts) { f.MaxBacklog, f.BacklogKnown = 4, true }, []string{"RP-LIM-004"}, 0, "max_backlog=1024"},
	{"errors now", func(f *Facts) {
		port(f).Counters = Counters{Before: map[string]uint64{"send_err": 1}, After: map[string]uint64{"send_err": 3}}
	}, []string{"RP-CNT-001"}, 0, "interface"},
	{"errors once", func(f *Facts) {
		port(f).Counters = Counters{Before: map[string]uint64{"symbol_error": 3}, After: map[string]uint64{"symbol_error": 3, "link_downed": 1}}
	}, []string{"RP-CNT-002"}, 0, "cable"},
	{"counters without numbers", func(f *Facts) { port(f).Counters.Unreadable = []string{"VL15_dropped"} }, []string{"RP-CNT-003"}, 0, "firmware"},
}

var netFaults = []fault{
	{"interface down", func(f *Facts) {
		port(f).State, port(f).Phys = uverbs.PortDown, uverbs.PhysDisabled
		f.Netdevs[1].Up = false
	}, []string{"RP-PRT-001"}, 1, "ip link set v0 up"},
	{"no carrier", func(f *Facts) { port(f).State = uverbs.PortDown; f.Netdevs[1].Running = false }, []string{"RP-PRT-001"}, 1, "other end of the veth pair"},
	{"no subnet manager", func(f *Facts) { first(f).Protocol = uverbs.ProtocolIB; port(f).State = uverbs.PortInit }, []string{"RP-PRT-002"}, 1, "opensm"},
	{"packets too large", func(f *Facts) { port(f).Attr.ActiveMTU = abi.IB_MTU_2048 }, []string{"RP-PRT-003"}, 1, "ip link set v0 mtu 2128"},
	{"packets too small", func(f *Facts) { f.Netdevs[1].MTU, f.Netdevs[2].MTU = 9000, 9000 }, []string{"RP-PRT-004"}, 0, "MTU of v0"},
	{"MTU of the pair", func(f *Facts) { f.Netdevs[2].MTU = 1280 }, []string{"RP-PRT-005"}, 1, "ip link set v1 mtu 1500"},
	{"MTU of the bridge", func(f *Facts) {
		f.Netdevs[1].Kind, f.Netdevs[1].MasterIndex = "device", 9
		f.Netdevs = append(f.Netdevs, netinfo.Netdev{Index: 9, Name: "br0", Kind: "bridge", MTU: 1400})
	}, []string{"RP-PRT-006"}, 0, "ip link set br0 mtu 1500"},

	{"no address", func(f *Facts) { without(f); f.setGIDs("fe80::1") }, []string{"RP-GID-001"}, 1, "ip addr add ADDRESS/LENGTH dev v0"},
	{"link-local only", func(f *Facts) { without(f, "fe80::1/64"); f.setGIDs("fe80::1") }, []string{"RP-GID-002"}, 1, "ip addr add"},
	{"no IPv4", func(f *Facts) { without(f, "fd00:77::1/64"); f.setGIDs("fe80::1", "fd00:77::1") }, []string{"RP-GID-003"}, 0, "ip addr add"},
	{"no table", func(f *Facts) { port(f).GIDs, port(f).GIDErr = nil, fs.ErrNotExist }, []string{"RP-GID-004"}, 0, "mount sysfs"},
	{"stale GID", func(f *Facts) { f.setGIDs("fe80::1", "10.77.0.1", "10.77.0.2") }, []string{"RP-GID-006"}, 0, "take it away again"},
	{"full table", func(f *Facts) { f.setGIDs("fe80::1", "fd00:77::1", "10.77.0.1"); port(f).Attr.GIDTableLen = 3 }, []string{"RP-GID-008"}, 0, "take addresses away"},
	{"RoCE v1", func(f *Facts) { port(f).CMDefault = "IB/RoCE v1" }, []string{"RP-GID-007"}, 0, "default_roce_mode"},
	{"one address, two devices", func(f *Facts) { f.addDevice().Ports[0] = f.Devices[0].Ports[0] }, []string{"RP-GID-005"}, 0, "remove one"},

	{"interface elsewhere", func(f *Facts) {
		f.Netdevs = f.Netdevs[:1]
		f.setGIDs("fe80::1", "10.77.0.1")
	}, []string{"RP-MAP-001"}, 1, "rdma link add"},
	{"hardware elsewhere", func(f *Facts) {
		first(f).DriverID = abi.RDMA_DRIVER_MLX5
		port(f).Netdev = ""
		f.setGIDs("10.77.0.1")
	}, []string{"RP-MAP-001"}, 1, "secondary network"},
	{"on loopback", func(f *Facts) { f.Netdevs[1].Loopback = true }, []string{"RP-MAP-004"}, 0, "rxe del rxe0"},
	{"two in a subnet", func(f *Facts) {
		d := f.addDevice()
		f.Netdevs[2].Addrs = []netip.Prefix{netip.MustParsePrefix("10.77.0.2/24")}
		d.Ports[0].GIDs = nil
		d.Ports[0].GIDErr = errors.New("not read")
	}, []string{"RP-GID-004", "RP-MAP-002"}, 0, ""},
	{"zero GUID", func(f *Facts) { first(f).NodeGUID = 0 }, []string{"RP-GUI-001"}, 0, "hardware address"},
	{"same GUID", func(f *Facts) {
		d := f.addDevice()
		d.NodeGUID = f.Devices[0].NodeGUID
		d.Protocol = uverbs.ProtocolUSNIC
	}, []string{"RP-GUI-002"}, 0, "different hardware addresses"},
	{"no copy-on-fork", func(f *Facts) { f.Diagnosis.CopyOnFork = false }, []string{"RP-FRK-001"}, 0, "posix_spawn"},
	{"no data path", func(f *Facts) {
		setUsability(f, uverbs.Usability{State: uverbs.NoDataPath})
		find(f, "RP-DRV-001", "device rxe0", "no data path", "cmping")
		first(f).DataPath, first(f).DriverID = false, abi.RDMA_DRIVER_MLX5
	}, []string{"RP-DRV-001"}, 0, "cmping"},
	{"driver ABI", func(f *Facts) { first(f).PathErr = fmt.Errorf("version 9: %w", uverbs.ErrNoProvider) }, []string{"RP-ABI-003"}, 1, "newer rdmaprobe"},
}

func TestFaults(t *testing.T) {
	all := append(append(append([]fault{}, baseFaults...), limitFaults...), netFaults...)
	for _, tt := range all {
		t.Run(tt.name, func(t *testing.T) {
			f := healthy()
			tt.plant(f)
			rep := Run(f)
			if diff := cmp.Diff(tt.ids, ids(rep)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got := rep.ExitCode(); got != tt.exit {
				t.Errorf("exit code %d, want %d", got, tt.exit)
			}
			for i, f := range rep.Findings() {
				if i == 0 && !strings.Contains(f.Remedy, tt.remedy) {
					t.Errorf("remedy %q lacks %q", f.Remedy, tt.remedy)
				}
				if f.Object == "" || f.Severity == "" {
					t.Errorf("finding %+v is incomplete", f)
				}
			}
		})
	}
}

// TestSelected: other devices' faults do not count.
func TestSelected(t *testing.T) {
	f := healthy()
	d := f.addDevice()
	d.Ports[0].State = uverbs.PortDown
	f.Cgroups = []Cgroup{{"/pod", "rxe1", "hca_object", 1, 1}}
	f.Selected = "rxe0"
	if got := ids(Run(f)); len(got) != 0 {
		t.Errorf("findings %v", got)
	}
	f.Selected = "rxe1"
	rep := Run(f)
	if got := ids(rep); len(got) == 0 || rep.ExitCode() != 1 {
		t.Errorf("findings %v, exit code %d", got, rep.ExitCode())
	}
}

// TestSeparated: subnets may be shared when ARP is set for it.
func TestSeparated(t *testing.T) {
	f := healthy()
	f.addDevice().Ports[0].GIDErr = errors.New("not read")
	f.Netdevs[2].Addrs = []netip.Prefix{netip.MustParsePrefix("10.77.0.2/24")}
	f.ARP = map[string]ARP{"v0": {1, 2, 0}, "v1": {1, 2, 0}}
	if got := ids(Run(f)); len(got) != 1 {
		t.Errorf("findings %v", got)
	}
}

// TestEmpty: nothing at all could be found out.
func TestEmpty(t *testing.T) {
	rep := Run(&Facts{Diagnosis: &uverbs.Diagnosis{}})
	for _, r := range rep.Results {
		if r.Summary == "" {
			t.Errorf("section %s says nothing", r.Section)
		}
		if r.Verdict() == OK {
			t.Errorf("section %s is fine, although nothing of it was read: %s", r.Section, r.Summary)
		}
	}
}

func TestSize(t *testing.T) {
	for n, want := range map[uint64]string{0: "0 B", 1023: "1023 B", 1536: "1.5 KiB", 64 << 10: "64 KiB", 4 << 30: "4 GiB", Unlimited: "unlimited"} {
		if got := Size(n); got != want {
			t.Errorf("%d is %s, want %s", n, got, want)
		}
	}
}

func TestVersion(t *testing.T) {
	for s, want := range map[string][3]int{"6.12.95-amd64": {6, 12, 1}, "7.3-rc1": {7, 3, 1}, "5": {}, "": {}, "x.y": {}} {
		major, minor, ok := version(s)
		if ok != (want[2] == 1) || ok && (major != want[0] || minor != want[1]) {
			t.Errorf("version %q: %d %d %v", s, major, minor, ok)
		}
	}
}
