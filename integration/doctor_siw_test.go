//go:build linux

package integration

import (
	"testing"
)

// TestSiwDoctor: a healthy soft-iWARP device, whose GIDs are no addresses, has
// nothing wrong, and is found on the way to addresses.
func TestSiwDoctor(t *testing.T) {
	requireSiw(t)
	requireProbe(t)
	checkLeaks(t)
	rep := doctorAs(t, nil, 0, "--need", "1MiB")
	if bad := rep.bad(); len(bad) > 0 {
		t.Errorf("findings on a healthy machine: %v", rep.Findings)
	}
	r := probe(t, "doctor")
	r.want(t, 0)
	r.wantNarrow(t)
	r.contains(t, "siw0 port 1 ACTIVE", "siw0 (siw)", "iw ", "siw0/1")
	probe(t, "list").contains(t, "siw0", "usable")
	p := probePath(t, 0, addrV4)
	if p.Failed != "" || p.Device != "siw0" {
		t.Errorf("path %+v", p)
	}
	gids := probe(t, "gids", "--to", addrV4)
	gids.want(t, 0)
	gids.contains(t, "siw0", "yes")
	if d := cmping(t, 3, addrV4, "-C", "1"); d.State != "no device" || d.Error.Class != "no-data-path" { // its drivers taken away
		t.Errorf("cmping %+v", d)
	}
	r = probe(t, "cmping", addrV4, "-C", "2", "-i", "0")
	r.want(t, 0)
	r.contains(t, "2 answered", "the host answers")
	server, where := probeServe(t, addrV4+":0")
	probe(t, "ping", where, "-C", "2", "--interval", "0").want(t, 0)
	server.signal(t, 15)
}
