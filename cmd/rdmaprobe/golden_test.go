package main

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the expected files anew")

// golden compares with a file in testdata.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got; run with -update to accept):\n%s", path, diff)
	}
}

var times = regexp.MustCompile(` *\b[0-9.]+(/[0-9.]+)* (ms|s)\b`)
var after = regexp.MustCompile(`(?m)^  after .*\n`)
var afterMS = regexp.MustCompile(`"after_ms": [0-9.]+`)
var columnGap = regexp.MustCompile(`(\S) {2,}`)
var clock = regexp.MustCompile(`(?m)^\d\d:\d\d:\d\d\.\d\d\d`)

// timeless replaces what differs from run to run.
func timeless(s string) string {
	s = after.ReplaceAllString(s, "") // absent when it is too short to measure
	s = afterMS.ReplaceAllString(s, `"after_ms": 0`)
	return clock.ReplaceAllString(times.ReplaceAllString(s, " TIME"), "CLOCK")
}

// both is everything a run printed, for golden files.
func (r result) both() string { return timeless(r.stdout + "---- standard error\n" + r.stderr) }

func wantCode(t *testing.T, r result, code int) {
	t.Helper()
	if r.code != code {
		t.Errorf("exit code %d, want %d\n%s%s", r.code, code, r.stdout, r.stderr)
	}
}

// wantNarrow checks that no line is longer than the terminal.
func wantNarrow(t *testing.T, r result) {
	t.Helper()
	for line := range strings.Lines(r.stdout + r.stderr) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > lineWidth {
			t.Errorf("line of %d columns: %s", n, line)
		}
	}
}

func TestGolden(t *testing.T) {
	tests := []struct {
		name  string
		world *world
		args  string
		code  int
	}{
		{"list", rxeWorld(), "list", exitOK},
		{"list-none", emptyWorld(), "list", exitNoDevice},
		{"list-json", rxeWorld(), "list --json", exitOK},
		{"list-none-json", emptyWorld(), "list --json", exitNoDevice},
		{"rxe-add", rxeWorld(), "rxe add eth9 --name soft", exitOK},
		{"rxe-add-none", emptyWorld(), "rxe add eth0", exitNoDevice},
		{"rxe-del", rxeWorld(), "rxe del rxe0", exitOK},
		{"rxe-del-none", emptyWorld(), "rxe del rxe0", exitNoDevice},
		{"rxe-list", rxeWorld(), "rxe list", exitOK},
		{"ping-none", emptyWorld(), "ping 10.0.0.7", exitNoDevice},
		{"ping-none-json", emptyWorld(), "ping 10.0.0.7 --json", exitNoDevice},
		{"ping-refused", rxeWorld(), "ping 10.0.0.7", exitRejected},
		{"ping-filtered", silentWorld("connect", "rxe0"), "ping 10.0.0.7 --timeout 2s", exitUnreachable},
		{"ping-silent", silentWorld("resolve address", ""), "ping 10.0.0.7 --timeout 2s", exitUnreachable},
		{"serve-none", emptyWorld(), "serve", exitNoDevice},
		{"demo-none", emptyWorld(), "demo", exitNoDevice},
		{"demo-device", rxeWorld(), "demo --device rxe0 -C 5", exitOK},
		{"demo-device-6", rxeWorld(), "demo --device rxe0 -C 1 -6", exitOK},
		{"demo-no-address", rxeWorld(), "demo --device rxe1", exitNoDevice},
		{"usage-none", rxeWorld(), "ping", exitUsage},
		{"usage-json", rxeWorld(), "bogus --json", exitUsage},
		{"help", rxeWorld(), "--help", exitOK},
		{"help-ping", rxeWorld(), "ping --help", exitOK},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := tt.world.command(t, strings.Fields(tt.args)...)
			wantCode(t, r, tt.code)
			if !strings.Contains(tt.args, "--json") {
				wantNarrow(t, r)
			}
			golden(t, filepath.Join("testdata", tt.name+".txt"), r.both())
			for _, e := range tt.world.ends {
				if e.Live() != 0 {
					t.Error("memory was not released")
				}
			}
		})
	}
}
