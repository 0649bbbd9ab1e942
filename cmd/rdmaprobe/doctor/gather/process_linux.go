package gather

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/purerdma/rdma/cmd/rdmaprobe/doctor"
	"github.com/purerdma/rdma/internal/devfile"
)

// initialUserNamespace is the number that the kernel gives it
// (PROC_USER_INIT_INO).
const initialUserNamespace = "user:[4026531837]"

// process finds out what this process may do. The limits and capabilities come
// from system calls, which work without procfs.
func (g *gatherer) process() {
	g.socket()
	m := &g.f.Memory
	m.Lock = g.limit(unix.RLIMIT_MEMLOCK)
	g.f.Files = g.limit(unix.RLIMIT_NOFILE)
	m.Available = g.available()
	hdr := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&hdr, &data[0]); err != nil {
		g.unknown("capabilities: " + err.Error())
	}
	m.UID = os.Geteuid()
	m.IPCLock = data[0].Effective&(1<<unix.CAP_IPC_LOCK) != 0
	if link, err := os.Readlink(g.path("proc/self/ns/user")); err == nil {
		m.UserNamespace = "other"
		if link == initialUserNamespace {
			m.UserNamespace = "initial"
		}
	} else {
		g.unknown("user namespace: " + err.Error())
	}
	for line := range strings.Lines(g.text("proc/self/status")) {
		if rest, ok := strings.CutPrefix(line, "VmPin:"); ok {
			kib, _ := strconv.ParseUint(strings.Fields(rest + " 0")[0], 10, 64)
			m.Pinned = kib << 10
		}
	}
}

func (g *gatherer) limit(which int) doctor.Limit {
	var r unix.Rlimit
	if err := unix.Getrlimit(which, &r); err != nil {
		g.unknown("resource limits: " + err.Error())
		return doctor.Limit{}
	}
	return doctor.Limit{Known: true, Soft: r.Cur, Hard: r.Max}
}

// rocePort is the UDP port of RoCE v2, as /proc/net/udp prints it.
const rocePort = ":12B7"

// socket looks for soft-RoCE's socket, which the kernel opens for itself.
func (g *gatherer) socket() {
	for _, name := range []string{"udp", "udp6"} {
		b, err := os.ReadFile(g.path("proc/self/net", name))
		if err != nil {
			continue
		}
		g.f.RoCESocket.Known = true
		for line := range strings.Lines(string(b)) {
			if f := strings.Fields(line); len(f) > 1 && strings.HasSuffix(f[1], rocePort) {
				g.f.RoCESocket.Open = true
			}
		}
	}
}

// HearsRoCE reports whether soft-RoCE has a socket in this network namespace, or
// whether that is not known.
func HearsRoCE() bool {
	g := &gatherer{f: &doctor.Facts{}}
	g.socket()
	return !g.f.RoCESocket.Known || g.f.RoCESocket.Open
}

// nodes lists the verbs nodes, and opens those that no device is known for.
func (g *gatherer) nodes() {
	entries, _ := os.ReadDir(g.path("dev/infiniband")) // absent: no nodes
	for _, e := range entries {
		path := g.path("dev/infiniband", e.Name())
		var st unix.Stat_t
		if !strings.HasPrefix(e.Name(), "uverbs") || unix.Stat(path, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFCHR {
			continue
		}
		n := doctor.Node{Path: path, Major: unix.Major(st.Rdev), Minor: unix.Minor(st.Rdev)}
		n.Stale = !g.ofDevice(n) && opensStale(path)
		g.f.Nodes = append(g.f.Nodes, n)
	}
}

func (g *gatherer) ofDevice(n doctor.Node) bool {
	for _, d := range g.f.Diagnosis.Devices {
		if d.CharDev.Major == n.Major && d.CharDev.Minor == n.Minor {
			return true
		}
	}
	return false
}

// opensStale reports whether opening fails because there is no device: ENXIO
// from ib_uverbs_open or, without anybody for the major number, from the
// kernel's file layer.
func opensStale(path string) bool {
	f, err := devfile.Open(nil, path)
	if err == nil {
		_ = f.Close() // nothing was done with it
		return false
	}
	return errors.Is(err, syscall.ENXIO) || errors.Is(err, syscall.ENODEV)
}
