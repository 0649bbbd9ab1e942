package uverbs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/purerdma/rdma/internal/rdmanl"
)

func TestAddLink(t *testing.T) {
	nl := rxeNetlink()
	h := fakeHost(t, nl, nil, nil)
	h.newLink = func(_ context.Context, name, linkType, netdev string) error {
		nl.devices = append(nl.devices, rdmanl.Device{Index: 4, Name: name, NodeType: 2})
		if linkType != "rxe" || netdev != "v1" {
			return fmt.Errorf("asked for %s on %s", linkType, netdev)
		}
		return nil
	}
	d, err := h.addLink(t.Context(), LinkConfig{Netdev: "v1"})
	if err != nil || d.Name != "rxe1" || d.Index != 4 {
		t.Errorf("got %v, %v, want rxe1", d, err)
	}
}

// TestAddLinkNameRace: somebody else takes the free name first.
func TestAddLinkNameRace(t *testing.T) {
	nl := rxeNetlink()
	h := fakeHost(t, nl, nil, nil)
	var tried []string
	h.newLink = func(_ context.Context, name, _, _ string) error {
		if tried = append(tried, name); len(tried) < 3 {
			return syscall.ENFILE
		}
		nl.devices = append(nl.devices, rdmanl.Device{Index: 4, Name: name, NodeType: 2})
		return nil
	}
	d, err := h.addLink(t.Context(), LinkConfig{Netdev: "v1"})
	if err != nil || d.Name != "rxe3" {
		t.Errorf("got %v, %v after %v, want rxe3", d, err, tried)
	}
}

func TestAddLinkErrors(t *testing.T) {
	vlan := map[string]string{"sys/class/net/v0/uevent": "DEVTYPE=vlan\nINTERFACE=v0"}
	noCap := map[string]string{"proc/self/status": "Name:\tx\nCapEff:\t0000000000000000"}
	for name, tc := range map[string]struct {
		cfg     LinkConfig
		err     error // of netlink
		files   map[string]string
		noDev   bool
		module  string
		say     string
		matches error
	}{
		"no netdev given": {LinkConfig{}, nil, nil, false, "", "no network device given", syscall.EINVAL},
		"name too long":   {LinkConfig{Netdev: "v0", Name: strings.Repeat("x", 64)}, nil, nil, false, "", "longer than 63", syscall.EINVAL},
		"percent":         {LinkConfig{Netdev: "v0", Name: "rxe%d"}, nil, nil, false, "", "contains %", syscall.EINVAL},
		"no ib_core":      {LinkConfig{Netdev: "v0"}, syscall.EPROTONOSUPPORT, nil, false, "ib_core", "modprobe rdma_rxe", ErrModuleMissing},
		"no rdma_rxe":     {LinkConfig{Netdev: "v0"}, syscall.EINVAL, nil, false, "rdma_rxe", "modprobe rdma_rxe", ErrModuleMissing},
		"not installed": {LinkConfig{Netdev: "v0"}, syscall.EINVAL, map[string]string{"lib/modules/6.12.95-amd64/modules.dep": "", "etc/os-release": "ID=ubuntu"}, false,
			"rdma_rxe", "linux-modules-extra", ErrModuleMissing},
		"no siw":                 {LinkConfig{Netdev: "v0", Type: "siw"}, syscall.EINVAL, nil, false, "siw", "modprobe siw", ErrModuleMissing},
		"unknown type":           {LinkConfig{Netdev: "v0", Type: "new"}, syscall.EINVAL, nil, false, "rdma-link-new", `no link type "new"`, ErrModuleMissing},
		"no such netdev":         {LinkConfig{Netdev: "v9"}, syscall.ENODEV, nil, true, "", "no network device v9", syscall.ENODEV},
		"no such netdev, EINVAL": {LinkConfig{Netdev: "v9"}, syscall.EINVAL, nil, true, "", "no network device v9", syscall.EINVAL},
		"no crc32":               {LinkConfig{Netdev: "v0"}, syscall.ENOENT, nil, false, "crc32_generic", "modprobe crc32_generic", ErrModuleMissing},
		"second link":            {LinkConfig{Netdev: "v0", Name: "x"}, syscall.EEXIST, nil, false, "", "v0 has an rxe device already: rxe0", syscall.EEXIST},
		"second, hidden":         {LinkConfig{Netdev: "v5", Name: "x"}, syscall.EEXIST, nil, false, "", "v5 has an rxe device already", syscall.EEXIST},
		"name taken":             {LinkConfig{Netdev: "v5", Name: "rxe0"}, syscall.ENFILE, nil, false, "", "a device of that name exists", syscall.ENFILE},
		"VLAN":                   {LinkConfig{Netdev: "v0"}, syscall.EPERM, vlan, false, "", "VLAN", syscall.EPERM},
		"privilege":              {LinkConfig{Netdev: "v0"}, syscall.EPERM, nil, false, "", "CAP_NET_ADMIN", syscall.EPERM},
		"VLAN, privilege":        {LinkConfig{Netdev: "v0"}, syscall.EPERM, merge(vlan, noCap), false, "", "CAP_NET_ADMIN", syscall.EPERM},
		"anything else":          {LinkConfig{Netdev: "v0"}, syscall.ENOMEM, nil, false, "", "cannot allocate", syscall.ENOMEM},
		"cancelled":              {LinkConfig{Netdev: "v0"}, context.Canceled, nil, false, "", "canceled", context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			h := fakeHost(t, rxeNetlink(), tc.files, nil)
			h.newLink = func(context.Context, string, string, string) error { return tc.err }
			h.hasNetdev = func(string) bool { return !tc.noDev }
			_, err := h.addLink(t.Context(), tc.cfg)
			var e *LinkError
			if !errors.As(err, &e) || e.Module != tc.module || !errors.Is(err, tc.matches) || !strings.Contains(err.Error(), tc.say) {
				t.Errorf("got %v, want module %q, %q", err, tc.module, tc.say)
			}
			if errors.Is(err, ErrModuleMissing) != (tc.module != "") {
				t.Errorf("%v: matches ErrModuleMissing wrongly", err)
			}
		})
	}
}

