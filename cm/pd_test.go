package cm

import (
	"errors"
	"net"
	"net/netip"
	"syscall"
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/fakecm"
	"github.com/purerdma/rdma/ucma"
	"github.com/purerdma/rdma/uverbs"
)

// sharing is a configuration with a shared protection domain.
func sharing(p *PD) *Config { return &Config{PD: p, CloseTimeout: quick.CloseTimeout} }

// TestPDShares: a server exports one table to all of its clients, whose
// connections come and go.
func TestPDShares(t *testing.T) {
	r := newRig(t)
	pd := r.openPD()
	if pd.Device() != "rxe0" || pd.String() != "PD on rxe0" {
		t.Errorf("%v on %s", pd, pd.Device())
	}
	l := r.listen(&ListenConfig{Config: sharing(pd)})
	if l.Device() != pd.Device() {
		t.Errorf("the listener is on %q", l.Device())
	}
	table := alloc(t, pd, 4096, RemoteRead)
	copy(table.Bytes(), "one table")
	ctx := testContext(t)
	for range 2 {
		for range 2 {
			client, server := r.pair(l, &Dialer{Config: quick})
			if server.QP().PD() != pd.pd || client.QP().PD() == pd.pd {
				t.Error("a connection has the wrong protection domain")
			}
			mine := alloc(t, client, 16, 0)
			if err := client.Read(ctx, table.Remote(), mine.All()); err != nil || string(mine.Bytes()[:9]) != "one table" {
				t.Errorf("read %q, %v", mine.Bytes(), err)
			}
			if err := server.Send(ctx, table.Slice(0, 9)); err != nil {
				t.Error(err)
			}
			if text, err := recvText(ctx, client); err != nil || text != "one table" {
				t.Errorf("received %q, %v", text, err)
			}
			defer server.Close()
		}
	}
}

// TestPDIsolates: who has no part in the shared domain reaches nothing in it,
// and its peers reach nothing outside of it.
func TestPDIsolates(t *testing.T) {
	r := newRig(t)
	pd := r.openPD()
	l := r.listen(nil)
	table := alloc(t, pd, 64, RemoteRead|RemoteWrite)
	own, ownServer := r.pair(l, &Dialer{Config: quick})
	secret := alloc(t, ownServer, 64, RemoteRead)

	err := own.Read(testContext(t), table.Remote(), alloc(t, own, 64, 0).All())
	wantStatus(t, err, abi.IB_WC_REM_ACCESS_ERR)

	shared := r.listenAt(netip.AddrPortFrom(serverAddr.Addr(), 7175), &ListenConfig{Config: sharing(pd)})
	member, _ := r.pair(shared, &Dialer{Config: quick})
	err = member.Read(testContext(t), secret.Remote(), alloc(t, member, 64, 0).All())
	wantStatus(t, err, abi.IB_WC_REM_ACCESS_ERR)
}

