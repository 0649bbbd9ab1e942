package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// TestManPages keeps docs/man in step with the commands: one page for each.
func TestManPages(t *testing.T) {
	root := newRoot(&app{})
	dir := t.TempDir()
	// A fixed date: pages change when commands do.
	date := time.Date(2026, time.November, 1, 0, 0, 0, 0, time.UTC)
	header := &doc.GenManHeader{Title: "RDMAPROBE", Section: "1", Source: "rdmaprobe", Manual: "RDMA", Date: &date}
	if err := doc.GenManTree(root, header, dir); err != nil {
		t.Fatal(err)
	}
	pages, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	made := map[string]bool{}
	for _, p := range pages {
		text, err := os.ReadFile(filepath.Join(dir, p.Name()))
		if err != nil {
			t.Fatal(err)
		}
		made[p.Name()] = true
		golden(t, filepath.Join(docFolder, "man", p.Name()), string(text))
	}
	files, err := os.ReadDir(filepath.Join(docFolder, "man"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !made[f.Name()] {
			t.Errorf("docs/man/%s is of no command", f.Name())
		}
	}
	for _, c := range commandsOf(root) {
		if name := strings.ReplaceAll(c.CommandPath(), " ", "-") + ".1"; !made[name] {
			t.Errorf("no page %s", name)
		}
	}
}

// commandsOf lists a command and all below, without hidden ones.
func commandsOf(c *cobra.Command) []*cobra.Command {
	out := []*cobra.Command{c}
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			out = append(out, commandsOf(sub)...)
		}
	}
	return out
}
