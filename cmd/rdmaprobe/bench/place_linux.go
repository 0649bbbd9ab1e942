package bench

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// currentCPU is the processor that runs the calling thread, or -1.
func currentCPU() int {
	var cpu uint32
	if _, _, errno := unix.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&cpu)), 0, 0); errno != 0 {
		return unknownCPU
	}
	return int(cpu)
}

// allowedCPUs are those that the calling thread may run on.
func allowedCPUs() (list []int) {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		return nil
	}
	for cpu := 0; cpu < len(set)*64; cpu++ {
		if set.IsSet(cpu) {
			list = append(list, cpu)
		}
	}
	return list
}
