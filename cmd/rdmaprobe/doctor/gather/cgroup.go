package gather

import (
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/purerdma/rdma/cmd/rdmaprobe/doctor"
)

// cgroups finds this process's cgroups, as /proc/self/cgroup names them: one
// line for each hierarchy of version 1, one without names for version 2.
func (g *gatherer) cgroups() {
	text := g.text("proc/self/cgroup")
	why := g.cgroupsUnread(text)
	if g.f.CgroupsRead = why == ""; !g.f.CgroupsRead {
		g.unknown("RDMA cgroups: " + why)
	}
	for line := range strings.Lines(text) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		switch names := strings.Split(parts[1], ","); {
		case parts[0] == "0" && parts[1] == "":
			g.rdmaCgroup("sys/fs/cgroup", parts[2])
			g.memoryCgroup(memoryV2, parts[2])
		default:
			if slices.Contains(names, "rdma") {
				g.rdmaCgroup("sys/fs/cgroup/rdma", parts[2])
			}
			if slices.Contains(names, "memory") {
				g.memoryCgroup(memoryV1, parts[2])
			}
		}
	}
}

// initialCgroupNamespace is the number that the kernel gives it
// (PROC_CGROUP_INIT_INO). The root of all cgroups has no limits.
const initialCgroupNamespace = "cgroup:[4026531835]"

// cgroupsUnread says why the limits of the process's cgroups are not known.
func (g *gatherer) cgroupsUnread(own string) string {
	if own == "" {
		return "/proc/self/cgroup cannot be read"
	}
	for _, sign := range []string{"cgroup.controllers", "rdma"} {
		if _, err := os.Stat(g.path("sys/fs/cgroup", sign)); err == nil {
			return ""
		}
	}
	if link, _ := os.Readlink(g.path("proc/self/ns/cgroup")); link == initialCgroupNamespace && own == "0::/" {
		return ""
	}
	return "no cgroup file system is mounted in /sys/fs/cgroup"
}

// upwards lists a cgroup and those above it: each of them counts. In a
// container the path may be as the host sees it, and only the root is there.
func upwards(name string) []string {
	out := []string{}
	for name = path.Clean("/" + name); name != "/"; name = path.Dir(name) {
		out = append(out, name)
	}
	return append(out, "/")
}

func (g *gatherer) rdmaCgroup(mount, name string) {
	for _, c := range upwards(name) {
		limits := parseRDMA(g.text(mount, c, "rdma.max"))
		used := parseRDMA(g.text(mount, c, "rdma.current"))
		for _, l := range limits {
			c := doctor.Cgroup{Path: c, Device: l.device, Resource: l.resource, Max: l.value}
			for _, u := range used {
				if u.device == l.device && u.resource == l.resource {
					c.Used = u.value
				}
			}
			g.f.Cgroups = append(g.f.Cgroups, c)
		}
	}
}

type rdmaValue struct {
	device, resource string
	value            uint64
}

// parseRDMA reads lines such as "rxe0 hca_handle=2 hca_object=max".
func parseRDMA(text string) (out []rdmaValue) {
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		for i := 1; i < len(fields); i++ {
			name, value, _ := strings.Cut(fields[i], "=")
			v, err := strconv.ParseUint(value, 10, 64)
			if value == "max" {
				v, err = doctor.Unlimited, nil
			}
			if err == nil {
				out = append(out, rdmaValue{fields[0], name, v})
			}
		}
	}
	return out
}

// memoryFiles are the names by which a memory cgroup tells its limit, its use, and in
// memory.stat how much of that is page cache, and how much of that tmpfs and shared
// memory. The latter the kernel can only swap out.
type memoryFiles struct{ mount, limit, used, cache, shmem string }

var (
	memoryV1 = memoryFiles{"sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_cache", "total_shmem"}
	memoryV2 = memoryFiles{"sys/fs/cgroup", "memory.max", "memory.current", "file", "shmem"}
)

// noLimit is what version 1 has more of where there is no limit (PAGE_COUNTER_MAX in
// bytes, a page less than 1<<63); version 2 says "max".
const noLimit = 1 << 62

// memoryCgroup finds the least that the memory cgroups leave.
func (g *gatherer) memoryCgroup(names memoryFiles, own string) {
	for _, c := range upwards(own) {
		limit, err := strconv.ParseUint(g.text(names.mount, c, names.limit), 10, 64)
		if err != nil || limit > noLimit {
			continue
		}
		used, _ := strconv.ParseUint(g.text(names.mount, c, names.used), 10, 64) // 0 at worst
		cache := g.memoryStat(names, c, names.cache)
		used -= min(used, cache-min(cache, g.memoryStat(names, c, names.shmem)))
		left := limit - min(used, limit)
		if g.f.Memory.CgroupMax == 0 || left < g.f.Memory.CgroupMax {
			g.f.Memory.CgroupMax = max(left, 1) // 0 means not known
		}
	}
}

// memoryStat reads one line of memory.stat; 0 without it.
func (g *gatherer) memoryStat(names memoryFiles, cgroup, key string) uint64 {
	for line := range strings.Lines(g.text(names.mount, cgroup, "memory.stat")) {
		if rest, ok := strings.CutPrefix(line, key+" "); ok {
			n, _ := strconv.ParseUint(strings.TrimSpace(rest), 10, 64) // 0 at worst
			return n
		}
	}
	return 0
}

// available reads how much memory the machine can give.
func (g *gatherer) available() uint64 {
	b, _ := os.ReadFile(g.path("proc/meminfo")) // absent: not known
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "MemAvailable:"); ok {
			kib, _ := strconv.ParseUint(strings.Fields(rest + " 0")[0], 10, 64)
			return kib << 10
		}
	}
	return 0
}
