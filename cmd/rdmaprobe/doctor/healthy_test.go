package doctor

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/cmd/rdmaprobe/gidpick"
	"github.com/purerdma/rdma/cmd/rdmaprobe/netinfo"
	"github.com/purerdma/rdma/uverbs"
)

// healthy is a machine with a soft-RoCE device to which nothing is wrong.
// Tests plant faults in it.
func healthy() *Facts {
	dev := &uverbs.Device{
		Index: 0, Name: "rxe0", NodeGUID: 0x5054_00ff_fe00_0001, NodeType: uverbs.NodeCA, Protocol: uverbs.ProtocolRoCE,
		DriverID: abi.RDMA_DRIVER_RXE, Source: "netlink",
		CharDev: uverbs.CharDev{Name: "uverbs0", Path: "/dev/infiniband/uverbs0", Major: 231, Minor: 192, ABIVersion: 2},
	}
	port := Port{
		PortInfo: uverbs.PortInfo{Number: 1, State: uverbs.PortActive, Phys: uverbs.PhysLinkUp, LinkLayer: uverbs.LinkEthernet,
			Netdev: "v0", NetdevMTU: 1500, SpeedMbps: 2500, Width: 1},
		Attr:     &uverbs.PortAttr{MaxMTU: abi.IB_MTU_4096, ActiveMTU: abi.IB_MTU_1024},
		Counters: Counters{Before: map[string]uint64{"sent_pkts": 10}, After: map[string]uint64{"sent_pkts": 12, "send_err": 0}},
	}
	netdevs := netinfo.Netdevs{
		{Index: 1, Name: "lo", Loopback: true, Up: true, Running: true},
		{Index: 2, Name: "v0", Kind: "veth", MTU: 1500, Up: true, Running: true, ParentIndex: 3,
			Addrs: []netip.Prefix{netip.MustParsePrefix("10.77.0.1/24"), netip.MustParsePrefix("fd00:77::1/64"), netip.MustParsePrefix("fe80::1/64")}},
		{Index: 3, Name: "v1", Kind: "veth", MTU: 1500, Up: true, Running: true, ParentIndex: 2},
	}
	usable := uverbs.Usability{State: uverbs.Usable}
	f := &Facts{
		Diagnosis: &uverbs.Diagnosis{
			Kernel: "6.12.95-amd64", NetnsMode: "shared", CopyOnFork: true,
			Modules: []uverbs.ModuleStatus{{Name: "ib_core", State: uverbs.ModulePresent}, {Name: "ib_uverbs", State: uverbs.ModulePresent},
				{Name: "rdma_ucm", State: uverbs.ModulePresent}, {Name: "rdma_rxe", State: uverbs.ModulePresent}},
			CM:          uverbs.CharDev{Name: "rdma_cm", Path: "/dev/infiniband/rdma_cm", Major: 10, Minor: 61, ABIVersion: 4},
			CMUsability: usable,
			Devices:     []*uverbs.Device{dev}, Usability: []uverbs.Usability{usable},
		},
		CgroupsRead: true, CMABI: 4, VerbsABI: 6, RoCESocket: Socket{true, true},
		Sysfs:  Sysfs{Mounted: true, Devices: []string{"rxe0"}},
		Nodes:  []Node{{Path: "/dev/infiniband/uverbs0", Major: 231, Minor: 192}},
		Memory: Memory{Lock: Limit{true, 64 * kib, 64 * kib}, IPCLock: true, UserNamespace: "initial", Available: 400 * mib},
		Files:  Limit{true, 1024, 4096},
		Devices: []Device{{Device: dev, Usability: usable, DataPath: true, GSI: "RTS", Self: Answers,
			Attr:      &uverbs.DeviceAttr{MaxQP: 1000, MaxCQ: 1000, MaxMR: 1000, MaxPD: 1000, MaxMRSize: 1 << 40},
			Resources: map[string]uint64{"qp": 1, "cq": 1, "pd": 1, "mr": 0, "cm_id": 0}, Ports: []Port{port}}},
		Netdevs: netdevs,
	}
	f.setGIDs("fe80::1", "10.77.0.1", "fd00:77::1")
	return f
}

// setGIDs fills the table of the first port.
func (f *Facts) setGIDs(addrs ...string) {
	d := &f.Devices[0]
	p := gidpick.Port{Device: d.Name, Protocol: d.Protocol, Info: d.Ports[0].PortInfo}
	for i, a := range addrs {
		p.GIDs = append(p.GIDs, uverbs.GIDEntry{Index: i, GID: uverbs.GIDFromAddr(netip.MustParseAddr(a)), Type: uverbs.GIDTypeRoCEv2, Netdev: p.Info.Netdev})
	}
	d.Ports[0].GIDs = gidpick.Rows([]gidpick.Port{p}, f.Netdevs)
}

// addDevice adds a second device like the first, on v1.
func (f *Facts) addDevice() *Device {
	d := f.Devices[0]
	dev := *d.Device
	dev.Name, dev.Index, dev.NodeGUID = "rxe1", 1, dev.NodeGUID+1
	dev.CharDev = uverbs.CharDev{Name: "uverbs1", Path: "/dev/infiniband/uverbs1", Major: 231, Minor: 193}
	d.Device = &dev
	d.Ports = []Port{d.Ports[0]}
	d.Ports[0].Netdev, d.Ports[0].GIDs = "v1", nil
	f.Devices = append(f.Devices, d)
	f.Diagnosis.Devices = append(f.Diagnosis.Devices, &dev)
	f.Diagnosis.Usability = append(f.Diagnosis.Usability, d.Usability)
	f.Sysfs.Devices = append(f.Sysfs.Devices, "rxe1")
	return &f.Devices[1]
}

func ids(rep *Report) []string {
	out := []string{}
	for _, f := range rep.Findings() {
		out = append(out, f.ID)
	}
	return out
}

func TestHealthy(t *testing.T) {
	rep := Run(healthy())
	if diff := cmp.Diff([]string{}, ids(rep)); diff != "" {
		t.Errorf("findings on a healthy machine (-want +got):\n%s", diff)
	}
	if rep.ExitCode() != 0 || rep.Count(Error) != 0 {
		t.Errorf("exit code %d", rep.ExitCode())
	}
	if len(rep.Results) != len(sections) {
		t.Errorf("%d sections, want %d", len(rep.Results), len(sections))
	}
	for _, r := range rep.Results {
		if r.Summary == "" || r.Verdict() != OK {
			t.Errorf("section %s: summary %q, verdict %q", r.Section, r.Summary, r.Verdict())
		}
	}
}
