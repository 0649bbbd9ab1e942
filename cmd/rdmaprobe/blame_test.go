package main

import (
	"context"
	"encoding/json"
	"strings"
	"syscall"
	"testing"

	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/cmd/rdmaprobe/holders"
	"github.com/purerdma/rdma/cmd/rdmaprobe/netinfo"
	"github.com/purerdma/rdma/uverbs"
)

// failed runs a command in JSON on a system and returns its error.
func failed(t *testing.T, sys system, line string) errorDoc {
	t.Helper()
	var out, errOut strings.Builder
	runOn(t.Context(), sys, append(strings.Fields(line), "--json"), &out, &errOut)
	var d struct{ Error errorDoc }
	if err := json.Unmarshal([]byte(out.String()), &d); err != nil {
		t.Fatalf("%s: %v in\n%s", line, err, &out)
	}
	return d.Error
}

// downSystem has the port of rxe0 down, because of eth0 or of what it is plugged
// into, and so every dial fails.
func downSystem(dialErr error, up bool) system {
	w := cmWorld()
	w.dialErr = dialErr
	w.diag.Devices[0].Ports[0].State, w.diag.Devices[0].Ports[0].Phys = uverbs.PortDown, uverbs.PhysDisabled
	sys := w.system()
	sys.netdevs = func() (netinfo.Netdevs, error) {
		all := fakeNetdevs()
		all[1].Up, all[1].Running = up, false
		return all, nil
	}
	if !up {
		sys.routeTo = fakeRouteWithoutEth0
	}
	return sys
}

// TestPortDown: whatever fails, a port that is down is named before the network
// or the peer.
func TestPortDown(t *testing.T) {
	lost := map[string]error{
		"connect":         silentDial("connect", "rxe0", context.DeadlineExceeded),
		"resolve address": silentDial("resolve address", "", syscall.ETIMEDOUT),
		"no route":        silentDial("resolve address", "", syscall.ENETUNREACH),
		"no device":       silentDial("resolve address", "", cm.ErrNoDevice),
		"peer closed":     silentDial("receive", "rxe0", cm.ErrPeerClosed),
	}
	for step, err := range lost {
		for _, up := range []bool{false, true} {
			sys := downSystem(err, up)
			cause, remedy := "rxe0 port 1 is down, because eth0 is", "ip link set eth0 up"
			if up {
				cause, remedy = "rxe0 port 1 is down, because eth0 has no carrier", "cable"
			}
			for _, line := range []string{"ping 10.0.0.7 -C 1", "bench lat 10.0.0.7", "bench conn 10.0.0.7"} {
				e := failed(t, sys, line)
				if e.Class != "port-down" || e.ExitCode != exitUnreachable || e.Cause != cause || !strings.Contains(e.Remedy, remedy) {
					t.Errorf("%s with %s, interface up %v: %+v", line, step, up, e)
				}
			}
		}
	}
	for _, host := range []string{"10.0.0.9", "10.0.0.10", "10.0.0.12"} { // no answer, no neighbour, no route
		sys := downSystem(nil, false)
		if e := failed(t, sys, "cmping "+host+" -C 1"); e.Class != "port-down" {
			t.Errorf("cmping %s: %+v", host, e)
		}
		var out, errOut strings.Builder
		runOn(t.Context(), sys, []string{"cmping", host, "-C", "1"}, &out, &errOut)
		if !strings.Contains(out.String(), "rxe0 port 1 is down") {
			t.Errorf("cmping %s:\n%s", host, &out)
		}
	}
	for _, up := range []bool{false, true} {
		if e := failed(t, downSystem(nil, up), "path 10.0.0.7"); !strings.Contains(e.Cause, "down, because eth0 ") {
			t.Errorf("path, interface up %v: %+v", up, e)
		}
	}
	// What has another reason, or goes another way, keeps it.
	for line, err := range map[string]error{
		"ping 10.0.0.7 -C 1": silentDial("connect", "rxe0", &cm.RejectError{Reason: 8}),
		"ping 10.2.0.7 -C 1": silentDial("connect", "rxe1", context.DeadlineExceeded),
	} {
		if e := failed(t, downSystem(err, false), line); e.Class == "port-down" {
			t.Errorf("%s with %v: %+v", line, err, e)
		}
	}
}

// stuckSystem has a device whose connection manager does not answer itself, or
// whose queue pair 1 is in a state.
func stuckSystem(gsi string, answers bool) system {
	w := cmWorld()
	if !answers {
		w.cmAnswers["10.0.0.1"] = context.DeadlineExceeded
	}
	sys := w.system()
	list := sys.holders
	sys.holders = func(ctx context.Context) ([]holders.Device, error) {
		devices, err := list(ctx)
		devices[0].Holders[0].Queues[0].State = gsi
		return devices, err
	}
	return sys
}

// TestStuckCM: a connection manager that has stopped is named with the remedy,
// by every command that meets it.
func TestStuckCM(t *testing.T) {
	const remedy = "rdmaprobe rxe del rxe0 && rdmaprobe rxe add eth0 --name rxe0"
	for _, tt := range []struct {
		gsi     string
		answers bool
		text    string
	}{
		{"ERR", true, "in state ERR"},
		{"RTS", false, "does not answer a connect request from its own address"},
		{"RTS", true, ""},
	} {
		sys := stuckSystem(tt.gsi, tt.answers)
		dial := func(ctx context.Context, d *cm.Dialer, target string) (link, error) {
			return nil, silentDial("connect", "rxe0", context.DeadlineExceeded)
		}
		sys.dial = dial
		for _, line := range []string{"ping 10.0.0.9 -C 1", "cmping 10.0.0.9 -C 1", "path 10.0.0.7", "doctor --device rxe0"} {
			e := failed(t, sys, line)
			text := e.Cause + " " + e.Message
			if found := strings.Contains(text, "connection manager has stopped"); found != (tt.text != "") {
				t.Errorf("%+v, %s: %+v", tt, line, e)
			} else if found && e.Remedy != "make the device anew: "+remedy && !strings.Contains(line, "doctor") {
				t.Errorf("%+v, %s: remedy %q", tt, line, e.Remedy)
			}
		}
	}
	// A request that was answered for another device, or could not be sent, says nothing.
	sys := stuckSystem("", false)
	sys.hearsRoCE = func() bool { return false }
	if e := failed(t, sys, "cmping 10.0.0.9 -C 1"); e.Class != "timeout" {
		t.Errorf("in a namespace that soft-RoCE does not hear: %+v", e)
	}
}
