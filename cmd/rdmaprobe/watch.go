package main

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"time"

	"github.com/spf13/cobra"

	"github.com/purerdma/rdma/cmd/rdmaprobe/plain"
)

// watchOptions is the command line of watch.
type watchOptions struct {
	device   string
	counters string
	interval time.Duration
	duration time.Duration
	noEvents bool
}

func newWatch(a *app) *cobra.Command {
	o := new(watchOptions)
	cmd := &cobra.Command{
		Use:   "watch",
		Short: "Report changes of devices, ports, GIDs and counters as they happen",
		Long: `watch prints a line with the time for each change: devices that come and go,
states of ports, network devices, MTUs, GIDs, asynchronous events, and counters
that moved. It goes on until it is interrupted.

Kernels from 6.12 on tell about devices at once; everything else is looked at
once in an interval. With --json it prints one document a line.

For asynchronous events, and to read GIDs fast, it keeps each device open until
it disappears; with --no-events it does not.`,
		Example: `  rdmaprobe watch
  rdmaprobe watch --device rxe0 --counters all --interval 5s
  rdmaprobe watch --duration 1m --json`,
		Args: cobra.NoArgs,
		RunE: action(func(cmd *cobra.Command, _ []string) error {
			if err := o.check(); err != nil {
				return err
			}
			return a.watch(cmd.Context(), *o)
		}),
	}
	f := cmd.Flags()
	f.StringVar(&o.device, "device", "", "watch this device only")
	f.StringVar(&o.counters, "counters", "errors", "counters to report: errors, all or none")
	f.DurationVarP(&o.interval, "interval", letterInterval, time.Second, "time from one look to the next")
	f.DurationVarP(&o.duration, "duration", "D", 0, "stop after this time; 0 means never")
	f.BoolVar(&o.noEvents, "no-events", false, "do not open devices, and so miss asynchronous events")
	return cmd
}

func (o *watchOptions) check() error {
	switch {
	case o.interval < 10*time.Millisecond:
		return usagef("--interval %v: at least 10ms", o.interval)
	case o.duration < 0:
		return usagef("--duration %v: must not be negative", o.duration)
	case o.counters != "errors" && o.counters != "all" && o.counters != "none":
		return usagef("--counters %s: errors, all or none", o.counters)
	}
	return nil
}

// errorCounter matches the names of counters that grow when something goes
// wrong; those of soft-RoCE, mlx5, bnxt_re, irdma, efa and of InfiniBand ports.
var errorCounter = regexp.MustCompile(`err|retr|drop|discard|naks?$|nak_|rnr|out_of|timeout|duplicate|downed|recover|` +
	`discon|excess|overrun|violation|cnp|ecn|wait$|bad|lost|fail`)

// watcher is one run of watch.
type watcher struct {
	*app
	watchOptions
	last snapshot
}

// watchSource is what watch looks at. Tests have it without a device.
type watchSource interface {
	// look returns everything as it is now.
	look(ctx context.Context) (snapshot, error)
	// events brings asynchronous events and hints that a look would find
	// something.
	events() <-chan watchEvent
	// monitored tells whether the kernel tells about devices at once.
	monitored() bool
	io.Closer
}

// watchEvent is something that happened; without a text it only is a hint.
type watchEvent struct {
	device string
	port   int
	text   string
}

func (a *app) watch(ctx context.Context, o watchOptions) error {
	a.doc = &watchDoc{Time: time.Now(), Event: "failed"} // printed with an error
	src, err := a.sys.watch(ctx, o)
	if err != nil {
		return &failure{step: "look at devices", err: err}
	}
	defer src.Close() // nothing is lost with it
	w := &watcher{app: a, watchOptions: o}
	if w.last, err = src.look(ctx); err != nil {
		return &failure{step: "look at devices", err: err}
	}
	w.began(src)
	if o.duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.duration)
		defer cancel()
	}
	err = w.loop(ctx, src)
	if err == nil {
		a.doc = nil
		w.log(watchDoc{Event: "stopped", Text: "stopped"})
	}
	return err
}

// loop looks until ctx ends.
func (w *watcher) loop(ctx context.Context, src watchSource) error {
	tick := time.NewTicker(w.interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case e := <-src.events():
			if e.text != "" && (w.device == "" || e.device == w.device) {
				w.log(watchDoc{Event: "async", Device: e.device, Port: e.port, Text: e.text})
			}
		case <-tick.C:
		}
		now, err := src.look(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return &failure{step: "look at devices", err: err}
		}
		now.keep(w.last)
		for _, d := range changes(w.last, now) {
			if d.Event != "counter" || w.wanted(d.Name) {
				w.log(d)
			}
		}
		w.last = now
	}
}

// wanted chooses counters.
func (w *watcher) wanted(counter string) bool {
	return w.counters == "all" || w.counters == "errors" && errorCounter.MatchString(counter)
}

// began says what is there to begin with.
func (w *watcher) began(src watchSource) {
	how := fmt.Sprintf("watching %s every %v", plural(len(w.last), "device"), w.interval)
	if len(w.last) == 0 {
		how = fmt.Sprintf("no device yet (why: rdmaprobe doctor), looking every %v", w.interval)
	}
	if src.monitored() {
		how += "; the kernel tells about devices at once"
	}
	w.log(watchDoc{Event: "started", Text: how})
	for _, d := range changes(nil, w.last) {
		d.Event = "present"
		w.log(d)
	}
}

// log prints a change. Its lines are made for programs, too, and not broken.
func (w *watcher) log(d watchDoc) {
	d.Time = time.Now()
	if w.json {
		w.printDoc(&d)
		return
	}
	w.printf("%s  %-10s  %s\n", d.Time.Format("15:04:05.000"), plain.Text(d.where()), plain.Text(d.Text))
}
