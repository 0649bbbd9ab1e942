package ringtest

import "unsafe"

// Bytes is Go heap memory aligned to 8 bytes, so that the race detector watches it.
func Bytes(n int) []byte {
	words := make([]uint64, (n+7)/8)
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), len(words)*8)[:n:n]
}
