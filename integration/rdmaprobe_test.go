//go:build linux

package integration

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/purerdma/rdma/uverbs"
)

func TestProbeDemo(t *testing.T) {
	requireRDMA(t)
	for _, args := range [][]string{{"demo"}, {"demo", "-6", "-S", "4096", "-C", "20"}, {"demo", "--device", "rxe0", "-C", "20"}} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			checkLeaks(t)
			r := probe(t, args...)
			r.want(t, 0)
			r.contains(t, "resolve address", "resolve route", "connect", "accept", "establish", "verify data", "disconnect", "RDMA works here")
			for line := range strings.Lines(r.stdout) {
				if len(line) > 101 {
					t.Errorf("line of %d columns: %s", len(line)-1, line)
				}
			}
		})
	}
	r := probe(t, "demo", "--json", "-C", "5")
	r.want(t, 0)
	if d := r.decode(t); d.Sent != 5 || d.Verified != 5 || !d.Clean {
		t.Errorf("JSON says %+v", d)
	}
}

// TestProbeDemoInterrupted: the demo cleans up after a signal.
func TestProbeDemoInterrupted(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	p := start(t, requireProbe(t), "demo", "-C", "1000000")
	p.await(t, "establish          server")
	time.Sleep(200 * time.Millisecond)
	if code := p.signal(t, syscall.SIGINT); code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	if _, err := net.InterfaceByName("rpdemo0"); err == nil {
		t.Error("rpdemo0 is still there")
	}
	devices, err := uverbs.Devices()
	if err != nil || len(devices) != 1 {
		t.Errorf("%d RDMA devices left, %v", len(devices), err)
	}
}

func TestProbeDemoUnprivileged(t *testing.T) {
	requireRDMA(t)
	cmd := exec.CommandContext(testContext(t), requireProbe(t), "demo", "--json")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	r := runTool(t, cmd)
	r.want(t, 4)
	if d := r.decode(t); d.Error.Class != "permission" || !strings.Contains(d.Error.Remedy, "--device rxe0") {
		t.Errorf("error %+v", d.Error)
	}
}

func TestProbeList(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	r := probe(t, "list")
	r.want(t, 0)
	r.contains(t, "rxe0", "v0", "usable", addrV4, addrV6, "uverbs0")
	r = probe(t, "list", "--json")
	r.want(t, 0)
	d := r.decode(t)
	if len(d.Devices) == 0 || !d.Devices[0].Usable || len(d.Devices[0].Ports) != 1 {
		t.Fatalf("devices %+v", d.Devices)
	}
	found := false
	for _, g := range d.Devices[0].Ports[0].GIDs {
		found = found || g.Address == addrV4
	}
	if !found {
		t.Errorf("no GID with address %s: %+v", addrV4, d.Devices[0].Ports[0])
	}
	r = probe(t, "version")
	r.want(t, 0)
	r.contains(t, "rdma_cm ABI  4", "uverbs ABI   6", "driver rxe, ABI 2, with data path")
}

// TestProbeRXE makes and removes a device.
func TestProbeRXE(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	r := probe(t, "rxe", "add", "v1", "--name", "rxe_test")
	r.want(t, 0)
	r.contains(t, "added rxe_test on v1, port ACTIVE")
	r = probe(t, "rxe", "add", "v1", "--json")
	r.want(t, 1)
	if d := r.decode(t); d.Error.Class != "exists" {
		t.Errorf("second device on one netdev: %+v", d.Error)
	}
	r = probe(t, "rxe", "list")
	r.want(t, 0)
	r.contains(t, "rxe_test", "rxe0")
	probe(t, "rxe", "del", "rxe_test").want(t, 0)
	probe(t, "rxe", "del", "rxe_test").want(t, 3)
	probe(t, "rxe", "add", "nosuchdev").want(t, 3)
}

// TestProbePingNoListener: refused at once, with the reason's name (P5).
func TestProbePingNoListener(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	r := probe(t, "ping", addrV4+":9", "-C", "1")
	r.want(t, 6)
	r.contains(t, "no listener on that port", "reason 8")
	r = probe(t, "ping", addrV4+":9", "--json")
	r.want(t, 6)
	d := r.decode(t)
	if d.Error.Class != "no-listener" {
		t.Errorf("error %+v", d.Error)
	}
	if most := ms(limit(t, 0)); d.Error.AfterMS > most {
		t.Errorf("took %v ms, want less than %v", d.Error.AfterMS, most)
	}
}

// TestProbeLoadsModule: the connection manager's module is loaded on demand.
func TestProbeLoadsModule(t *testing.T) {
	requireRDMA(t)
	requireProbe(t) // before the module goes, which the tests after this one need
	checkLeaks(t)
	if err := unix.DeleteModule("rdma_ucm", 0); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat("/dev/infiniband/rdma_cm"); err == nil {
		t.Fatal("the device is still there")
	}
	probe(t, "ping", addrV4+":9", "-C", "1").want(t, 6)
}

