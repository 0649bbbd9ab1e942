package uverbs

import (
	"context"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/rdmanl"
)

// fakeNetlink answers from tables; an index without an entry gives EINVAL, as in the
// kernel.
type fakeNetlink struct {
	devices  []rdmanl.Device
	ports    map[int]map[int]rdmanl.Port
	charDevs map[int]rdmanl.CharDev // NoIndex: rdma_cm
	charErr  map[int]error
	system   rdmanl.System
	counts   map[int]map[string]uint64
	err      error
}

func (f *fakeNetlink) Close() error { return nil }

func (f *fakeNetlink) Devices(context.Context) ([]rdmanl.Device, error) { return f.devices, f.err }

func (f *fakeNetlink) Device(_ context.Context, index int) (rdmanl.Device, error) {
	for _, d := range f.devices {
		if int(d.Index) == index {
			return d, f.err
		}
	}
	return rdmanl.Device{}, syscall.EINVAL
}

func (f *fakeNetlink) Port(_ context.Context, index, port int) (rdmanl.Port, error) {
	p, ok := f.ports[index][port]
	if !ok {
		return p, syscall.EINVAL
	}
	return p, f.err
}

func (f *fakeNetlink) CharDev(_ context.Context, index int, _ string) (rdmanl.CharDev, error) {
	if err := f.charErr[index]; err != nil {
		return rdmanl.CharDev{}, err
	}
	c, ok := f.charDevs[index]
	if !ok {
		return c, syscall.EOPNOTSUPP
	}
	return c, f.err
}

func (f *fakeNetlink) System(context.Context) (rdmanl.System, error) { return f.system, f.err }

func (f *fakeNetlink) Resources(_ context.Context, index int) (map[string]uint64, error) {
	return f.counts[index], f.err
}

// rxeNetlink is a machine with rxe0 on v0, as captured on a real kernel.
func rxeNetlink() *fakeNetlink {
	return &fakeNetlink{
		devices: []rdmanl.Device{{Index: 3, Name: "rxe0", Ports: 1, NodeGUID: 0x505400fffe123456,
			SysImageGUID: 0x505400fffe123456, NodeType: abi.RDMA_NODE_IB_CA, Protocol: "roce"}},
		ports: map[int]map[int]rdmanl.Port{3: {1: {Number: 1, State: 4, PhysState: 5, Netdev: "v0", NetdevIndex: 7}}},
		charDevs: map[int]rdmanl.CharDev{
			3:              {Name: "uverbs0", Major: 231, Minor: 192, ABI: 2, Driver: abi.RDMA_DRIVER_RXE, HasDriver: true},
			rdmanl.NoIndex: {Name: "rdma_cm", Major: 10, Minor: 61, ABI: 4},
		},
		system: rdmanl.System{Shared: true, HasNetnsMode: true, CopyOnFork: true},
	}
}

// fakeHost is a machine in a temporary folder. nl == nil: no RDMA netlink.
func fakeHost(t *testing.T, nl *fakeNetlink, files map[string]string, nodes map[string]nodeInfo) *host {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if target, ok := strings.CutPrefix(text, "-> "); ok {
			if err := os.Symlink(target, path); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.WriteFile(path, []byte(text+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return &host{
		root: root,
		dial: func() (netlinkClient, error) {
			if nl == nil {
				return nil, syscall.EPROTONOSUPPORT
			}
			return nl, nil
		},
		open: func(string) error { return nil },
		stat: func(path string) (nodeInfo, error) {
			rel, err := filepath.Rel(root, path)
			if n, ok := nodes[rel]; ok && err == nil {
				return n, nil
			}
			return nodeInfo{}, &fs.PathError{Op: "stat", Path: path, Err: syscall.ENOENT}
		},
		release:     func() string { return "6.12.95-amd64" },
		hasProvider: func(id abi.RDMADriverID) bool { return id == abi.RDMA_DRIVER_RXE },
		newLink:     func(context.Context, string, string, string) error { return nil },
		deleteLink:  func(context.Context, int) error { return nil },
		hasNetdev:   func(string) bool { return true },
		netdevs:     rxeNetdevs,
	}
}

func node(major, minor uint32) nodeInfo {
	return nodeInfo{charDev: true, major: major, minor: minor, perm: 0o666}
}

// rxeNetdevs are the interfaces of the machine of rxeNetlink.
func rxeNetdevs() (netdevs, error) {
	return netdevs{
		{index: 1, name: "lo", addrs: []netip.Addr{netip.MustParseAddr("127.0.0.1")}},
		{index: 7, name: "v0", mtu: 1500, mac: []byte{0x52, 0x54, 0, 0x12, 0x34, 0x56}, addrs: []netip.Addr{netip.MustParseAddr("10.77.0.1")}},
	}, nil
}

// rxeNodes are the device nodes that belong to rxeNetlink.
func rxeNodes() map[string]nodeInfo {
	return map[string]nodeInfo{
		"dev/infiniband/uverbs0": node(231, 192),
		"dev/infiniband/rdma_cm": node(10, 61),
	}
}

// rxeSysfs is what sysfs shows of rxe0.
func rxeSysfs() map[string]string {
	const dev = "sys/class/infiniband/rxe0/"
	const port = dev + "ports/1/"
	return map[string]string{
		dev + "node_guid":                                "5054:00ff:fe12:3456",
		dev + "sys_image_guid":                           "5054:00ff:fe12:3456",
		dev + "node_type":                                "1: CA",
		dev + "node_desc":                                "rxe",
		dev + "fw_ver":                                   "",
		port + "state":                                   "4: ACTIVE",
		port + "phys_state":                              "5: LinkUp",
		port + "link_layer":                              "Ethernet",
		port + "rate":                                    "2.5 Gb/sec (1X SDR)",
		port + "lid":                                     "0x0",
		port + "gids/0":                                  "fe80:0000:0000:0000:5054:00ff:fe12:3456",
		port + "gids/1":                                  "0000:0000:0000:0000:0000:ffff:0a4d:0001",
		port + "gids/2":                                  "0000:0000:0000:0000:0000:0000:0000:0000",
		port + "gids/10":                                 "2001:0db8:0077:0000:0000:0000:0000:0001",
		port + "gid_attrs/types/0":                       "RoCE v2",
		port + "gid_attrs/types/1":                       "RoCE v2",
		port + "gid_attrs/types/10":                      "RoCE v2",
		port + "gid_attrs/ndevs/0":                       "v0",
		port + "gid_attrs/ndevs/1":                       "v0",
		port + "gid_attrs/ndevs/10":                      "v0.5",
		"sys/class/infiniband_verbs/abi_version":         "6",
		"sys/class/infiniband_verbs/uverbs0/ibdev":       "rxe0",
		"sys/class/infiniband_verbs/uverbs0/dev":         "231:192",
		"sys/class/infiniband_verbs/uverbs0/abi_version": "2",
	}
}
