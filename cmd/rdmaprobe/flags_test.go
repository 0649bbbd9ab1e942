package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

var flagTable = regexp.MustCompile(`(?s)(<!-- flags -->\n).*?(<!-- end -->)`)

// flagColumns are the commands of the table in docs/rdmaprobe.md.
var flagColumns = []string{"ping", "cmping", "path", "bench lat", "bench bw", "bench conn", "bench reg", "demo", "serve", "res", "watch"}

// TestFlagTable keeps the table of flags in docs/rdmaprobe.md in step with the
// commands, of which none may use a letter for something else.
func TestFlagTable(t *testing.T) {
	root := newRoot(&app{})
	letters, names := map[string]string{}, map[string]string{}
	users := map[string][]string{}
	var all []string
	for _, c := range commandsOf(root) {
		path := strings.TrimPrefix(c.CommandPath(), "rdmaprobe ")
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Hidden || f.Name == "help" {
				return
			}
			if f.Shorthand != "" {
				if have := letters[f.Shorthand]; have != "" && have != f.Name {
					t.Errorf("%s: -%s is --%s, and --%s elsewhere", path, f.Shorthand, f.Name, have)
				}
				letters[f.Shorthand] = f.Name
			}
			if have, ok := names[f.Name]; ok && have != f.Shorthand {
				t.Errorf("%s: --%s is -%s, and -%s elsewhere", path, f.Name, f.Shorthand, have)
			}
			names[f.Name] = f.Shorthand
			if !slices.Contains(all, f.Name) {
				all = append(all, f.Name)
			}
			users[f.Name] = append(users[f.Name], path)
		})
	}
	slices.Sort(all)
	var b strings.Builder
	fmt.Fprintf(&b, "| flag | %s |\n|---|%s\n", strings.Join(flagColumns, " | "), strings.Repeat("---|", len(flagColumns)))
	for _, name := range all {
		row := "`--" + name + "`"
		if names[name] != "" {
			row = "`-" + names[name] + "`, " + row
		}
		used := false
		cells := make([]string, len(flagColumns))
		for i, c := range flagColumns {
			if slices.Contains(users[name], c) {
				cells[i], used = "x", true
			}
		}
		if used {
			fmt.Fprintf(&b, "| %s | %s |\n", row, strings.Join(cells, " | "))
		}
	}
	path := filepath.Join(docFolder, "rdmaprobe.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, path, flagTable.ReplaceAllStringFunc(string(text), func(block string) string {
		m := flagTable.FindStringSubmatch(block)
		return m[1] + b.String() + m[2]
	}))
}

// TestAliases: the letters of older versions, and times without a unit.
func TestAliases(t *testing.T) {
	for _, tt := range []struct {
		args, flag, want string
	}{
		{"ping -c 3", "count", "3"}, {"ping -C 4", "count", "4"}, {"ping -s 64", "size", "64"}, {"ping -S 4K", "size", "4096"},
		{"ping -i 0.2", "interval", "200ms"}, {"ping -W 2", "timeout", "2s"}, {"ping --timeout 1m", "timeout", "1m0s"},
		{"cmping -C 5", "count", "5"}, {"demo -S 100", "size", "100"}, {"bench lat -n 7", "count", "7"}, {"bench reg -n 8", "count", "8"},
		{"bench conn -n 9", "count", "9"}, {"watch -i 1", "interval", "1s"}, {"serve --idle 90", "idle", "1m30s"},
	} {
		cmd, rest, err := newRoot(&app{}).Find(strings.Fields(tt.args))
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.ParseFlags(rest); err != nil {
			t.Errorf("%s: %v", tt.args, err)
			continue
		}
		f := cmd.Flags().Lookup(tt.flag)
		if f.Value.String() != tt.want || !f.Changed {
			t.Errorf("%s: --%s is %s, want %s; changed: %v", tt.args, tt.flag, f.Value, tt.want, f.Changed)
		}
	}
}

// TestSecondsHelp: the help shows defaults as before.
func TestSecondsHelp(t *testing.T) {
	cmd := &cobra.Command{Use: "x"}
	cmd.Flags().Duration("timeout", 5*time.Second, "longest time")
	want := cmd.Flags().FlagUsages()
	takeSeconds(cmd)
	if diff := cmp.Diff(want, cmd.Flags().FlagUsages()); diff != "" {
		t.Error(diff)
	}
}
