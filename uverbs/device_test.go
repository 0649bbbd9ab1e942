package uverbs

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/rdmanl"
)

// wantRXE is rxe0 as both sources show it, but for what only one of them knows.
func wantRXE(h *host) *Device {
	return &Device{
		Index: 3, Name: "rxe0", NodeGUID: 0x505400fffe123456, SysImageGUID: 0x505400fffe123456,
		NodeType: NodeCA, Protocol: ProtocolRoCE, DriverID: abi.RDMA_DRIVER_RXE, Source: "netlink",
		Ports: []PortInfo{{Number: 1, State: PortActive, Phys: PhysLinkUp, LinkLayer: LinkEthernet,
			Netdev: "v0", NetdevIndex: 7, NetdevMTU: 1500, SpeedMbps: 2500, Width: 1}},
		CharDev: CharDev{Name: "uverbs0", Path: filepath.Join(h.root, "dev/infiniband/uverbs0"),
			Major: 231, Minor: 192, ABIVersion: 2},
	}
}

var ignoreHost = cmpopts.IgnoreUnexported(Device{})

func TestDevicesNetlink(t *testing.T) {
	h := fakeHost(t, rxeNetlink(), rxeSysfs(), rxeNodes())
	got, err := h.devices(nil)
	if diff := cmp.Diff([]*Device{wantRXE(h)}, got, ignoreHost); err != nil || diff != "" {
		t.Errorf("error %v, (-want +got):\n%s", err, diff)
	}
}

func TestDevicesSysfs(t *testing.T) {
	h := fakeHost(t, nil, rxeSysfs(), rxeNodes())
	got, err := h.devices(nil)
	want := wantRXE(h)
	want.Index, want.Source = -1, "sysfs"
	if diff := cmp.Diff([]*Device{want}, got, ignoreHost); err != nil || diff != "" {
		t.Errorf("error %v, (-want +got):\n%s", err, diff)
	}
}

// TestDevicesNetlinkOnly is a container without sysfs.
func TestDevicesNetlinkOnly(t *testing.T) {
	h := fakeHost(t, rxeNetlink(), nil, nil)
	got, err := h.devices(nil)
	want := wantRXE(h)
	p := &want.Ports[0]
	p.SpeedMbps, p.Width = 0, 0
	if diff := cmp.Diff([]*Device{want}, got, ignoreHost); err != nil || diff != "" {
		t.Errorf("error %v, (-want +got):\n%s", err, diff)
	}
}

func TestDevicesNothing(t *testing.T) {
	for name, tc := range map[string]struct {
		nl    *fakeNetlink
		files map[string]string
		err   error
	}{
		"no RDMA, nothing mounted": {nil, nil, nil},
		"no RDMA, sysfs mounted":   {nil, map[string]string{"sys/class/net/lo/mtu": "65536"}, nil},
		"no device":                {&fakeNetlink{}, nil, nil},
		"netlink fails, no sysfs":  {&fakeNetlink{err: syscall.EPERM}, nil, syscall.EPERM},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := fakeHost(t, tc.nl, tc.files, nil).devices(nil)
			if len(got) != 0 || !errors.Is(err, tc.err) {
				t.Errorf("got %v, %v, want error %v", got, err, tc.err)
			}
		})
	}
	if _, err := fakeHost(t, &fakeNetlink{err: syscall.EPERM}, nil, nil).devices(nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the error hides the trouble with sysfs: %v", err)
	}
}

// TestBadDevice checks that trouble with one device hides neither it nor the others,
// and that a device which vanished is left out.
func TestBadDevice(t *testing.T) {
	nl := rxeNetlink()
	nl.devices = append([]rdmanl.Device{{Index: 9, Name: "bad0", Ports: 2, NodeType: 1, Protocol: "ib"}}, nl.devices...)
	nl.ports[9] = map[int]rdmanl.Port{2: {Number: 2, State: 1, LID: 17}}
	nl.charErr = map[int]error{9: syscall.EIO}
	got, err := fakeHost(t, nl, nil, nil).devices(nil)
	if err != nil || len(got) != 2 || got[0].Name != "rxe0" || got[1].Name != "bad0" {
		t.Fatalf("got %v, %v, want rxe0 and bad0", got, err)
	}
	bad := got[1]
	if len(bad.Problems) != 2 || !errors.Is(bad.Problems[0], syscall.EINVAL) || !errors.Is(bad.Problems[1], syscall.EIO) {
		t.Errorf("problems %v, want those of port 1 and the character device", bad.Problems)
	}
	if p, ok := bad.Port(2); !ok || p.LID != 17 || p.LinkLayer != LinkInfiniBand {
		t.Errorf("port 2: %+v", p)
	}

	nl = rxeNetlink()
	h := fakeHost(t, nl, nil, nil)
	delete(nl.ports, 3)
	got, err = h.devices(func(*Device) bool { nl.devices = nil; return true })
	if err != nil || len(got) != 0 {
		t.Errorf("removed while it was listed: got %v, %v", got, err)
	}
}

