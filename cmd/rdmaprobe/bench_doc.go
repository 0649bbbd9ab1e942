package main

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/purerdma/rdma/cmd/rdmaprobe/bench"
)

type benchDoc struct {
	Test      string             `json:"test" doc:"lat or bw"`
	Op        string             `json:"op" doc:"send, write or read"`
	Mode      string             `json:"mode" doc:"how both ends wait for completions: poll, event or adaptive"`
	Target    string             `json:"target" doc:"host:port as asked for"`
	Local     string             `json:"local" doc:"address of this end; empty without a connection"`
	Remote    string             `json:"remote" doc:"address of the server; empty without a connection"`
	Device    string             `json:"device" doc:"RDMA device used"`
	MTU       int                `json:"mtu" doc:"bytes of data in a packet"`
	MaxMTU    int                `json:"max_mtu" doc:"the most that the device can; 0 if it does not tell"`
	TOS       int                `json:"tos" doc:"traffic class in use: type of service of the packets"`
	DSCP      int                `json:"dscp" doc:"its upper six bits"`
	QPs       int                `json:"qps" doc:"queue pairs"`
	Depth     int                `json:"depth" doc:"messages under way on each queue pair"`
	Batch     int                `json:"batch" doc:"requests for one doorbell"`
	CQMod     int                `json:"cq_mod" doc:"messages for one completion"`
	Both      bool               `json:"bidirectional" doc:"whether the server sends as well"`
	Here      benchPlaceDoc      `json:"here" doc:"where this process and its device are"`
	There     benchPlaceDoc      `json:"there" doc:"where those of the server are, as it says"`
	Results   []benchResultDoc   `json:"results" doc:"one for each size"`
	Intervals []benchIntervalDoc `json:"intervals" doc:"with --interval, the parts of all measurements in order; after 10000 only the last one is kept"`
	Warnings  []string           `json:"warnings" doc:"what seems to limit the result"`
	outcome
}

type benchPlaceDoc struct {
	DeviceNode int `json:"device_node" doc:"NUMA node of the device; -1 if it is not at one"`
	CPUNode    int `json:"cpu_node" doc:"NUMA node of the processor, of the server's that it may run on; -1 if not known or several"`
	Mbps       int `json:"port_mbps" doc:"speed of the device's first port in Mbit a second; 0 if not known"`
}

type benchReverseDoc struct {
	Messages     uint64  `json:"messages" doc:"messages measured"`
	Seconds      float64 `json:"seconds" doc:"time they took together"`
	MiBPerSecond float64 `json:"mib_per_second" doc:"data this way, in MiB a second"`
	Rate         float64 `json:"messages_per_second" doc:"messages a second"`
}

type benchResultDoc struct {
	Size         int              `json:"size" doc:"bytes of a message"`
	Messages     uint64           `json:"messages" doc:"messages measured"`
	Seconds      float64          `json:"seconds" doc:"time they took together"`
	Inline       bool             `json:"inline" doc:"whether they travelled inside of their requests"`
	Latency      *latencyDoc      `json:"latency,omitempty" doc:"lat: time of a message; of sends and writes half of the round trip"`
	MiBPerSecond float64          `json:"mib_per_second" doc:"data one way, in MiB a second"`
	Rate         float64          `json:"messages_per_second" doc:"messages a second"`
	Reverse      *benchReverseDoc `json:"reverse,omitempty" doc:"with --bidirectional, what the server sent at the same time, as the server measured it"`
	UserCPUUS    float64          `json:"user_cpu_us" doc:"processor time of this process for a message, in microseconds"`
	KernelCPUUS  float64          `json:"kernel_cpu_us" doc:"the same in the kernel, without its own threads"`
	Allocations  uint64           `json:"allocations" doc:"memory allocations of this process during the measurement"`
	Moved        []resCountDoc    `json:"moved_counters" doc:"error counters of the device that grew meanwhile"`
}

type latencyDoc struct {
	MinUS    float64 `json:"min_us" doc:"shortest, in microseconds"`
	MeanUS   float64 `json:"mean_us" doc:"mean"`
	StddevUS float64 `json:"stddev_us" doc:"standard deviation"`
	P50US    float64 `json:"p50_us" doc:"half of all are not longer"`
	P90US    float64 `json:"p90_us" doc:"90 % of all are not longer"`
	P99US    float64 `json:"p99_us" doc:"99 % of all are not longer"`
	P999US   float64 `json:"p99_9_us" doc:"99.9 % of all are not longer"`
	P9999US  float64 `json:"p99_99_us" doc:"99.99 % of all are not longer"`
	MaxUS    float64 `json:"max_us" doc:"longest"`
}

