package uverbs

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// initialUserNamespace has the number PROC_USER_INIT_INO.
const initialUserNamespace = "user:[4026531837]"

// processLimits reads what bounds pinned memory. What cannot be read stays
// zero; the result only goes into a message.
func processLimits() limits {
	var r unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_MEMLOCK, &r); err != nil {
		return limits{}
	}
	l := limits{known: true, memlock: r.Cur}
	namespace, _ := os.Readlink("/proc/self/ns/user")
	l.initial = namespace == initialUserNamespace
	// Capabilities belong to a thread; /proc/self tells those of the first one.
	status, _ := os.ReadFile("/proc/thread-self/status")
	for line := range strings.Lines(string(status)) {
		key, value, _ := strings.Cut(line, ":")
		fields := strings.Fields(value)
		if len(fields) == 0 {
			continue
		}
		switch key {
		case "VmPin":
			kib, _ := strconv.ParseUint(fields[0], 10, 64)
			l.pinned = kib << 10
		case "CapEff":
			caps, _ := strconv.ParseUint(fields[0], 16, 64)
			l.ipcLock = caps&(1<<unix.CAP_IPC_LOCK) != 0
		}
	}
	return l
}
