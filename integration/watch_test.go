//go:build linux

package integration

import (
	"encoding/json"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
)

// watchLine is one line of rdmaprobe watch --json.
type watchLine struct {
	Event, Device, Name, Old, New, Text string
	Time                                time.Time
}

// watchLines are the lines so far.
func (p *process) watchLines(t *testing.T) (out []watchLine) {
	t.Helper()
	for line := range strings.Lines(p.text()) {
		var l watchLine
		if !strings.HasSuffix(line, "\n") {
			break
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		out = append(out, l)
	}
	return out
}

// awaitChange waits for a line that matches, and returns it.
func (p *process) awaitChange(t *testing.T, what string, match func(watchLine) bool) watchLine {
	t.Helper()
	for deadline := time.Now().Add(testTime); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		for _, l := range p.watchLines(t) {
			if match(l) {
				return l
			}
		}
	}
	t.Fatalf("watch does not report: %s\n%s", what, p.text())
	return watchLine{}
}

// TestProbeWatch: what happens to devices, ports and GIDs is reported, and the
// watch does not hold up the removal of a device.
func TestProbeWatch(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	w := start(t, requireProbe(t), "watch", "--json", "--interval", "200ms")
	w.awaitChange(t, "the device that is there", func(l watchLine) bool { return l.Event == "present" && l.Device == "rxe0" })

	v1, err := netlink.LinkByName("v1")
	if err != nil {
		t.Fatal(err)
	}
	if err := netlink.LinkSetDown(v1); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = netlink.LinkSetUp(v1) })
	w.awaitChange(t, "port down", func(l watchLine) bool { return l.Event == "port" && l.Name == "state" && l.New == "DOWN" })
	w.awaitChange(t, "event PORT_ERR", func(l watchLine) bool { return l.Event == "async" && strings.Contains(l.Text, "PORT_ERR") })
	if err := netlink.LinkSetUp(v1); err != nil {
		t.Fatal(err)
	}
	w.awaitChange(t, "port up", func(l watchLine) bool {
		return l.Event == "port" && l.Name == "state" && l.Old == "DOWN" && l.New == "ACTIVE"
	})

	v0, err := netlink.LinkByName(netdev)
	if err != nil {
		t.Fatal(err)
	}
	addr, err := netlink.ParseAddr("10.99.0.1/24")
	if err != nil {
		t.Fatal(err)
	}
	if err := netlink.AddrAdd(v0, addr); err != nil {
		t.Fatal(err)
	}
	w.awaitChange(t, "GID added", func(l watchLine) bool { return l.Event == "gid-added" && strings.Contains(l.New, "10.99.0.1 ") })
	if err := netlink.AddrDel(v0, addr); err != nil {
		t.Fatal(err)
	}
	w.awaitChange(t, "GID removed", func(l watchLine) bool { return l.Event == "gid-removed" && strings.Contains(l.Old, "10.99.0.1 ") })

	probe(t, "rxe", "add", "v1", "--name", "rxe_w").want(t, 0)
	w.awaitChange(t, "device added", func(l watchLine) bool { return l.Event == "device-added" && l.Device == "rxe_w" })
	probe(t, "rxe", "del", "rxe_w").want(t, 0) // would hang if the watch held the device
	w.awaitChange(t, "device removed", func(l watchLine) bool { return l.Event == "device-removed" && l.Device == "rxe_w" })
	if code := w.signal(t, syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d", code)
	}
	lines := w.watchLines(t)
	if last := lines[len(lines)-1]; last.Event != "stopped" {
		t.Errorf("last line %+v", last)
	}
	if monitored := strings.Contains(lines[0].Text, "at once"); monitored != kernelAtLeast(t, 6, 12) {
		t.Errorf("first line %q", lines[0].Text)
	}
}
