//go:build linux

package integration

import (
	"encoding/json"
	"errors"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/purerdma/rdma/uverbs"
)

// pathReport is what tests look at in the JSON of path.
type pathReport struct {
	Stages                      []struct{ Stage, Result, Detail string }
	Failed, Device, GID, Source string
	MTU                         int `json:"path_mtu"`
	TOS                         int
	HopLimit                    int `json:"hop_limit"`
}

func probePath(t *testing.T, code int, args ...string) (rep pathReport) {
	t.Helper()
	r := probe(t, append([]string{"path", "--json"}, args...)...)
	r.want(t, code)
	if err := json.Unmarshal([]byte(r.stdout), &rep); err != nil {
		t.Fatalf("%v in\n%s%s", err, r.stdout, r.stderr)
	}
	return rep
}

// stage returns what a stage found.
func (r pathReport) stage(t *testing.T, name string) (result, detail string) {
	t.Helper()
	for _, s := range r.Stages {
		if s.Stage == name {
			return s.Result, s.Detail
		}
	}
	t.Fatalf("no stage %s in %+v", name, r.Stages)
	return "", ""
}

// wantFailed wants a stage to fail, the ones before it to be passed, and the
// ones after it not to be tried.
func (r pathReport) wantFailed(t *testing.T, name string) {
	t.Helper()
	if r.Failed != name {
		t.Errorf("failed at %q, want %q: %+v", r.Failed, name, r.Stages)
	}
	passed := true
	for _, s := range r.Stages {
		switch {
		case s.Stage == r.Failed:
			passed = false
		case passed && s.Result == "not tried", !passed && s.Result != "not tried":
			t.Errorf("stage %s is %q", s.Stage, s.Result)
		}
	}
}

// TestPathOwn goes through all stages of this machine's own addresses.
func TestPathOwn(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	for _, dst := range append(linkLocals(t, netdev), addrV4, addrV6) {
		r := probePath(t, 0, dst, "--tos", "104")
		if r.Failed != "" || r.Device != "rxe0" || r.MTU != 1024 || r.TOS != 104 || r.HopLimit == 0 {
			t.Errorf("path to %s: %+v", dst, r)
		}
		for _, s := range r.Stages {
			if s.Result != "ok" {
				t.Errorf("path to %s, stage %+v", dst, s)
			}
		}
	}
	r := probe(t, "path", addrV4)
	r.want(t, 0)
	r.wantNarrow(t)
	r.contains(t, "route", "interface", "device", "source GID", "neighbour", "CM address", "CM route", "path MTU", "ToS", "hop limit")
}

// TestPathFails: each stage that a test can break, and the exit code of it.
func TestPathFails(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	plainInterface(t, "plain0", "plain1", "10.91.0.1/24")
	start := time.Now()
	r := probePath(t, 5, addrSilent, "--timeout", "2s")
	r.wantFailed(t, "neighbour")
	if _, detail := r.stage(t, "neighbour"); !strings.Contains(detail, "no neighbour "+addrSilent) {
		t.Errorf("detail %q", detail)
	}
	if took, most := time.Since(start), limit(t, 2*time.Second); took > most {
		t.Errorf("took %v with a timeout of 2s, want less than %v", took, most)
	}
	probePath(t, 5, addrSilent, "--timeout", "1s", "--no-probe").wantFailed(t, "CM address")
	probePath(t, 3, "10.91.0.7").wantFailed(t, "device")
	probePath(t, 5, "203.0.113.1").wantFailed(t, "route")
	probePath(t, 3, "127.0.0.1").wantFailed(t, "device")
	w := newWire(t)
	w.knowNeighbour(t, "10.90.0.50")
	probePath(t, 0, "10.90.0.50", "--no-probe")
	w.down(t, w.far)
	probePath(t, 1, "10.90.0.50").wantFailed(t, "device")
	w.up(t, w.far)
	w.waitState(t, uverbs.PortActive)
}

