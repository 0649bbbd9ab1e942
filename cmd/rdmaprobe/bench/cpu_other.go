//go:build !unix

package bench

import "time"

// cpuTime is processor time.
type cpuTime struct{ user, kernel time.Duration }

func (c cpuTime) minus(d cpuTime) cpuTime { return cpuTime{c.user - d.user, c.kernel - d.kernel} }

func processCPU() cpuTime { return cpuTime{} }
