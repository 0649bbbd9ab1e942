//go:build linux

package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestReadConfig(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("RDMA_NODE", "1")
	write(t, dir, map[string]string{
		"conf": "setup=modules\nlink=siw\nbare=1\nnodes=2\ntimeout=30\ncwd=/test\n",
		"argv": "/test/x\x00-v\x00\x00",
		"env":  "A=b c\x00",
	})
	got, err := readConfig(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := &config{
		setup: "modules", link: "siw", bare: true, cwd: "/test", timeout: 30 * time.Second, node: 1, nodes: 2,
		argv: []string{"/test/x", "-v", ""}, env: []string{"A=b c"},
	}
	if d := cmp.Diff(want, got, cmp.AllowUnexported(config{})); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"10.78.0.2/24", "fd00:78::2/64"}, got.addresses()); d != "" {
		t.Error(d)
	}
}

func TestReadConfigRefuses(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"no conf":     {"argv": "x\x00"},
		"no command":  {"conf": "", "argv": ""},
		"bad number":  {"conf": "timeout=soon\n", "argv": "x\x00"},
		"bad boolean": {"conf": "bare=perhaps\n", "argv": "x\x00"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, files)
			if c, err := readConfig(dir); err == nil {
				t.Errorf("accepted: %+v", c)
			}
		})
	}
}

func TestFindModules(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"modules.dep": "kernel/a-b.ko: kernel/c.ko kernel/d.ko\nkernel/c.ko: kernel/d.ko\nkernel/d.ko:\n",
		"modules.alias": "# comment\nalias rdma-link-x a_b\nalias pci:v*d0001* c\n" +
			"alias gone not_in_image\n",
	})
	tree := openModules(dir)
	for _, tt := range []struct {
		name string
		want []string
	}{
		{"a_b", []string{"kernel/d.ko", "kernel/c.ko", "kernel/a-b.ko"}},
		{"a-b", []string{"kernel/d.ko", "kernel/c.ko", "kernel/a-b.ko"}},
		{"d", []string{"kernel/d.ko"}},
		{"rdma-link-x", []string{"kernel/d.ko", "kernel/c.ko", "kernel/a-b.ko"}},
		{"pci:v12d0001s", []string{"kernel/d.ko", "kernel/c.ko"}},
		{"gone", nil},
		{"unknown", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, tree.find(tt.name)); d != "" {
				t.Error(d)
			}
		})
	}
	if got := openModules(filepath.Join(dir, "none")).find("d"); got != nil {
		t.Errorf("an empty tree has %v", got)
	}
}
