package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs"
)

// TestListNoDataPath: a device whose driver has no data path here is a device, for list
// as for doctor.
func TestListNoDataPath(t *testing.T) {
	w := rxeWorld()
	w.diag.Devices, w.diag.Findings = w.diag.Devices[:1], nil
	w.diag.Devices[0].DriverID = abi.RDMA_DRIVER_MLX5
	w.diag.Usability = []uverbs.Usability{{State: uverbs.NoDataPath, Reason: "no data path for driver mlx5", Err: uverbs.ErrNoProvider}}
	r := w.command(t, "list")
	wantCode(t, r, exitOK)
	if !strings.Contains(r.stdout, string(uverbs.NoDataPath)) {
		t.Errorf("output:\n%s", r.both())
	}
	r = w.command(t, "list", "--json")
	var d listDoc
	if err := json.Unmarshal([]byte(r.stdout), &d); err != nil {
		t.Fatal(err)
	}
	if d.Error != nil || d.Devices[0].Usable || !strings.Contains(d.Devices[0].Reason, "no data path") {
		t.Errorf("document %+v", d)
	}
	wantCode(t, w.command(t, "doctor"), exitOK)

	// One that may not be opened stays what it is.
	w.diag.Usability[0] = uverbs.Usability{State: uverbs.NoCharDevice, Reason: "missing"}
	wantCode(t, w.command(t, "list"), exitNoDevice)
	w.diag.Devices, w.diag.Usability = append(w.diag.Devices, rxeDevice(1, "eth1")),
		append(slices.Clone(w.diag.Usability), uverbs.Usability{State: uverbs.NoDataPath, Err: uverbs.ErrNoProvider})
	wantCode(t, w.command(t, "list"), exitOK)
}
