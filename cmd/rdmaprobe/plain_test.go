package main

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/cmd/rdmaprobe/holders"
	"github.com/purerdma/rdma/uverbs"
)

// evil is a name that would colour a terminal, set its title, turn text round, and add a line
// of its own.
const evil = "e\x1b[31m\x1b]0;x\x07\u202e\u009b2J\xff\nPID 1"

// evilWorld has such names wherever they come from outside.
func evilWorld() system {
	w := rxeWorld()
	w.you, w.peer = endInfo{Device: "rxe0", MTU: 1024}, endInfo{Device: evil, MTU: 256}
	for _, d := range w.diag.Devices {
		d.FirmwareVersion = evil
		d.Ports[0].Netdev = evil
	}
	w.diag.Devices[1].Name = evil
	w.diag.Findings[0].Object, w.diag.Findings[0].Problem, w.diag.Findings[0].Remedy = evil, evil, evil
	w.gids["rxe0"][0].Netdev = evil
	sys := w.system()
	sys.holders = func(context.Context) ([]holders.Device, error) {
		return []holders.Device{{Name: evil, Totals: map[string]uint64{"qp": 1}, Unknown: []string{evil}, Holders: []holders.Holder{
			{Process: holders.Process{PID: 42, Command: evil, Cgroup: evil, Pod: evil, Container: evil, Host: evil}, QPs: 1,
				Queues: []holders.QP{{Number: 1, Type: evil, State: evil}}},
			{Kernel: evil, PDs: 1},
		}}}, nil
	}
	return sys
}

// TestNoEscapeReachesTerminal: no command prints what moves a cursor or turns text round,
// nor lets a name make a line of its own; documents keep the values.
func TestNoEscapeReachesTerminal(t *testing.T) {
	w := rxeWorld()
	server := w.startCommand(t, "serve")
	server.await("ADDRESS")
	sys := evilWorld()
	pinged := w.system()
	pinged.introduce = func(context.Context, *cm.Dialer, string) (endInfo, bool) {
		return endInfo{Device: evil, MTU: 256}, true
	}
	rejected := evilWorld()
	rejected.dial = func(context.Context, *cm.Dialer, string) (link, error) {
		return nil, &cm.OpError{Op: "dial", Step: "connect", Device: evil,
			Err: &cm.RejectError{Reason: abi.IB_CM_REJ_CONSUMER_DEFINED, PrivateData: []byte(evil)}}
	}
	for _, tt := range []struct {
		sys  system
		line string
		told bool // whether a name is in it for certain
	}{
		{sys, "list", true}, {sys, "gids", true}, {sys, "doctor", true}, {sys, "res", true}, {sys, "res -v", true},
		{sys, "serve --bogus", false}, {sys, "path 10.0.0.7", false}, {rejected, "ping 10.0.0.7", true}, {pinged, "ping 10.0.0.1 -v -C 1", true},
		{sys, "res --device EVIL", true},
	} {
		for _, args := range [][]string{strings.Fields(tt.line), append(strings.Fields(tt.line), "--json")} {
			if i := slices.Index(args, "EVIL"); i >= 0 {
				args[i] = evil
			}
			var out, errOut bytes.Buffer
			runOn(t.Context(), tt.sys, args, &out, &errOut)
			text := out.String() + errOut.String()
			for _, r := range text {
				if r != '\n' && !unicode.IsPrint(r) {
					t.Errorf("%q: %q in\n%q", args, r, text)
					break
				}
			}
			if args[0] == "res" && strings.Contains(text, "\nPID 1") {
				t.Errorf("%q: a name made a line of its own:\n%s", args, text)
			}
			if tt.told && !strings.Contains(text, `0;x`) {
				t.Errorf("%q: no name in\n%s", args, text)
			}
			if args[len(args)-1] == "--json" && out.Len() > 0 && !json.Valid(out.Bytes()) {
				t.Errorf("%q: no JSON:\n%s", args, &out)
			}
		}
	}
	if text := server.stop().stdout; strings.ContainsAny(text, "\x1b\u202e\u009b") || !strings.Contains(text, "0;x") {
		t.Errorf("the server's log:\n%q", text)
	}
}

// TestJSONKeepsValues: what a document escapes is read as it was.
func TestJSONKeepsValues(t *testing.T) {
	const name = "a\x1b\u202e\u009b\x7f\U000e0041\"\\b"
	var b bytes.Buffer
	(&app{raw: &b}).printDoc(map[string]string{"name": name})
	var got map[string]string
	if err := json.Unmarshal(b.Bytes(), &got); err != nil || got["name"] != name {
		t.Errorf("%v, %q", err, got["name"])
	}
	for _, r := range b.String() {
		if r != '\n' && (r > 0x7e || r < ' ') {
			t.Errorf("%q in %s", r, &b)
		}
	}
}

// TestPlainWriter: the program's own colours pass, and nothing else that is not to be seen.
func TestPlainWriter(t *testing.T) {
	var b bytes.Buffer
	a := &app{out: plainWriter{&b}}
	a.printf("\x1b[31mRED\x1b[0m %s\n%s\n", "\x1b[2J\x1b[35m", uverbs.ErrNoDevice)
	if got, want := b.String(), "\x1b[31mRED\x1b[0m "+`\x1b[2J\x1b[35m`+"\n"+uverbs.ErrNoDevice.Error()+"\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
