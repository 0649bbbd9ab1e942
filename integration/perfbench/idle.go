//go:build linux

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// autogroup is whether sessions share the processors, and not threads.
const autogroup = "/proc/sys/kernel/sched_autogroup_enabled"

// stepAside gives the class SCHED_IDLE to this program, and with it to those that
// it starts: kernel threads go before them at once. Soft-RoCE does its work in such
// threads, and both ends keep the processors busy by polling; without that, a
// message waits until a program's slice of time is over (docs/benchmarks.md).
// Hardware needs no processor. The class counts among threads only, and not among
// sessions, which get equal shares otherwise.
//
// Threads that are there keep their class, so the program starts anew.
func stepAside() error {
	attr, err := unix.SchedGetAttr(0, 0)
	if err != nil || attr.Policy == unix.SCHED_IDLE {
		return err
	}
	if err := os.WriteFile(autogroup, []byte("0"), 0); err != nil && !errors.Is(err, fs.ErrNotExist) {
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
