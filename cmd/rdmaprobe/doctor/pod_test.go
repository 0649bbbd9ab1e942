package doctor

import (
	"io/fs"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/purerdma/rdma/uverbs"
)

// TestPodFixes: what a container can be given for each finding that it can mend, and
// that the host mends the other errors.
func TestPodFixes(t *testing.T) {
	node, lock, network := "--device /dev/infiniband/uverbs0", "--ulimit memlock=-1", "--network host"
	fixes := map[string]string{
		"RP-CHR-001": node, "RP-CHR-002": node, "RP-CHR-004": node, "RP-MEM-001": lock, "RP-MEM-002": lock, "RP-MEM-003": "", "RP-MEM-004": lock,
		"RP-MAP-001": network, "RP-NNS-001": network,
	}
	for _, rule := range Rules {
		var rep Report
		rep.Results = []Result{{Findings: []Finding{{ID: rule.ID, Severity: rule.Severity, Object: "rxe0", Remedy: "mend it"}}}}
		want := Pod{}
		if fix, ok := fixes[rule.ID]; ok && fix != "" {
			want.Docker = "docker run " + fix + " IMAGE"
		} else if !ok && rule.Severity == Error {
			want.Host = []string{rule.ID + " rxe0: mend it"}
		}
		got := PodFor(healthy(), &rep)
		got.Kubernetes = ""
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", rule.ID, diff)
		}
	}
}

func TestPod(t *testing.T) {
	missing := uverbs.Usability{State: uverbs.NoCharDevice, Err: fs.ErrNotExist}
	for _, tt := range []struct {
		name  string
		plant func(*Facts)
		want  Pod
	}{
		{"nothing missing", func(*Facts) {}, Pod{}},
		{"devices", func(f *Facts) { setUsability(f, missing); f.Diagnosis.CMUsability = missing }, Pod{
			Kubernetes: `spec:
  containers:
  - name: NAME
    resources:
      limits:
        RESOURCE: 1  # the device plug-in's, such as rdma/hca_shared_devices_a
        # it must pass /dev/infiniband/rdma_cm
        # it must pass /dev/infiniband/uverbs0
`, Docker: "docker run --device /dev/infiniband/rdma_cm --device /dev/infiniband/uverbs0 IMAGE"}},
		{"device cgroup", func(f *Facts) { setUsability(f, uverbs.Usability{State: uverbs.DeniedCgroup, Err: syscall.EPERM}) }, Pod{
			Kubernetes: `spec:
  containers:
  - name: NAME
    resources:
      limits:
        RESOURCE: 1  # the device plug-in's, such as rdma/hca_shared_devices_a
        # it must pass /dev/infiniband/uverbs0
`, Docker: "docker run --device /dev/infiniband/uverbs0 IMAGE"}},
		{"memory", lockLimit(64 * kib), Pod{
			Kubernetes: `spec:
  containers:
  - name: NAME
    securityContext:
      capabilities:
        add: [IPC_LOCK]
`, Docker: "docker run --ulimit memlock=-1 IMAGE"}},
		{"memory, not as root", func(f *Facts) { lockLimit(64 * kib)(f); f.Memory.UID = 1000 }, Pod{
			Kubernetes: `spec:
  containers:
  - name: NAME
    securityContext:
      runAsUser: 0  # for another user an added capability does nothing; without it: LimitMEMLOCK in the runtime's unit
      capabilities:
        add: [IPC_LOCK]
`, Docker: "docker run --ulimit memlock=-1 IMAGE"}},
		{"memory, user namespace", func(f *Facts) { lockLimit(64 * kib)(f); f.Memory.UserNamespace = "other" }, Pod{
			Kubernetes: `spec:
  hostUsers: true  # in a user namespace CAP_IPC_LOCK does not count
  containers:
  - name: NAME
    securityContext:
      capabilities:
        add: [IPC_LOCK]
`, Docker: "docker run --ulimit memlock=-1 IMAGE"}},
		{"memory, capability in a user namespace", func(f *Facts) {
			lockLimit(64 * kib)(f)
			f.Memory.IPCLock, f.Memory.UserNamespace = true, "other"
		}, Pod{
			Kubernetes: `spec:
  hostUsers: true  # in a user namespace CAP_IPC_LOCK does not count
`, Docker: "docker run --ulimit memlock=-1 IMAGE"}},
		{"limit of the container", func(f *Facts) { f.Need, f.Memory.CgroupMax = 300*mib, 100*mib }, Pod{
			Kubernetes: `spec:
  containers:
  - name: NAME
    resources:
      limits:
        memory: LIMIT  # 200 MiB more than now
`, Docker: "docker run --memory LIMIT IMAGE"}},
		{"memory of the machine", func(f *Facts) { f.Need = 500 * mib }, Pod{
			Host: []string{"RP-MEM-006 memory of the machine: register less, or free memory"}}},
		{"network", func(f *Facts) { f.Netdevs = f.Netdevs[:1]; f.setGIDs("10.77.0.1") }, Pod{
			Kubernetes: `metadata:
  annotations:
    k8s.v1.cni.cncf.io/networks: NETWORK  # a secondary network on the RDMA interface
`, Docker: "docker run --network host IMAGE"}},
		{"a matter of the host", func(f *Facts) {
			noDevices(f)
			find(f, "RP-DEV-001", "RDMA device", "this machine has none", "load a driver")
		}, Pod{Host: []string{"RP-DEV-001 RDMA device: load a driver"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := healthy()
			tt.plant(f)
			if diff := cmp.Diff(tt.want, PodFor(f, Run(f))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