func TestLookups(t *testing.T) {
	nl := rxeNetlink()
	twin := nl.devices[0]
	twin.Index, twin.Name = 8, "rxe1"
	nl.devices = append(nl.devices, twin)
	h := fakeHost(t, nl, nil, nil)
	name := func(d *Device, err error) string {
		if err != nil {
			return err.Error()
		}
		return d.Name
	}
	if got := name(h.byName("rxe1")); got != "rxe1" {
		t.Error(got)
	}
	if got := name(h.byIndex(8)); got != "rxe1" {
		t.Error(got)
	}
	if got := name(h.byGUID(0x505400fffe123456)); got != "rxe0" {
		t.Error(got)
	}
	for _, err := range []error{second(h.byName("mlx5_0")), second(h.byIndex(4)), second(h.byIndex(-1)), second(h.byGUID(1))} {
		if !errors.Is(err, ErrNoDevice) || !strings.Contains(err.Error(), "rxe0, rxe1") {
			t.Errorf("got %v, want no such device and the names of the others", err)
		}
	}
	if err := second(fakeHost(t, nil, nil, nil).byName("rxe0")); !errors.Is(err, ErrNoDevice) {
		t.Errorf("without RDMA: %v", err)
	}
	if err := second(fakeHost(t, nil, rxeSysfs(), nil).byIndex(0)); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("index from sysfs: %v", err)
	}
}

func second(_ *Device, err error) error { return err }

func TestNodePath(t *testing.T) {
	for name, tc := range map[string]struct {
		nodes map[string]nodeInfo
		files map[string]string
		want  string
	}{
		"usual":           {map[string]nodeInfo{"dev/infiniband/uverbs0": node(231, 192)}, nil, "dev/infiniband/uverbs0"},
		"absent":          {nil, nil, "dev/infiniband/uverbs0"},
		"renamed":         {map[string]nodeInfo{"dev/infiniband/uverbs7": node(231, 192)}, map[string]string{"dev/infiniband/uverbs7": ""}, "dev/infiniband/uverbs7"},
		"by numbers":      {map[string]nodeInfo{"dev/char/231:192": node(231, 192)}, nil, "dev/char/231:192"},
		"another's":       {map[string]nodeInfo{"dev/infiniband/uverbs0": node(231, 193)}, nil, "dev/infiniband/uverbs0"},
		"not a character": {map[string]nodeInfo{"dev/infiniband/uverbs0": {major: 231, minor: 192}}, nil, "dev/infiniband/uverbs0"},
	} {
		t.Run(name, func(t *testing.T) {
			h := fakeHost(t, nil, tc.files, tc.nodes)
			if got := h.nodePath("uverbs0", 231, 192); got != filepath.Join(h.root, tc.want) {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

func TestParseRate(t *testing.T) {
	for in, want := range map[string][2]int{
		"2.5 Gb/sec (1X SDR)":   {2500, 1},
		"100 Gb/sec (4X EDR)":   {100000, 4},
		"10 Gb/sec (4X)":        {10000, 4},
		"400 Gb/sec":            {400000, 0},
		"":                      {0, 0},
		"N/A":                   {0, 0},
		"-1 Gb/sec (4X)":        {0, 0},
		"1e300 Gb/sec (4X QDR)": {0, 0},
	} {
		if mbps, width := parseRate(in); [2]int{mbps, width} != want {
			t.Errorf("%q: got %d, %d, want %v", in, mbps, width, want)
		}
	}
}

func TestSysfsDriver(t *testing.T) {
	const dev = "sys/class/infiniband/x0/"
	for name, tc := range map[string]struct {
		files map[string]string
		want  abi.RDMADriverID
	}{
		"rxe":           {map[string]string{dev + "node_desc": "rxe"}, abi.RDMA_DRIVER_RXE},
		"siw":           {map[string]string{dev + "node_desc": "Software iWARP stack"}, abi.RDMA_DRIVER_SIW},
		"auxiliary bus": {map[string]string{dev + "device/driver": "-> ../../../bus/auxiliary/drivers/mlx5_ib.rdma"}, abi.RDMA_DRIVER_MLX5},
		"PCI":           {map[string]string{dev + "device/driver": "-> ../../../bus/pci/drivers/efa"}, abi.RDMA_DRIVER_EFA},
		"not known":     {map[string]string{dev + "device/driver": "-> ../../../bus/pci/drivers/new"}, abi.RDMA_DRIVER_UNKNOWN},
	} {
		t.Run(name, func(t *testing.T) {
			h := fakeHost(t, nil, tc.files, nil)
			if got := sysfsDriver(h.path(dev)); got != tc.want {
				t.Errorf("got %s, want %s", DriverName(got), DriverName(tc.want))
			}
		})
	}
}

func TestResourceSummary(t *testing.T) {
	nl := rxeNetlink()
	nl.counts = map[int]map[string]uint64{3: {"pd": 1}}
	d, err := fakeHost(t, nl, nil, nil).byName("rxe0")
	if err != nil {
		t.Fatal(err)
	}
	got, err := ResourceSummary(d)
	if err != nil || got["pd"] != 1 {
		t.Errorf("got %v, %v", got, err)
	}
	d.Index = -1
	if _, err := ResourceSummary(d); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("device from sysfs: %v", err)
	}
}

func TestNames(t *testing.T) {
	for want, got := range map[string]string{
		"CA": NodeCA.String(), "node type 99": NodeType(99).String(),
		"ACTIVE": PortActive.String(), "port state 9": PortState(9).String(),
		"LinkUp": PhysLinkUp.String(), "physical state 0": PhysState(0).String(),
		"rxe": DriverName(abi.RDMA_DRIVER_RXE), "unknown": DriverName(abi.RDMA_DRIVER_UNKNOWN), "driver 99": DriverName(99),
		"no character device":               CharDev{}.String(),
		"/dev/infiniband/uverbs0 (231:192)": CharDev{Name: "uverbs0", Path: "/dev/infiniband/uverbs0", Major: 231, Minor: 192}.String(),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
