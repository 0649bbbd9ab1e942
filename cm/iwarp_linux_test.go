package cm

import (
	"errors"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// TestWithoutSignals: all that can be blocked are, but for one, and afterwards none is.
func TestWithoutSignals(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	blocked := func(sig unix.Signal) bool {
		var set unix.Sigset_t
		if err := unix.PthreadSigmask(unix.SIG_BLOCK, nil, &set); err != nil {
			t.Fatal(err)
		}
		const bits = 64
		return set.Val[(sig-1)/bits]>>((sig-1)%bits)&1 == 1
	}
	failed := errors.New("as it was told")
	err := withoutSignals(func() error {
		for _, sig := range []unix.Signal{unix.SIGURG, unix.SIGTERM, 64} {
			if !blocked(sig) {
				t.Errorf("%v is not blocked", sig)
			}
		}
		if blocked(perThread) {
			t.Error("a setuid would stop the process")
		}
		return failed
	})
	if err != failed {
		t.Errorf("error %v", err)
	}
	if blocked(unix.SIGURG) || blocked(unix.SIGTERM) {
		t.Error("signals stay blocked")
	}
}
