package holders

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// A Process is what /proc tells of one. Fields are empty when it does not, or
// may not.
type Process struct {
	PID     int // 0 for the kernel, and for processes that are not visible
	Command string
	Cgroup  string // path in the unified hierarchy, or else of the first controller

	// Pod and Container are the IDs in the names of cgroups that Kubernetes,
	// Docker or podman make.
	Pod, Container string

	// Host is the host name of the container the process is in, which
	// Kubernetes sets to the pod's name; only for processes of a container.
	Host string
}

// Proc reads a proc file system.
type Proc struct{ Root string }

// maxFile bounds what is read of a file that a process may have influenced.
const maxFile = 64 << 10

// Process reads what is known of a process.
func (p Proc) Process(pid int) Process {
	dir := filepath.Join(p.Root, strconv.Itoa(pid))
	out := Process{PID: pid, Command: firstLine(readFile(filepath.Join(dir, "comm")))}
	out.Cgroup = cgroupPath(readFile(filepath.Join(dir, "cgroup")))
	out.Pod, out.Container = podOf(out.Cgroup)
	if out.Container != "" {
		out.Host = p.hostname(dir)
	}
	return out
}

// Leader returns the process that a thread belongs to; the thread itself when
// /proc does not tell.
func (p Proc) Leader(thread int) int {
	for line := range strings.Lines(readFile(filepath.Join(p.Root, strconv.Itoa(thread), "status"))) {
		if text, ok := strings.CutPrefix(line, "Tgid:"); ok {
			if pid, err := strconv.Atoi(strings.TrimSpace(text)); err == nil && pid > 0 {
				return pid
			}
		}
	}
	return thread
}

func readFile(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	b := make([]byte, maxFile)
	n, _ := f.Read(b) // files of /proc come whole
	return string(b[:n])
}

// firstLine takes the first line as it is: who prints it has to make it fit for that.
func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return strings.TrimSpace(s)
}

// cgroupPath chooses among the lines of /proc/PID/cgroup: "0::/path" of
// version 2, else the first of version 1 that is not the root.
func cgroupPath(text string) string {
	best := ""
	for line := range strings.Lines(text) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		path := firstLine(parts[2])
		if parts[0] == "0" && path != "/" {
			return path
		}
		if best == "" || best == "/" {
			best = path
		}
	}
	return best
}

var (
	podName       = regexp.MustCompile(`pod([0-9a-f]{8}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{12}|[0-9a-f]{32})`)
	containerName = regexp.MustCompile(`(?:^|[/:-])([0-9a-f]{64})(?:\.scope)?(?:/|$)`)
)

// podOf finds a pod's UID and a container's ID in a cgroup's path: systemd's
// names have underscores for hyphens and a prefix of the runtime.
func podOf(cgroup string) (pod, container string) {
	if m := podName.FindStringSubmatch(cgroup); m != nil {
		pod = strings.ReplaceAll(m[1], "_", "-")
	}
	if m := containerName.FindStringSubmatch(cgroup); m != nil {
		container = m[1]
	}
	return pod, container
}
