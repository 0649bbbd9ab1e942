package doctor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/purerdma/rdma/uverbs"
)

// Pod is the least that a container lacks, in the words of Kubernetes and of
// Docker. Both are empty when nothing that a container can be given would help.
type Pod struct {
	Kubernetes string
	Docker     string
	// Host is what only the host can mend.
	Host []string
}

// needs is what a container lacks.
type needs struct {
	nodes     []string
	memlock   bool // to lock more memory, by one of:
	lock      bool // CAP_IPC_LOCK
	root      bool // or the capability does nothing
	hostUsers bool // or it does not count
	network   bool
	memory    uint64 // bytes more than the container's limit leaves
}

// podFixes says which findings a container's settings mend, and adds what it takes;
// false says that this one is a matter of the host, as those of other ids are.
var podFixes = map[string]func(*needs, Finding, *Facts) bool{
	"RP-CHR-001": needNode, "RP-CHR-002": needNode, "RP-CHR-004": needNode,
	"RP-MEM-001": needLock, "RP-MEM-002": needLock, "RP-MEM-004": needLock,
	"RP-MEM-003": func(*needs, Finding, *Facts) bool { return true }, // comes with one of the others
	"RP-MEM-006": needMemory,
	"RP-MAP-001": needNetwork, "RP-NNS-001": needNetwork,
}

func needNode(n *needs, found Finding, f *Facts) bool {
	add := func(c uverbs.CharDev) {
		if c.Exists() && !slices.Contains(n.nodes, c.Path) {
			n.nodes = append(n.nodes, c.Path)
		}
	}
	if found.Object == "rdma_cm" {
		add(f.Diagnosis.CM)
	}
	for _, d := range f.Devices {
		if d.Name == found.Object {
			add(d.CharDev)
		}
	}
	return true
}

func needLock(n *needs, _ Finding, f *Facts) bool {
	m := f.Memory
	n.hostUsers = m.UserNamespace == "other"
	n.lock, n.root = !m.IPCLock, !m.IPCLock && m.UID != 0
	n.memlock = true
	return true
}

func needNetwork(n *needs, _ Finding, _ *Facts) bool { n.network = true; return true }

// needMemory: the limit of a container is its own, the memory of the machine is not.
func needMemory(n *needs, found Finding, f *Facts) bool {
	left, _ := f.Memory.available()
	if found.Object != memoryCgroup {
		return false
	}
	n.memory = f.Need - left
	return true
}

// PodFor makes the fragment for what a report found.
func PodFor(f *Facts, rep *Report) Pod {
	var n needs
	var pod Pod
	for _, found := range rep.Findings() {
		fix := podFixes[found.ID]
		if fix != nil && fix(&n, found, f) {
			continue
		}
		if found.Severity == Error {
			pod.Host = append(pod.Host, fmt.Sprintf("%s %s: %s", found.ID, found.Object, found.Remedy))
		}
	}
	slices.Sort(n.nodes)
	pod.Kubernetes, pod.Docker = n.kubernetes(), n.docker()
	return pod
}

// kubernetes writes the part of a pod's manifest. A device needs a plug-in that
// offers it: mounting the file alone does not pass the device cgroup.
func (n needs) kubernetes() string {
	var b strings.Builder
	if n.network {
		b.WriteString("metadata:\n  annotations:\n    k8s.v1.cni.cncf.io/networks: NETWORK  # a secondary network on the RDMA interface\n")
	}
	if n.hostUsers || n.inContainer() {
		b.WriteString("spec:\n")
	}
	if n.hostUsers {
		b.WriteString("  hostUsers: true  # in a user namespace CAP_IPC_LOCK does not count\n")
	}
	if n.inContainer() {
		n.container(&b)
	}
	return b.String()
}

// inContainer tells whether a container of the pod lacks something, and not only the
// pod.
func (n needs) inContainer() bool { return len(n.nodes) > 0 || n.memory != 0 || n.lock }

func (n needs) container(b *strings.Builder) {
	b.WriteString("  containers:\n  - name: NAME\n")
	if len(n.nodes) > 0 || n.memory != 0 {
		b.WriteString("    resources:\n      limits:\n")
	}
	if n.memory != 0 {
		fmt.Fprintf(b, "        memory: LIMIT  # %s more than now\n", Size(n.memory))
	}
	if len(n.nodes) > 0 {
		b.WriteString("        RESOURCE: 1  # the device plug-in's, such as rdma/hca_shared_devices_a\n")
		for _, node := range n.nodes {
			b.WriteString("        # it must pass " + node + "\n")
		}
	}
	if n.lock {
		b.WriteString("    securityContext:\n")
		if n.root {
			b.WriteString("      runAsUser: 0  # for another user an added capability does nothing; without it: LimitMEMLOCK in the runtime's unit\n")
		}
		b.WriteString("      capabilities:\n        add: [IPC_LOCK]\n")
	}
}

// docker writes the options of docker run.
func (n needs) docker() string {
	var opts []string
	for _, node := range n.nodes {
		opts = append(opts, "--device "+node)
	}
	if n.memlock {
		opts = append(opts, "--ulimit memlock=-1")
	}
	if n.memory != 0 {
		opts = append(opts, "--memory LIMIT")
	}
	if n.network {
		opts = append(opts, "--network host")
	}
	if opts == nil {
		return ""
	}
	return "docker run " + strings.Join(opts, " ") + " IMAGE"
}
