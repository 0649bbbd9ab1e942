//go:build linux

package integration

import (
	"encoding/json"
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/ucma"
)

// gidsReport is what tests look at in the JSON of gids.
type gidsReport struct {
	GIDs []struct {
		Device, GID, Type, Netdev, Address, Lost, Unusable string
		Index                                              int
		Here, Usable, Picked                               bool
	}
}

func probeGIDs(t *testing.T, code int, args ...string) (rep gidsReport) {
	t.Helper()
	r := probe(t, append([]string{"gids", "--json"}, args...)...)
	r.want(t, code)
	if err := json.Unmarshal([]byte(r.stdout), &rep); err != nil {
		t.Fatalf("%v in\n%s%s", err, r.stdout, r.stderr)
	}
	return rep
}

// picked returns device and address of the picked GID, and wants a reason for
// each other one.
func (r gidsReport) picked(t *testing.T) (device, address string) {
	t.Helper()
	for _, g := range r.GIDs {
		switch {
		case g.Picked && device != "":
			t.Errorf("two picks: %+v", r.GIDs)
		case g.Picked:
			device, address = g.Device, g.Address
		case g.Lost == "":
			t.Errorf("no reason: %+v", g)
		}
	}
	return device, address
}

// knowNeighbour makes an address on the wire resolve without anybody there.
func (w *wire) knowNeighbour(t *testing.T, ip string) {
	t.Helper()
	n := &netlink.Neigh{LinkIndex: w.link(t, w.near).Attrs().Index, State: netlink.NUD_PERMANENT, IP: net.ParseIP(ip),
		HardwareAddr: w.link(t, w.far).Attrs().HardwareAddr}
	if err := netlink.NeighSet(n); err != nil {
		t.Fatal(err)
	}
}

// cmPick asks the connection manager itself.
func cmPick(t *testing.T, dst string) (device, address string) {
	t.Helper()
	id, err := cm.NewID(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := id.Close(); err != nil {
			t.Error(err)
		}
	}()
	sa, err := ucma.SockaddrFrom(netip.AddrPortFrom(netip.MustParseAddr(dst), 7174))
	if err != nil {
		t.Fatal(err)
	}
	if err := id.ResolveAddr(testContext(t), ucma.Sockaddr{}, sa); err != nil {
		t.Fatalf("resolve %s: %v", dst, err)
	}
	local, err := id.LocalAddr()
	if err != nil {
		t.Fatal(err)
	}
	d, err := id.Device()
	if err != nil {
		t.Fatal(err)
	}
	ap, _ := local.AddrPort()
	return d.Name, ap.Addr().Unmap().WithZone("").String()
}

// TestGIDsPick: the pick is what the connection manager takes, for IPv4, IPv6
// and link-local addresses, on the wire and of this machine (P10).
func TestGIDsPick(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	w := newWire(t)
	w.address(t, "10.90.0.2/16")
	w.address(t, "fd00:90::1/64")
	waitForGID(t, w.device, "10.90.0.2")
	waitForGID(t, w.device, "fd00:90::1")
	own := linkLocals(t, w.near)
	if len(own) == 0 {
		w.address(t, "fe80::90/64")
		waitForGID(t, w.device, "fe80::90")
		own = linkLocals(t, w.near)
	}
	for _, ip := range []string{"10.90.0.50", "10.90.7.50", "fd00:90::50", "fe80::50"} {
		w.knowNeighbour(t, ip)
	}
	for _, dst := range []string{"10.90.0.50", "10.90.7.50", "fd00:90::50", "fe80::50%" + w.near, "10.90.0.1", "10.90.0.2", "fd00:90::1", own[0], addrV4, addrV6} {
		device, address := probeGIDs(t, 0, "--to", dst).picked(t)
		address, _, _ = strings.Cut(address, "%")
		cmDevice, cmAddress := cmPick(t, dst)
		if device != cmDevice || address != cmAddress {
			t.Errorf("to %s: picked %s %s, the connection manager takes %s %s", dst, device, address, cmDevice, cmAddress)
		}
	}
}

// TestGIDsChange: the pick follows the addresses.
func TestGIDsChange(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	w := newWire(t)
	w.address(t, "10.90.0.2/16")
	waitForGID(t, w.device, "10.90.0.2")
	if _, address := probeGIDs(t, 0, "--to", "10.90.0.50").picked(t); address != "10.90.0.1" {
		t.Errorf("picked %s, want 10.90.0.1", address)
	}
	a, err := netlink.ParseAddr("10.90.0.1/24")
	if err != nil {
		t.Fatal(err)
	}
	if err := netlink.AddrDel(w.link(t, w.near), a); err != nil {
		t.Fatal(err)
	}
	if _, address := probeGIDs(t, 0, "--to", "10.90.0.50").picked(t); address != "10.90.0.2" {
		t.Errorf("picked %s, want 10.90.0.2", address)
	}
	w.flush(t, unix.AF_INET)
	probeGIDs(t, 5, "--to", "10.90.0.50") // no route
}

// TestGIDsTable: index, type, GID, interface and whether it is here (P10).
func TestGIDsTable(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	r := probe(t, "gids")
	r.want(t, 0)
	r.wantNarrow(t)
	r.contains(t, "DEVICE", "GID#", "TYPE", "NETDEV", "HERE", "rxe0", "RoCE v2", "::ffff:"+addrV4, addrV6)
	found := map[string]bool{}
	for _, g := range probeGIDs(t, 0).GIDs {
		if g.Device == "rxe0" && g.Usable && g.Here && g.Netdev == netdev && g.Type == "RoCE v2" {
			found[g.Address] = true
		}
	}
	for _, want := range append(linkLocals(t, netdev), addrV4, addrV6) {
		if !found[want] {
			t.Errorf("no usable GID of %s: %v", want, found)
		}
	}
}

// TestGIDsZone: a missing zone fails at once and names what it could be (P10).
func TestGIDsZone(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	for _, command := range [][]string{{"gids", "--to", "fe80::7"}, {"path", "fe80::7"}, {"gids", "--to", "fe80::7%nope"}, {"cmping", "fe80::7"}, {"ping", "fe80::7"}} {
		r := probe(t, command...)
		r.want(t, 2)
		r.contains(t, "fe80::7", "fe80::7%"+netdev)
		if most := limit(t, 0); r.took > most {
			t.Errorf("%v took %v, want less than %v", command, r.took, most)
		}
		if strings.Contains(r.stderr, "%v1") {
			t.Errorf("v1 has no RDMA:\n%s", r.stderr)
		}
	}
}

// TestGIDsElsewhere: an address behind an interface without RDMA.
func TestGIDsElsewhere(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	plainInterface(t, "plain0", "plain1", "10.91.0.1/24")
	probeGIDs(t, 3, "--to", "10.91.0.7")
}