// TestPDBusy: a PD that connections use is not closed, and says which.
func TestPDBusy(t *testing.T) {
	r := newRig(t)
	pd := r.openPD()
	client, server := r.pair(r.listen(&ListenConfig{Config: sharing(pd)}), &Dialer{Config: sharing(pd)})
	mem := alloc(t, pd, 64, RemoteRead)
	err := pd.Close()
	var busy *uverbs.BusyError
	if !errors.As(err, &busy) || len(busy.Users) != 2 {
		t.Fatalf("close with two connections: %v", err)
	}
	wants(t, err, syscall.EBUSY)
	wantsText(t, err, "rxe0", "connection "+client.LocalAddr().String()+" to "+client.RemoteAddr().String())
	alloc(t, pd, 64, 0) // it stayed open
	for _, c := range []*Conn{client, server} {
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	copy(mem.Bytes(), "stays")
	for range 2 {
		if err := pd.Close(); err != nil {
			t.Error(err)
		}
	}
	r.checkDeviceClosed()
	wantBytes(t, "after the PD is closed", mem.Slice(0, 5).Bytes(), "stays")
	_, err = pd.Alloc(64, 0)
	wants(t, err, net.ErrClosed)
	_, err = (&Dialer{Config: sharing(pd)}).DialAddr(testContext(t), serverAddr)
	wants(t, err, net.ErrClosed)
	wantsText(t, err, "Config.PD")
}

// TestPDManyUsers: an error that one can read.
func TestPDManyUsers(t *testing.T) {
	r := newRig(t)
	pd := r.openPD()
	l := r.listen(&ListenConfig{Config: sharing(pd)})
	for range 10 {
		r.pair(l, &Dialer{Config: quick})
	}
	wantsText(t, pd.Close(), "2 more connections")
}

// TestPDOfAnotherDevice: it is refused before the peer hears of it, and the
// request can still be answered.
func TestPDOfAnotherDevice(t *testing.T) {
	r := newRig(t)
	pd := r.openPD()
	pd.dev.index++ // now it is on another device
	defer func() { pd.dev.index-- }()
	ctx := testContext(t)
	l := r.listen(nil)
	dialed := async(func() (*Conn, error) { return (&Dialer{Config: quick}).DialAddr(ctx, serverAddr) })
	req, err := l.Accept(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if req.Device() != "rxe0" {
		t.Errorf("a request on %q", req.Device())
	}
	_, err = req.Accept(ctx, &AcceptOptions{Config: sharing(pd)})
	wants(t, err, syscall.EINVAL)
	wantsText(t, err, "Config.PD is on device rxe0")
	server, err := req.Accept(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	client, err := get(t, dialed)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()

	_, err = (&Dialer{Config: sharing(pd)}).DialAddr(ctx, serverAddr)
	wants(t, err, syscall.EINVAL)
	wantsText(t, err, "Config.PD is on device rxe0")
	if n := len(pd.conns); n != 0 {
		t.Errorf("%d connections of a PD that refused them", n)
	}
	wants(t, pd.fits(&ucma.Route{}), ErrNoDevice)

	_, err = ListenAddr(netip.AddrPortFrom(serverAddr.Addr(), 7175), &ListenConfig{Config: sharing(pd)})
	wants(t, err, syscall.EINVAL)
	wantsText(t, err, "Config.PD is on device rxe0")
	everywhere, err := ListenAddr(netip.AddrPortFrom(netip.IPv4Unspecified(), 7176), &ListenConfig{Config: sharing(pd)})
	if err != nil {
		t.Fatal(err) // each request tells its device
	}
	if err := everywhere.Close(); err != nil {
		t.Error(err)
	}
}

// TestPDNoDevice: what cannot be opened leaves nothing.
func TestPDNoDevice(t *testing.T) {
	r := newRig(t)
	_, err := OpenPD("rxe7")
	wants(t, err, uverbs.ErrNoDevice)
	wantsText(t, err, "open PD", "rxe7")
	for n := range 20 {
		r.verbs.FailCall(len(r.verbs.Calls())+n, syscall.ENOMEM)
		p, err := OpenPD("rxe0")
		if err == nil {
			r.verbs.FailCall(-1, 0)
			if err := p.Close(); err != nil {
				t.Fatal(err)
			}
			return
		}
		r.checkNothingLeft()
	}
	t.Error("opening a PD takes more calls than expected")
}

// TestPDRemoval: the PD ends with its device, whether it has connections or not,
// so that the removal does not wait for the program.
func TestPDRemoval(t *testing.T) {
	t.Run("connected", func(t *testing.T) { testPDRemoval(t, true) })
	t.Run("idle", func(t *testing.T) { testPDRemoval(t, false) })
}

func testPDRemoval(t *testing.T, connected bool) {
	r := newRig(t)
	pd := r.openPD()
	var conns []*Conn
	if connected {
		client, server := r.pair(r.listen(&ListenConfig{Config: sharing(pd)}), &Dialer{Config: sharing(pd)})
		conns = []*Conn{client, server}
	}
	mem := alloc(t, pd, 64, RemoteRead)
	copy(mem.Bytes(), "stays")
	r.cm.RemoveDevice(fakecm.DefaultDevice.Index)
	r.verbs.Remove()
	for _, c := range conns {
		waitEnd(t, c)
	}
	waitFor(t, func() bool { return len(r.verbs.Survivors()) == 0 })
	wantBytes(t, "after the removal", mem.Slice(0, 5).Bytes(), "stays")
	_, err := pd.Alloc(64, 0)
	wants(t, err, ErrDeviceRemoved)
	_, err = pd.add(new(Conn), &ucma.Route{Port: 1, DeviceIndex: uint32(pd.dev.index)})
	wants(t, err, ErrDeviceRemoved)
	if err := pd.Close(); err != nil {
		t.Error(err)
	}
}
