package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/purerdma/rdma/cmd/rdmaprobe/bench"
	"github.com/purerdma/rdma/cmd/rdmaprobe/plain"
	"github.com/purerdma/rdma/uverbs"
)

// maxRegSize bounds the bytes of a region.
const maxRegSize = 1 << 40

// benchRegOptions is the command line of bench reg.
type benchRegOptions struct {
	device  string
	sizes   string
	count   int
	threads int
	huge    bool
}

func newBenchReg(a *app) *cobra.Command {
	o := new(benchRegOptions)
	cmd := &cobra.Command{
		Use:   "reg",
		Short: "Measure what registering memory costs",
		Long: `reg registers memory with a device and deregisters it, over and over. TOUCH is
what the first use of the pages had cost before: registering memory that was
never used costs that too.`,
		Example: "  rdmaprobe bench reg\n  rdmaprobe bench reg --device rxe0 --size 4K,2M,1G --huge --threads 4",
		Args:    cobra.NoArgs,
		RunE:    action(func(cmd *cobra.Command, _ []string) error { return a.benchReg(cmd.Context(), *o) }),
	}
	f := cmd.Flags()
	f.StringVar(&o.device, "device", "", "RDMA device (default: the first one that is usable)")
	f.StringVarP(&o.sizes, "size", letterSize, "4K,64K,1M,16M", "bytes of a region (4096, 1M); several with commas")
	f.IntVarP(&o.count, "count", letterCount, 100, "registrations of each size and thread")
	alias(f, "count", "n")
	f.IntVar(&o.threads, "threads", 1, "threads that register at the same time")
	f.BoolVar(&o.huge, "huge", false, "ask the kernel for huge pages")
	return cmd
}

type benchRegDoc struct {
	Device  string              `json:"device" doc:"RDMA device"`
	Threads int                 `json:"threads" doc:"threads that registered at the same time"`
	Huge    bool                `json:"huge" doc:"whether huge pages were asked for"`
	Results []benchRegResultDoc `json:"results" doc:"one for each size"`
	outcome
}

type benchRegResultDoc struct {
	Size          uint64     `json:"size" doc:"bytes of a region"`
	Registrations int        `json:"registrations" doc:"registrations of all threads"`
	TouchUS       float64    `json:"touch_us" doc:"time of the first use of a region's pages, in microseconds"`
	Register      latencyDoc `json:"register" doc:"time to register"`
	Deregister    latencyDoc `json:"deregister" doc:"time to deregister"`
	GiBPerSecond  float64    `json:"gib_per_second" doc:"memory registered by one thread in a second of registering"`
}

func (a *app) benchReg(ctx context.Context, o benchRegOptions) error {
	sizes, err := parseSizes("--size", o.sizes, maxRegSize)
	if err != nil {
		return err
	}
	if o.count < 1 || o.threads < 1 || o.threads > 1024 {
		return usagef("-c and --threads must be positive, and --threads at most 1024")
	}
	doc := &benchRegDoc{Threads: o.threads, Huge: o.huge, Results: []benchRegResultDoc{}}
	a.doc = doc
	d, err := a.usableDevice(o.device)
	if err != nil {
		return &failure{step: "open device", object: o.device, err: err}
	}
	doc.Device = d.Name
	for _, n := range sizes {
		r, err := a.sys.benchReg(ctx, d, bench.RegParams{Size: n, Count: o.count, Threads: o.threads, Huge: o.huge})
		if err != nil {
			doc.write(a)
			if ctx.Err() != nil {
				err = errInterrupted
			}
			return &failure{step: "register " + formatBytes(uint64(n)), object: d.Name, err: err}
		}
		doc.add(r)
	}
	doc.write(a)
	return nil
}

// usableDevice finds a device that can be opened.
func (a *app) usableDevice(name string) (*uverbs.Device, error) {
	diag := a.sys.diagnose()
	err := uverbs.ErrNoDevice
	for i, d := range diag.Devices {
		if name != "" && d.Name != name {
			continue
		}
		if u := diag.Usability[i]; u.State == uverbs.Usable || u.State == uverbs.NoDataPath {
			return d, nil
		} else if u.Err != nil {
			err = u.Err
		}
	}
	return nil, err
}

func (doc *benchRegDoc) add(r *bench.RegResult) {
	d := benchRegResultDoc{Size: uint64(r.Size), Registrations: int(r.Register.Count), TouchUS: microseconds(r.Touch),
		Register: *newLatencyDoc(r.Register), Deregister: *newLatencyDoc(r.Deregister)}
	if r.Register.Mean > 0 {
		d.GiBPerSecond = round3(float64(r.Size) / (1 << 30) / r.Register.Mean.Seconds())
	}
	doc.Results = append(doc.Results, d)
}

func (doc *benchRegDoc) write(a *app) {
	if len(doc.Results) == 0 {
		return
	}
	pages := "pages as the kernel chooses"
	if doc.Huge {
		pages = "huge pages where the kernel has them"
	}
	a.printf("registering memory with %s, %s, %s\n\n", plain.Text(doc.Device), plural(doc.Threads, "thread"), pages)
	rows := [][]string{{"SIZE", "COUNT", "TOUCH", "REG MIN", "REG P50", "REG P99", "REG MAX", "DEREG P50", "DEREG P99", "GIB/S"}}
	for _, r := range doc.Results {
		rows = append(rows, []string{formatBytes(r.Size), fmt.Sprint(r.Registrations), usText(r.TouchUS), usText(r.Register.MinUS),
			usText(r.Register.P50US), usText(r.Register.P99US), usText(r.Register.MaxUS), usText(r.Deregister.P50US),
			usText(r.Deregister.P99US), fmt.Sprintf("%.2f", r.GiBPerSecond)})
	}
	table(a.out, rows)
	a.printf("times in µs\n")
}