// TestPathMTU: an interface on the way that takes smaller packets.
func TestPathMTU(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	w := newWire(t)
	w.peer(t, "10.90.0.9/24", 1500)
	const stageTime = "10s" // the far end answers one test packet a second, after the first six
	var r pathReport
	for range 5 {
		r = probePath(t, 0, "10.90.0.9", "--timeout", stageTime)
		if _, detail := r.stage(t, "path MTU"); !strings.Contains(detail, "packets of 1084 B arrive") {
			t.Errorf("path MTU: %q", detail)
		}
	}
	if _, detail := r.stage(t, "neighbour"); !strings.Contains(detail, "10.90.0.9 is ") {
		t.Errorf("neighbour: %q", detail)
	}
	w.peer(t, "10.90.0.9/24", 800)
	r = probePath(t, 1, "10.90.0.9", "--timeout", stageTime)
	r.wantFailed(t, "path MTU")
	if _, detail := r.stage(t, "path MTU"); !strings.Contains(detail, "MTU mismatch") {
		t.Errorf("path MTU: %q", detail)
	}
}

// peer moves the far end into a network namespace of its own, and gives it
// address and MTU; once it is there, it only sets the MTU.
func (w *wire) peer(t *testing.T, cidr string, mtu int) {
	t.Helper()
	if w.ns == "" {
		w.ns = newNetNS(t, func() {})
		f, err := os.Open(w.ns)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := netlink.LinkSetNsFd(w.link(t, w.far), int(f.Fd())); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	inNamespace(t, w.ns, func() {
		l, lookErr := netlink.LinkByName(w.far)
		a, addrErr := netlink.ParseAddr(cidr)
		if err = errors.Join(lookErr, addrErr); err == nil {
			err = errors.Join(netlink.LinkSetMTU(l, mtu), netlink.AddrReplace(l, a), netlink.LinkSetUp(l))
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestNodesPath runs in two guests at once: the path from guest 1 to guest 0.
func TestNodesPath(t *testing.T) {
	node := requireNodes(t)
	checkLeaks(t)
	requireProbe(t)
	const meet = ":7479"
	if node == 0 {
		l := listenOn(t, meet, nil)
		a := <-acceptOne(testContext(t), l, nil)
		if a.err != nil {
			t.Fatal(a.err)
		}
		defer closeConn(t, a.conn)
		select {
		case <-a.conn.Done():
		case <-time.After(testTime):
			t.Error("the other guest did not finish")
		}
		return
	}
	c := dialNode(testContext(t), t, nodeV4(0)+meet)
	defer closeConn(t, c)
	for _, dst := range []string{nodeV4(0), strings.Trim(nodeV6(0), "[]")} {
		r := probePath(t, 0, dst)
		if r.Failed != "" || r.Device != "rxe0" || r.MTU != 1024 {
			t.Errorf("path to %s: %+v", dst, r)
		}
		for _, s := range r.Stages {
			if s.Result != "ok" {
				t.Errorf("path to %s: %+v", dst, s)
			}
		}
		if _, detail := r.stage(t, "path MTU"); !strings.Contains(detail, "arrive") || strings.Contains(detail, "not tested") {
			t.Errorf("path MTU to %s: %q", dst, detail)
		}
		device, _ := probeGIDs(t, 0, "--to", dst).picked(t)
		if device != "rxe0" {
			t.Errorf("to %s: picked %q", dst, device)
		}
	}
	if r := probePath(t, 0, nodeV4(0), "--tos", "184"); r.TOS != 184 {
		t.Errorf("ToS %d, want 184", r.TOS)
	}
}

// inNamespace runs f in a network namespace.
func inNamespace(t *testing.T, path string, f func()) {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // for good: the thread dies with the goroutine
		ns, err := os.Open(path)
		if err != nil {
			done <- err
			return
		}
		defer ns.Close()
		if err = unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET); err == nil {
			f()
		}
		done <- err
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}
