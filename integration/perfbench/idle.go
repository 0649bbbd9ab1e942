//go:build linux

package main

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// stepAside gives the class SCHED_IDLE to this program, and with it to those that
// it starts: kernel threads go before them. Soft-RoCE does its work in such
// threads, and both ends keep the processors busy by polling; without that, a
// message waits for the end of a time slice (docs/benchmarks.md). Hardware needs
// no processor.
//
// Threads that are there keep their class, so the program starts anew.
func stepAside() error {
	attr, err := unix.SchedGetAttr(0, 0)
	if err != nil || attr.Policy == unix.SCHED_IDLE {
		return err
	}
	attr.Policy = unix.SCHED_IDLE
	if err := unix.SchedSetAttr(0, attr, 0); err != nil {
		return fmt.Errorf("SCHED_IDLE: %w", err)
	}
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	return unix.Exec(exe, os.Args, os.Environ())
}
