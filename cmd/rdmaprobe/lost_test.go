package main

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"syscall"
	"testing"

	"github.com/purerdma/rdma/cm"
)

// failingListener is a listener that has ended for good.
type failingListener struct {
	*fakeListener
	err error
}

func (l failingListener) Accept(context.Context) (request, error) { return nil, l.err }

// TestServeLosesListener: the server ends, with a reason, when no client can
// come any more.
func TestServeLosesListener(t *testing.T) {
	for _, flags := range [][]string{nil, {"--json"}} {
		w := rxeWorld()
		sys := w.system()
		sys.listen = func(ctx context.Context, address string) (listener, error) {
			l, err := w.listen(ctx, address)
			if err != nil {
				return nil, err
			}
			return failingListener{l.(*fakeListener), &cm.OpError{Op: "accept", Err: cm.ErrDeviceRemoved}}, nil
		}
		var stdout, stderr bytes.Buffer
		args := append([]string{"serve", "-a", "10.0.0.1"}, flags...)
		if code := runOn(t.Context(), sys, args, &stdout, &stderr); code != exitNoDevice {
			t.Errorf("exit code %d", code)
		}
		if flags == nil {
			if !strings.Contains(stdout.String(), "stopped (accept: the device was removed") {
				t.Errorf("output:\n%s", &stdout)
			}
			continue
		}
		var events []string
		for line := range strings.Lines(stdout.String()) {
			validate(t, "serve", []byte(line))
			var d serveDoc
			if err := json.Unmarshal([]byte(line), &d); err != nil {
				t.Fatal(err)
			}
			events = append(events, d.Event)
		}
		if got := strings.Join(events, " "); got != "listening stopped failed" {
			t.Errorf("events: %s", got)
		}
	}
}

// fullDevice is an output that takes nothing.
type fullDevice struct{ err error }

func (f fullDevice) Write([]byte) (int, error) { return 0, f.err }

// TestOutputLost: results that could not be written are a failure, unless
// their reader has gone on purpose.
func TestOutputLost(t *testing.T) {
	for _, tc := range []struct {
		args []string
		err  error
		code int
	}{
		{[]string{"list"}, syscall.ENOSPC, exitFailed},
		{[]string{"list", "--json"}, syscall.ENOSPC, exitFailed},
		{[]string{"list", "--json"}, syscall.EPIPE, exitOK},
		{[]string{"serve"}, syscall.EPIPE, exitOK},
		{[]string{"bogus"}, syscall.ENOSPC, exitUsage},
	} {
		var stderr bytes.Buffer
		code := runOn(t.Context(), rxeWorld().system(), tc.args, fullDevice{tc.err}, &stderr)
		if code != tc.code {
			t.Errorf("%v: exit code %d, want %d", tc.args, code, tc.code)
		}
		if told := strings.Contains(stderr.String(), "write standard output"); told != (tc.code == exitFailed) {
			t.Errorf("%v with %v: standard error:\n%s", tc.args, tc.err, &stderr)
		}
	}
}

// TestOutputLostEverywhere: every command, in text and in JSON, says which
// errno its output met. What else went wrong is told beside it and keeps its
// exit code; that the lost output ended the run is not.
func TestOutputLostEverywhere(t *testing.T) {
	for line, code := range map[string]int{
		"list": exitFailed, "gids": exitFailed, "doctor": exitNoDevice, "path 10.0.0.1": exitFailed, "rxe list": exitFailed,
		"rxe add eth2": exitFailed, "serve": exitFailed, "ping 10.0.0.2:9 -C 1": exitRejected, "cmping 10.0.0.3 -i 0s": exitFailed,
		"res": exitFailed, "watch --duration 20s": exitFailed, "bench lat 10.0.0.7": exitFailed, "bench bw 10.0.0.7": exitFailed,
		"bench reg": exitFailed, "bench serve": exitFailed, "version": exitFailed, "version --abi": exitFailed, "demo --device nope": exitNoDevice,
	} {
		for _, flags := range []string{"", " --json"} {
			switch {
			case line == "cmping 10.0.0.3 -i 0s" && flags != "":
				continue // it has no end, where its document comes
			case line == "ping 10.0.0.2:9 -C 1" && flags == "":
				continue // it prints nothing
			}
			w := rxeWorld()
			var stderr bytes.Buffer
			got := runOn(t.Context(), w.system(), strings.Fields(line+flags), fullDevice{syscall.ENOSPC}, &stderr)
			if got != code {
				t.Errorf("%s%s: exit code %d, want %d", line, flags, got, code)
			}
			text := stderr.String()
			if !strings.Contains(text, "no space left on device") || strings.Contains(text, "interrupted") {
				t.Errorf("%s%s: standard error:\n%s", line, flags, text)
			}
			if told := strings.Count(text, ": failed\n"); (told == 2) != (code != exitFailed) {
				t.Errorf("%s%s: %d failures on standard error:\n%s", line, flags, told, text)
			}
		}
	}
}

// TestPingOutputLost: the pings end, and say why.
func TestPingOutputLost(t *testing.T) {
	w := rxeWorld()
	server := w.startCommand(t, "serve")
	server.await("ADDRESS")
	var stderr bytes.Buffer
	if code := runOn(t.Context(), w.system(), []string{"ping", "10.0.0.1", "--interval", "1h"}, fullDevice{syscall.ENOSPC}, &stderr); code != exitFailed {
		t.Errorf("exit code %d", code)
	}
	if text := stderr.String(); !strings.Contains(text, "no space left on device") || strings.Contains(text, "interrupted") {
		t.Errorf("standard error:\n%s", text)
	}
	server.stop()
}

// TestDemoCount: a count that would overflow the time limit is a mistake.
func TestDemoCount(t *testing.T) {
	for _, n := range []string{"0", "1000001", "18446744073709551615", "-1"} {
		var out, errOut bytes.Buffer
		if code := runOn(t.Context(), rxeWorld().system(), []string{"demo", "-C", n}, &out, &errOut); code != exitUsage {
			t.Errorf("-C %s: exit code %d: %s", n, code, &errOut)
		}
	}
}

func TestHelpExitCodes(t *testing.T) {
	for line, want := range map[string]int{
		"help": exitOK, "help rxe add": exitOK, "help bogus": exitUsage, "help rxe bogus": exitUsage, "": exitOK,
	} {
		var out, errOut bytes.Buffer
		if code := runOn(t.Context(), rxeWorld().system(), strings.Fields(line), &out, &errOut); code != want {
			t.Errorf("%q: exit code %d, want %d", line, code, want)
		}
	}
}
