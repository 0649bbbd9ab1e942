//go:build linux

package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const someHist = `# event histogram
#
# trigger info: hist:keys=common_pid.execname,id.syscall:vals=hitcount:sort=hitcount:size=8192 [active]
#

{ common_pid: ct-go-server    [       142], id: sys_execve                    [ 59] } hitcount:          1
{ common_pid: ct-c-client     [       125], id: sys_write                     [  1] } hitcount:       1890
{ common_pid: ct-c-client     [       126], id: sys_write                     [  1] } hitcount:         10

Totals:
    Hits: 1901
    Entries: 3
    Dropped: 0
`

func TestParseHist(t *testing.T) {
	got, err := parseHist(someHist)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]counts{"ct-go-server": {"execve": 1}, "ct-c-client": {"write": 1900}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, err := parseHist(strings.Replace(someHist, "Dropped: 0", "Dropped: 3", 1)); err == nil {
		t.Error("no error for a histogram with gaps")
	}
}

func TestParseCmtime(t *testing.T) {
	out := `creating id
step              total ms     max ms     min us  us / conn
create id    :       13.87       9.75       5.00     138.70
resolve addr :       13.69      12.06    3779.00     136.93
resolve route:       24.68      13.35    4543.00     246.82
create qp    :      105.16      23.99     190.00    1051.62
connect      :     2533.73    2483.92 1399105.00   25337.28
disconnect   :     1353.46     500.54   20760.00   13534.58
destroy      :        8.25       1.58      33.00      82.52
`
	got, err := parseCmtime(out, 100)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range got.Phases {
		names = append(names, p.Name)
	}
	if diff := cmp.Diff(phaseNames, names); diff != "" {
		t.Error(diff)
	}
	if took := got.Phases[0].Took.Round(time.Microsecond); took != 13870*time.Microsecond {
		t.Errorf("create id took %v", took)
	}
	if _, err := parseCmtime("creating id\n", 100); err == nil {
		t.Error("no error without numbers")
	}
}

func TestPerConn(t *testing.T) {
	got := perConn(counts{"write": 150, "execve": 1, "futex": 5}, counts{"write": 450, "execve": 1}, 200)
	if diff := cmp.Diff(map[string]float64{"write": 1.5, "execve": 0, "futex": -0.025}, got); diff != "" {
		t.Error(diff)
	}
	if work, runtime := split(got); work != 1.5 || runtime != -0.025 {
		t.Errorf("split into %v and %v", work, runtime)
	}
}
