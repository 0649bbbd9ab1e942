package uverbs

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func gid(s string) GID {
	g, err := ParseGID(s)
	if err != nil {
		panic(err)
	}
	return g
}

func TestGIDTable(t *testing.T) {
	d, err := fakeHost(t, rxeNetlink(), rxeSysfs(), nil).byName("rxe0")
	if err != nil {
		t.Fatal(err)
	}
	got, err := d.GIDTable(1)
	want := []GIDEntry{
		{0, gid("fe80::5054:ff:fe12:3456"), GIDTypeRoCEv2, "v0", 7, false},
		{1, gid("10.77.0.1"), GIDTypeRoCEv2, "v0", 7, false},
		{10, gid("2001:db8:77::1"), GIDTypeRoCEv2, "v0.5", 0, true},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("error %v, (-want +got):\n%s", err, diff)
	}
	if _, err := d.GIDTable(2); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("port that is not there: %v", err)
	}
}

func TestGIDTypes(t *testing.T) {
	const port = "sys/class/infiniband/x0/ports/1/"
	for name, tc := range map[string]struct {
		link, typ string
		want      []GIDEntry
	}{
		"InfiniBand":            {"InfiniBand", "IB/RoCE v1", []GIDEntry{{0, gid("fe80::1"), GIDTypeIB, "", 0, false}}},
		"RoCE v1":               {"Ethernet", "IB/RoCE v1", []GIDEntry{{0, gid("fe80::1"), GIDTypeRoCEv1, "", 0, false}}},
		"InfiniBand, no type":   {"InfiniBand", "", []GIDEntry{{0, gid("fe80::1"), GIDTypeIB, "", 0, false}}},
		"RoCE, emptied between": {"Ethernet", "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			h := fakeHost(t, nil, map[string]string{
				port + "link_layer": tc.link, port + "gids/0": "fe80::1", port + "gid_attrs/types/0": tc.typ,
			}, nil)
			got, err := (&Device{Name: "x0", host: h}).GIDTable(1)
			if diff := cmp.Diff(tc.want, got); err != nil || diff != "" {
				t.Errorf("error %v, (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestParseGID(t *testing.T) {
	for in, want := range map[string]string{
		"fe80:0000:0000:0000:5054:00ff:fe12:3456\n": "fe80::5054:ff:fe12:3456",
		"0000:0000:0000:0000:0000:ffff:0a4d:0001":   "::ffff:10.77.0.1",
		"10.77.0.1": "::ffff:10.77.0.1",
		"::":        "::",
	} {
		g, err := ParseGID(in)
		if err != nil || g.String() != want {
			t.Errorf("%q: got %v, %v, want %s", in, g, err, want)
		}
	}
	for _, in := range []string{"", "fe80::1%eth0", "fe80", "1.2.3"} {
		if g, err := ParseGID(in); err == nil {
			t.Errorf("%q: got %v, want an error", in, g)
		}
	}
}

func TestGIDAddr(t *testing.T) {
	g := GIDFromAddr(netip.MustParseAddr("10.77.0.1"))
	if !g.Is4() || g.IsZero() || g.IsLinkLocal() || g.Addr() != netip.MustParseAddr("10.77.0.1") {
		t.Errorf("IPv4: %v, address %v", g, g.Addr())
	}
	g = GIDFromAddr(netip.MustParseAddr("fe80::1%lo"))
	if g.Is4() || !g.IsLinkLocal() || g.Addr() != netip.MustParseAddr("fe80::1") {
		t.Errorf("link-local: %v, address %v", g, g.Addr())
	}
	if !GIDFromAddr(netip.Addr{}).IsZero() {
		t.Error("the invalid address gave a GID")
	}
}

func TestGUID(t *testing.T) {
	g, err := ParseGUID("5054:00ff:fe12:3456\n")
	if err != nil || g != 0x505400fffe123456 || g.String() != "5054:00ff:fe12:3456" || GUIDFromBytes(g.Bytes()) != g {
		t.Errorf("got %v, %v", g, err)
	}
	for _, in := range []string{"", "5054:00ff:fe12", "5054:00ff:fe12:345g", "+054:00ff:fe12:3456"} {
		if g, err := ParseGUID(in); err == nil {
			t.Errorf("%q: got %v, want an error", in, g)
		}
	}
}

func TestTextForms(t *testing.T) {
	type all struct {
		GID  GID
		GUID GUID
		Type GIDType
	}
	b, err := json.Marshal(all{gid("10.77.0.1"), 1, GIDTypeRoCEv2})
	if want := `{"GID":"::ffff:10.77.0.1","GUID":"0000:0000:0000:0001","Type":"RoCE v2"}`; err != nil || string(b) != want {
		t.Errorf("got %s, %v, want %s", b, err, want)
	}
	var back struct {
		GID  GID
		GUID GUID
	}
	if err := json.Unmarshal(b, &back); err != nil || back.GID != gid("10.77.0.1") || back.GUID != 1 {
		t.Errorf("got %+v, %v", back, err)
	}
	if err := json.Unmarshal([]byte(`{"GID":"x"}`), &back); err == nil {
		t.Error("a bad GID was accepted")
	}
	if got := GIDType(9).String(); got != "GID type 9" {
		t.Error(got)
	}
}

// FuzzText feeds what sysfs may say one day: it is refused, or means the same when
// it is said again.
func FuzzText(f *testing.F) {
	for _, s := range []string{"", "fe80::1", "10.77.0.1", "5054:00ff:fe12:3456", "100 Gb/sec (4X EDR)", "231:192", "4: ACTIVE"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if g, err := ParseGID(s); err == nil {
			if again, err := ParseGID(g.String()); err != nil || again != g {
				t.Errorf("GID %q is %v, then %v, %v", s, g, again, err)
			}
		}
		if g, err := ParseGUID(s); err == nil {
			if again, err := ParseGUID(g.String()); err != nil || again != g {
				t.Errorf("GUID %q is %v, then %v, %v", s, g, again, err)
			}
		}
		if mbps, width := parseRate(s); mbps < 0 || width < 0 {
			t.Errorf("rate %q is %d, %d lanes", s, mbps, width)
		}
		if major, minor, ok := parseDev(s); ok {
			if a, b, ok := parseDev(fmt.Sprintf("%d:%d", major, minor)); !ok || a != major || b != minor {
				t.Errorf("device %q is %d:%d, then %d:%d", s, major, minor, a, b)
			}
		}
	})
}
