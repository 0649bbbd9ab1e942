package main

import (
	"strings"
	"testing"

	"github.com/purerdma/rdma/uverbs"
)

func (w *world) seeABI(diag *uverbs.Diagnosis) *abiDoc {
	doc := &abiDoc{Netlink: "ok", NetnsMode: "shared", CopyOnFork: true, CM: "usable", Devices: []deviceABISee{}}
	if len(diag.Devices) == 0 {
		return &abiDoc{Netlink: "protocol not supported", CM: "no char device", Devices: []deviceABISee{}}
	}
	doc.Devices = append(doc.Devices, deviceABISee{Name: "rxe0", State: "opened", Interface: "ioctl", Provider: "rxe"},
		deviceABISee{Name: "rxe1", State: "open /dev/infiniband/uverbs1: no such file or directory"},
		deviceABISee{Name: "mlx5_0", State: "opened", Interface: "write", Reason: "driver mlx5 (id 8): no user-space data path for this driver in this module"})
	return doc
}

// TestVersionABI shows the part that asking adds: the rest is of the build.
func TestVersionABI(t *testing.T) {
	r := rxeWorld().command(t, "version", "--abi")
	wantCode(t, r, exitOK)
	wantNarrow(t, r)
	_, asked, ok := strings.Cut(r.stdout, "\n\n")
	if !ok {
		t.Fatalf("output:\n%s", r.stdout)
	}
	golden(t, "testdata/version-abi.txt", asked)
	for _, w := range []*world{rxeWorld(), emptyWorld()} {
		r := w.command(t, "version", "--abi", "--json")
		wantCode(t, r, exitOK)
		validate(t, "version", []byte(r.stdout))
	}
}
