//go:build linux

package integration

import (
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
// back (see cm.ID.Close): that ends with the message's last repetition.
const leakPatience = 90 * time.Second

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
		deadline := time.Now().Add(leakPatience)
		after := hold(t)
		for !cmp.Equal(before, after) && time.Now().Before(deadline) {
			time.Sleep(50 * time.Millisecond)
			after = hold(t)
		}
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("left behind (-before +after):\n%s\n%s", diff, stacks())
		}
	})
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
		if err != nil {
			continue // removed while we looked
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
