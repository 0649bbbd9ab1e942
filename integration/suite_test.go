//go:build linux

package integration

import (
	"os"
	"strconv"
	"testing"
)

// shortSuite says whether scripts/test wants the short suite: on the kernels between
// the oldest and the newest it is left out what the two have shown already.
func shortSuite() bool { return os.Getenv("RDMA_SUITE") == "short" }

// fullSuiteOnly skips a test whose outcome does not depend on which of the kernels
// between the oldest and the newest runs: one of the program's texts, say.
func fullSuiteOnly(tb testing.TB, why string) {
	tb.Helper()
	if shortSuite() {
		tb.Skipf("not in the short suite (RDMA_SUITE=short): %s", why)
	}
}

// ofProgram is why a test is not in the short suite: it reads what rdmaprobe prints,
// and TestDoctorHealthy, TestDoctorPort, the tests of gids, path, ping and serve and
// those of the packages below show that the program reads this kernel.
const ofProgram = "it is about rdmaprobe's own findings and texts"

// countFrom is a number of rounds: what the environment's variable says, or else
// full, or a fifth of it in the short suite.
func countFrom(tb testing.TB, variable string, full int) int {
	tb.Helper()
	if s := os.Getenv(variable); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			tb.Fatalf("%s is %q, want a number from 1 on", variable, s)
		}
		return n
	}
	if shortSuite() {
		return max(full/5, 1)
	}
	return full
}
