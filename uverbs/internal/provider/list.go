package provider

import "unsafe"

// A List is a slice as the core hands it to a driver: without its capacity, so that
// it passes an interface in two registers, and to be gone through without looking
// whether there are so many elements, so that nothing in what posts and polls can
// panic (CQ, QP).
type List[T any] struct {
	First *T
	N     int // how many there are from First on
}

// ListOf is the list of a slice's elements.
func ListOf[T any](s []T) List[T] { return List[T]{unsafe.SliceData(s), len(s)} }

// After is the element after one that is not the last: a pointer to behind a list
// would be one into other memory, which the garbage collector does not forgive.
func After[T any](p *T) *T {
	return (*T)(unsafe.Add(unsafe.Pointer(p), unsafe.Sizeof(*p)))
}
