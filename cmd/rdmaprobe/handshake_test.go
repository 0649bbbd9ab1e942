package main

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/uverbs"
)

func endOf(device, addr string, mtu, netdevMTU, tos int) endInfo {
	return endInfo{Device: device, Port: 1, GID: uverbs.GIDFromAddr(netip.MustParseAddr(addr)), GIDIndex: 3, MTU: mtu, NetdevMTU: netdevMTU, TOS: tos}
}

func TestInfoWire(t *testing.T) {
	e := endOf("mlx5_bond_0", "10.0.0.1", 4096, 9000, 106)
	b := e.marshal()
	if len(b) > cm.MaxConnectData {
		t.Fatalf("%d bytes", len(b))
	}
	got, ok := unmarshalInfo(append(b, make([]byte, 196-len(b))...)) // padded, as it arrives
	if diff := cmp.Diff(e, got); diff != "" || !ok {
		t.Error(diff)
	}
	e.GIDIndex, e.Device = -1, strings.Repeat("x", 64)
	got, ok = unmarshalInfo(e.marshal())
	if !ok || got.GIDIndex != -1 || got.Device != strings.Repeat("x", maxInfoName) {
		t.Errorf("%+v", got)
	}
	for _, b := range [][]byte{nil, make([]byte, 196), e.marshal()[:infoFixed-1]} {
		if _, ok := unmarshalInfo(b); ok {
			t.Errorf("%x was taken", b)
		}
	}
}

func FuzzInfo(f *testing.F) {
	e := endOf("rxe0", "10.0.0.1", 1024, 1500, 0)
	f.Add(e.marshal())
	f.Fuzz(func(t *testing.T, b []byte) {
		got, ok := unmarshalInfo(b)
		if ok && len(got.Device) > maxInfoName {
			t.Errorf("device %q", got.Device)
		}
	})
}

func TestDifferences(t *testing.T) {
	you := endOf("rxe0", "10.0.0.1", 1024, 1500, 0)
	for name, tt := range map[string]struct {
		peer endInfo
		want []string
	}{
		"equal":   {endOf("mlx5_0", "10.0.0.2", 1024, 1500, 0), []string{}},
		"unknown": {endOf("", "10.0.0.2", 0, 0, 0), []string{}},
		"mtu": {endOf("mlx5_0", "10.0.0.2", 4096, 9000, 0), []string{
			"port MTU 1024 -> 4096: packets of this connection carry up to 4096 bytes, more than the smaller port's: large messages may be lost; give both network devices the same MTU"}},
		"netdev": {endOf("mlx5_0", "10.0.0.2", 1024, 1400, 0), []string{"network device's MTU 1500 -> 1400"}},
		"tos":    {endOf("mlx5_0", "10.0.0.2", 1024, 1500, 106), []string{"ToS 0 -> 106: the two directions have different priorities"}},
		"kind":   {endOf("mlx5_0", "fe80::1", 1024, 1500, 0), []string{"GID ::ffff:10.0.0.1 -> fe80::1: of different kinds"}},
	} {
		if diff := cmp.Diff(tt.want, differences(you, tt.peer, 4096)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestDataSizes(t *testing.T) {
	sizes := dataSizes(1500, 0)
	for _, n := range []int{26, 64, 255, 256, 257, 1023, 1024, 1025, 1440, 1441, 4095, 4096, 4097, 65535} {
		if !slices.Contains(sizes, n) {
			t.Errorf("%d is missing in %v", n, sizes)
		}
	}
	if !slices.IsSorted(sizes) || slices.Contains(sizes, 25) {
		t.Error(sizes)
	}
}

// TestPingData sweeps over sizes, and shows both ends.
func TestPingData(t *testing.T) {
	w := rxeWorld()
	w.you, w.peer = endOf("rxe0", "10.0.0.1", 1024, 1500, 0), endOf("mlx5_0", "10.0.0.7", 4096, 9000, 106)
	server := w.startCommand(t, "serve")
	server.await("ADDRESS")
	r := w.command(t, "ping", "10.0.0.1", "--data")
	wantCode(t, r, exitOK)
	wantNarrow(t, r)
	golden(t, "testdata/ping-data.txt", r.both())
	r = w.command(t, "ping", "10.0.0.1", "-C", "1")
	if !strings.Contains(r.stdout, "ToS 0 -> 106") {
		t.Errorf("output:\n%s", r.stdout)
	}
	r = w.command(t, "ping", "10.0.0.1", "--data", "--json")
	wantCode(t, r, exitOK)
	validate(t, "ping", []byte(r.stdout))
	if !strings.Contains(r.stdout, `"differences": [
    "port MTU 1024 -> 4096`) {
		t.Errorf("output:\n%s", r.stdout)
	}
	r = server.stop()
	if !strings.Contains(r.stdout, "its end: rxe0 ::ffff:10.0.0.1") {
		t.Errorf("server:\n%s", r.stdout)
	}
	w = rxeWorld()
	w.corrupt = func(b []byte) {
		if len(b) > 1024 {
			b[40]++
		}
	}
	server = w.startCommand(t, "serve")
	server.await("ADDRESS")
	r = w.command(t, "ping", "10.0.0.1", "--data")
	wantCode(t, r, exitFailed)
	if !strings.Contains(r.stdout, "1025 bytes: failed; up to 1024 bytes worked") {
		t.Errorf("output:\n%s", r.stdout)
	}
	wantCode(t, w.command(t, "ping", "10.0.0.1", "--data", "-S", "64"), exitUsage)
	server.stop()
}
