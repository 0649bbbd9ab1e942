package docs

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

const scenarios = "scenarios.md"

// Scenarios that soft-RoCE cannot run, that rsocket is about, and the number of
// all.
var (
	needHardware = []int{21, 25, 26, 29}
	aboutRsocket = []int{31, 32, 33, 34, 35}
)

const lastScenario = 64

// TestScenarioNames is TestNames for this page.
func TestScenarioNames(t *testing.T) { checkNames(t, scenarios, 150) }

// TestScenarioRows: one row for each scenario. Those that can run have run on a
// real kernel; the others have a reason.
func TestScenarioRows(t *testing.T) {
	want := map[string]int{}
	for i := range lastScenario {
		want[strconv.Itoa(i+1)] = 1
	}
	checkRows(t, scenarios, want, func(row []string) {
		if len(row) != 3 {
			t.Errorf("%d cells in %s", len(row), row)
			return
		}
		n, err := strconv.Atoi(row[0])
		if err != nil {
			t.Errorf("%q is no number", row[0])
		}
		proved, refused := strings.Contains(row[2], "`integration.Test"), strings.HasPrefix(row[2], "not run: needs InfiniBand hardware, because ")
		switch {
		case slices.Contains(needHardware, n):
			if !refused {
				t.Errorf("scenario %d has no reason", n)
			}
		case slices.Contains(aboutRsocket, n) && row[2] == "not yet: rsocket":
		case !proved || refused:
			t.Errorf("scenario %d has no test on a real kernel", n)
		}
	})
}

// TestScenarioRaces: the second table names tests as well.
func TestScenarioRaces(t *testing.T) {
	_, races, ok := strings.Cut(read(t, scenarios), "## Races")
	n := 0
	for line := range strings.Lines(races) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| race ") {
			continue
		}
		n++
		if !strings.Contains(line, "Test") {
			t.Errorf("no test in %s", line)
		}
	}
	if !ok || n < 8 {
		t.Errorf("%d races", n)
	}
}
