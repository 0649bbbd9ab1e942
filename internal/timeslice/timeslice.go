// Package timeslice keeps loops that poll, or wait in system calls alone, from being
// interrupted by the Go runtime.
package timeslice

import (
	"runtime"
	"time"
)

// Length is how long a goroutine may go on before it lets the scheduler begin a new
// slice of time: less than the 10 ms between two looks of the runtime's monitor, and
// not much less, as beginning one wakes a thread to look for work.
const Length = 8 * time.Millisecond

// A Slice is one goroutine's at a time. The zero value is over.
type Slice struct{ began time.Duration } // since epoch, or 0

// epoch is long before any slice. Time that has passed is one look at the clock, where
// time.Now is two.
var epoch = time.Now().Add(-time.Hour)

// Breathe begins a new slice if this one is over. A goroutine that polls, or waits in
// system calls, never does by itself. After 10 milliseconds the runtime's monitor sends
// it a signal, or takes its processor away if it is in a system call just then
// (runtime.retake); having done so, it looks again every 20 microseconds for the next
// 50 times, and so on without end: a thread that competes with what the program waits
// for.
func (s *Slice) Breathe() {
	if now := time.Since(epoch); now-s.began > Length {
		runtime.Gosched()
		s.began = now
	}
}
