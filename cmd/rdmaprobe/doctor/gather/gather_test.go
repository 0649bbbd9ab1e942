package gather

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/purerdma/rdma/cmd/rdmaprobe/doctor"
	"github.com/purerdma/rdma/uverbs"
)

// plant makes a folder with files that stands for /.
func plant(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func fakeDevice(name string) *uverbs.Device {
	return &uverbs.Device{Index: -1, Name: name, Protocol: uverbs.ProtocolRoCE, Source: "sysfs",
		Ports: []uverbs.PortInfo{{Number: 1, State: uverbs.PortActive}}}
}

func gather(t *testing.T, root string, devices ...*uverbs.Device) *doctor.Facts {
	t.Helper()
	return Gather(t.Context(), Options{Root: root, Sample: time.Millisecond,
		GIDs: func(*uverbs.Device, int) ([]uverbs.GIDEntry, error) { return nil, nil },
		Diagnose: func() *uverbs.Diagnosis {
			d := &uverbs.Diagnosis{Kernel: "6.12.0", Devices: devices}
			for range devices {
				d.Usability = append(d.Usability, uverbs.Usability{State: uverbs.NoCharDevice})
			}
			return d
		}})
}

// TestCounters: a device without counters and a counter without a number do not
// disturb the others (P11).
func TestCounters(t *testing.T) {
	const port = "sys/class/infiniband/mlx5_0/ports/1/"
	f := gather(t, plant(t, map[string]string{
		port + "counters/symbol_error":          "3\n",
		port + "counters/VL15_dropped":          "N/A (no PMA)\n",
		port + "counters/port_xmit_data":        "12\n", // of no interest
		port + "hw_counters/out_of_sequence":    "0\n",
		port + "hw_counters/packet_seq_err/dir": "not a file\n",
		"sys/class/infiniband/rxe0/node_guid":   "0\n",
	}), fakeDevice("mlx5_0"), fakeDevice("rxe0"))
	want := doctor.Counters{Before: map[string]uint64{"symbol_error": 3, "out_of_sequence": 0},
		After: map[string]uint64{"symbol_error": 3, "out_of_sequence": 0}, Unreadable: []string{"VL15_dropped", "packet_seq_err"}}
	if diff := cmp.Diff(want, f.Devices[0].Ports[0].Counters); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if c := f.Devices[1].Ports[0].Counters; len(c.After) != 0 || len(c.Unreadable) != 0 {
		t.Errorf("counters of a device without: %+v", c)
	}
	if diff := cmp.Diff(doctor.Sysfs{Mounted: true, Devices: []string{"mlx5_0", "rxe0"}}, f.Sysfs); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCgroups(t *testing.T) {
	f := gather(t, plant(t, map[string]string{
		"proc/self/cgroup":                       "11:cpu,cpuacct:/x\n5:rdma:/old\n0::/pods/one\n",
		"sys/fs/cgroup/pods/one/rdma.max":        "rxe0 hca_handle=2 hca_object=max\nrxe1 hca_handle=max hca_object=0\n",
		"sys/fs/cgroup/pods/one/rdma.current":    "rxe0 hca_handle=1 hca_object=20\n",
		"sys/fs/cgroup/pods/rdma.max":            "rxe0 hca_handle=4 hca_object=100 broken=x\n",
		"sys/fs/cgroup/pods/rdma.current":        "rxe0 hca_handle=1 hca_object=90\n",
		"sys/fs/cgroup/rdma/old/rdma.max":        "rxe0 hca_handle=3\n",
		"sys/fs/cgroup/pods/one/memory.max":      "1000\n",
		"sys/fs/cgroup/pods/one/memory.current":  "100\n",
		"sys/fs/cgroup/pods/memory.max":          "max\n",
		"sys/fs/cgroup/memory.max":               "500\n",
		"sys/fs/cgroup/memory.current":           "300\n",
		"sys/fs/cgroup/memory.stat":              "anon 100\nfile 200\n",
		"proc/meminfo":                           "MemTotal: 10 kB\nMemAvailable:    8 kB\n",
		"sys/class/infiniband_verbs/abi_version": "6\n",
		"sys/class/misc/rdma_cm/abi_version":     "4\n",
		"proc/self/net/udp6":                     "  sl  local_address\n  209: 00000000000000000000000000000000:12B7 0000\n",
	}))
	want := []doctor.Cgroup{
		{Path: "/old", Device: "rxe0", Resource: "hca_handle", Max: 3},
		{Path: "/pods/one", Device: "rxe0", Resource: "hca_handle", Used: 1, Max: 2},
		{Path: "/pods/one", Device: "rxe0", Resource: "hca_object", Used: 20, Max: doctor.Unlimited},
		{Path: "/pods/one", Device: "rxe1", Resource: "hca_handle", Max: doctor.Unlimited},
		{Path: "/pods/one", Device: "rxe1", Resource: "hca_object"},
		{Path: "/pods", Device: "rxe0", Resource: "hca_handle", Used: 1, Max: 4},
		{Path: "/pods", Device: "rxe0", Resource: "hca_object", Used: 90, Max: 100},
	}
	if diff := cmp.Diff(want, f.Cgroups); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if f.Memory.CgroupMax != 400 || f.Memory.Available != 8<<10 {
		t.Errorf("memory %+v", f.Memory)
	}
	if (f.RoCESocket != doctor.Socket{Known: true, Open: true}) {
		t.Errorf("socket %+v", f.RoCESocket)
	}
	if f.VerbsABI != 6 || f.CMABI != 4 {
		t.Errorf("ABI versions %d and %d", f.VerbsABI, f.CMABI)
	}
}

// TestMemoryCgroup: both versions of the interface, and tmpfs is not for the kernel to
// take back.
func TestMemoryCgroup(t *testing.T) {
	const own, v1 = "sys/fs/cgroup/pod/", "sys/fs/cgroup/memory/pod/"
	for name, tt := range map[string]struct {
		files map[string]string
		want  uint64
	}{
		"version 2": {map[string]string{"proc/self/cgroup": "0::/pod\n", own + "memory.max": "1000\n", own + "memory.current": "800\n",
			own + "memory.stat": "anon 100\nfile 700\nfile_mapped 50\nshmem 500\n"}, 400},
		"version 1": {map[string]string{"proc/self/cgroup": "4:memory:/pod\n", v1 + "memory.limit_in_bytes": "1000\n", v1 + "memory.usage_in_bytes": "800\n",
			v1 + "memory.stat": "cache 9\nshmem 9\ntotal_cache 700\ntotal_shmem 500\n"}, 400},
		"version 1 in a container": {map[string]string{"proc/self/cgroup": "0::/\n9:cpu,memory:/docker/x\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "1000\n", "sys/fs/cgroup/memory/memory.usage_in_bytes": "100\n"}, 900},
		"version 1 without a limit": {map[string]string{"proc/self/cgroup": "4:memory:/pod\n", v1 + "memory.limit_in_bytes": "9223372036854771712\n"}, 0},
		"version 2 without a limit": {map[string]string{"proc/self/cgroup": "0::/pod\n", own + "memory.max": "max\n"}, 0},
		"all of it is tmpfs": {map[string]string{"proc/self/cgroup": "0::/pod\n", own + "memory.max": "1000\n", own + "memory.current": "1000\n",
			own + "memory.stat": "file 1000\nshmem 1000\n"}, 1},
	} {
		if got := gather(t, plant(t, tt.files)).Memory.CgroupMax; got != tt.want {
			t.Errorf("%s: %d bytes are left, want %d", name, got, tt.want)
		}
	}
}

// TestCgroupsRead: a cgroup whose limits cannot be read is not one without
// limits, unless it is the root of all.
func TestCgroupsRead(t *testing.T) {
	link := func(t *testing.T, root, to string) string {
		t.Helper()
		dir := filepath.Join(root, "proc/self/ns")
		if err := errors.Join(os.MkdirAll(dir, 0o755), os.Symlink(to, filepath.Join(dir, "cgroup"))); err != nil {
			t.Fatal(err)
		}
		return root
	}
	own := func(path string) map[string]string { return map[string]string{"proc/self/cgroup": "0::" + path + "\n"} }
	mounted := own("/pod")
	mounted["sys/fs/cgroup/cgroup.controllers"] = "cpu rdma\n"
	for name, tt := range map[string]struct {
		root string
		want bool
	}{
		"no procfs":                {t.TempDir(), false},
		"mounted":                  {plant(t, mounted), true},
		"not mounted":              {link(t, plant(t, own("/pod")), initialCgroupNamespace), false},
		"root of all, not mounted": {link(t, plant(t, own("/")), initialCgroupNamespace), true},
		"root of a container":      {link(t, plant(t, own("/")), "cgroup:[4026532000]"), false},
	} {
		if got := gather(t, tt.root).CgroupsRead; got != tt.want {
			t.Errorf("%s: read %v, want %v", name, got, tt.want)
		}
	}
}

// TestNothing: an empty image without any file system of the kernel.
func TestNothing(t *testing.T) {
	f := gather(t, t.TempDir())
	if f.Sysfs.Mounted || len(f.Nodes) != 0 || len(f.Cgroups) != 0 {
		t.Errorf("facts %+v", f)
	}
	doctor.Run(f) // does not panic
}

func TestCMDefault(t *testing.T) {
	f := gather(t, plant(t, map[string]string{
		"sys/kernel/config/rdma_cm/rxe0/ports/1/default_roce_mode": "IB/RoCE v1\n",
	}), fakeDevice("rxe0"))
	if got := f.Devices[0].Ports[0].CMDefault; got != "IB/RoCE v1" {
		t.Errorf("default %q", got)
	}
	for mode, want := range map[string]uverbs.GIDType{"": 0, "RoCE v2": uverbs.GIDTypeRoCEv2, "IB/RoCE v1": uverbs.GIDTypeRoCEv1} {
		if got := GIDTypeOf(mode); got != want {
			t.Errorf("type of %q is %v, want %v", mode, got, want)
		}
	}
}

func TestGIDError(t *testing.T) {
	bad := errors.New("no table")
	f := Gather(t.Context(), Options{Root: t.TempDir(), GIDs: func(*uverbs.Device, int) ([]uverbs.GIDEntry, error) { return nil, bad },
		Diagnose: func() *uverbs.Diagnosis {
			return &uverbs.Diagnosis{Devices: []*uverbs.Device{fakeDevice("rxe0")}, Usability: []uverbs.Usability{{State: uverbs.Gone}}}
		}})
	if err := f.Devices[0].Ports[0].GIDErr; !errors.Is(err, bad) {
		t.Errorf("error %v", err)
	}
}
