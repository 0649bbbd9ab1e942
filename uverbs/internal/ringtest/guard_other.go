//go:build !linux

package ringtest

import (
	"testing"
	"unsafe"
)

// Guarded is memory of n bytes, aligned to 8; the guard is on Linux only.
func Guarded(_ testing.TB, n int) []byte {
	words := make([]uint64, n/8+1)
	return unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), len(words)*8)[:n:n]
}
