package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/internal/testmode"
)

// cmProbe answers like the real one: the error is what the connection manager
// would have said, in the step that it belongs to.
func (w *world) cmProbe(_ context.Context, q cmQuery) cmAnswer {
	err, known := w.cmAnswers[q.Remote.Addr().String()]
	got := cmAnswer{Took: 5 * time.Millisecond, Local: netip.MustParseAddrPort("10.0.0.1:33000"), Device: "rxe0",
		Resolve: time.Millisecond, Answer: 2 * time.Millisecond, Step: "connect"}
	if errors.Is(err, context.DeadlineExceeded) {
		got.Took = 2 * time.Second
	}
	var at *failure
	if errors.As(err, &at) {
		got.Step, got.Local, got.Device, got.Resolve = at.step, netip.AddrPort{}, "", 0
	}
	switch {
	case w.dialErr != nil:
		got = cmAnswer{Step: "open the connection manager"}
		got.fail(w.dialErr)
	case !known:
		got.fail(&cm.RejectError{Reason: abi.IB_CM_REJ_INVALID_SERVICE_ID})
	case err != nil:
		got.fail(err)
	default:
		got.State, got.Listener, got.Text = stateUp, true, "a listener accepted"
	}
	return got
}

func (w *world) lookup(_ context.Context, host string) ([]netip.Addr, error) {
	if host == "peer" {
		return []netip.Addr{netip.MustParseAddr("::ffff:10.0.0.8")}, nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
}

// cmWorld has a host for each answer.
func cmWorld() *world {
	w := rxeWorld()
	resolve := func(err error) error { return &failure{step: "resolve address", err: err} }
	w.cmAnswers = map[string]error{
		"10.0.0.8":  nil,
		"10.0.0.9":  fmt.Errorf("connect: %w", context.DeadlineExceeded),
		"10.0.0.10": resolve(syscall.ETIMEDOUT),
		"10.0.0.11": resolve(fmt.Errorf("%w: %w", cm.ErrNoDevice, syscall.ENODEV)),
		"10.0.0.12": resolve(syscall.ENETUNREACH),
		"10.0.0.13": &cm.RejectError{Reason: abi.IB_CM_REJ_CONSUMER_DEFINED, PrivateData: []byte{0, 0, 1, 0}},
		"10.0.0.14": &cm.RejectError{Reason: abi.IB_CM_REJ_CONSUMER_DEFINED, PrivateData: []byte("v2 only")},
		"10.0.0.15": &cm.RejectError{Reason: abi.IB_CM_REJ_NO_RESOURCES},
		"10.0.0.17": resolve(fmt.Errorf("%w: %w", cm.ErrNoPorts, syscall.EADDRNOTAVAIL)),
		"10.0.0.18": &cm.RejectError{Reason: abi.IB_CM_REJ_CONSUMER_DEFINED, PrivateData: []byte("busy")},
		"10.0.0.16": &cm.RejectError{Reason: abi.IB_CM_REJ_CONSUMER_DEFINED},
	}
	return w
}

func TestCMPing(t *testing.T) {
	for _, tt := range []struct {
		name, args string
		code       int
	}{
		{"up", "10.0.0.7 -C 2 -i 0", exitOK},
		{"listener", "peer:4420 -C 1", exitOK},
		{"silent", "10.0.0.9 -C 2 -i 0", exitUnreachable},
		{"unresolved", "10.0.0.10 -C 1", exitUnreachable},
		{"no-device", "10.0.0.11", exitNoDevice},
		{"no-route", "10.0.0.12 -C 1", exitUnreachable},
		{"nvme", "10.0.0.13 -p 4420 -C 1", exitRejected},
		{"rejected", "10.0.0.14 -C 1", exitRejected},
		{"no-resources", "10.0.0.15 -C 1 -q", exitRejected},
		{"no-port", "10.0.0.17 -C 1", exitFailed},
		{"busy", "10.0.0.18 -C 1", exitRejected},
		{"wordless", "10.0.0.16 -C 1", exitRejected},
		{"no-name", "nowhere -C 1", exitUnreachable},
		{"help", "--help", exitOK},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := cmWorld().command(t, strings.Fields("cmping "+tt.args)...)
			wantCode(t, r, tt.code)
			wantNarrow(t, r)
			golden(t, filepath.Join("testdata", "cmping-"+tt.name+".txt"), r.both())
		})
	}
	golden(t, "testdata/cmping-none.txt", emptyWorld().command(t, "cmping", "10.0.0.7").both())
}

// TestCMPingJSON validates each kind of answer.
func TestCMPingJSON(t *testing.T) {
	for address := range cmWorld().cmAnswers {
		r := cmWorld().command(t, "cmping", address, "-C", "2", "-i", "0", "--json")
		validate(t, "cmping", []byte(r.stdout))
	}
}

func TestCMPingUsage(t *testing.T) {
	for _, args := range []string{
		"", "a b", "10.0.0.7 --timeout 0s", "10.0.0.7 -i -1s", "10.0.0.7:x", "10.0.0.7:1 -p 2", "10.0.0.7 -p 0", "10.0.0.7 -p 70000",
		"fe80::7", "127.0.0.1", "::1", "0.0.0.0", "10.0.0.7 -I fe80::1%eth0", "10.0.0.7 -I eth0", "10.0.0.7 --tos 256",
	} {
		r := cmWorld().command(t, strings.Fields("cmping "+args)...)
		if r.code != exitUsage {
			t.Errorf("cmping %s: exit code %d\n%s", args, r.code, r.both())
		}
	}
	r := cmWorld().command(t, "cmping", "fe80::7")
	if !strings.Contains(r.stderr, "fe80::7%eth0") {
		t.Errorf("no zone is suggested:\n%s", r.stderr)
	}
}

