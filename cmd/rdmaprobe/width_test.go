package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// TestScreens shows the commands that print tables and text on terminals of several
// widths.
func TestScreens(t *testing.T) {
	t.Cleanup(func() { lineWidth = 100 })
	for _, width := range []int{80, 100, 160} {
		lineWidth = widthFor(width)
		var all strings.Builder
		for _, args := range []string{
			"list", "gids", "gids --to 10.0.0.7", "doctor", "path 10.0.0.7", "res", "explain", "explain RP-MEM-001", "ping 10.0.0.7",
			"cmping 10.0.0.7 -C 1", "version", "rxe list", "bogus", "ping --help",
		} {
			r := rxeWorld().command(t, strings.Fields(args)...)
			wantNarrow(t, r)
			fmt.Fprintf(&all, "$ rdmaprobe %s\n%s\n", args, r.both())
		}
		golden(t, filepath.Join("testdata", fmt.Sprintf("screens-%d.txt", width)), all.String())
	}
}

// TestWidth: a terminal narrower than 80 columns breaks the lines itself, and long
// lines are hard to read on a wide one.
func TestWidth(t *testing.T) {
	for columns, want := range map[int]int{40: 80, 80: 80, 120: 120, 500: 200} {
		if got := widthFor(columns); got != want {
			t.Errorf("%d columns: %d, want %d", columns, got, want)
		}
	}
}
