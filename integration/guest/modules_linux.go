//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/purerdma/rdma/internal/kernelver"
)

// moduleTree is the part of /lib/modules/VERSION that the image contains.
type moduleTree struct {
	dir     string
	files   map[string]string   // module name → file
	deps    map[string][]string // module name → files it needs, nearest first
	aliases [][2]string         // pattern, module name
}

var errNoModule = errors.New("not in the image")

// runningModules is the tree of the running kernel.
func runningModules() *moduleTree {
	return openModules("/lib/modules/" + kernelver.Release())
}

// openModules reads modules.dep and modules.alias; without them the tree is empty.
func openModules(dir string) *moduleTree {
	t := &moduleTree{dir: dir, files: map[string]string{}, deps: map[string][]string{}}
	text, _ := os.ReadFile(filepath.Join(t.dir, "modules.dep"))
	for line := range strings.Lines(string(text)) {
		file, deps, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		name := moduleName(file)
		t.files[name] = file
		t.deps[name] = strings.Fields(deps)
	}
	text, _ = os.ReadFile(filepath.Join(t.dir, "modules.alias"))
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "alias" {
			t.aliases = append(t.aliases, [2]string{f[1], f[2]})
		}
	}
	return t
}

// moduleName turns a path or a spelling with hyphens into the kernel's name.
func moduleName(s string) string {
	s = strings.TrimSuffix(path.Base(s), ".ko")
	return strings.ReplaceAll(s, "-", "_")
}

// load loads a module, named or by alias, and what it needs.
func (t *moduleTree) load(name string) error {
	files := t.find(name)
	if len(files) == 0 {
		return errNoModule
	}
	for _, file := range files {
		if err := t.insert(file); err != nil {
			return err
		}
	}
	return nil
}

// find returns the files to load for a module, named or by alias, in order.
func (t *moduleTree) find(name string) []string {
	if files := t.withDeps(moduleName(name)); files != nil {
		return files
	}
	var files []string
	for _, a := range t.aliases {
		if ok, _ := path.Match(a[0], name); ok {
			files = append(files, t.withDeps(moduleName(a[1]))...)
		}
	}
	return files
}

func (t *moduleTree) withDeps(name string) []string {
	file, ok := t.files[name]
	if !ok {
		return nil
	}
	files := slices.Clone(t.deps[name])
	slices.Reverse(files)
	return append(files, file)
}

func (t *moduleTree) insert(file string) error {
	f, err := os.Open(filepath.Join(t.dir, file))
	if err != nil {
		return err
	}
	defer f.Close()
	err = unix.FinitModule(int(f.Fd()), "", 0)
	if err != nil && err != unix.EEXIST {
		return fmt.Errorf("load %s: %w", file, err)
	}
	return nil
}

// loadAtBoot loads the modules that the host listed.
func loadAtBoot(list string) error {
	text, err := os.ReadFile(list)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	tree := runningModules()
	for _, name := range strings.Fields(string(text)) {
		if err := tree.load(name); err != nil {
			return fmt.Errorf("module %s: %w", name, err)
		}
	}
	return nil
}

// modprobeMain serves the kernel's request_module: "modprobe -q -- NAME".
func modprobeMain(args []string) int {
	tree := runningModules()
	status := 0
	for _, name := range args {
		if strings.HasPrefix(name, "-") {
			continue
		}
		if err := tree.load(name); err != nil {
			fmt.Fprintf(os.Stderr, "modprobe: %s: %v\n", name, err)
			status = 1
		}
	}
	return status
}
