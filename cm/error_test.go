package cm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/ucma"
	"github.com/purerdma/rdma/uverbs"
)

func TestOpErrorText(t *testing.T) {
	local, remote := Addr{netip.MustParseAddrPort("10.0.0.1:5000")}, Addr{netip.MustParseAddrPort("[fd00::1]:7174")}
	for _, tc := range []struct {
		e    OpError
		want string
	}{
		{OpError{Op: "listen", Err: io.EOF}, "listen: EOF"},
		{OpError{Op: "listen", Local: local, Err: io.EOF}, "listen 10.0.0.1:5000: EOF"},
		{OpError{Op: "dial", Remote: remote, Step: stepConnect, Err: io.EOF}, "dial [fd00::1]:7174: connect: EOF"},
		{OpError{Op: "send", Local: local, Remote: remote, Device: "rxe0", Err: io.EOF, Hint: "look there"},
			"send 10.0.0.1:5000 -> [fd00::1]:7174 via rxe0: EOF (look there)"},
	} {
		if got := tc.e.Error(); got != tc.want {
			t.Errorf("got %q, want %q", got, tc.want)
		}
	}
}

func TestNewOpError(t *testing.T) {
	remote := Addr{serverAddr}
	e := newOpError("dial", remote, &stepFailure{step: stepConnect, err: syscall.ETIMEDOUT})
	if e.Step != stepConnect || !errors.Is(e, syscall.ETIMEDOUT) || !e.Timeout() || !strings.Contains(e.Hint, "10.0.0.1:7174") {
		t.Errorf("got %#v", e)
	}
	if again := newOpError("other", nil, e); again != e {
		t.Errorf("an OpError was wrapped: %v", again)
	}
	if e := newOpError("dial", nil, context.DeadlineExceeded); !e.Timeout() || e.Hint != "" {
		t.Errorf("got %#v", e)
	}
	for _, err := range []error{context.Canceled, net.ErrClosed, ErrPeerClosed, syscall.EIO} {
		if newOpError("x", remote, err).Timeout() {
			t.Errorf("%v is a time-out", err)
		}
	}
	if got := newOpError("listen", nil, &stepFailure{step: stepBind, err: syscall.EACCES}).Hint; !strings.Contains(got, "1024") {
		t.Errorf("hint %q", got)
	}
}

// TestSentinels: which sentinel matches which.
func TestSentinels(t *testing.T) {
	reject := func(r abi.CMRejectReason) error { return fmt.Errorf("x: %w", &RejectError{Reason: r}) }
	for _, tc := range []struct {
		err      error
		yes, not []error
	}{
		{reject(abi.IB_CM_REJ_INVALID_SERVICE_ID), []error{ErrRejected, ErrNoListener, syscall.ECONNREFUSED}, []error{io.EOF, ErrPeerGone}},
		{reject(abi.IB_CM_REJ_CONSUMER_DEFINED), []error{ErrRejected, syscall.ECONNREFUSED}, []error{ErrNoListener, ErrBusy}},
		{&RejectError{Reason: abi.IB_CM_REJ_CONSUMER_DEFINED, PrivateData: []byte("busy\x00\x00")},
			[]error{ErrRejected, ErrBusy, syscall.ECONNREFUSED}, []error{ErrNoListener}},
		{&RejectError{Reason: 1<<32 - 111, PrivateData: []byte("busy")}, []error{ErrRejected, ErrBusy}, []error{ErrNoListener}},
		{&RejectError{Reason: 1<<32 - 111}, []error{ErrRejected, ErrNoListener}, []error{ErrBusy}},
		{eventError(&ucma.Event{Type: abi.RDMA_CM_EVENT_REJECTED, Status: -104}, 0),
			[]error{ErrRejected, syscall.ECONNRESET}, []error{ErrNoListener, syscall.ETIMEDOUT}},
		{ErrPeerClosed, []error{io.EOF, ErrPeerClosed}, []error{net.ErrClosed, io.ErrUnexpectedEOF}},
		{ErrDeviceRemoved, []error{uverbs.ErrDeviceRemoved}, []error{net.ErrClosed}},
		{withCause(ErrNoDevice, syscall.ENODEV), []error{ErrNoDevice, syscall.ENODEV}, nil},
		{stepError("x", &ucma.Error{Err: syscall.ENODEV}), []error{ErrNoDevice, syscall.ENODEV}, []error{ErrDeviceRemoved}},
		{removalError(&ucma.Error{Err: syscall.ENXIO}), []error{ErrDeviceRemoved, syscall.ENXIO}, []error{ErrNoDevice}},
		{removalError(&ucma.Error{Err: syscall.ENODEV}), []error{syscall.ENODEV}, []error{ErrDeviceRemoved}},
		{removalError(nil), nil, []error{ErrDeviceRemoved}},
		{stepError("x", nil), nil, []error{ErrNoDevice}},
	} {
		wants(t, tc.err, tc.yes...)
		for _, n := range tc.not {
			if errors.Is(tc.err, n) {
				t.Errorf("%v matches %v", tc.err, n)
			}
		}
	}
}

func TestRejectErrorText(t *testing.T) {
	for _, tc := range []struct {
		reason abi.CMRejectReason
		data   string
		text   string
		want   []string
	}{
		{abi.IB_CM_REJ_INVALID_SERVICE_ID, "", "", []string{"rejected by peer: no listener on that port", "CM reason 8"}},
		{abi.IB_CM_REJ_CONSUMER_DEFINED, "busy\x00\x00", "busy", []string{"by the application (CM reason 28)", `"busy"`}},
		{abi.IB_CM_REJ_STALE_CONN, "\x01\x02", "", []string{"CM reason 10, stale connection"}},
		{200, "\xff\xfe", "", []string{"CM reason 200"}},
		{1<<32 - 104, "", "", []string{"rejected by peer: connection reset by peer"}},
		{28, "ein\x00zwei", "", []string{"CM reason 28"}},
		{28, "\u009b2J", "", []string{"CM reason 28"}},
	} {
		e := &RejectError{Reason: tc.reason, PrivateData: []byte(tc.data)}
		if e.Text() != tc.text {
			t.Errorf("text %q, want %q", e.Text(), tc.text)
		}
		wantsText(t, e, tc.want...)
	}
}

