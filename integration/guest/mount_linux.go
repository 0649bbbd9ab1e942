//go:build linux

package main

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// mounts is done in order. The optional ones need a kernel option that a
// distribution may leave out.
var mounts = []struct {
	kind, dir, data string
	optional        bool
}{
	{kind: "proc", dir: "/proc"},
	{kind: "sysfs", dir: "/sys"},
	{kind: "devtmpfs", dir: "/dev"},
	{kind: "devpts", dir: "/dev/pts", optional: true},
	{kind: "tmpfs", dir: "/dev/shm"},
	{kind: "tmpfs", dir: "/tmp", data: "mode=1777"},
	{kind: "tmpfs", dir: "/run"},
	{kind: "cgroup2", dir: "/sys/fs/cgroup", optional: true},
	{kind: "tracefs", dir: "/sys/kernel/tracing", optional: true},
	{kind: "debugfs", dir: "/sys/kernel/debug", optional: true},
}

func mountAll() error {
	for _, m := range mounts {
		// Directories below /sys cannot be made; the mount then says what is wrong.
		_ = os.MkdirAll(m.dir, 0o755)
		err := unix.Mount(m.kind, m.dir, m.kind, 0, m.data)
		if err != nil && err != unix.EBUSY && !m.optional {
			return fmt.Errorf("mount %s on %s: %w", m.kind, m.dir, err)
		}
	}
	return os.MkdirAll("/root", 0o700)
}

// raiseLimits lifts the limits that registering memory and opening many
// connections run into; children inherit them.
func raiseLimits() {
	infinite := &unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY}
	_ = unix.Setrlimit(unix.RLIMIT_MEMLOCK, infinite)
	_ = unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 65536, Max: 65536})
}

// writeSysctls makes the guest quick and talkative. Files that a kernel lacks
// are skipped.
func writeSysctls() {
	_ = unix.Sethostname([]byte("vm"))
	for _, s := range [][2]string{
		// From here on everything but debug messages goes to the host's log.
		{"/proc/sys/kernel/printk", "7"},
		{"/proc/sys/kernel/hung_task_timeout_secs", "30"},
		// Duplicate address detection would keep addresses tentative for 2 s.
		{"/proc/sys/net/ipv6/conf/all/accept_dad", "0"},
		{"/proc/sys/net/ipv6/conf/default/accept_dad", "0"},
		{"/sys/fs/cgroup/cgroup.subtree_control", "+rdma"},
	} {
		_ = os.WriteFile(s[0], []byte(s[1]), 0o644)
	}
}
