package holders

import (
	"context"
	"net/netip"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/purerdma/rdma/internal/rdmanl"
)

const container = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func TestPodOf(t *testing.T) {
	const uid = "11111111-2222-3333-4444-555555555555"
	for _, tt := range []struct{ cgroup, pod, container string }{
		{"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod11111111_2222_3333_4444_555555555555.slice/cri-containerd-" + container + ".scope", uid, container},
		{"/kubepods/besteffort/pod" + uid + "/" + container, uid, container},
		{"/system.slice/docker-" + container + ".scope", "", container},
		{"/machine.slice/libpod-" + container + ".scope/container", "", container},
		{"/kubelet/kubepods/pod00112233445566778899aabbccddeeff/crio-" + container, "00112233445566778899aabbccddeeff", container},
		{"/system.slice/nvmet.service", "", ""},
		{"/", "", ""},
		{"", "", ""},
	} {
		pod, c := podOf(tt.cgroup)
		if pod != tt.pod || c != tt.container {
			t.Errorf("%s: pod %q, container %q", tt.cgroup, pod, c)
		}
	}
}

func TestCgroupPath(t *testing.T) {
	for text, want := range map[string]string{
		"0::/a/b\n":                        "/a/b",
		"12:rdma:/x\n1:name=systemd:/y\n":  "/x",
		"12:rdma:/\n3:cpu:/y\n0::/\n":      "/y",
		"0::/\n":                           "/",
		"1:name=systemd:/y\n0::/z\x1b[31m": "/z\x1b[31m",
		"nonsense":                         "",
	} {
		if got := cgroupPath(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// fakeProc has one process in a pod, and one that is no more.
func fakeProc(t *testing.T) Proc {
	t.Helper()
	root := t.TempDir()
	for name, text := range map[string]string{
		"42/comm":              "evil\x07name\n",
		"42/status":            "Name:\tevil\nTgid:\t42\n",
		"43/status":            "Name:\tevil\nTgid:\t42\n", // a thread of it
		"43/comm":              "thread\n",
		"42/cgroup":            "0::/kubepods/pod11111111-2222-3333-4444-555555555555/" + container + "\n",
		"42/root/etc/hostname": "web-7f9c\n",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return Proc{root}
}

// netlink answers from memory; it is an older kernel without contexts.
type netlink struct{ gone bool }

var pid42, thread43, kernel = rdmanl.Owner{PID: 42}, rdmanl.Owner{PID: 43}, rdmanl.Owner{KernelName: "ib_core"}

func (netlink) Devices(context.Context) ([]rdmanl.Device, error) {
	return []rdmanl.Device{{Index: 3, Name: "rxe0"}}, nil
}

func (n netlink) Resources(context.Context, int) (map[string]uint64, error) {
	if n.gone {
		return nil, syscall.EINVAL
	}
	return map[string]uint64{"qp": 3}, nil
}

func (netlink) Contexts(context.Context, int) ([]rdmanl.Context, error) { return nil, syscall.EINVAL }

func (netlink) Objects(_ context.Context, _ int, kind rdmanl.Kind) ([]rdmanl.Object, error) {
	switch kind {
	case rdmanl.KindSRQ:
		return nil, syscall.EOPNOTSUPP
	case rdmanl.KindMR:
		return []rdmanl.Object{{Owner: pid42, Length: 4096}, {Owner: thread43, Length: 1 << 20}}, nil
	}
	return []rdmanl.Object{{Owner: kernel}, {Owner: pid42}}, nil
}

func (netlink) QPs(context.Context, int) ([]rdmanl.QP, error) {
	return []rdmanl.QP{{Owner: kernel, Number: 1, Type: 1, State: 3}, {Owner: pid42, Number: 17, RemoteNumber: 18, Port: 1, Type: 2, State: 3},
		{Owner: rdmanl.Owner{}, Number: 19, Type: 77, State: 99}}, nil
}

func (netlink) CMIDs(context.Context, int) ([]rdmanl.CMID, error) {
	return []rdmanl.CMID{{Owner: pid42, State: 8, PortSpace: 0x106, Source: netip.MustParseAddrPort("10.0.0.1:7174")}}, nil
}

func TestList(t *testing.T) {
	got, err := list(t.Context(), netlink{}, fakeProc(t))
	if err != nil {
		t.Fatal(err)
	}
	want := []Device{{Index: 3, Name: "rxe0", Totals: map[string]uint64{"qp": 3}, Unknown: []string{"ctx", "srq"}, Holders: []Holder{
		{QPs: 1, Queues: []QP{{Number: 19, Type: "77", State: "99"}}},
		{Kernel: "ib_core", PDs: 1, CQs: 1, QPs: 1, Queues: []QP{{Number: 1, Type: "GSI", State: "RTS"}}},
		{Process: Process{PID: 42, Command: "evil\aname", Cgroup: "/kubepods/pod11111111-2222-3333-4444-555555555555/" + container,
			Pod: "11111111-2222-3333-4444-555555555555", Container: container, Host: "web-7f9c"},
			PDs: 1, CQs: 1, QPs: 1, MRs: 2, CMIDs: 1, Memory: 4096 + 1<<20,
			Queues: []QP{{Number: 17, Remote: 18, Port: 1, Type: "RC", State: "RTS"}},
			IDs:    []CMID{{State: "LISTEN", PortSpace: "TCP", Source: netip.MustParseAddrPort("10.0.0.1:7174")}}},
	}}}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b netip.AddrPort) bool { return a == b })); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	got, err = list(t.Context(), netlink{gone: true}, fakeProc(t))
	if err != nil || len(got) != 0 {
		t.Errorf("a device that is gone: %v, %v", got, err)
	}
}

func TestProcessGone(t *testing.T) {
	if diff := cmp.Diff(Process{PID: 7}, fakeProc(t).Process(7)); diff != "" {
		t.Error(diff)
	}
}

func FuzzCgroup(f *testing.F) {
	f.Add("0::/kubepods/pod11111111-2222-3333-4444-555555555555/" + container)
	f.Fuzz(func(_ *testing.T, s string) { podOf(cgroupPath(s)) })
}
