//go:build linux

package integration

import (
	"encoding/json"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// resHolder is what tests look at in the JSON of rdmaprobe res.
type resHolder struct {
	Kind, Command, Kernel string
	PID                   int
	MemoryBytes           uint64 `json:"memory_bytes"`
	Objects               []struct {
		Kind  string
		Count int
	}
	Queues []struct{ Type, State string } `json:"queue_pairs"`
	IDs    []struct {
		State, Source, Destination string
	} `json:"cm_ids"`
}

func (h resHolder) count(kind string) int {
	for _, o := range h.Objects {
		if o.Kind == kind {
			return o.Count
		}
	}
	return 0
}

func resHolders(t *testing.T, r probeResult) []resHolder {
	t.Helper()
	r.want(t, 0)
	var d struct {
		Devices []struct {
			Device  string
			Holders []resHolder
		}
	}
	if err := json.Unmarshal([]byte(r.stdout), &d); err != nil {
		t.Fatal(err)
	}
	if len(d.Devices) != 1 || d.Devices[0].Device != "rxe0" {
		t.Fatalf("devices %+v", d.Devices)
	}
	return d.Devices[0].Holders
}

// TestProbeRes: a server with one client holds what it should, an idle machine
// shows the kernel only, and no privilege is needed.
func TestProbeRes(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	for _, h := range resHolders(t, probe(t, "res", "--json")) {
		if h.Kind != "kernel" || h.count("qp") != 1 || h.count("cm_id") != 0 {
			t.Errorf("an idle machine has %+v", h)
		}
	}
	server, where := probeServe(t, addrV4+":0")
	ping := start(t, requireProbe(t), "ping", where, "--interval", "1h")
	server.await(t, "connected via rxe0")
	ping.await(t, "seq=0")
	cmd := exec.CommandContext(testContext(t), requireProbe(t), "res", "--json")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	found := 0
	holders := resHolders(t, runTool(t, cmd))
	for _, h := range holders {
		if h.PID != server.cmd.Process.Pid {
			continue
		}
		found++
		if h.Kind != "process" || h.Command != "rdmaprobe" || h.count("qp") != 1 || h.count("pd") != 1 || h.count("mr") == 0 ||
			h.MemoryBytes < 64 || h.count("cm_id") != 2 {
			t.Errorf("the server has %+v", h)
		}
		if len(h.Queues) != 1 || h.Queues[0].Type != "RC" || h.Queues[0].State != "RTS" {
			t.Errorf("queue pairs %+v", h.Queues)
		}
		states := ""
		for _, id := range h.IDs {
			states += id.State + " " + id.Source + " "
		}
		if !strings.Contains(states, "LISTEN "+where) || !strings.Contains(states, "CONNECT "+where) {
			t.Errorf("IDs %+v", h.IDs)
		}
	}
	if found != 1 {
		t.Errorf("the server, process %d, was found %d times in %+v", server.cmd.Process.Pid, found, holders)
	}
	r := probe(t, "res", "-v")
	r.want(t, 0)
	r.contains(t, "HOLDER", "[ib_core]", "rdmaprobe", "RTS", "LISTEN", where)
	for _, p := range []*process{ping, server} {
		p.signal(t, syscall.SIGTERM)
	}
}
