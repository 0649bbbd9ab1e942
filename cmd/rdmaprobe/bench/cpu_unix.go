//go:build unix

package bench

import (
	"time"

	"golang.org/x/sys/unix"
)

// cpuTime is processor time.
type cpuTime struct{ user, kernel time.Duration }

func (c cpuTime) minus(d cpuTime) cpuTime { return cpuTime{c.user - d.user, c.kernel - d.kernel} }

// processCPU is what this process has used. What the kernel does for it in
// threads of its own is not in it.
func processCPU() cpuTime {
	var r unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &r); err != nil {
		return cpuTime{}
	}
	return cpuTime{time.Duration(r.Utime.Nano()), time.Duration(r.Stime.Nano())}
}
