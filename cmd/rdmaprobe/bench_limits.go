package main

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strconv"
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
	for _, g := range sys.governors() {
		if g != "performance" {
			out = append(out, fmt.Sprintf("a processor's frequency governor is %s: times vary until it is performance", g))
		}
	}
	return append(out, placeWarnings(r)...)
}

// placeWarnings compare where devices and processors are.
func placeWarnings(r *bench.Result) (out []string) {
	const text = "%s runs on NUMA node %d, and its device %sis at node %d: try numactl --cpunodebind=%d"
	if p := r.Here; p.Apart() {
		out = append(out, fmt.Sprintf(text, "this process", p.CPU, r.Device+" ", p.Device, p.Device))
	}
	if p := r.There; p.Apart() {
		out = append(out, fmt.Sprintf(text, "the server", p.CPU, "", p.Device, p.Device))
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
	driver := d.Driver()
	software := driver == "rxe" || driver == "siw"
	if software {
		out = append(out, driver+" is RDMA in software: processors are the limit, and not the network")
	}
	if r.MTU > 0 && r.MTU < r.MaxMTU && r.Params.Size > r.MTU {
		out = append(out, fmt.Sprintf("the packet MTU is %d, the device's largest %d%s", r.MTU, r.MaxMTU, whySmall(port, r)))
	}
	if !software {
		out = append(out, speedWarnings(port, r)...)
	}
	return out
}

// whySmall says what keeps packets from being larger, where it can be seen.
func whySmall(port uverbs.PortInfo, r *bench.Result) string {
	// The headers of RoCE have up to 104 bytes: netdevs of that much more.
	switch need := r.MaxMTU + 104; {
	case port.LinkLayer != uverbs.LinkEthernet || port.NetdevMTU <= 0:
		return ""
	case port.NetdevMTU < need:
		return fmt.Sprintf(": %s has an MTU of %d, and would need %d", port.Netdev, port.NetdevMTU, need)
	}
	return fmt.Sprintf(": %s, with an MTU of %d, would allow it, so the server's side or the route does not", port.Netdev, port.NetdevMTU)
}

// nearSpeed is the part of a port's speed that data can take, and no more: the
// rest are headers.
const nearSpeed = 0.85

// speedWarnings compare the result with the ports' speed.
func speedWarnings(port uverbs.PortInfo, r *bench.Result) (out []string) {
	gbit := func(mbps int) string { return strconv.FormatFloat(float64(mbps)/1000, 'g', 4, 64) + " Gbit/s" }
	least := port.SpeedMbps
	if there := r.There.Mbps; there > 0 && port.SpeedMbps > 0 && there != port.SpeedMbps {
		out = append(out, fmt.Sprintf("this port has %s, the server's %s", gbit(port.SpeedMbps), gbit(there)))
		least = min(least, there)
	}
	rate := r.MiBPerSecond() * 8 * (1 << 20) / 1e6 // Mbit/s
	if r.Params.Test == bench.Bandwidth && least > 0 && rate > nearSpeed*float64(least) {
		out = append(out, fmt.Sprintf("this is what a port of %s can carry: the port is the limit", gbit(least)))
	}
	return out
}

func usableCPUs() int { return runtime.NumCPU() }