// TestBindError: the kernel has two errnos for a taken port, and one of them
// also means an address that is not here.
func TestBindError(t *testing.T) {
	at := func(s string) ucma.Sockaddr { return sockaddr(t, s) }
	kernel := func(errno syscall.Errno) error { return &ucma.Error{Command: 20, Err: errno} }
	for _, tc := range []struct {
		name  string
		addr  ucma.Sockaddr
		err   error
		inUse bool
		match []error
	}{
		{"same address", at("10.0.0.1:1"), kernel(syscall.EADDRINUSE), true, []error{syscall.EADDRINUSE}},
		{"wildcard", at("0.0.0.0:1"), kernel(syscall.EADDRNOTAVAIL), true, []error{syscall.EADDRINUSE, syscall.EADDRNOTAVAIL}},
		{"IPv6 wildcard", at("[::]:1"), kernel(syscall.EADDRNOTAVAIL), true, []error{syscall.EADDRINUSE, syscall.EADDRNOTAVAIL}},
		{"our address against a wildcard", at("127.0.0.1:1"), kernel(syscall.EADDRNOTAVAIL), true, []error{syscall.EADDRINUSE}},
		{"foreign address", at("192.0.2.1:1"), kernel(syscall.EADDRNOTAVAIL), false, []error{syscall.EADDRNOTAVAIL}},
		{"native InfiniBand wildcard", ucma.SockaddrFromGID([16]byte{}, abi.RDMA_PS_IB, 1), kernel(syscall.EADDRNOTAVAIL), true, []error{syscall.EADDRINUSE}},
		{"no port left", at("0.0.0.0:0"), kernel(syscall.EADDRNOTAVAIL), false, []error{ErrNoPorts, syscall.EADDRNOTAVAIL}},
		{"no port left of our address", at("127.0.0.1:0"), kernel(syscall.EADDRNOTAVAIL), false, []error{ErrNoPorts, syscall.EADDRNOTAVAIL}},
		{"no port left, no address given", ucma.Sockaddr{}, kernel(syscall.EADDRNOTAVAIL), false, []error{ErrNoPorts, syscall.EADDRNOTAVAIL}},
		{"foreign address without a port", at("192.0.2.1:0"), kernel(syscall.EADDRNOTAVAIL), false, []error{syscall.EADDRNOTAVAIL}},
		{"no RDMA", at("10.0.0.1:1"), kernel(syscall.ENODEV), false, []error{ErrNoDevice, syscall.ENODEV}},
		{"other", at("10.0.0.1:1"), kernel(syscall.EACCES), false, []error{syscall.EACCES, os.ErrPermission}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := bindError("", tc.addr, tc.err)
			if errors.Is(err, ErrAddrInUse) != tc.inUse {
				t.Errorf("in use: %v", err)
			}
			wants(t, err, tc.match...)
			if errors.Is(err, ErrNoPorts) != slices.Contains(tc.match, error(ErrNoPorts)) {
				t.Errorf("no ports: %v", err)
			}
			var ue *ucma.Error
			if !errors.As(err, &ue) {
				t.Errorf("the command is lost: %v", err)
			}
		})
	}
	if err := bindError("", at("10.0.0.1:1"), nil); err != nil {
		t.Errorf("no error became %v", err)
	}
}

func TestEventError(t *testing.T) {
	good := abi.RDMA_CM_EVENT_ROUTE_RESOLVED
	for _, tc := range []struct {
		ev   ucma.Event
		want error
		text string
	}{
		{ucma.Event{Type: good}, nil, "<nil>"},
		{ucma.Event{Type: good, Status: -5}, syscall.EIO, "ROUTE_RESOLVED"},
		{ucma.Event{Type: abi.RDMA_CM_EVENT_ROUTE_ERROR, Status: -110}, syscall.ETIMEDOUT, "ROUTE_ERROR"},
		{ucma.Event{Type: abi.RDMA_CM_EVENT_DISCONNECTED}, ErrPeerClosed, "closed by peer"},
		{ucma.Event{Type: abi.RDMA_CM_EVENT_DEVICE_REMOVAL}, ErrDeviceRemoved, "removed"},
		{ucma.Event{Type: abi.RDMA_CM_EVENT_REJECTED, Status: 8}, ErrNoListener, "reason 8"},
	} {
		err := eventError(&tc.ev, good)
		if tc.want == nil && err != nil {
			t.Errorf("%v: %v", tc.ev.Type, err)
		}
		if tc.want != nil {
			wants(t, err, tc.want)
		}
		wantsText(t, err, tc.text)
	}
	if err := eventError(&ucma.Event{Type: 4711, Status: 3}, good); err == nil {
		t.Error("an unexpected event is no error")
	}
}

func TestInStep(t *testing.T) {
	inner := &stepFailure{step: stepBind, err: io.EOF}
	if got := inStep(stepConnect, inner); got != error(inner) {
		t.Errorf("renamed to %v", got)
	}
	if inStep(stepConnect, nil) != nil {
		t.Error("no error became one")
	}
	wantsText(t, inStep(stepConnect, io.EOF), "connect: EOF")
}
