//go:build linux

package integration

import (
	"errors"
	"os"
	"runtime"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/internal/offheap"
	"github.com/purerdma/rdma/uverbs"
)

// holdings is what a process holds that it must give back.
type holdings struct {
	Resources  map[string]map[string]uint64 // kernel objects by device and kind
	Files      []string
	Goroutines int
	Mapped     int64 // bytes of device memory
	Rings      int   // mappings of device files
}

// leakPatience is how long the kernel may take to release what it releases in the
// background. Seconds are enough, but for an ID whose message it failed to take
// back (see cm.ID.Close): that ends with the message's last repetition. What takes
// longer than leakSoon is reported with the name of what was late.
const (
	leakPatience = testTime
	leakSoon     = 5 * time.Second
)

// checkLeaks fails the test if it leaves behind anything that was not there
// at this call.
func checkLeaks(t *testing.T) {
	t.Helper()
	warmUp()
	before := hold(t)
	t.Cleanup(func() {
		if t.Failed() {
			return // the failure explains the leak
		}
		if diff := awaitHoldings(t, before); diff != "" {
			t.Errorf("left behind (-before +after):\n%s\n%s", diff, stacks())
		}
	})
}

// awaitHoldings waits until the process holds what it held before, and returns the
// difference if it never does.
func awaitHoldings(t *testing.T, before holdings) (diff string) {
	t.Helper()
	late := ""
	for start := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		now := hold(t)
		// A goroutine of the test before that was ending still has ended.
		before.Goroutines = min(before.Goroutines, now.Goroutines)
		diff = cmp.Diff(before, now)
		took := time.Since(start)
		switch {
		case diff == "" && late != "":
			t.Logf("given back only after %v (-before +after):\n%s", took.Round(time.Second), late)
			return ""
		case diff == "" || took > leakPatience:
			return diff
		case late == "" && took > leakSoon:
			late = diff
		}
	}
}

// warmUp lets the runtime and the module make what they make once: poller,
// command memory.
func warmUp() {
	if ch, err := cm.NewEventChannel(nil); err == nil {
		_ = ch.Close()
	}
	for range 8 {
		if b, err := offheap.Get(); err == nil {
			defer b.Release()
		}
	}
}

func hold(t *testing.T) holdings {
	t.Helper()
	h := holdings{Resources: map[string]map[string]uint64{}}
	devices, err := uverbs.Devices()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range devices {
		counts, err := uverbs.ResourceSummary(d)
		if err != nil && isGone(d) {
			continue // removed while we looked
		}
		if err != nil {
			t.Fatalf("what %s holds: %v", d.Name, err)
		}
		h.Resources[d.Name] = counts
	}
	h.Files = openFiles(t)
	h.Rings = deviceMappings(t)
	runtime.GC() // ends goroutines of finished timers and cleanups
	h.Goroutines = runtime.NumGoroutine()
	h.Mapped = offheap.Mapped()
	return h
}

// isGone reports whether a device has been removed.
func isGone(d *uverbs.Device) bool {
	now, err := uverbs.DeviceByName(d.Name)
	return errors.Is(err, uverbs.ErrNoDevice) || err == nil && now.Index != d.Index
}

// openFiles lists what the descriptors are, without their numbers.
func openFiles(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, e := range entries {
		target, err := os.Readlink("/proc/self/fd/" + e.Name())
		if err != nil || strings.HasPrefix(target, "/proc/") {
			continue // the directory itself
		}
		if i := strings.Index(target, ":["); i >= 0 {
			target = target[:i] // sockets and pipes carry their number
		}
		files = append(files, target)
	}
	sort.Strings(files)
	return files
}

// deviceMappings counts the mappings of device files.
func deviceMappings(t *testing.T) int {
	t.Helper()
	b, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(b), "/dev/infiniband/")
}

func stacks() string {
	buf := make([]byte, 1<<16)
	return string(buf[:runtime.Stack(buf, true)])
}
