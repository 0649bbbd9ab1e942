package timeslice

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// BenchmarkLongCall is a loop that polls and makes system calls of some 80 µs, as the
// doorbell of soft-RoCE is where it sends in the call: what the runtime's monitor does
// about them when it learns of them, and when it does not. Changes of thread are counted
// and not timed, so that other load of the machine matters little.
func BenchmarkLongCall(b *testing.B) {
	f, err := os.Open("/dev/zero")
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	fd, buf := f.Fd(), make([]byte, callSize())
	for _, procs := range []int{1, 2} {
		for _, call := range []struct {
			name string
			read func()
		}{
			{"known", func() { _, _ = unix.Read(int(fd), buf) }},
			{"unknown", func() {
				_, _, _ = syscall.RawSyscall(syscall.SYS_READ, fd, uintptr(unsafe.Pointer(&buf[0])), uintptr(len(buf)))
			}},
		} {
			b.Run(fmt.Sprintf("%s-%d", call.name, procs), func(b *testing.B) {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
				var s Slice
				before := switches(b)
				for b.Loop() {
					call.read()
					for end := time.Now().Add(50 * time.Microsecond); time.Now().Before(end); {
					}
					s.Breathe()
				}
				b.ReportMetric(float64(switches(b)-before)/float64(b.N), "switches/op")
			})
		}
	}
}

// callSize is how much of /dev/zero takes 80 µs to read.
func callSize() int {
	buf := make([]byte, 1<<20)
	f, err := os.Open("/dev/zero")
	if err != nil {
		return len(buf)
	}
	defer f.Close()
	best := time.Hour
	for range 50 {
		began := time.Now()
		_, _ = f.Read(buf)
		best = min(best, time.Since(began))
	}
	return int(float64(len(buf)) * float64(80*time.Microsecond) / float64(max(best, time.Microsecond)))
}

// switches is how often a thread of the process has gone to sleep.
func switches(b *testing.B) int64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return int64(u.Nvcsw) // 32 bits on 32-bit processors
}
