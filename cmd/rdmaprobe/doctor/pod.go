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
	nodes   []string
	lock    bool
	network bool
}

// podFixes says which findings a container's settings mend. The others are
// matters of the host.
var podFixes = map[string]func(*needs, Finding, *Facts){
	"RP-CHR-001": needNode, "RP-CHR-002": needNode, "RP-CHR-004": needNode,
	"RP-MEM-001": needLock, "RP-MEM-002": needLock, "RP-MEM-004": needLock,
	"RP-MEM-003": func(*needs, Finding, *Facts) {}, // comes with one of the others
	"RP-MAP-001": needNetwork, "RP-NNS-001": needNetwork,
}

func needNode(n *needs, found Finding, f *Facts) {
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
}

func needLock(n *needs, _ Finding, _ *Facts)    { n.lock = true }
func needNetwork(n *needs, _ Finding, _ *Facts) { n.network = true }

// PodFor makes the fragment for what a report found.
func PodFor(f *Facts, rep *Report) Pod {
	var n needs
	var pod Pod
	for _, found := range rep.Findings() {
		fix := podFixes[found.ID]
		switch {
		case fix != nil:
			fix(&n, found, f)
		case found.Severity == Error:
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
	if len(n.nodes) == 0 && !n.lock {
		return b.String()
	}
	b.WriteString("spec:\n  containers:\n  - name: NAME\n")
	if len(n.nodes) > 0 {
		b.WriteString("    resources:\n      limits:\n        RESOURCE: 1  # the device plug-in's, such as rdma/hca_shared_devices_a\n")
		for _, node := range n.nodes {
			b.WriteString("        # it must pass " + node + "\n")
		}
	}
	if n.lock {
		b.WriteString("    securityContext:\n      capabilities:\n        add: [IPC_LOCK]\n")
	}
	return b.String()
}

// docker writes the options of docker run.
func (n needs) docker() string {
	var opts []string
	for _, node := range n.nodes {
		opts = append(opts, "--device "+node)
	}
	if n.lock {
		opts = append(opts, "--ulimit memlock=-1")
	}
	if n.network {
		opts = append(opts, "--network host")
	}
	if opts == nil {
		return ""
	}
	return "docker run " + strings.Join(opts, " ") + " IMAGE"
}
