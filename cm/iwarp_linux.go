package cm

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// perThread is the signal by which the Go runtime lets each thread make a system call
// that concerns threads, such as setuid. It stops the world until all have.
const perThread = 33

// withoutSignals calls f in a thread that takes no other signal meanwhile. On iWARP
// the connect command opens a TCP connection, a signal cuts that short, and the kernel
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
	const bits = 8 * unsafe.Sizeof(all.Val[0])
	all.Val[(perThread-1)/bits] &^= 1 << ((perThread - 1) % bits)
	if unix.PthreadSigmask(unix.SIG_BLOCK, &all, &old) == nil {
		defer func() { _ = unix.PthreadSigmask(unix.SIG_SETMASK, &old, nil) }()
	}
	return f()
}
