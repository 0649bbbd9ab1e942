package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/purerdma/rdma/cmd/rdmaprobe/bench"
	"github.com/purerdma/rdma/uverbs"
)

// benchWarnings says what can be seen to limit a result.
func benchWarnings(sys system, r *bench.Result) (out []string) {
	d, port := benchDevice(sys, r)
	if d != nil {
		out = append(out, deviceWarnings(d, port, r)...)
	}
	if len(r.Moved) > 0 {
		var list []string
		for _, name := range slices.Sorted(maps.Keys(r.Moved)) {
			list = append(list, fmt.Sprintf("%s +%d", name, r.Moved[name]))
		}
		out = append(out, "packets were lost, delayed or sent again, or a receiver was late: "+strings.Join(list, ", "))
	}
	if r.Params.Mode != bench.Event && sys.cpus() < 2 {
		out = append(out, "polling with one processor keeps the kernel from working: use --mode event")
	}
	if g := sys.governor(); g != "" && g != "performance" {
		out = append(out, fmt.Sprintf("the processors' frequency governor is %s: times vary until it is performance", g))
	}
	return out
}

// benchDevice finds the device and port that were used.
func benchDevice(sys system, r *bench.Result) (*uverbs.Device, uverbs.PortInfo) {
	for _, d := range sys.diagnose().Devices {
		if d.Name == r.Device && len(d.Ports) > 0 {
			return d, d.Ports[0]
		}
	}
	return nil, uverbs.PortInfo{}
}

func deviceWarnings(d *uverbs.Device, port uverbs.PortInfo, r *bench.Result) (out []string) {
	if driver := d.Driver(); driver == "rxe" || driver == "siw" {
		out = append(out, driver+" is RDMA in software: processors are the limit, and not the network")
	}
	if r.MTU > 0 && r.MTU < 4096 && r.Params.Size > r.MTU {
		why := ""
		if port.LinkLayer == uverbs.LinkEthernet && port.NetdevMTU > 0 && port.NetdevMTU < 4200 {
			why = fmt.Sprintf(", because that of %s is %d (4200 or more would allow 4096)", port.Netdev, port.NetdevMTU)
		}
		out = append(out, fmt.Sprintf("the packet MTU is %d%s", r.MTU, why))
	}
	return out
}

// scalingGovernor returns the first processor's, or "" without any.
func scalingGovernor() string {
	b, err := os.ReadFile(filepath.Join("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

func usableCPUs() int { return runtime.NumCPU() }
