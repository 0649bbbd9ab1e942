package bench

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// twoNodes is a machine with processors 0 and 1 at node 0, 2 and 3 at node 1,
// and mlx5_0 at node 1.
func twoNodes(t *testing.T) Topology {
	t.Helper()
	root := t.TempDir()
	for name, text := range map[string]string{
		"class/infiniband/mlx5_0/device/numa_node":            "1\n",
		"class/infiniband/one/device/numa_node":               "-1\n",
		"class/infiniband/rxe0/node_type":                     "1: CA\n", // no device/numa_node
		"devices/system/cpu/cpu0/node0/cpulist":               "0-1\n",
		"devices/system/cpu/cpu1/node0/cpulist":               "0-1\n",
		"devices/system/cpu/cpu2/node1/cpulist":               "2-3\n",
		"devices/system/cpu/cpu3/node1/cpulist":               "2-3\n",
		"devices/system/cpu/cpu0/cpufreq/scaling_governor":    "performance\n",
		"devices/system/cpu/cpu1/cpufreq/scaling_governor":    "schedutil\n",
		"devices/system/cpu/cpu2/cpufreq/scaling_governor":    "schedutil\n",
		"devices/system/cpu/cpufreq/policy0/scaling_driver":   "acpi-cpufreq\n",
		"devices/system/cpu/cpuidle/cpufreq/scaling_governor": "menu\n",
		"devices/system/node/node0/cpulist":                   "0-1\n",
	} {
		path := filepath.Join(root, "sys", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return Topology{Root: root}
}

func TestTopology(t *testing.T) {
	m := twoNodes(t)
	for device, want := range map[string]int{"mlx5_0": 1, "one": -1, "rxe0": -1, "none": -1} {
		if got := m.DeviceNode(device); got != want {
			t.Errorf("node of %s: %d, want %d", device, got, want)
		}
	}
	for cpu, want := range map[int]int{0: 0, 3: 1, 4: -1, unknownCPU: -1} {
		if got := m.CPUNode(cpu); got != want {
			t.Errorf("node of processor %d: %d, want %d", cpu, got, want)
		}
	}
	for _, tt := range []struct {
		cpus []int
		want int
	}{{[]int{0, 1}, 0}, {[]int{3}, 1}, {[]int{1, 2}, -1}, {[]int{0, 9}, -1}, {nil, -1}} {
		if got := m.commonNode(tt.cpus); got != tt.want {
			t.Errorf("node of processors %v: %d, want %d", tt.cpus, got, tt.want)
		}
	}
	if diff := cmp.Diff([]string{"performance", "schedutil"}, m.Governors()); diff != "" {
		t.Error(diff)
	}
	if got := (Topology{Root: t.TempDir()}).Governors(); got != nil {
		t.Errorf("governors %v of a machine without", got)
	}
}

func TestApart(t *testing.T) {
	for _, tt := range []struct {
		place Place
		want  bool
	}{{Place{Device: 1, CPU: 0}, true}, {Place{Device: 1, CPU: 1}, false}, {Place{Device: -1, CPU: 0}, false}, {Place{Device: 0, CPU: -1}, false}} {
		if got := tt.place.Apart(); got != tt.want {
			t.Errorf("%+v: %v", tt.place, got)
		}
	}
}
