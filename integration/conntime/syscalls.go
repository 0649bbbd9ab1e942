//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
)

// The kernel counts system calls itself, by thread name and call, without the
// slowness of ptrace (kernel 4.7, CONFIG_HIST_TRIGGERS).
const (
	sysEnter = "/sys/kernel/tracing/events/raw_syscalls/sys_enter/"
	trigger  = `hist:keys=common_pid.execname,id.syscall:size=8192 if comm ~ "` + commPrefix + `*"`

	// commPrefix begins the names of what is counted. Threads inherit the
	// name. The filter keeps out what a child does before its exec.
	commPrefix = "ct-"
)

// counts are system calls by name.
type counts map[string]int

// countCalls counts the system calls of each program whose name begins with
// commPrefix while fn runs.
func countCalls(fn func() error) (byProgram map[string]counts, err error) {
	if err := writeTrigger(trigger); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, writeTrigger("!"+trigger)) }()
	if err := fn(); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(sysEnter + "hist")
	if err != nil {
		return nil, err
	}
	return parseHist(string(text))
}

func writeTrigger(s string) error {
	f, err := os.OpenFile(sysEnter+"trigger", os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("count system calls: %w (tracefs must be mounted)", err)
	}
	_, err = f.WriteString(s)
	return errors.Join(err, f.Close())
}

// A line of the histogram:
//
//	{ common_pid: ct-c-client     [       142], id: sys_write      [  1] } hitcount:          4
var histLine = regexp.MustCompile(`^\{ common_pid: (\S+)\s+\[\s*\d+\], id: (\S+)\s+\[\s*\d+\] \} hitcount:\s+(\d+)$`)

func parseHist(text string) (map[string]counts, error) {
	found := map[string]counts{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if dropped, ok := strings.CutPrefix(line, "Dropped: "); ok && dropped != "0" {
			return nil, fmt.Errorf("the kernel lost %s counts: its table is too small", dropped)
		}
		m := histLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		n, err := strconv.Atoi(m[3])
		if err != nil {
			return nil, err
		}
		if found[m[1]] == nil {
			found[m[1]] = counts{}
		}
		found[m[1]][strings.TrimPrefix(m[2], "sys_")] += n
	}
	return found, nil
}

// ofRuntime tells the calls that schedule threads and goroutines; how many there
// are depends on what else the machine does. C waits by them, too.
func ofRuntime(name string) bool {
	switch name {
	case "futex", "sched_yield", "epoll_pwait", "epoll_wait", "nanosleep", "clock_nanosleep", "tgkill", "getpid",
		"rt_sigreturn", "rt_sigprocmask", "clone", "clone3", "sigaltstack", "gettid", "madvise", "restart_syscall",
		"rseq", "set_robust_list", "timer_settime", "poll", "exit", "mprotect":
		return true
	}
	return false
}

// perConn is the difference of two runs, for one connection more.
func perConn(few, many counts, more int) map[string]float64 {
	d := map[string]float64{}
	for name, n := range many {
		d[name] = float64(n-few[name]) / float64(more)
	}
	for name, n := range few {
		if _, ok := many[name]; !ok {
			d[name] = -float64(n) / float64(more)
		}
	}
	return d
}

// split sums the calls of the work and of the runtime.
func split(perCall map[string]float64) (work, runtime float64) {
	for name, n := range perCall {
		if ofRuntime(name) {
			runtime += n
		} else {
			work += n
		}
	}
	return work, runtime
}
