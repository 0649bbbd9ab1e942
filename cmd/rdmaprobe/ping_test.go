package main

import (
	"encoding/json"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/cmd/rdmaprobe/bench"
	"github.com/purerdma/rdma/cmd/rdmaprobe/rping"
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
	case <-time.After(time.Minute):
		t.Fatal("ping did not notice")
	}
}

// TestKeepFew: lists of runs that nobody ends do not grow for ever.
func TestKeepFew(t *testing.T) {
	p := newPinger(&app{out: io.Discard, sys: rxeWorld().system()}, pingOptions{verbose: true, quiet: true})
	b := &benchRun{app: p.app, benchOptions: &benchOptions{interval: 1, quiet: true}, doc: newBenchDoc(new(benchOptions))}
	onInterval := b.onInterval(nil)
	for i := range uint64(kept + 5) {
		p.verified(rping.Pong{Seq: i})
		onInterval(bench.Interval{Messages: i})
	}
	pings, intervals := p.doc.Pings, b.doc.Intervals
	if len(pings) != kept || pings[0].Seq != 0 || pings[kept-1].Seq != kept+4 {
		t.Errorf("%d pings, the last is %d", len(pings), pings[len(pings)-1].Seq)
	}
	if len(intervals) != kept || intervals[kept-1].Messages != kept+4 {
		t.Errorf("%d intervals, the last has %d messages", len(intervals), intervals[len(intervals)-1].Messages)
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

// TestPingRejectedWithoutData: a reject of reason 28 without data may be the far
// kernel's.
func TestPingRejectedWithoutData(t *testing.T) {
	for data, want := range map[string]string{"": "rdmaprobe res -v, which shows the addresses", "v2 only": "ask the peer why"} {
		w := rxeWorld()
		w.dialErr = &cm.OpError{Op: "dial", Step: "connect", Err: &cm.RejectError{Reason: abi.IB_CM_REJ_CONSUMER_DEFINED, PrivateData: []byte(data)}}
		r := w.command(t, "ping", "10.0.0.2", "-C", "1", "--json")
		wantCode(t, r, exitRejected)
		var d pingDoc
		if err := json.Unmarshal([]byte(r.stdout), &d); err != nil {
			t.Fatal(err)
		}
		if d.Error == nil || d.Error.Class != "rejected" || !strings.Contains(d.Error.Remedy, want) {
			t.Errorf("data %q: %+v", data, d.Error)
		}
	}
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

// TestPingDataNumber: a ping that fails has its number among all, and not among
// those of its size.
func TestPingDataNumber(t *testing.T) {
	w := rxeWorld()
	var n atomic.Int32
	w.corrupt = func(b []byte) {
		if len(b) > 257 && n.Add(1) > 0 { // past sizes 26, 64, 255, 256 and 257
			b[40]++
		}
	}
	server := w.startCommand(t, "serve")
	server.await("ADDRESS")
	r := w.command(t, "ping", "10.0.0.1", "--data", "-C", "2")
	wantCode(t, r, exitFailed)
	if !strings.Contains(r.stderr, "ping 10: verify data") {
		t.Errorf("output:\n%s", r.both())
	}
	server.stop()
}
