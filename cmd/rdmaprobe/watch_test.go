package main

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// fakeSource shows one snapshot after the other, then the last for ever.
type fakeSource struct {
	looks []snapshot
	queue chan watchEvent
	err   error
}

func (f *fakeSource) look(context.Context) (snapshot, error) {
	s := f.looks[0]
	if len(f.looks) > 1 {
		f.looks = f.looks[1:]
	} else if f.err != nil {
		return nil, f.err
	}
	return s, nil
}

func (f *fakeSource) events() <-chan watchEvent { return f.queue }
func (f *fakeSource) monitored() bool           { return true }
func (f *fakeSource) Close() error              { return nil }

func (w *world) watch(context.Context, watchOptions) (watchSource, error) {
	f := &fakeSource{queue: make(chan watchEvent, 1)}
	if len(w.diag.Devices) == 0 {
		f.looks = []snapshot{{}}
		return f, nil
	}
	f.queue <- watchEvent{device: "rxe0", port: 1, text: "event PORT_ERR"}
	port := func(state string, gids map[int]string, retries, packets uint64) watchPort {
		return watchPort{State: state, Phys: "LinkUp", Netdev: "eth0", MTU: 1500, GIDs: gids,
			Counters: map[string]uint64{"completer_retry_err": retries, "sent_pkts": packets}}
	}
	one := map[int]string{0: "fe80::1 RoCE v2 eth0", 1: "10.0.0.1 RoCE v2 eth0"}
	two := map[int]string{0: "fe80::1 RoCE v2 eth0", 1: "10.0.0.9 RoCE v2 eth0", 4: "10.0.0.2 RoCE v2 eth0"}
	rxe0 := func(p watchPort) watchDevice {
		return watchDevice{Name: "rxe0", Driver: "rxe", Ports: map[int]watchPort{1: p}}
	}
	f.looks = []snapshot{
		{0: rxe0(port("ACTIVE", one, 0, 5))},
		{0: rxe0(port("DOWN", one, 3, 9))},
		{0: rxe0(port("ACTIVE", two, 1, 9)), 7: {Name: "siw0", Driver: "siw"}},
		{7: {Name: "soft0", Driver: "siw"}},
	}
	return f, nil
}

func TestWatch(t *testing.T) {
	r := rxeWorld().command(t, "watch", "--interval", "40ms", "--duration", "500ms")
	wantCode(t, r, exitOK)
	wantNarrow(t, r)
	golden(t, "testdata/watch.txt", r.both())
	r = rxeWorld().command(t, "watch", "--interval", "40ms", "--duration", "500ms", "--counters", "all", "--device", "siw0")
	if !strings.Contains(r.stdout, "sent_pkts +4, now 9") || strings.Contains(r.stdout, "PORT_ERR") {
		t.Errorf("output:\n%s", r.stdout)
	}
	golden(t, "testdata/watch-none.txt", emptyWorld().command(t, "watch", "--duration", "30ms").both())
}

func TestWatchJSON(t *testing.T) {
	r := rxeWorld().command(t, "watch", "--interval", "40ms", "--duration", "500ms", "--json")
	wantCode(t, r, exitOK)
	var events []string
	for line := range strings.Lines(r.stdout) {
		validate(t, "watch", []byte(line))
		var d watchDoc
		if err := json.Unmarshal([]byte(line), &d); err != nil {
			t.Fatal(err)
		}
		if len(events) == 0 || events[len(events)-1] != d.Event {
			events = append(events, d.Event)
		}
		if time.Since(d.Time) > time.Minute {
			t.Errorf("time %v", d.Time)
		}
	}
	want := []string{"started", "present", "async", "port", "counter", "port", "gid-removed", "gid-added", "counter", "device-added",
		"device-removed", "device-renamed", "stopped"}
	if diff := cmp.Diff(want, events); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWatchUsage(t *testing.T) {
	for _, args := range []string{"--interval 1ms", "--duration -1s", "--counters some", "x"} {
		wantCode(t, rxeWorld().command(t, strings.Fields("watch "+args)...), exitUsage)
	}
}

func TestErrorCounter(t *testing.T) {
	for _, name := range []string{"completer_retry_err", "rcvd_seq_err", "port_rcv_errors", "out_of_sequence", "link_downed", "rnr_nak_retry_err",
		"np_cnp_sent", "duplicate_request", "port_xmit_wait", "packet_seq_err", "local_ack_timeout_err", "link_error_recovery", "port_xmit_discards"} {
		if !errorCounter.MatchString(name) {
			t.Errorf("%s does not count as an error", name)
		}
	}
	for _, name := range []string{"sent_pkts", "rcvd_pkts", "port_xmit_data", "rdma_sends", "rx_read_requests", "unicast_rcv_packets"} {
		if errorCounter.MatchString(name) {
			t.Errorf("%s counts as an error", name)
		}
	}
}
