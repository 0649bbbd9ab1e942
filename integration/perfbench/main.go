//go:build linux

// Perfbench compares rdmaprobe bench with the programs of perftest: both in
// turn on the same device of one machine, several rounds, medians and spread.
//
//	perfbench [-rounds R] [-only REGEXP] [-address IP] [-scale F]
//
// It wants ib_send_lat and its kin, and rdmaprobe, in the PATH. scripts/bench
// makes a guest that has them.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"syscall"
	"time"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "perfbench:", err)
		os.Exit(1)
	}
}

func run() error {
	rounds := flag.Int("rounds", 5, "measurements of each program")
	only := flag.String("only", "", "measure only what matches this regular expression, such as '^send lat'")
	address := flag.String("address", "10.77.0.1", "address of the device, for both ends")
	scale := flag.Float64("scale", 1, "this many times the messages")
	flag.Parse()
	match, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	if err := stepAside(); err != nil {
		return err
	}
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
