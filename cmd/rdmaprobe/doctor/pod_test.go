package doctor

import (
	"io/fs"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/purerdma/rdma/uverbs"
)

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
