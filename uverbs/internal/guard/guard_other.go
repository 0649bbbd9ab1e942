//go:build !linux

package guard

import (
	"testing"
	"unsafe"
)

// Bytes is memory of n bytes, aligned to 8; the guard is on Linux only.
func Bytes(_ testing.TB, n int) []byte {
	words := make([]uint64, n/8+1)
	return unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), len(words)*8)[:n:n]
}
