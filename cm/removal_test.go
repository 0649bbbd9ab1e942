package cm

import (
	"errors"
	"net"
	"net/netip"
	"testing"

	"github.com/purerdma/rdma/internal/fakecm"
)

// TestListenerDeviceRemoval: Accept on an address of a removed device ends by
// name, and goes on for the wildcard, which the kernel does not tell.
func TestListenerDeviceRemoval(t *testing.T) {
	r := newRig(t)
	ctx := testContext(t)
	l := r.listen(nil)
	wild, err := ListenAddr(netip.MustParseAddrPort("0.0.0.0:7175"), nil)
	if err != nil {
		t.Fatal(err)
	}
	waiting := async(func() (*Request, error) { return l.Accept(ctx) })
	wildWaiting := async(func() (*Request, error) { return wild.Accept(ctx) })
	r.cm.RemoveDevice(fakecm.DefaultDevice.Index)
	if _, err := get(t, waiting); !errors.Is(err, ErrDeviceRemoved) {
		t.Errorf("waiting Accept: %v", err)
	}
	if _, err := l.Accept(ctx); !errors.Is(err, ErrDeviceRemoved) {
		t.Errorf("next Accept: %v", err)
	}
	select {
	case got := <-wildWaiting:
		t.Errorf("Accept of the wildcard ended: %v", got.err)
	default:
	}
	if err := wild.Close(); err != nil {
		t.Error(err)
	}
	if _, err := get(t, wildWaiting); !errors.Is(err, net.ErrClosed) {
		t.Errorf("closed wildcard: %v", err)
	}
}

// TestRequestDeviceRemoval: what a command on a removed device's ID says.
func TestRequestDeviceRemoval(t *testing.T) {
	r := newRig(t)
	ctx := testContext(t)
	l := r.listen(nil)
	dialed := async(func() (*Conn, error) { return new(Dialer).DialAddr(ctx, serverAddr) })
	req, err := l.Accept(ctx)
	if err != nil {
		t.Fatal(err)
	}
	r.cm.RemoveDevice(fakecm.DefaultDevice.Index)
	if err := req.ID().Disconnect(); !errors.Is(err, ErrDeviceRemoved) {
		t.Errorf("disconnect: %v", err)
	}
	_, err = req.Accept(ctx, nil)
	wants(t, err, ErrDeviceRemoved)
	wantsText(t, err, "accept ", "removed")
	_, _ = get(t, dialed)
}
