//go:build linux

// Perfbench compares rdmaprobe bench with the programs of perftest: both in
// turn on the same device of one machine, several rounds, medians and spread.
//
//	perfbench [-rounds R] [-only REGEXP] [-address IP] [-scale F]
//
// It wants ib_send_lat and its kin, and rdmaprobe, in the PATH, and changes a
// setting of the whole machine while it runs. scripts/bench makes a guest that has
// them.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"syscall"
	"time"
)

const usage = `usage: perfbench [-rounds R] [-only REGEXP] [-address IP] [-scale F]

Compares rdmaprobe bench with the programs of perftest, both of the PATH.

It runs everything in the class SCHED_IDLE, which makes a difference only while
kernel.sched_autogroup_enabled is 0: so it switches that off for the whole
machine, and puts back what was there at the end. SIGINT, SIGTERM and SIGHUP end
it in this way too; after SIGKILL, or a crash, put it back yourself.

`

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "perfbench:", err)
		os.Exit(1)
	}
}

func run() (err error) {
	rounds := flag.Int("rounds", 5, "measurements of each program")
	only := flag.String("only", "", "measure only what matches this regular expression, such as '^send lat'")
	address := flag.String("address", "10.77.0.1", "address of the device, for both ends")
	scale := flag.Float64("scale", 1, "this many times the messages")
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), usage)
		flag.PrintDefaults()
	}
	flag.Parse()
	match, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGHUP, os.Interrupt)
	defer stop()
	back, err := stepAside()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, back()) }()
	b := &bench{address: *address, port: 20000, out: os.Stdout, progress: os.Stderr, start: time.Now()}
	if b.device, b.gid, err = deviceOf(*address); err != nil {
		return err
	}
	for _, t := range tests(*scale) {
		if match.MatchString(t.name()) {
			b.list = append(b.list, t)
		}
	}
	err = b.measure(ctx, *rounds)
	b.print()
	return err
}