func TestCMPingTarget(t *testing.T) {
	for _, tt := range []struct {
		address string
		port    uint16
		given   bool
		want    string
	}{
		{"10.0.0.7", 7174, false, "10.0.0.7:7174"},
		{"10.0.0.7:4420", 7174, false, "10.0.0.7:4420"},
		{"10.0.0.7:4420", 4420, true, "10.0.0.7:4420"},
		{"fe80::1%eth0", 20049, true, "[fe80::1%eth0]:20049"},
		{"[2001:db8::7]", 1, true, "[2001:db8::7]:1"},
	} {
		got, err := cmpingTarget(tt.address, tt.port, tt.given)
		if err != nil || got != tt.want {
			t.Errorf("%s with -p %d: %q, %v", tt.address, tt.port, got, err)
		}
	}
}

// TestCMPingInterrupted: what was answered until then counts.
func TestCMPingInterrupted(t *testing.T) {
	b := cmWorld().startCommand(t, "cmping", "10.0.0.7", "-i", "1ms")
	b.await("seq=3")
	r := b.stop()
	wantCode(t, r, exitOK)
	if !strings.Contains(r.stdout, " 0% loss") {
		t.Errorf("output:\n%s", r.stdout)
	}
}

// TestCMPingBest: the exit code and the error are those of the best that happened, in
// whatever order.
func TestCMPingBest(t *testing.T) {
	const silent, rejected, unresolved, up = "10.0.0.9", "10.0.0.14", "10.0.0.10", "10.0.0.7"
	for _, tt := range []struct {
		answers []string
		code    int
		class   string
	}{
		{[]string{rejected, silent, unresolved}, exitRejected, "rejected"},
		{[]string{silent, rejected}, exitRejected, "rejected"},
		{[]string{unresolved, silent, unresolved}, exitUnreachable, "timeout"},
		{[]string{up, rejected, silent}, exitOK, ""},
		{[]string{rejected, up, silent}, exitOK, ""},
	} {
		w, sent := cmWorld(), 0
		sys := w.system()
		sys.cmProbe = func(ctx context.Context, q cmQuery) cmAnswer {
			if q.Remote.Port() != selfPort { // not this machine asking itself
				q.Remote = netip.AddrPortFrom(netip.MustParseAddr(tt.answers[sent]), q.Remote.Port())
				sent++
			}
			return w.cmProbe(ctx, q)
		}
		var out, errOut bytes.Buffer
		args := []string{"cmping", up, "-i", "0", "--json", "-C", strconv.Itoa(len(tt.answers))}
		code := runOn(t.Context(), sys, args, &out, &errOut)
		var d cmpingDoc
		if err := json.Unmarshal(out.Bytes(), &d); err != nil {
			t.Fatal(err)
		}
		class := ""
		if d.Error != nil {
			class = d.Error.Class
		}
		if code != tt.code || class != tt.class {
			t.Errorf("%v: exit code %d, class %q; want %d, %q", tt.answers, code, class, tt.code, tt.class)
		}
	}
}

// TestCMPingKeepsFew: a run that nobody ends does not grow for ever.
func TestCMPingKeepsFew(t *testing.T) {
	var d cmpingDoc
	for seq := range uint64(kept + 5) {
		d.count(cmProbeDoc{Seq: seq, State: stateUp})
	}
	if len(d.Probes) != kept || d.Probes[kept-1].Seq != kept+4 {
		t.Errorf("%d kept, the last is %d", len(d.Probes), d.Probes[len(d.Probes)-1].Seq)
	}
}

func TestNVMeReject(t *testing.T) {
	for text, want := range map[string]string{
		"\x00\x00\x06\x00": "NVMe/F target: resource not found", "\x00\x00\x63\x00": "",
		"\x01\x00\x06\x00": "", "\x00\x00\x06": "", "\x00\x00\x06\x00x": "", "\x00\x00\x06\x00\x00": "NVMe/F target: resource not found",
	} {
		if diff := cmp.Diff(want, nvmeReject([]byte(text))); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

func TestFreeQPNum(t *testing.T) {
	seen := map[uint32]bool{}
	for range 100 {
		n := freeQPNum(t.Context(), "no such device")
		if n < 0x800000 || n >= 0xffffff || seen[n] {
			t.Errorf("number %#x", n)
		}
		seen[n] = true
	}
}

// TestNoProviders: the switch of the integration tests works, and is hidden.
func TestNoProviders(t *testing.T) {
	t.Cleanup(func() { testmode.NoProviders.Store(false) })
	r := rxeWorld().command(t, "version", "--no-providers")
	wantCode(t, r, exitOK)
	if !strings.Contains(r.stdout, "no data path in this build") {
		t.Errorf("output:\n%s", r.stdout)
	}
	r = rxeWorld().command(t, "version", "--help")
	if strings.Contains(r.stdout, "no-providers") {
		t.Errorf("help shows the switch:\n%s", r.stdout)
	}
}
