//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// config is what /vm/conf says.
type config struct {
	setup   string        // "full": modules, addresses, RDMA link; "net": all but the link; "modules"; "none"
	link    string        // kind of the RDMA link: "rxe" or "siw"
	bare    bool          // run the binary in a root that holds nothing else
	cwd     string        // working directory of the binary
	timeout time.Duration // after this the binary is killed; 0: never
	node    int           // index of this guest, from the environment
	nodes   int           // number of guests on the segment

	argv []string
	env  []string
}

func readConfig(dir string) (*config, error) {
	c := &config{setup: "full", link: "rxe", cwd: "/", nodes: 1}
	text, err := os.ReadFile(filepath.Join(dir, "conf"))
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		if err := c.set(key, value); err != nil {
			return nil, fmt.Errorf("/vm/conf: %s=%s: %w", key, value, err)
		}
	}
	// All guests share one RAM disk; their number comes on the kernel's command
	// line, which passes unknown variables to init.
	if node := os.Getenv("RDMA_NODE"); node != "" {
		if err := c.set("node", node); err != nil {
			return nil, fmt.Errorf("RDMA_NODE: %w", err)
		}
	}
	if c.argv, err = readList(filepath.Join(dir, "argv")); err != nil {
		return nil, err
	}
	if len(c.argv) == 0 {
		return nil, fmt.Errorf("/vm/argv names no command")
	}
	if c.env, err = readList(filepath.Join(dir, "env")); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *config) set(key, value string) (err error) {
	switch key {
	case "setup":
		c.setup = value
	case "link":
		c.link = value
	case "bare":
		c.bare, err = strconv.ParseBool(value)
	case "cwd":
		c.cwd = value
	case "timeout":
		var seconds int
		seconds, err = strconv.Atoi(value)
		c.timeout = time.Duration(seconds) * time.Second
	case "node":
		c.node, err = strconv.Atoi(value)
	case "nodes":
		c.nodes, err = strconv.Atoi(value)
	}
	return err
}

// readList reads a file of NUL-terminated strings; a missing file is empty.
func readList(path string) ([]string, error) {
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) || len(text) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00"), nil
}

// searchPath is where the guest looks for commands.
const searchPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// environ is the environment of the binary; later entries win.
func (c *config) environ() []string {
	env := []string{
		"PATH=" + searchPath,
		"HOME=/root", "TMPDIR=/tmp", "TERM=dumb", "USER=root",
		"RDMA_VM=1",
	}
	if c.nodes > 1 {
		env = append(env,
			"RDMA_NODE="+strconv.Itoa(c.node),
			"RDMA_NODES="+strconv.Itoa(c.nodes))
	}
	return append(env, c.env...)
}
