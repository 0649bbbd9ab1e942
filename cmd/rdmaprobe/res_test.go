package main

import (
	"context"
	"fmt"
	"net/netip"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/purerdma/rdma/cmd/rdmaprobe/holders"
	"github.com/purerdma/rdma/uverbs"
)

// listHolders is a machine with a server, a pod, the kernel, and something
// in another PID namespace.
func (w *world) listHolders(context.Context) ([]holders.Device, error) {
	if len(w.diag.Devices) == 0 {
		return nil, fmt.Errorf("RDMA netlink socket: %w", syscall.EPROTONOSUPPORT)
	}
	pod := holders.Process{PID: 4711, Command: "train", Pod: "11111111-2222-3333-4444-555555555555", Host: "train-0",
		Container: strings.Repeat("ab", 32), Cgroup: "/kubepods.slice/x"}
	return []holders.Device{
		{Index: 0, Name: "rxe0", Unknown: []string{"srq"}, Totals: map[string]uint64{"pd": 4, "cq": 4, "qp": 4, "cm_id": 2, "mr": 9, "ctx": 2},
			Holders: []holders.Holder{
				{Kernel: "ib_core", PDs: 1, CQs: 1, QPs: 1, Queues: []holders.QP{{Number: 1, Type: "GSI", State: "RTS"}}},
				{Process: holders.Process{PID: 812, Command: "rping", Cgroup: "/a/very/long/path/of/control/groups/that/does/not/fit/into/the/line/rping.service"},
					Contexts: 1, PDs: 1, CQs: 1, QPs: 1, MRs: 4, CMIDs: 2, Memory: 4096,
					Queues: []holders.QP{{Number: 0x11, Remote: 0x12, Port: 1, Type: "RC", State: "RTS"}},
					IDs: []holders.CMID{{State: "LISTEN", PortSpace: "TCP", Source: netip.MustParseAddrPort("10.0.0.1:7174")},
						{State: "CONNECT", PortSpace: "TCP", Source: netip.MustParseAddrPort("10.0.0.1:7174"),
							Dest: netip.MustParseAddrPort("10.0.0.2:40000"), QPNum: 0x11}}},
				{Process: pod, Contexts: 1, PDs: 2, CQs: 2, QPs: 2, MRs: 2, Memory: 3 << 30},
			}},
		{Index: 1, Name: "rxe1", Totals: map[string]uint64{"pd": 1}, Unknown: []string{}},
	}, nil
}

func TestRes(t *testing.T) {
	for _, tt := range []struct {
		name, args string
		code       int
	}{
		{"all", "", exitOK},
		{"verbose", "-v --device rxe0", exitOK},
		{"pid", "--pid 4711", exitOK},
		{"nobody", "--pid 1", exitOK},
		{"no-device", "--device bogus", exitNoDevice},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := rxeWorld().command(t, strings.Fields("res "+tt.args)...)
			wantCode(t, r, tt.code)
			wantNarrow(t, r)
			golden(t, filepath.Join("testdata", "res-"+tt.name+".txt"), r.both())
		})
	}
	r := emptyWorld().command(t, "res")
	wantCode(t, r, exitNoDevice)
	golden(t, "testdata/res-none.txt", r.both())
	wantCode(t, rxeWorld().command(t, "res", "--pid", "-1"), exitUsage)
}

// TestResSandbox: in a sandbox the netlink of RDMA is missing, and not RDMA.
func TestResSandbox(t *testing.T) {
	w := rxeWorld()
	w.diag.Findings = append(w.diag.Findings, uverbs.Finding{ID: "RP-NET-001", Object: "RDMA netlink",
		Problem: "EPROTONOSUPPORT, although the kernel has RDMA: this looks like a sandbox", Remedy: "allow NETLINK_RDMA"})
	sys := w.system()
	sys.holders = func(context.Context) ([]holders.Device, error) { return nil, syscall.EPROTONOSUPPORT }
	var stdout, stderr strings.Builder
	code := runOn(t.Context(), sys, []string{"res"}, &stdout, &stderr)
	if code != exitPermission || !strings.Contains(stderr.String(), "this looks like a sandbox") || !strings.Contains(stderr.String(), "allow NETLINK_RDMA") {
		t.Errorf("exit code %d\n%s", code, stderr.String())
	}
}

func TestFormatBytes(t *testing.T) {
	for n, want := range map[uint64]string{0: "0 B", 1023: "1023 B", 1024: "1 KiB", 1536: "1.5 KiB", 3 << 30: "3 GiB", 1 << 60: "1048576 TiB"} {
		if got := formatBytes(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