func TestDeleteLink(t *testing.T) {
	for name, tc := range map[string]struct {
		name    string
		err     error
		sysfs   bool
		say     string
		matches error
	}{
		"deleted":       {"rxe0", nil, false, "", nil},
		"no such":       {"rxe7", nil, false, "there are rxe0", ErrNoDevice},
		"hardware":      {"rxe0", syscall.EINVAL, false, "not a soft device", syscall.EINVAL},
		"privilege":     {"rxe0", syscall.EPERM, false, "CAP_NET_ADMIN", syscall.EPERM},
		"no netlink":    {"rxe0", nil, true, "not available", errors.ErrUnsupported},
		"anything else": {"rxe0", syscall.ENOMEM, false, "cannot allocate", syscall.ENOMEM},
	} {
		t.Run(name, func(t *testing.T) {
			nl := rxeNetlink()
			if tc.sysfs {
				nl = nil
			}
			h := fakeHost(t, nl, rxeSysfs(), nil)
			h.deleteLink = func(_ context.Context, index int) error {
				if index != 3 {
					t.Errorf("index %d", index)
				}
				return tc.err
			}
			err := h.deleteLinkByName(t.Context(), tc.name)
			if !errors.Is(err, tc.matches) || err != nil && !strings.Contains(err.Error(), tc.say) {
				t.Errorf("got %v, want %q", err, tc.say)
			}
		})
	}
}

// TestDeleteLinkWaits: a process keeps the device open, and the caller gives up.
func TestDeleteLinkWaits(t *testing.T) {
	nl := rxeNetlink()
	h := fakeHost(t, nl, map[string]string{"proc/42/comm": "rping", "proc/43/comm": "other", "proc/uptime": "1"}, nil)
	for link, target := range map[string]string{"proc/42/fd/5": "/dev/infiniband/uverbs0 (deleted)", "proc/43/fd/5": "/dev/null"} {
		if err := os.MkdirAll(filepath.Dir(h.path(link)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(strings.Replace(target, "/dev/infiniband", h.path("dev/infiniband"), 1), h.path(link)); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	h.deleteLink = func(context.Context, int) error {
		cancel()
		return fmt.Errorf("still under way: %w", ctx.Err())
	}
	err := h.deleteLinkByName(ctx, "rxe0")
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "by process 42 (rping):") {
		t.Errorf("got %v", err)
	}
}
