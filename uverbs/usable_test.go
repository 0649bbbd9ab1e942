package uverbs

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/rdmanl"
)

func TestUsability(t *testing.T) {
	mine := uint32(os.Geteuid())
	closed := nodeInfo{charDev: true, major: 231, minor: 192, perm: 0o600, uid: mine + 1, gid: uint32(os.Getegid()) + 12345}
	open := closed
	open.perm = 0o666
	exclusive := func(nl *fakeNetlink) { nl.system.Shared = false }
	gone := func(nl *fakeNetlink) { nl.devices = nil }
	for name, tc := range map[string]struct {
		node    *nodeInfo             // nil: missing
		open    error                 // of open(2)
		before  func(nl *fakeNetlink) // before the device is listed
		after   func(nl *fakeNetlink) // after
		state   UsabilityState        //
		say     string                // part of the reason
		matches error                 //
	}{
		"usable":                    {&open, nil, nil, nil, Usable, "", nil},
		"node missing":              {nil, nil, nil, nil, NoCharDevice, "expected a character device 231:192", syscall.ENOENT},
		"node missing, device gone": {nil, nil, nil, gone, Gone, "rxe0 was removed", nil},
		"numbers of another":        {&nodeInfo{charDev: true, major: 231, minor: 5}, nil, nil, nil, NoCharDevice, "is 231:5, expected 231:192", nil},
		"numbers changed, gone":     {&nodeInfo{charDev: true, major: 231, minor: 5}, nil, nil, gone, Gone, "removed", nil},
		"a plain file":              {&nodeInfo{}, nil, nil, nil, NoCharDevice, "not a character device", nil},
		"no ib_uverbs":              {nil, nil, func(nl *fakeNetlink) { delete(nl.charDevs, 3) }, nil, NoCharDevice, "ib_uverbs", nil},
		"no ib_uverbs, gone":        {nil, nil, func(nl *fakeNetlink) { delete(nl.charDevs, 3) }, gone, Gone, "removed", nil},
		"mode":                      {&closed, syscall.EACCES, nil, nil, DeniedMode, "mode 0600, owner uid", syscall.EACCES},
		"mode allows it":            {&open, syscall.EACCES, nil, nil, DeniedPolicy, "nodev", syscall.EACCES},
		"device cgroup":             {&open, syscall.EPERM, nil, nil, DeniedCgroup, "device cgroup", syscall.EPERM},
		"device cgroup, exclusive":  {&open, syscall.EPERM, exclusive, nil, DeniedCgroup, "device cgroup", nil},
		"other namespace":           {&open, syscall.EPERM, exclusive, gone, WrongNetns, "exclusive mode", syscall.EPERM},
		"EPERM without netlink":     {&open, syscall.EPERM, nil, func(nl *fakeNetlink) { nl.err = syscall.EIO }, DeniedCgroup, "or the device belongs", nil},
		"stale node":                {&open, syscall.ENXIO, nil, nil, Gone, "ENXIO", syscall.ENXIO},
		"disassociated":             {&open, syscall.EIO, nil, nil, Gone, "EIO", syscall.EIO},
		"module removed":            {&open, syscall.ENODEV, nil, nil, ModuleRemoved, "ENODEV", syscall.ENODEV},
		"node went away":            {&open, syscall.ENOENT, nil, nil, NoCharDevice, "went away", nil},
		"anything else":             {&open, syscall.EMFILE, nil, nil, UnknownTrouble, "too many open files", syscall.EMFILE},
		"driver without a data path": {&open, nil, func(nl *fakeNetlink) {
			nl.charDevs[3] = rdmanl.CharDev{Name: "uverbs0", Major: 231, Minor: 192, Driver: abi.RDMA_DRIVER_HFI1}
		}, nil, NoDataPath, "driver hfi1", ErrNoProvider},
		"denied before the data path": {&closed, syscall.EACCES, func(nl *fakeNetlink) { nl.charDevs[3] = rdmanl.CharDev{Name: "uverbs0", Major: 231, Minor: 192} }, nil, DeniedMode, "mode", nil},
	} {
		t.Run(name, func(t *testing.T) {
			nl := rxeNetlink()
			nodes := map[string]nodeInfo{}
			if tc.node != nil {
				nodes["dev/infiniband/uverbs0"] = *tc.node
			}
			h := fakeHost(t, nl, nil, nodes)
			h.open = func(string) error { return tc.open }
			if tc.before != nil {
				tc.before(nl)
			}
			d, err := h.byName("rxe0")
			if err != nil {
				t.Fatal(err)
			}
			if tc.after != nil {
				tc.after(nl)
			}
			u := d.Usability()
			if u.State != tc.state || !strings.Contains(u.Reason, tc.say) || u.OK() != (tc.state == Usable) {
				t.Errorf("got %s, want %s with %q", u, tc.state, tc.say)
			}
			if tc.matches != nil && !errors.Is(u.Err, tc.matches) {
				t.Errorf("cause %v, want %v", u.Err, tc.matches)
			}
		})
	}
}

func TestOpenHint(t *testing.T) {
	h := fakeHost(t, rxeNetlink(), nil, map[string]nodeInfo{"dev/infiniband/uverbs0": node(231, 192)})
	d, err := h.byName("rxe0")
	if err != nil {
		t.Fatal(err)
	}
	for errno, say := range map[syscall.Errno]string{
		syscall.EPERM:  "device cgroup of this container does not allow",
		syscall.ENXIO:  "stale node",
		syscall.EMFILE: "",
	} {
		if got := d.openHint(nil, errno); !strings.Contains(got, say) || (say == "") != (got == "") {
			t.Errorf("%v: got %q, want %q", errno, got, say)
		}
	}
	d.CharDev = CharDev{}
	if got := d.openHint(nil, syscall.ENOENT); !strings.Contains(got, "modprobe ib_uverbs") {
		t.Errorf("without ib_uverbs: got %q", got)
	}
}

// TestUsabilityOfZeroDevice must not crash: the fields are exported, so a caller may
// make one.
func TestUsabilityOfZeroDevice(t *testing.T) {
	if u := new(Device).Usability(); u.OK() {
		t.Errorf("got %v", u)
	}
}

func TestModeAllows(t *testing.T) {
	gid := uint32(os.Getegid())
	for name, tc := range map[string]struct {
		n    nodeInfo
		want bool
	}{
		"owner":            {nodeInfo{perm: 0o600, uid: 7, gid: gid + 12345}, true},
		"owner without":    {nodeInfo{perm: 0o066, uid: 7, gid: gid}, false},
		"group":            {nodeInfo{perm: 0o060, uid: 8, gid: gid}, true},
		"group without":    {nodeInfo{perm: 0o606, uid: 8, gid: gid}, false},
		"others":           {nodeInfo{perm: 0o006, uid: 8, gid: gid + 12345}, true},
		"others only read": {nodeInfo{perm: 0o664, uid: 8, gid: gid + 12345}, false},
	} {
		if got := modeAllows(tc.n, 7); got != tc.want {
			t.Errorf("%s: got %v, want %v", name, got, tc.want)
		}
	}
}
