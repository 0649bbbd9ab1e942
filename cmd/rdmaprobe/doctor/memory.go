package doctor

import "fmt"

const (
	kib = uint64(1) << 10
	mib = uint64(1) << 20

	// lockMinimum is less than what one connection of most programs registers.
	lockMinimum = mib
)

// lockRemedy says how to lock more. CAP_IPC_LOCK counts in the initial user
// namespace only, and a capability that a container is given is effective for root
// only: Kubernetes and Docker have no ambient ones.
func (m Memory) lockRemedy() string {
	const raise = "raise the limit (ulimit -l unlimited; docker run --ulimit memlock=-1; systemd: LimitMEMLOCK=infinity; " +
		"Kubernetes: in the container runtime's unit)"
	switch {
	case m.UserNamespace == "other":
		return raise + "; CAP_IPC_LOCK (IPC_LOCK in Kubernetes and Docker) counts only without a user namespace (" + noUserNamespace + ")"
	case m.UID != 0:
		return raise + "; or run as root with CAP_IPC_LOCK (docker run --user 0 --cap-add IPC_LOCK; Kubernetes: " +
			"securityContext.runAsUser: 0 and capabilities.add: [IPC_LOCK]): for another user an added capability does nothing"
	}
	return raise + " or grant CAP_IPC_LOCK (docker run --cap-add IPC_LOCK; Kubernetes: securityContext.capabilities.add: [IPC_LOCK])"
}

const noUserNamespace = "Kubernetes: hostUsers: true; docker run --userns host"

// checkMemory compares what may be locked with what is wanted. Registering
// memory pins it, and pinned pages count against RLIMIT_MEMLOCK unless
// CAP_IPC_LOCK is effective in the initial user namespace.
func checkMemory(f *Facts, r *Result) {
	m := f.Memory
	if m.Lock.Known {
		r.Summary = m.summary()
		checkLock(f, r)
	} else {
		r.unknown("limits not known")
	}
	if f.Need == 0 {
		return
	}
	if m.Lock.Known && len(r.Findings) == 0 {
		r.Summary += fmt.Sprintf("; %s fit", Size(f.Need))
	}
	for _, d := range f.Devices {
		if d.Attr != nil && f.Need > d.Attr.MaxMRSize {
			r.find("RP-MEM-005", d.Name, fmt.Sprintf("one region may have %s, %s are needed", Size(d.Attr.MaxMRSize), Size(f.Need)),
				"max_mr_size of the device", "register several regions of at most "+Size(d.Attr.MaxMRSize))
		}
	}
	if have, what := m.available(); have != 0 && f.Need > have {
		remedy := "register less, or free memory"
		if what == memoryCgroup {
			remedy = "register less, free memory, or raise the memory limit of the container"
		}
		r.find("RP-MEM-006", what, fmt.Sprintf("%s are left, %s are needed", Size(have), Size(f.Need)),
			"pinned memory cannot be swapped out", remedy)
	}
}

func checkLock(f *Facts, r *Result) {
	m := f.Memory
	if m.Unbounded() {
		return
	}
	left := m.Lock.Soft - min(m.Pinned, m.Lock.Soft)
	evidence := m.evidence()
	switch {
	case m.Lock.Soft == 0:
		r.find("RP-MEM-001", "RLIMIT_MEMLOCK", "0, so no memory can be registered at all (EPERM)", evidence, m.lockRemedy())
	case f.Need > left:
		r.find("RP-MEM-004", "RLIMIT_MEMLOCK", fmt.Sprintf("%s, with %s pinned; %s more are needed (ENOMEM)", Size(m.Lock.Soft), Size(m.Pinned), Size(f.Need)),
			evidence, m.lockRemedy())
	case m.Lock.Soft < lockMinimum && f.Need == 0:
		r.find("RP-MEM-002", "RLIMIT_MEMLOCK", Size(m.Lock.Soft)+", too small for most programs (ENOMEM)", evidence, m.lockRemedy())
	default:
		return
	}
	if m.IPCLock {
		r.find("RP-MEM-003", "CAP_IPC_LOCK", "effective in this user namespace only; the kernel wants it in the initial one",
			"CapEff has it, and /proc/self/ns/user is not the initial namespace", "raise RLIMIT_MEMLOCK, or start the container without a user namespace ("+noUserNamespace+")")
	}
}

// memoryCgroup is the object of a finding about the limit of a container's memory.
const memoryCgroup = "memory cgroup"

// available returns the least that bounds memory besides the lock limit.
func (m Memory) available() (bytes uint64, what string) {
	bytes, what = m.Available, "memory of the machine"
	if m.CgroupMax != 0 && m.CgroupMax != Unlimited && (bytes == 0 || m.CgroupMax < bytes) {
		bytes, what = m.CgroupMax, memoryCgroup
	}
	return bytes, what
}

func (m Memory) summary() string {
	s := "limit " + Size(m.Lock.Soft)
	if m.Lock.Soft != Unlimited && m.Unbounded() {
		s += ", CAP_IPC_LOCK lifts it"
		if m.UserNamespace == "" {
			s += " unless this is a user namespace of its own, which /proc does not tell"
		}
	}
	return s
}

func (m Memory) evidence() string {
	have := "CAP_IPC_LOCK is not effective"
	if m.IPCLock {
		have = "CAP_IPC_LOCK is effective only in this user namespace"
	}
	return fmt.Sprintf("soft limit %s, hard limit %s, %s pinned by this process; %s", Size(m.Lock.Soft), Size(m.Lock.Hard), Size(m.Pinned), have)
}

// Size prints bytes with a binary unit.
func Size(n uint64) string {
	if n == Unlimited {
		return "unlimited"
	}
	units := []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	v, i := float64(n), 0
	for v >= 1024 && i < len(units)-1 {
		v, i = v/1024, i+1
	}
	if v == float64(uint64(v)) {
		return fmt.Sprintf("%d %s", uint64(v), units[i])
	}
	return fmt.Sprintf("%.1f %s", v, units[i])
}
