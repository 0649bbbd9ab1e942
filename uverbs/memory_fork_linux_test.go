package uverbs_test

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/purerdma/rdma/uverbs"
)

// TestMemoryKeptFromChildren: a fork copies no page of device memory, whatever the
// kernel does with pinned pages. In /proc/pid/smaps, "dc" is VM_DONTCOPY.
func TestMemoryKeptFromChildren(t *testing.T) {
	m, err := uverbs.NewMemory(4096)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	at := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(m.Bytes()))))
	if flags := vmFlags(t, at); !slices.Contains(flags, "dc") {
		t.Errorf("flags of the mapping: %v", flags)
	}
	own := uint64(uintptr(unsafe.Pointer(new(int))))
	if flags := vmFlags(t, own); slices.Contains(flags, "dc") || len(flags) == 0 {
		t.Errorf("flags of the heap: %v", flags)
	}
}

// vmFlags returns the flags of the mapping that has an address.
func vmFlags(t *testing.T, at uint64) []string {
	t.Helper()
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	inside := false
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var from, to uint64
		if n, _ := fmt.Sscanf(lines.Text(), "%x-%x ", &from, &to); n == 2 {
			inside = from <= at && at < to
		}
		if flags, ok := strings.CutPrefix(lines.Text(), "VmFlags:"); ok && inside {
			return strings.Fields(flags)
		}
	}
	return nil
}
