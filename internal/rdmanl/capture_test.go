package rdmanl

import (
	"context"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/purerdma/rdma/abi"
)

// compare decodes the captured answer of a kind of request and compares.
func compare[T any](t *testing.T, answers [][]byte, want T, call func(*Client) (T, error)) {
	t.Helper()
	got, err := call(answering(answers...))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b netip.AddrPort) bool { return a == b })); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCapturedDevice(t *testing.T) {
	for kernel, want := range map[string]Device{
		"5.10": {Name: "rxe0", Ports: 1, CapFlags: 0x2000203c76, NodeType: abi.RDMA_NODE_IB_CA, Protocol: "roce",
			NodeGUID: 0xc8b5c0fffe42424a, SysImageGUID: 0xc8b5c0fffe42424a},
		"7.3": {Name: "rxe0", Ports: 1, CapFlags: 0x1c001223c76, NodeType: abi.RDMA_NODE_IB_CA, Protocol: "roce",
			NodeGUID: 0x9c8ae2fffeabae48, SysImageGUID: 0x9c8ae2fffeabae48},
	} {
		t.Run(kernel, func(t *testing.T) {
			data := captured(t, kernel)
			compare(t, data["device"], want, func(c *Client) (Device, error) { return c.Device(t.Context(), 0) })
			compare(t, data["devices"], []Device{want}, func(c *Client) ([]Device, error) { return c.Devices(t.Context()) })
		})
	}
}

func TestCapturedRest(t *testing.T) {
	type rest struct {
		Chardev, CM CharDev
		System      System
		Resources   map[string]uint64
		CMID        CMID
		QPPort      uint32
	}
	verbs := CharDev{Name: "uverbs0", Major: 231, Minor: 192, ABI: 2, Driver: abi.RDMA_DRIVER_RXE, HasDriver: true}
	for kernel, want := range map[string]rest{
		"5.10": {
			verbs,
			CharDev{Name: "rdma_cm", Major: 10, Minor: 61, ABI: 4},
			System{Shared: true, HasNetnsMode: true},
			map[string]uint64{"pd": 1, "cq": 1, "qp": 1, "cm_id": 1, "mr": 0, "ctx": 0},
			CMID{PortSpace: 0x106, State: 7}, 0,
		},
		"7.3": {
			verbs,
			CharDev{Name: "rdma_cm", Major: 10, Minor: 260, ABI: 4},
			System{Shared: true, HasNetnsMode: true, CopyOnFork: true, Monitor: true},
			map[string]uint64{"pd": 1, "cq": 1, "qp": 1, "cm_id": 1, "mr": 0, "ctx": 0, "srq": 0, "comp_cntr": 0},
			CMID{PortSpace: 0x106, State: 7}, 1,
		},
	} {
		t.Run(kernel, func(t *testing.T) {
			data, ctx := captured(t, kernel), t.Context()
			compare(t, data["port"], Port{Number: 1, State: 4, PhysState: 5, NetdevIndex: 3, Netdev: "v0"},
				func(c *Client) (Port, error) { return c.Port(ctx, 0, 1) })
			compare(t, data["chardev-uverbs"], want.Chardev,
				func(c *Client) (CharDev, error) { return c.CharDev(ctx, 0, CharDevVerbs) })
			compare(t, data["chardev-rdma_cm"], want.CM,
				func(c *Client) (CharDev, error) { return c.CharDev(ctx, NoIndex, CharDevCM) })
			compare(t, data["system"], want.System, func(c *Client) (System, error) { return c.System(ctx) })
			compare(t, data["resources"], want.Resources,
				func(c *Client) (map[string]uint64, error) { return c.Resources(ctx, 0) })
			compare(t, data["qps"], []QP{{Owner: Owner{KernelName: "ib_core"}, Number: 1, Port: want.QPPort, Type: 1, State: 3}},
				func(c *Client) ([]QP, error) { return c.QPs(ctx, 0) })
			capturedCMID(ctx, t, data["cmids"], want.CMID)
		})
	}
}

func capturedCMID(ctx context.Context, t *testing.T, data [][]byte, want CMID) {
	t.Helper()
	ids, err := answering(data...).CMIDs(ctx, 0)
	if err != nil || len(ids) != 1 {
		t.Fatalf("got %v, %v; want one ID", ids, err)
	}
	got := ids[0]
	if got.Source.Addr() != netip.MustParseAddr("10.77.0.1") || got.Source.Port() == 0 || got.Dst.Port() != 0 || got.PID == 0 {
		t.Errorf("got %+v, want source 10.77.0.1 with a port, no destination port and a process", got)
	}
	got.Source, got.Dst, got.Owner = netip.AddrPort{}, netip.AddrPort{}, Owner{}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b netip.AddrPort) bool { return a == b })); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
