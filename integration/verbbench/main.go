//go:build linux

// Verbbench measures what verbs cost without the network: posting and polling
// with no kernel behind the rings, and registering memory. It compares itself
// with a C program that does the same with libibverbs, in folder c.
//
// The rings are soft-RoCE's own, mapped from the device; the doorbell is left
// out, and this program takes requests out and puts completions in. So both
// programs are measured as they are used, with their locks and checks.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
)

func main() {
	flag.Usage = func() {
		fmt.Fprintf(flag.CommandLine.Output(), "usage: verbbench [-d DEVICE] [-n N]                      measures this module\n"+
			"       verbbench [-d DEVICE] [-n N] [-rounds R] -c PROGRAM   and a C program, in turn\n\n"+
			"Cost of verbs in nanoseconds: posting and polling without the kernel, and\n"+
			"registering memory. scripts/bench-verbs builds both programs and runs them.\n\n")
		flag.PrintDefaults()
	}
	device := flag.String("d", "rxe0", "a soft-RoCE device")
	n := flag.Int("n", 100_000, "operations of a measurement")
	rounds := flag.Int("rounds", 5, "runs of each program")
	other := flag.String("c", "", "the C program")
	flag.Parse()
	if *n = *n / depth * depth; *n < 8*depth || *rounds < 1 || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	do := func() error { return one(*device, *n) }
	if *other != "" {
		do = func() error { return compare(*other, *device, *n, *rounds) }
	}
	if err := do(); err != nil {
		fmt.Fprintln(os.Stderr, "verbbench:", err)
		os.Exit(1)
	}
}

func one(device string, n int) error {
	r, err := newRig(device)
	if err != nil {
		return err
	}
	return errors.Join(r.measureAll(os.Stdout, n), r.Close())
}
