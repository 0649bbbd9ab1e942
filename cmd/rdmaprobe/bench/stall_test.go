package bench

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestStalled: a client on which nothing completes ends with a time-out, and large
// messages have more time.
func TestStalled(t *testing.T) {
	small, large := stallLimit(&Params{Size: 4096, CQMod: 100}), stallLimit(&Params{Size: MaxSize, CQMod: 100})
	if small != stallTime || large < time.Hour {
		t.Errorf("limits %v and %v", small, large)
	}
	synctest.Test(t, func(t *testing.T) {
		s := &side{done: make(chan struct{})}
		go s.watchdog(small, stalled{small})
		<-s.done
		var timeout interface{ Timeout() bool }
		if err := s.reason(); !errors.As(err, &timeout) || !timeout.Timeout() {
			t.Errorf("reason %v", err)
		}
	})
}
