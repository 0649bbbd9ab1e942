package cm

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// withoutSignals calls f in a thread that takes no signals meanwhile. On iWARP the
// connect command opens a TCP connection, a signal cuts that short, and the kernel
// closes the socket and tries once more (kernel_bindconnect of siw). Go sends signals
// to its own threads at any time. The peer, if it is siw, may then take the end of
// the first attempt for the end of its listener: until it has accepted a
// connection, that has the listener's callback (siw_cm_llp_state_change).
func withoutSignals(f func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var all, old unix.Sigset_t
	for i := range all.Val {
		all.Val[i] = ^all.Val[i]
	}
	if unix.PthreadSigmask(unix.SIG_BLOCK, &all, &old) == nil {
		defer func() { _ = unix.PthreadSigmask(unix.SIG_SETMASK, &old, nil) }()
	}
	return f()
}
