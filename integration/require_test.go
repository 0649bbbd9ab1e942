//go:build linux

package integration

import (
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/purerdma/rdma/internal/kernelver"
)

// Addresses that scripts/vm gives the guest's RDMA interface v0.
const (
	addrV4 = "10.77.0.1"
	addrV6 = "fd00:77::1"
	netdev = "v0"

	// addrSilent is on the same link, but nobody has it.
	addrSilent = "10.77.0.99"
)

// missing skips the test, or fails it where everything was promised.
func missing(tb testing.TB, what, remedy string) {
	tb.Helper()
	if os.Getenv("RDMA_REQUIRE") == "1" {
		tb.Fatalf("%s is missing; %s", what, remedy)
	}
	tb.Skipf("%s is missing; %s", what, remedy)
}

// requireRDMA wants the connection manager and one verbs device.
func requireRDMA(tb testing.TB) {
	tb.Helper()
	for _, path := range []string{"/dev/infiniband/rdma_cm", "/dev/infiniband/uverbs0"} {
		if _, err := os.Stat(path); err != nil {
			missing(tb, path, "run through scripts/vm")
		}
	}
}

// requireTool wants a C program of the guest and returns its path.
func requireTool(tb testing.TB, name, pkg string) string {
	tb.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		missing(tb, name, "run through scripts/vm --tools "+pkg)
	}
	return path
}

// requireNodes wants a guest of several and returns its number.
func requireNodes(tb testing.TB) (node int) {
	tb.Helper()
	requireRDMA(tb)
	if os.Getenv("RDMA_NODES") == "" {
		// Not "missing": runs of one guest are right without these tests.
		tb.Skip("needs several guests: run through scripts/vm --nodes 2")
	}
	node, err := strconv.Atoi(os.Getenv("RDMA_NODE"))
	if err != nil {
		tb.Fatal(err)
	}
	return node
}

// kernelAtLeast compares the running kernel's version.
func kernelAtLeast(tb testing.TB, major, minor int) bool {
	tb.Helper()
	since := kernelver.Since(major, minor)
	if !since && !kernelver.Older(major, minor) {
		tb.Fatalf("kernel release %q", kernelver.Release())
	}
	return since
}
