//go:build !linux

package kernelver

// Release is empty: this is not Linux.
func Release() string { return "" }
