package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var transcriptBlocks = regexp.MustCompile("(?s)(<!-- transcript: ([a-z-]+) -->\n```\n).*?(```\n)")

// TestTranscripts keeps docs/rdmaprobe.md in step with what the commands print
// in a guest: the integration test of the same name compares that with them.
func TestTranscripts(t *testing.T) {
	text, err := os.ReadFile("../../integration/testdata/transcripts.txt")
	if err != nil {
		t.Fatal(err)
	}
	parts := map[string]string{}
	for part := range strings.SplitSeq("\n"+string(text), "\n==== ") {
		if name, body, ok := strings.Cut(part, "\n"); ok && name != "" {
			parts[name] = strings.TrimRight(body, "\n") + "\n"
		}
	}
	path := filepath.Join(docFolder, "rdmaprobe.md")
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	got := transcriptBlocks.ReplaceAllStringFunc(string(page), func(block string) string {
		m := transcriptBlocks.FindStringSubmatch(block)
		seen[m[2]] = true
		if parts[m[2]] == "" {
			t.Errorf("no transcript %q: scripts/transcripts makes them", m[2])
		}
		return m[1] + parts[m[2]] + m[3]
	})
	for name := range parts {
		if !seen[name] {
			t.Errorf("docs/rdmaprobe.md lacks the transcript %q", name)
		}
	}
	golden(t, path, got)
	for _, c := range commandsOf(newRoot(&app{})) {
		if !c.HasSubCommands() && !strings.Contains(got, "$ "+c.CommandPath()) {
			t.Errorf("docs/rdmaprobe.md shows no %s", c.CommandPath())
		}
	}
}
