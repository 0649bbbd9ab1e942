package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// TestPingInterrupted: what was verified until then is a success.
func TestPingInterrupted(t *testing.T) {
	w := rxeWorld()
	server := w.startCommand(t, "serve")
	server.await("ADDRESS")
	ping := w.startCommand(t, "ping", "10.0.0.1", "--interval", "1ms")
	ping.await("seq=3")
	r := ping.stop()
	wantCode(t, r, exitOK)
	if !strings.Contains(r.stdout, " 0% loss") {
		t.Errorf("output:\n%s", r.stdout)
	}
	server.stop()
}

// TestPingServerLeaves: the end of the server is noticed while waiting for the
// next ping.
func TestPingServerLeaves(t *testing.T) {
	w := rxeWorld()
	server := w.startCommand(t, "serve")
	server.await("ADDRESS")
	ping := w.startCommand(t, "ping", "10.0.0.1", "--interval", "1h", "--json")
	server.await("connected")
	time.Sleep(20 * time.Millisecond)
	server.stop()
	select {
	case r := <-ping.done:
		wantCode(t, r, exitUnreachable)
		var d pingDoc
		if err := json.Unmarshal([]byte(r.stdout), &d); err != nil {
			t.Fatal(err)
		}
		if d.Error == nil || d.Error.Class != "peer-closed" || d.Sent != d.Verified+1 {
			t.Errorf("document %+v", d)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("ping did not notice")
	}
}

func TestPingMismatch(t *testing.T) {
	w := rxeWorld()
	w.corrupt = func(b []byte) { b[40]++ }
	server := w.startCommand(t, "serve")
	server.await("ADDRESS")
	r := w.command(t, "ping", "10.0.0.1", "-C", "3")
	wantCode(t, r, exitFailed)
	golden(t, "testdata/ping-mismatch.txt", r.both())
	server.stop()
}

func TestPingUsage(t *testing.T) {
	for _, args := range []string{
		"ping", "ping a b", "ping 10.0.0.7 -S 25", "ping 10.0.0.7 -S 65536", "ping 10.0.0.7 --timeout 0s",
		"ping 10.0.0.7 --interval -1s", "ping 10.0.0.7 -I eth0", "ping 10.0.0.7:x", "ping 10.0.0.7 -C -1", "ping --bogus",
	} {
		r := rxeWorld().command(t, strings.Fields(args)...)
		wantCode(t, r, exitUsage)
		r = rxeWorld().command(t, append(strings.Fields(args), "--json")...)
		wantCode(t, r, exitUsage)
		validateFailure(t, "ping", []byte(r.stdout))
	}
}