type benchIntervalDoc struct {
	Size         int         `json:"size" doc:"bytes of a message"`
	AtSeconds    float64     `json:"at_seconds" doc:"end of the interval, from the start of the measurement"`
	Messages     uint64      `json:"messages" doc:"messages in the interval"`
	MiBPerSecond float64     `json:"mib_per_second" doc:"data one way, in MiB a second"`
	Latency      *latencyDoc `json:"latency,omitempty" doc:"lat: of these messages"`
}

func newBenchDoc(o *benchOptions) *benchDoc {
	d := &benchDoc{Test: "lat", Op: o.op, Mode: o.mode, Target: o.target, QPs: o.qps, Depth: o.depth, Batch: o.batch, CQMod: o.cqMod, Both: o.both,
		Here: newBenchPlaceDoc(unknownPlace), There: newBenchPlaceDoc(unknownPlace),
		Results: []benchResultDoc{}, Intervals: []benchIntervalDoc{}, Warnings: []string{}}
	if o.test == bench.Bandwidth {
		d.Test = "bw"
	}
	return d
}

// note takes over what the connections were like.
func (d *benchDoc) note(r *bench.Result) {
	d.Local, d.Remote, d.Device, d.MTU, d.MaxMTU = r.Local, r.Remote, r.Device, r.MTU, r.MaxMTU
	d.TOS, d.DSCP = r.TOS, r.TOS>>2
	d.Here, d.There = newBenchPlaceDoc(r.Here), newBenchPlaceDoc(r.There)
}

// unknownPlace is told without a connection.
var unknownPlace = bench.Place{Device: -1, CPU: -1}

func newBenchPlaceDoc(p bench.Place) benchPlaceDoc {
	return benchPlaceDoc{DeviceNode: p.Device, CPUNode: p.CPU, Mbps: p.Mbps}
}

func newLatencyDoc(s bench.Summary) *latencyDoc {
	return &latencyDoc{MinUS: microseconds(s.Min), MeanUS: microseconds(s.Mean), StddevUS: microseconds(s.Stddev), P50US: microseconds(s.P50),
		P90US: microseconds(s.P90), P99US: microseconds(s.P99), P999US: microseconds(s.P999), P9999US: microseconds(s.P9999), MaxUS: microseconds(s.Max)}
}

func newBenchResultDoc(r *bench.Result) benchResultDoc {
	n := float64(max(r.Messages, 1))
	d := benchResultDoc{Size: r.Params.Size, Messages: r.Messages, Seconds: r.Took.Seconds(), Inline: r.Inline,
		MiBPerSecond: round3(r.MiBPerSecond()), Rate: round3(r.Rate()), UserCPUUS: round3(microseconds(r.UserCPU) / n),
		KernelCPUUS: round3(microseconds(r.KernCPU) / n), Allocations: r.Allocations, Moved: []resCountDoc{}}
	if r.Params.Test == bench.Latency {
		d.Latency = newLatencyDoc(r.Latency)
	}
	if r.Params.Both {
		d.Reverse = &benchReverseDoc{Messages: r.Reverse.Messages, Seconds: r.Reverse.Took.Seconds(),
			MiBPerSecond: round3(r.ReverseRate() * float64(r.Params.Size) / (1 << 20)), Rate: round3(r.ReverseRate())}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Moved)) {
		d.Moved = append(d.Moved, resCountDoc{name, r.Moved[name]})
	}
	return d
}

func newBenchIntervalDoc(i bench.Interval, test bench.Test) benchIntervalDoc {
	d := benchIntervalDoc{Size: i.Size, AtSeconds: round3(i.At.Seconds()), Messages: i.Messages,
		MiBPerSecond: round3(float64(i.Messages) * float64(i.Size) / (1 << 20) / max(i.Took.Seconds(), 1e-9))}
	if test == bench.Latency {
		d.Latency = newLatencyDoc(i.Latency)
	}
	return d
}

func microseconds(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }

func round3(v float64) float64 {
	r, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'f', 3, 64), 64) // it was a number
	return r
}
