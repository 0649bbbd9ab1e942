package abi

import "unsafe"

// Decode copies the start of b into a T and reports whether b held a whole T.
// The rest of a short b is zero in the result, the rest of a long b is ignored,
// which is how the kernel itself treats structs that grew over time.
//
// T must be one of this package's types or an array of them: anything that
// holds a pointer would be filled with what the peer sent.
func Decode[T any](b []byte) (T, bool) {
	var v T
	n := copy(Bytes(&v), b)
	return v, n == int(unsafe.Sizeof(v))
}

// Bytes returns the memory of v as a slice, without a copy. It lives as long as
// v and changes with it. T must be as in Decode.
func Bytes[T any](v *T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(v)), unsafe.Sizeof(*v))
}
