package uverbs

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/rdmanl"
)

// merge returns the union of file trees.
func merge(trees ...map[string]string) map[string]string {
	out := make(map[string]string)
	for _, t := range trees {
		for k, v := range t {
			out[k] = v
		}
	}
	return out
}

func TestDiagnose(t *testing.T) {
	const dep = "lib/modules/6.12.95-amd64/modules.dep"
	installed := map[string]string{dep: "kernel/drivers/infiniband/core/ib_core.ko.xz:\nkernel/drivers/infiniband/core/ib_uverbs.ko.xz: kernel/drivers/infiniband/core/ib_core.ko.xz\nkernel/drivers/infiniband/core/rdma_ucm.ko.xz:\nkernel/drivers/infiniband/sw/rxe/rdma_rxe.ko.xz:"}
	bare := map[string]string{dep: "kernel/fs/ext4/ext4.ko:"}
	ubuntu := map[string]string{"etc/os-release": "NAME=\"Ubuntu\"\nID=ubuntu\nID_LIKE=debian"}
	noCM := func() *fakeNetlink {
		nl := rxeNetlink()
		delete(nl.charDevs, rdmanl.NoIndex)
		return nl
	}
	noPath := func() *fakeNetlink {
		nl := rxeNetlink()
		c := nl.charDevs[3]
		c.Driver = abi.RDMA_DRIVER_HFI1
		nl.charDevs[3] = c
		return nl
	}
	for name, tc := range map[string]struct {
		nl    *fakeNetlink
		files map[string]string
		nodes map[string]nodeInfo
		ids   []string
		say   []string
	}{
		"everything":                  {rxeNetlink(), rxeSysfs(), rxeNodes(), nil, []string{"RDMA is usable"}},
		"everything, nothing mounted": {rxeNetlink(), nil, rxeNodes(), nil, []string{"RDMA is usable"}},
		"empty image": {nil, nil, nil,
			[]string{"RP-MOD-001", "RP-MOD-002", "RP-MOD-003", "RP-MOD-004", "RP-DEV-001"},
			[]string{"module ib_core: not loaded (no RDMA netlink", "modprobe rdma_rxe"}},
		"not loaded": {nil, installed, nil,
			[]string{"RP-MOD-001", "RP-MOD-002", "RP-MOD-003", "RP-MOD-004", "RP-DEV-001"},
			[]string{"installed in /lib/modules/6.12.95-amd64", "modprobe rdma_ucm", "no RDMA netlink"}},
		"not installed, Ubuntu": {nil, merge(bare, ubuntu), nil,
			[]string{"RP-MOD-001", "RP-MOD-002", "RP-MOD-003", "RP-MOD-004", "RP-DEV-001"},
			[]string{"module rdma_rxe: not installed", "apt install linux-modules-extra-6.12.95-amd64 && modprobe rdma_rxe"}},
		"kernel without modules": {nil, map[string]string{"proc/version": "Linux"}, nil,
			[]string{"RP-MOD-001", "RP-MOD-002", "RP-MOD-003", "RP-MOD-004", "RP-DEV-001"},
			[]string{"no loadable modules", "CONFIG_INFINIBAND"}},
		"/proc only": {nil, map[string]string{"proc/modules": "ext4 1 0 - Live 0x0"}, nil,
			[]string{"RP-MOD-001", "RP-MOD-002", "RP-MOD-003", "RP-MOD-004", "RP-DEV-001"},
			[]string{"/proc/modules does not list it"}},
		"no device, rxe loaded": {&fakeNetlink{system: rdmanl.System{Shared: true, HasNetnsMode: true}}, map[string]string{"proc/modules": "rdma_rxe 1 0\nib_uverbs 1 0\nrdma_ucm 1 0", "proc/misc": " 61 rdma_cm"}, nil,
			[]string{"RP-DEV-001", "RP-CM-001"},
			[]string{"RDMA netlink lists none, /sys/class/infiniband is not there", "rdmaprobe rxe add"}},
		"exclusive, none here": {&fakeNetlink{system: rdmanl.System{HasNetnsMode: true}, charDevs: rxeNetlink().charDevs}, map[string]string{"proc/modules": "rdma_rxe 1 0\nib_uverbs 1 0"}, rxeNodes(),
			[]string{"RP-DEV-001"}, []string{"exclusive mode"}},
		"rdma_ucm missing": {noCM(), merge(rxeSysfs(), installed), rxeNodes(),
			[]string{"RP-MOD-003"}, []string{"module rdma_ucm: not loaded", "modprobe rdma_ucm"}},
		"rdma_ucm missing, nothing mounted": {noCM(), nil, nil,
			[]string{"RP-DEV-002", "RP-CM-001"}, []string{"modprobe rdma_ucm", "expected a character device 231:192"}},
		"driver without a data path here": {noPath(), rxeSysfs(), rxeNodes(),
			[]string{"RP-DRV-001"}, []string{"no data path", "cmping"}},
		"rdma_cm node missing": {rxeNetlink(), rxeSysfs(), map[string]nodeInfo{"dev/infiniband/uverbs0": node(231, 192)},
			[]string{"RP-CM-001"}, []string{"expected a character device 10:61", "--device"}},
		"netlink blocked": {nil, merge(rxeSysfs(), map[string]string{"sys/class/misc/rdma_cm/dev": "10:61", "sys/class/misc/rdma_cm/abi_version": "4"}), rxeNodes(),
			[]string{"RP-NET-001"}, []string{"seccomp"}},
		"netlink broken, nothing mounted": {&fakeNetlink{err: syscall.EPERM}, nil, nil,
			[]string{"RP-SYS-001", "RP-NET-001", "RP-DEV-001", "RP-CM-001"}, []string{"operation not permitted"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := fakeHost(t, tc.nl, tc.files, tc.nodes).diagnose()
			var ids []string
			for _, f := range d.Findings {
				ids = append(ids, f.ID)
			}
			if diff := cmp.Diff(tc.ids, ids); diff != "" {
				t.Errorf("findings (-want +got):\n%s\n%s", diff, d)
			}
			for _, s := range tc.say {
				if !strings.Contains(d.String(), s) {
					t.Errorf("%q is not in:\n%s", s, d)
				}
			}
			if (d.Err() == nil) != (len(tc.ids) == 0) || errors.Is(d.Err(), ErrNoDevice) != (len(d.Devices) == 0) {
				t.Errorf("error %v", d.Err())
			}
		})
	}
}

