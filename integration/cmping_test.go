//go:build linux

package integration

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"github.com/purerdma/rdma/cm"
)

// cmAnswer is what tests look at in the JSON of rdmaprobe cmping.
type cmAnswer struct {
	State, Device  string
	Listener       bool
	Sent, Answered int
	Probes         []struct {
		State, Answer string
		TimeMS        float64 `json:"time_ms"`
		Reject        struct {
			Reason int
			Text   string
		}
	}
	Error struct{ Class, Step, Cause, Remedy string }
}

// cmping runs rdmaprobe cmping with the table of data paths emptied: nothing
// of it may be needed.
func cmping(t *testing.T, code int, args ...string) (d cmAnswer) {
	t.Helper()
	r := probe(t, append([]string{"cmping", "--no-providers", "--json"}, args...)...)
	r.want(t, code)
	if err := json.Unmarshal([]byte(r.stdout), &d); err != nil {
		t.Fatalf("%v in\n%s%s", err, r.stdout, r.stderr)
	}
	return d
}

// deafNeighbour makes an address whose packets are delivered to nobody, and
// whose neighbour need not be looked for.
func deafNeighbour(t *testing.T, dev, ip string) {
	t.Helper()
	own, err := net.InterfaceByName(dev)
	if err != nil {
		t.Fatal(err)
	}
	neigh := &netlink.Neigh{LinkIndex: own.Index, State: netlink.NUD_PERMANENT, IP: net.ParseIP(ip),
		HardwareAddr: net.HardwareAddr{2, 0, 0, 0, 0, 0x63}}
	if err := netlink.NeighSet(neigh); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = netlink.NeighDel(neigh) })
}

// plainInterface makes a network interface without RDMA.
func plainInterface(t *testing.T, name, peer, cidr string) {
	t.Helper()
	attrs := netlink.NewLinkAttrs()
	attrs.Name = name
	link := &netlink.Veth{LinkAttrs: attrs, PeerName: peer}
	if err := netlink.LinkAdd(link); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = netlink.LinkDel(link) })
	addr, err := netlink.ParseAddr(cidr)
	if err != nil {
		t.Fatal(err)
	}
	if err := netlink.AddrAdd(link, addr); err != nil {
		t.Fatal(err)
	}
	for _, n := range []string{name, peer} {
		l, err := netlink.LinkByName(n)
		if err != nil {
			t.Fatal(err)
		}
		if err := netlink.LinkSetUp(l); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCMPingAnswers: four situations, four answers.
func TestCMPingAnswers(t *testing.T) {
	requireRDMA(t)
	for _, host := range []string{addrV4, addrV6, linkLocalOf(t, netdev)} {
		t.Run("no listener/"+host, func(t *testing.T) {
			checkLeaks(t)
			d := cmping(t, 0, host, "-C", "3", "-i", "0")
			if d.State != "up" || d.Listener || d.Sent != 3 || d.Answered != 3 || d.Device != "rxe0" {
				t.Errorf("answer %+v", d)
			}
			for _, p := range d.Probes {
				if p.Reject.Reason != 8 || p.TimeMS <= 0 {
					t.Errorf("request %+v", p)
				}
			}
		})
	}
	t.Run("silent address", func(t *testing.T) {
		checkLeaks(t)
		start := time.Now()
		d := cmping(t, 5, addrSilent, "-C", "1", "--timeout", "1s")
		if d.State != "unresolved" || !strings.Contains(d.Error.Cause, "no neighbour for "+addrSilent) || d.Error.Step != "resolve address" {
			t.Errorf("answer %+v", d)
		}
		if took, most := time.Since(start), limit(t, time.Second); took > most {
			t.Errorf("took %v with a timeout of 1s, want less than %v", took, most)
		}
	})
	t.Run("silent connection manager", func(t *testing.T) {
		checkLeaks(t)
		deafNeighbour(t, netdev, "10.77.0.98")
		d := cmping(t, 5, "10.77.0.98", "-C", "1", "--timeout", "1s")
		if d.State != "no answer" || !strings.Contains(d.Error.Cause, "no answer (UDP port 4791") || d.Error.Step != "connect" {
			t.Errorf("answer %+v", d)
		}
	})
	t.Run("no RDMA that way", func(t *testing.T) {
		checkLeaks(t)
		plainInterface(t, "plain0", "plain1", "192.0.2.1/24")
		deafNeighbour(t, "plain0", "192.0.2.7")
		for _, host := range []string{"192.0.2.7", "192.0.2.8"} { // with a neighbour, and without
			d := cmping(t, 3, host, "-C", "1", "--timeout", "1s")
			if d.State != "no device" || d.Error.Class != "no-device" {
				t.Errorf("%s: answer %+v", host, d)
			}
		}
	})
	t.Run("no route", func(t *testing.T) {
		d := cmping(t, 5, "198.51.100.1", "-C", "1", "--timeout", "1s")
		if d.State != "unresolved" || d.Error.Class != "unreachable" {
			t.Errorf("answer %+v", d)
		}
	})
}

// TestCMPingRejected: an application that refuses gives its reason.
func TestCMPingRejected(t *testing.T) {
	requireRDMA(t)
	requireProbe(t)
	checkLeaks(t)
	ctx := testContext(t)
	l, err := cm.Listen(ctx, addrV4+":0", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			req, err := l.Accept(ctx)
			if err != nil {
				return
			}
			_ = req.Reject([]byte("v2 only"))
		}
	}()
	d := cmping(t, 6, l.Addr().String(), "-C", "2", "-i", "0")
	if d.State != "rejected" || !d.Listener || d.Answered != 2 || d.Probes[0].Reject.Reason != 28 || d.Probes[0].Reject.Text != "v2 only" {
		t.Errorf("answer %+v", d)
	}
	r := probe(t, "ping", l.Addr().String(), "-C", "1")
	r.want(t, 6)
	r.contains(t, "rejected", "reason 28", "v2 only")
	if e := probe(t, "ping", l.Addr().String(), "--json").decode(t).Error; e.Class != "rejected" || e.AfterMS > ms(limit(t, 0)) {
		t.Errorf("error %+v", e)
	}
}

