package main

import (
	"strings"
	"testing"

	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/uverbs"
)

// TestFullTable: an address whose GID found no slot is told so by every command
// that misses it.
func TestFullTable(t *testing.T) {
	w := cmWorld()
	w.gids["rxe0"] = []uverbs.GIDEntry{gid(0, "fe80::1", "eth0"), gid(2, "2001:db8::1", "eth0")}
	w.slots = 2
	const text = "port 1: GID table full: 2 of 2; without a GID: 10.0.0.1"
	for _, line := range []string{"gids", "gids --to 10.0.0.7", "path 10.0.0.7", "list"} {
		r := w.command(t, strings.Fields(line)...)
		if flat := strings.Join(strings.Fields(r.both()), " "); !strings.Contains(flat, text) {
			t.Errorf("%s:\n%s", line, r.both())
		}
	}
	w.dialErr = silentDial("resolve address", "", cm.ErrNoDevice)
	for _, line := range []string{"ping 10.0.0.7 -C 1", "cmping 10.0.0.7 -C 1"} {
		if e := failed(t, w.system(), line); !strings.Contains(e.Cause, text) {
			t.Errorf("%s: %+v", line, e)
		}
	}
	w.slots = 3
	if r := w.command(t, "gids"); strings.Contains(r.both(), "full") {
		t.Errorf("a table with a free slot is full:\n%s", r.both())
	}
}
