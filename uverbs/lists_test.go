package uverbs

import (
	"testing"
	"unsafe"
)

// TestListsFollowTheStack: wherever the stack of the caller ends, the list that a driver
// gets is where the requests are, which are on that stack.
func TestListsFollowTheStack(t *testing.T) {
	for depth := range 400 {
		same := make(chan bool)
		go func() { same <- deep(depth) }() // a goroutine begins with a small stack
		if !<-same {
			t.Errorf("at depth %d the lists are elsewhere", depth)
		}
	}
}

//go:noinline
func deep(n int) bool {
	if n > 0 {
		return deep(n-1) && n > 0 // not the last thing done, so that it stays a call
	}
	var sends [1]SendWR
	var recvs [1]RecvWR
	s, r := sendList(sends[:]), recvList(recvs[:])
	return unsafe.Pointer(s.First) == unsafe.Pointer(&sends[0]) && unsafe.Pointer(r.First) == unsafe.Pointer(&recvs[0])
}