// TestCMPingListener: a server of this module takes many connections that end
// at once, and goes on serving.
func TestCMPingListener(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	server, where := probeServe(t, addrV4+":0")
	d := cmping(t, 0, where, "-C", "20", "-i", "0")
	if d.State != "up" || !d.Listener || d.Answered != 20 {
		t.Errorf("answer %+v", d)
	}
	probe(t, "ping", where, "-C", "2", "--interval", "0").want(t, 0)
	if code := server.signal(t, syscall.SIGTERM); code != 0 {
		t.Errorf("server's exit code %d", code)
	}
}

// TestCMPingRping: the C server that serves one client.
func TestCMPingRping(t *testing.T) {
	requireRDMA(t)
	rping := requireTool(t, "rping", "rdmacm-utils")
	checkLeaks(t)
	rpingPort++
	port := fmt.Sprint(rpingPort)
	server := start(t, rping, "-s", "-a", addrV4, "-p", port, "-v")
	var d cmAnswer
	for deadline := time.Now().Add(testTime); time.Now().Before(deadline) && !d.Listener; time.Sleep(20 * time.Millisecond) {
		d = cmping(t, 0, addrV4, "-p", port, "-C", "1")
	}
	if d.State != "up" || !d.Listener || d.Probes[0].TimeMS <= 0 {
		t.Errorf("answer %+v", d)
	}
	server.exit(t) // it has seen its client, and left
}

// TestCMPingUnprivileged: an ordinary user whose machine has the node and
// nothing else.
func TestCMPingUnprivileged(t *testing.T) {
	requireRDMA(t)
	if err := os.Chmod("/dev/infiniband/rdma_cm", 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(testContext(t), requireProbe(t), "cmping", addrV4, "-C", "1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	r := runTool(t, cmd)
	r.want(t, 0)
	r.contains(t, "up time=", "no listener on that port (CM reason 8)")
}
