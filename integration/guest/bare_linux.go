//go:build linux

package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// makeBareRoot builds a root that holds the binary, /dev, /proc and /sys only,
// and returns the path of the binary inside it.
func makeBareRoot(root, binary string) (string, error) {
	if err := os.MkdirAll(root, 0o755); err != nil {
		return "", err
	}
	if err := unix.Mount("tmpfs", root, "tmpfs", 0, "mode=755"); err != nil {
		return "", fmt.Errorf("mount tmpfs on %s: %w", root, err)
	}
	for _, dir := range []string{"/dev", "/proc", "/sys"} {
		if err := os.Mkdir(root+dir, 0o755); err != nil {
			return "", err
		}
		if err := unix.Mount(dir, root+dir, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
			return "", fmt.Errorf("bind %s: %w", dir, err)
		}
	}
	name := "/" + filepath.Base(binary)
	from, err := os.Open(binary)
	if err != nil {
		return "", err
	}
	defer from.Close()
	to, err := os.OpenFile(root+name, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o755)
	if err != nil {
		return "", err
	}
	if _, err := io.Copy(to, from); err != nil {
		to.Close()
		return "", err
	}
	return name, to.Close()
}
