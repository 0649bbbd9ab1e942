//go:build !linux

package uverbs

import (
	"errors"
	"io/fs"
)

func statNode(path string) (nodeInfo, error) {
	return nodeInfo{}, &fs.PathError{Op: "stat", Path: path, Err: errors.ErrUnsupported}
}

func netdevExists(string) bool { return false }
