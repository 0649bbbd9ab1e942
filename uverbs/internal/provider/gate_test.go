package provider

import (
	"sync"
	"testing"
	"time"
)

// TestGate: many take the lock in turn, also when one of them has it for long.
func TestGate(t *testing.T) {
	var g Gate
	var wg sync.WaitGroup
	const each = 2000
	n := 0 // the race detector looks at it too
	for range 4 {
		wg.Go(func() {
			for i := range each {
				g.Lock()
				n++
				if i == each/2 {
					time.Sleep(time.Millisecond)
				}
				g.Unlock()
			}
		})
	}
	wg.Wait()
	if n != 4*each {
		t.Errorf("%d, want %d", n, 4*each)
	}
}
