package bench

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A Place says where a device and the process that uses it are: NUMA nodes, -1
// for what is not known or does not matter on the machine.
type Place struct {
	Device int
	CPU    int
	Mbps   int // speed of the device's first port in Mbit/s; 0 if not known
}

const (
	unknownNode = -1
	unknownCPU  = -1
)

// Apart tells whether the processor reaches the device through another one.
func (p Place) Apart() bool { return p.Device >= 0 && p.CPU >= 0 && p.Device != p.CPU }

// A Topology reads a machine's sysfs.
type Topology struct {
	// Root is the folder that stands for / in tests; empty for / itself.
	Root string
}

func (t Topology) path(elem ...string) string {
	return filepath.Join(append([]string{"/", t.Root, "sys"}, elem...)...)
}

func (t Topology) text(elem ...string) string {
	b, err := os.ReadFile(t.path(elem...))
	if err != nil {
		return "" // not every machine has it
	}
	return strings.TrimSpace(string(b))
}

// DeviceNode is the NUMA node of an RDMA device, or -1: software has none, and
// machines with one node say -1 as well.
func (t Topology) DeviceNode(device string) int {
	n, err := strconv.Atoi(t.text("class/infiniband", device, "device/numa_node"))
	if err != nil {
		return unknownNode
	}
	return max(n, unknownNode)
}

// CPUNode is the NUMA node of a processor, or -1.
func (t Topology) CPUNode(cpu int) int {
	list, _ := filepath.Glob(t.path("devices/system/cpu", "cpu"+strconv.Itoa(cpu), "node*")) // the pattern is right
	for _, name := range list {
		if n, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(name), "node")); err == nil {
			return n
		}
	}
	return unknownNode
}

// commonNode is the NUMA node that all of the processors belong to, or -1.
func (t Topology) commonNode(cpus []int) int {
	node := unknownNode
	for _, cpu := range cpus {
		n := t.CPUNode(cpu)
		if n < 0 || node >= 0 && n != node {
			return unknownNode
		}
		node = n
	}
	return node
}

// Governors are the names of the frequency governors of the machine's
// processors, each once; none where frequencies do not change, as in guests.
func (t Topology) Governors() (list []string) {
	files, _ := filepath.Glob(t.path("devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor")) // the pattern is right
	for _, f := range files {
		b, err := os.ReadFile(f)
		if name := strings.TrimSpace(string(b)); err == nil && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// placeOf is where a processor and the device are; with unknownCPU where this
// process is allowed to run, if that is one node only.
func (s *side) placeOf(cpu int) Place {
	var t Topology
	p := Place{Device: t.DeviceNode(s.device.Name), CPU: t.CPUNode(cpu)}
	if cpu < 0 {
		p.CPU = t.commonNode(allowedCPUs())
	}
	if len(s.device.Ports) > 0 {
		p.Mbps = s.device.Ports[0].SpeedMbps
	}
	return p
}
