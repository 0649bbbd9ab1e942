//go:build linux

package integration

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"github.com/purerdma/rdma/uverbs"
)

// discChildEnv passes the parent's device to TestDiscoveryChild.
const discChildEnv = "RDMA_DISC_CHILD"

// discReport is what the child found out about the parent's device.
type discReport struct {
	Listed  int
	State   uverbs.UsabilityState
	Reason  string
	AddLink string
}

// TestDiscoveryChild is not a test of its own: it is what discChild runs as another
// user or in another namespace.
func TestDiscoveryChild(t *testing.T) {
	text := os.Getenv(discChildEnv)
	if text == "" {
		t.Skip("run by other tests")
	}
	var d uverbs.Device
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatal(err)
	}
	devices, err := uverbs.Devices()
	if err != nil {
		t.Fatal(err)
	}
	u := d.Usability()
	r := discReport{Listed: len(devices), State: u.State, Reason: u.String()}
	if _, err := uverbs.AddLink(t.Context(), uverbs.LinkConfig{Netdev: "lo"}); err != nil {
		r.AddLink = err.Error()
	}
	if err := json.NewEncoder(os.NewFile(3, "report")).Encode(r); err != nil {
		t.Fatal(err)
	}
}

// discChild runs TestDiscoveryChild under other attributes.
func discChild(t *testing.T, d *uverbs.Device, attr *syscall.SysProcAttr) discReport {
	t.Helper()
	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd := exec.Command("/proc/self/exe", "-test.run=^TestDiscoveryChild$", "-test.v", "-test.timeout=30s")
	cmd.Env = append(os.Environ(), discChildEnv+"="+string(text))
	cmd.ExtraFiles = []*os.File{w}
	cmd.SysProcAttr = attr
	cmd.Dir = "/"
	out, err := cmd.CombinedOutput()
	w.Close()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var report discReport
	if err := json.NewDecoder(r).Decode(&report); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return report
}

func TestDiscoveryOtherUser(t *testing.T) {
	checkLeaks(t)
	d := discDevice(t)
	nobody := &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	r := discChild(t, d, nobody)
	if r.Listed == 0 || r.State != uverbs.Usable || !strings.Contains(r.AddLink, "CAP_NET_ADMIN") {
		t.Errorf("mode 0666: got %+v", r)
	}
	if err := os.Chmod(d.CharDev.Path, 0o600); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(d.CharDev.Path, 0o666)
	r = discChild(t, d, nobody)
	if r.State != uverbs.DeniedMode || !strings.Contains(r.Reason, "mode 0600, owner uid 0") {
		t.Errorf("mode 0600: got %+v", r)
	}
}

func TestDiscoveryNamespace(t *testing.T) {
	checkLeaks(t)
	d := discDevice(t)
	away := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	r := discChild(t, d, away)
	if r.Listed == 0 || r.State != uverbs.Usable {
		t.Errorf("shared mode: got %+v", r)
	}
	discSetMode(t, "exclusive")
	t.Cleanup(func() { discSetMode(t, "shared") })
	r = discChild(t, d, away)
	if r.Listed != 0 || r.State != uverbs.WrongNetns {
		t.Errorf("exclusive mode: got %+v", r)
	}
}

// discSetMode sets the namespace mode of the RDMA subsystem. The kernel refuses while
// a second namespace exists, and takes some time to remove one.
func discSetMode(t *testing.T, mode string) {
	t.Helper()
	deadline := time.Now().Add(testTime)
	for {
		err := netlink.RdmaSystemSetNetnsMode(mode)
		if err == nil {
			return
		}
		if !errors.Is(err, syscall.EBUSY) || time.Now().After(deadline) {
			t.Fatalf("set namespace mode %s: %v", mode, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
