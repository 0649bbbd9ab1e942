//go:build !linux

package bench

func hugePages([]byte) {}