// TestProbePingBlackHole: nobody has the address, or nobody answers there (P6;
// TestNodesBlackHole has a peer behind a filter).
func TestProbePingBlackHole(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	const deaf = "10.77.0.98" // a neighbour that takes packets and never answers
	peer, err := net.InterfaceByName("v1")
	if err != nil {
		t.Fatal(err)
	}
	own, err := net.InterfaceByName(netdev)
	if err != nil {
		t.Fatal(err)
	}
	neigh := &netlink.Neigh{LinkIndex: own.Index, State: netlink.NUD_PERMANENT, IP: net.ParseIP(deaf), HardwareAddr: peer.HardwareAddr}
	if err := netlink.NeighSet(neigh); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = netlink.NeighDel(neigh) })
	for _, tt := range []struct{ name, addr, step, cause string }{
		{"no neighbour", addrSilent, "resolve address", "no neighbour for " + addrSilent},
		{"no answer", deaf, "connect", "no answer (UDP port 4791"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := probe(t, "ping", tt.addr, "--timeout", "2s", "--json")
			r.want(t, 5)
			d := r.decode(t)
			if !strings.Contains(d.Error.Step, tt.step) || !strings.Contains(d.Error.Cause, tt.cause) {
				t.Errorf("error %+v\n%s", d.Error, r.stdout)
			}
			if most := ms(limit(t, 2*time.Second)); d.Error.AfterMS > most {
				t.Errorf("took %v ms with a timeout of 2s, want less than %v\n%s", d.Error.AfterMS, most, r.stdout)
			}
		})
	}
}

// TestProbeServePing runs client and server of the program against each other.
func TestProbeServePing(t *testing.T) {
	requireRDMA(t)
	linkLocal := linkLocalOf(t, netdev)
	for _, address := range []string{addrV4, "[" + addrV6 + "]", "[" + linkLocal + "]"} {
		t.Run(address, func(t *testing.T) {
			checkLeaks(t)
			server, where := probeServe(t, address+":0")
			r := probe(t, "ping", where, "-C", "3", "--interval", "0", "-v")
			r.want(t, 0)
			r.contains(t, "3 sent, 3 verified, 0% loss", "ping data: rdma-ping-2: CDEF", "resolve route", "rtt min/avg/max/mdev")
			probe(t, "ping", where, "-C", "2", "--interval", "10ms", "-S", "65535", "-q").want(t, 0)
			if code := server.signal(t, syscall.SIGTERM); code != 0 {
				t.Errorf("server's exit code %d", code)
			}
			if !strings.Contains(server.text(), "stopped (signal): 2 clients, 5 pings, 131262 bytes") {
				t.Errorf("server's summary is missing")
			}
		})
	}
}

// TestProbeServeManyClients serves them at once, over the wildcard.
func TestProbeServeManyClients(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	server, where := probeServe(t, ":0")
	_, port, err := net.SplitHostPort(where)
	if err != nil {
		t.Fatal(err)
	}
	const clients = 8
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() {
			addr := addrV4
			if i%2 == 1 {
				addr = addrV6
			}
			cmd := exec.Command(requireProbe(t), "ping", net.JoinHostPort(addr, port), "-C", "20", "--interval", "0", "-q", "-I", addr, "--timeout", "1m")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("client %d: %v\n%s", i, err, out)
			}
		})
	}
	wg.Wait()
	if code := server.signal(t, syscall.SIGINT); code != 0 {
		t.Errorf("server's exit code %d", code)
	}
	if want := fmt.Sprintf("stopped (signal): %d clients, %d pings", clients, clients*20); !strings.Contains(server.text(), want) {
		t.Errorf("no line with %s", want)
	}
}

// TestProbeServeJSON reads the events of a server.
func TestProbeServeJSON(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	server := start(t, requireProbe(t), "serve", "--json", "-a", addrV4)
	server.await(t, `"event":"listening"`)
	probe(t, "ping", addrV4, "-C", "4", "--interval", "0").want(t, 0)
	server.await(t, `"event":"ended"`)
	if code := server.signal(t, syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d", code)
	}
	var events []string
	for line := range strings.Lines(server.text()) {
		var d struct {
			Event string
			Pings int
		}
		if err := json.Unmarshal([]byte(line), &d); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		events = append(events, fmt.Sprint(d.Event, d.Pings))
	}
	want := []string{"listening0", "connected0", "ended4", "stopped4"}
	if diff := cmp.Diff(want, events); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	// A port that is taken.
	holder, where := probeServe(t, addrV4+":0")
	r := probe(t, "serve", "-a", where, "--json")
	r.want(t, 1)
	if d := r.decode(t); d.Error.Class != "address-in-use" {
		t.Errorf("error %+v", d.Error)
	}
	holder.signal(t, syscall.SIGTERM)
}