// TestDiagnoseHere runs on whatever machine this is.
func TestDiagnoseHere(t *testing.T) {
	d := Diagnose()
	if len(d.Modules) != 4 || (d.Err() == nil) != (len(d.Findings) == 0) {
		t.Errorf("got %+v", d)
	}
	t.Log(d)
}

func TestModule(t *testing.T) {
	const lib = "lib/modules/6.12.95-amd64/"
	for name, tc := range map[string]struct {
		files map[string]string
		want  ModuleState
	}{
		"loaded":                {map[string]string{"proc/modules": "rdma_rxe 200704 0 - Live 0x0"}, ModulePresent},
		"name is a prefix":      {map[string]string{"proc/modules": "rdma_rxe2 200704 0"}, ModuleNotLoaded},
		"folder":                {map[string]string{"sys/module/rdma_rxe/version": "1"}, ModulePresent},
		"built in":              {map[string]string{lib + "modules.builtin": "kernel/drivers/infiniband/sw/rxe/rdma_rxe.ko"}, ModulePresent},
		"installed":             {map[string]string{lib + "modules.dep": "kernel/x/rdma_rxe.ko.zst: kernel/x/ib_core.ko.zst"}, ModuleNotLoaded},
		"installed with a dash": {map[string]string{lib + "modules.dep": "kernel/x/rdma-rxe.ko:"}, ModuleNotLoaded},
		"only as a dependency":  {map[string]string{lib + "modules.dep": "kernel/x/other.ko: kernel/x/rdma_rxe.ko"}, ModuleNotInstalled},
		"nothing":               {nil, ModuleUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			if got := fakeHost(t, nil, tc.files, nil).module("rdma_rxe"); got.State != tc.want {
				t.Errorf("got %+v, want %s", got, tc.want)
			}
		})
	}
}

func TestInstallRemedy(t *testing.T) {
	for name, tc := range map[string]struct{ release, os, want string }{
		"Ubuntu":       {"6.8.0-45-generic", "ID=ubuntu", "linux-modules-extra-6.8.0-45-generic"},
		"Debian cloud": {"6.12.95-cloud-amd64", "ID=debian", "linux-image-amd64"},
		"Debian":       {"6.12.95-amd64", "ID=debian", "CONFIG_INFINIBAND"},
		"Rocky":        {"5.14.0", "ID=rocky\nID_LIKE=\"rhel centos fedora\"", "kernel-modules-extra-5.14.0"},
		"empty image":  {"6.1", "", "CONFIG_INFINIBAND"},
	} {
		h := fakeHost(t, nil, map[string]string{"etc/os-release": tc.os}, nil)
		h.release = func() string { return tc.release }
		if got := h.installRemedy("rdma_rxe"); !strings.Contains(got, tc.want) {
			t.Errorf("%s: got %q, want %q in it", name, got, tc.want)
		}
	}
}
