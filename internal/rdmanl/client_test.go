package rdmanl

import (
	"bytes"
	"context"
	"errors"
	"net/netip"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/purerdma/rdma/abi"
)

func TestRequestTypes(t *testing.T) {
	f := &fake{}
	c := &Client{f}
	ctx := t.Context()
	_, _ = c.Devices(ctx) // the fake answers EIO; what counts is the request
	_, _ = c.CharDev(ctx, NoIndex, CharDevCM)
	_, _ = c.PortCharDev(ctx, 3, 1, CharDevUMAD)
	if diff := cmp.Diff([]uint16{0x1401, 0x140f, 0x140f}, f.typ); diff != "" {
		t.Errorf("types (-want +got):\n%s", diff)
	}
	want := []attr{
		putU32(uint16(abi.RDMA_NLDEV_ATTR_DEV_INDEX), 3),
		putU32(uint16(abi.RDMA_NLDEV_ATTR_PORT_INDEX), 1),
		{uint16(abi.RDMA_NLDEV_ATTR_CHARDEV_TYPE), []byte("umad\x00")},
	}
	if diff := cmp.Diff(want, f.attrs[2], cmp.AllowUnexported(attr{})); diff != "" {
		t.Errorf("attributes (-want +got):\n%s", diff)
	}
	if len(f.attrs[1]) != 1 {
		t.Errorf("rdma_cm: %d attributes, want the kind only", len(f.attrs[1]))
	}
}

// TestFirmwareVersion: drivers write it for a file of sysfs, and some end the line.
func TestFirmwareVersion(t *testing.T) {
	f := &fake{answers: []answer{{payloads: [][]byte{encode(uint16(abi.RDMA_NLDEV_ATTR_FW_VERSION), []byte("0.0.14\n\x00")...)}}}}
	devs, err := (&Client{f}).Devices(t.Context())
	if err != nil || len(devs) != 1 || devs[0].FirmwareVersion != "0.0.14" {
		t.Errorf("got %+v, %v", devs, err)
	}
}

func TestInterruptedDumpIsRepeated(t *testing.T) {
	f := &fake{}
	for range 3 {
		f.answers = append(f.answers, answer{err: errInterrupted})
	}
	f.answers = append(f.answers, answer{payloads: [][]byte{encode(2, 'x', 0)}})
	devs, err := (&Client{f}).Devices(t.Context())
	if err != nil || len(devs) != 1 || devs[0].Name != "x" {
		t.Errorf("got %v, %v", devs, err)
	}
	for range dumpRetries + 1 {
		f.answers = append(f.answers, answer{err: errInterrupted})
	}
	if _, err := (&Client{f}).Devices(t.Context()); !errors.Is(err, errInterrupted) {
		t.Errorf("for ever interrupted: %v", err)
	}
}

func TestErrors(t *testing.T) {
	failing := func(err error) *Client { return &Client{&fake{answers: []answer{{err: err}}}} }
	_, err := failing(&statusError{syscall.EOPNOTSUPP, "why"}).CharDev(t.Context(), 3, CharDevVerbs)
	var e *Error
	if !errors.As(err, &e) || e.Command != "GET_CHARDEV" || e.Message != "why" || !errors.Is(err, syscall.EOPNOTSUPP) {
		t.Errorf("got %#v", err)
	}
	for _, part := range []string{"GET_CHARDEV", "uverbs of device 3", "why"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
	if _, err := failing(context.Canceled).System(t.Context()); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := answering().System(t.Context()); !errors.Is(err, ErrMalformed) {
		t.Errorf("no answer: %v", err)
	}
	if _, err := answering(nil).CharDev(t.Context(), 0, CharDevVerbs); !errors.Is(err, ErrMalformed) {
		t.Errorf("no name: %v", err)
	}
	if err := NewLink(func() context.Context { c, stop := context.WithCancel(t.Context()); stop(); return c }(), "a", "rxe", "b"); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before the start: %v", err)
	}
}

func TestSplitDev(t *testing.T) {
	for dev, want := range map[uint64][2]uint32{
		0xe7c0:      {231, 192},
		0x1000_0a04: {10, 0x10004},
		0x0010_0a04: {10, 0x104},
		0x000f_ff00: {0xfff, 0},
	} {
		if major, minor := splitDev(dev); [2]uint32{major, minor} != want {
			t.Errorf("%#x: got %d:%d, want %v", dev, major, minor, want)
		}
	}
}

func TestSockaddr(t *testing.T) {
	v6 := append([]byte{afInet6, 0, 0x1d, 0x2f, 0, 0, 0, 0}, make([]byte, 20)...)
	v6[23] = 1
	for name, tc := range map[string]struct {
		in   []byte
		want netip.AddrPort
	}{
		"IPv4":       {[]byte{afInet, 0, 0x1d, 0x2f, 10, 0, 0, 1}, netip.MustParseAddrPort("10.0.0.1:7471")},
		"IPv6":       {v6, netip.MustParseAddrPort("[::1]:7471")},
		"IPv6 short": {bytes.Clone(v6[:20]), netip.AddrPort{}},
		"IB":         {append([]byte{27, 0}, make([]byte, 46)...), netip.AddrPort{}},
		"short":      {[]byte{afInet}, netip.AddrPort{}},
	} {
		if len(tc.in) > 1 && hostIsBig() {
			tc.in[0], tc.in[1] = tc.in[1], tc.in[0]
		}
		if got := sockaddr(tc.in); got != tc.want {
			t.Errorf("%s: got %v, want %v", name, got, tc.want)
		}
	}
}

func hostIsBig() bool { return encode(1)[0] == 0 }
