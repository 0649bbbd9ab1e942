package doctor

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the table of findings anew")

const docFile = "../../../docs/findings.md"

var (
	idPattern = regexp.MustCompile(`RP-[A-Z]+-[0-9]{3}`)
	heading   = regexp.MustCompile(`(?m)^### (RP-[A-Z]+-[0-9]{3})$`)
	table     = regexp.MustCompile(`(?s)(<!-- findings -->\n).*?(<!-- end -->)`)
)

func ruleIDs() (out []string) {
	for _, r := range Rules {
		out = append(out, r.ID)
	}
	return out
}

// TestDocs: each id has a section in docs/findings.md, and the other way round;
// the table is made from the rules.
func TestDocs(t *testing.T) {
	text, err := os.ReadFile(docFile)
	if err != nil {
		t.Fatal(err)
	}
	var documented []string
	for _, m := range heading.FindAllStringSubmatch(string(text), -1) {
		documented = append(documented, m[1])
	}
	if diff := cmp.Diff(ruleIDs(), documented); diff != "" {
		t.Errorf("rules and headings of %s (-want +got):\n%s", docFile, diff)
	}
	want := table.ReplaceAllStringFunc(string(text), func(block string) string {
		m := table.FindStringSubmatch(block)
		return m[1] + ruleTable() + m[2]
	})
	if *update {
		if err := os.WriteFile(docFile, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Errorf("the table is old; run with -update (-want +got):\n%s", diff)
	}
}

func ruleTable() string {
	var b strings.Builder
	b.WriteString("| id | severity | exit code | meaning |\n|---|---|---|---|\n")
	for _, r := range Rules {
		exit := ""
		if r.Exit != 0 {
			exit = fmt.Sprint(r.Exit)
		}
		fmt.Fprintf(&b, "| [%s](#%s) | %s | %s | %s |\n", r.ID, strings.ToLower(r.ID), r.Severity, exit, r.Title)
	}
	return b.String()
}

// TestIDs: each id in the code has a rule, and each rule is used.
func TestIDs(t *testing.T) {
	used := map[string]bool{}
	for _, pattern := range []string{"*.go", "../*.go", "../../../uverbs/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") || file == "rules.go" {
				continue
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, id := range idPattern.FindAllString(string(text), -1) {
				used[id] = true
			}
		}
	}
	// Discovery makes the numbers of these.
	for i := 1; i <= 4; i++ {
		used[fmt.Sprintf("RP-MOD-%03d", i)] = true
	}
	for _, id := range ListOnly {
		used[id] = true
	}
	ids := ruleIDs()
	for id := range used {
		if !slices.Contains(ids, id) {
			t.Errorf("%s has no rule", id)
		}
	}
	for i, id := range ids {
		if !used[id] {
			t.Errorf("%s is not used", id)
		}
		if slices.Contains(ids[:i], id) {
			t.Errorf("%s twice", id)
		}
	}
	for _, r := range Rules {
		if (r.Severity == Error) != (r.Exit != 0) {
			t.Errorf("%s: severity %s with exit code %d", r.ID, r.Severity, r.Exit)
		}
	}
}
