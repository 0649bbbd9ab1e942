//go:build linux

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// autogroup is whether sessions share the processors, and not threads. It is the
// machine's, not a program's.
const autogroup = "/proc/sys/kernel/sched_autogroup_enabled"

// autogroupBefore is what autogroup was, for the program that started anew.
const autogroupBefore = "PERFBENCH_AUTOGROUP"

// stepAside gives the class SCHED_IDLE to this program, and with it to those that
// it starts: kernel threads go before them at once. Soft-RoCE does its work in such
// threads, and both ends keep the processors busy by polling; without that, a
// message waits until a program's slice of time is over (docs/benchmarks.md).
// Hardware needs no processor. The class counts among threads only, and not among
// sessions, which get equal shares otherwise; back makes that as it was.
//
// Threads that are there keep their class, so the program starts anew.
func stepAside() (back func() error, err error) {
	before := os.Getenv(autogroupBefore)
	if err := os.Unsetenv(autogroupBefore); err != nil {
		return nil, err
	}
	attr, err := unix.SchedGetAttr(0, 0)
	if err != nil {
		return nil, err
	}
	if attr.Policy == unix.SCHED_IDLE {
		return func() error { return regroup(autogroup, before) }, nil
	}
	if before, err = ungroup(autogroup); err != nil {
		return nil, err
	}
	return nil, errors.Join(startIdle(attr, before), regroup(autogroup, before))
}

// startIdle starts the program anew, in the class. It returns only if it fails.
func startIdle(attr *unix.SchedAttr, before string) error {
	runtime.LockOSThread() // the thread's class is the new program's
	defer runtime.UnlockOSThread()
	attr.Policy = unix.SCHED_IDLE
	if err := unix.SchedSetAttr(0, attr, 0); err != nil {
		return fmt.Errorf("SCHED_IDLE: %w", err)
	}
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	return unix.Exec(exe, os.Args, append(os.Environ(), autogroupBefore+"="+before))
}

// ungroup switches the setting off and returns what it was, or "" when there is
// nothing to put back.
func ungroup(setting string) (before string, err error) {
	old, err := os.ReadFile(setting)
	if errors.Is(err, fs.ErrNotExist) || err == nil && strings.HasPrefix(string(old), "0") {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return string(old), os.WriteFile(setting, []byte("0\n"), 0)
}

// regroup puts back what ungroup returned.
func regroup(setting, before string) error {
	if before == "" {
		return nil
	}
	return os.WriteFile(setting, []byte(before), 0)
}
