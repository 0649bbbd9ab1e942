//go:build linux

package integration

import (
	"testing"
	"time"
)

// Hang limits. A guest emulates its processors and shares the machine's with
// whatever else runs there, so that no test measures how quick it was: what takes
// longer than this has hung. Kernels give up after a minute or more by themselves
// (kernelPatienceMin), so that what waits for a kernel's own limit is found, too,
// by the error that it ends with.
const (
	testTime     = 2 * time.Minute // of a test's context, or of one wait
	verbsTimeout = time.Minute     // of one completion or event of a device
)

// inTime runs f until one run takes no longer than limit, five times at most. What
// waits for a timer waits in each run; what the machine's load holds up does not.
func inTime(t *testing.T, what string, limit time.Duration, f func()) {
	t.Helper()
	var took []time.Duration
	for range 5 {
		start := time.Now()
		f()
		took = append(took, time.Since(start).Round(time.Millisecond))
		if t.Failed() || took[len(took)-1] <= limit {
			return
		}
	}
	t.Errorf("%s took %v, and never less than %v", what, took, limit)
}
