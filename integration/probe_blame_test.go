//go:build linux

package integration

import (
	"strings"
	"testing"

	"github.com/purerdma/rdma/uverbs"
)

// TestProbePortDown: whichever command meets a port that is down names it, with its
// reason, before firewall and host.
func TestProbePortDown(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	w := newWire(t)
	w.knowNeighbour(t, "10.90.0.50")
	for _, tt := range []struct{ down, because, remedy string }{
		{w.far, w.near + " has no carrier", "other end of the veth pair"},
		{w.near, w.near + " is", "ip link set " + w.near + " up"},
	} {
		w.down(t, tt.down)
		cause := w.device + " port 1 is down, because " + tt.because
		for _, args := range [][]string{{"ping", "10.90.0.50", "-C", "1"}, {"cmping", "10.90.0.50", "-C", "1"}, {"bench", "lat", "10.90.0.50"}} {
			r := probe(t, append(args, "--timeout", "2s", "--json")...)
			r.want(t, 5)
			if e := r.decode(t).Error; e.Class != "port-down" || e.Cause != cause || !strings.Contains(e.Remedy, tt.remedy) {
				t.Errorf("%s down, %v: %+v", tt.down, args, e)
			}
		}
		r := probe(t, "cmping", "10.90.0.50", "-C", "1", "--timeout", "2s")
		r.contains(t, "seq=0 ", cause)
		r = probe(t, "path", "10.90.0.50", "--timeout", "2s", "--json")
		if e := r.decode(t).Error; !strings.Contains(e.Cause, "down, because "+tt.because) || !strings.Contains(e.Remedy, tt.remedy) {
			t.Errorf("%s down, path: %+v", tt.down, e)
		}
		w.up(t, tt.down)
		w.waitState(t, uverbs.PortActive)
		w.knowNeighbour(t, "10.90.0.50")
		w.remake(t)
	}
}

// TestProbeStuckCM: a connect request while the interface is down stops the connection
// manager of a soft-RoCE device for good: its queue pair 1 goes to ERR and stays there
// on 6.12 and 7.3; on 5.10 it stays in RTS and sends nothing. Every command says so, and
// the remedy that it names mends it.
func TestProbeStuckCM(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	w := newWire(t)
	w.knowNeighbour(t, "10.90.0.50")
	probe(t, "cmping", "10.90.0.1", "-C", "1", "--timeout", "20s").want(t, 0)
	probe(t, "doctor", "--device", w.device).contains(t, w.device+" answers itself")
	w.down(t, w.near)
	probe(t, "cmping", "10.90.0.1", "-C", "1", "--timeout", "2s").want(t, 5)
	w.up(t, w.near)
	w.waitState(t, uverbs.PortActive)
	waitForGID(t, w.device, "10.90.0.1")
	w.knowNeighbour(t, "10.90.0.50")
	remedy := "rdmaprobe rxe del " + w.device + " && rdmaprobe rxe add " + w.near + " --name " + w.device
	for _, args := range [][]string{{"cmping", "10.90.0.1", "-C", "1", "--timeout", "2s"}, {"ping", "10.90.0.50", "-C", "1", "--timeout", "2s"}, {"path", "10.90.0.1"}} {
		e := probe(t, append(args, "--json")...).decode(t).Error
		if !strings.Contains(e.Cause, "its connection manager has stopped") || !strings.Contains(e.Remedy, remedy) {
			t.Errorf("%v: %+v", args, e)
		}
	}
	wantFault(t, 1, "RP-CM-002", w.device, remedy, "--device", w.device)
	probe(t, "rxe", "del", w.device).want(t, 0)
	probe(t, "rxe", "add", w.near, "--name", w.device).want(t, 0)
	waitForGID(t, w.device, "10.90.0.1")
	probe(t, "cmping", "10.90.0.1", "-C", "1", "--timeout", "20s").want(t, 0)
	probe(t, "doctor", "--device", w.device).contains(t, w.device+" answers itself")
}

// remake makes the device anew, as the remedy says.
func (w *wire) remake(t *testing.T) {
	t.Helper()
	probe(t, "rxe", "del", w.device).want(t, 0)
	probe(t, "rxe", "add", w.near, "--name", w.device).want(t, 0)
	waitForGID(t, w.device, "10.90.0.1")
	w.waitState(t, uverbs.PortActive)
}
