package cm

import "sync/atomic"

// MemoryUse is how many bytes of memory the connection level holds in this
// process for devices: message buffers and regions.
type MemoryUse struct {
	// Pinned is registered with a device and so locked in RAM, as whole pages;
	// it counts against RLIMIT_MEMLOCK. It is memory of connections that live
	// and of PDs that are open.
	Pinned int64

	// Left is memory that no device knows any more, of connections and PDs that
	// have ended, which is mapped still because the program has not given it
	// back: regions without Close, and message buffers of which a message is
	// without Release. It is not locked in RAM. A number that only grows is a
	// leak of the program.
	Left int64
}

// ReadMemoryUse returns what is in use now. It takes no lock and makes no
// system call.
func ReadMemoryUse() MemoryUse {
	return MemoryUse{Pinned: usage.pinned.Load(), Left: usage.left.Load()}
}

var usage struct{ pinned, left atomic.Int64 }
