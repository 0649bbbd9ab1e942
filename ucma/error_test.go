package ucma

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/fakecm"
)

func TestCommandErrors(t *testing.T) {
	for _, tc := range []struct {
		name    string
		errno   error
		text    string
		matches []error
		not     []error
	}{
		{"errno", syscall.ENETUNREACH, "rdma_cm DISCONNECT id 9: network is unreachable",
			[]error{syscall.ENETUNREACH}, []error{errors.ErrUnsupported, net.ErrClosed}},
		{"credentials", syscall.EACCES, "rdma_cm DISCONNECT id 9: permission denied: credentials changed",
			[]error{ErrCredentialsChanged, syscall.EACCES, os.ErrPermission}, nil},
		{"kernel's own ENOTSUPP", syscall.Errno(524), "rdma_cm DISCONNECT id 9: ",
			[]error{errors.ErrUnsupported, syscall.Errno(524)}, []error{net.ErrClosed}},
		{"not implemented", syscall.ENOSYS, "", []error{errors.ErrUnsupported, syscall.ENOSYS}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := openOn(t, &recorder{respAt: -1, err: tc.errno}).Disconnect(9)
			var e *Error
			if !errors.As(err, &e) || e.Command != abi.RDMA_USER_CM_CMD_DISCONNECT || e.ID != 9 {
				t.Fatalf("got %#v", err)
			}
			if !strings.HasPrefix(err.Error(), tc.text) {
				t.Errorf("text %q", err)
			}
			for _, m := range tc.matches {
				if !errors.Is(err, m) {
					t.Errorf("%v does not match %v", err, m)
				}
			}
			for _, m := range tc.not {
				if errors.Is(err, m) {
					t.Errorf("%v matches %v", err, m)
				}
			}
		})
	}
}

func TestErrorWithoutID(t *testing.T) {
	_, err := openOn(t, &recorder{respAt: -1, err: syscall.EINVAL}).CreateID(1, 0, 0)
	if got := err.Error(); got != "rdma_cm CREATE_ID: invalid argument" {
		t.Errorf("got %q", got)
	}
	e := &Error{Command: 12, Err: context.DeadlineExceeded}
	if got := e.Error(); got != "rdma_cm GET_EVENT: context deadline exceeded" || !e.Timeout() {
		t.Errorf("got %q, timeout %v", got, e.Timeout())
	}
}

func TestOpenErrors(t *testing.T) {
	for _, tc := range []struct {
		errno syscall.Errno
		match error
		text  string
	}{
		{syscall.ENOENT, os.ErrNotExist, "modprobe rdma_ucm"},
		{syscall.ENXIO, syscall.ENXIO, "stale"},
		{syscall.EACCES, os.ErrPermission, "mode"},
		{syscall.EPERM, os.ErrPermission, "cgroup"},
		{syscall.EMFILE, syscall.EMFILE, "too many open files"},
	} {
		k := &fakecm.Kernel{Before: func(fakecm.Call) error { return tc.errno }}
		_, err := Open(&Options{Kernel: k})
		if !errors.Is(err, tc.match) || !errors.Is(err, tc.errno) || !strings.Contains(err.Error(), tc.text) || !strings.Contains(err.Error(), DevicePath) {
			t.Errorf("%v: got %v", tc.errno, err)
		}
	}
	_, err := Open(&Options{Kernel: new(fakecm.Kernel), Path: "/dev/elsewhere"})
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "/dev/elsewhere") {
		t.Errorf("other path: %v", err)
	}
}

// TestClosed: each method says net.ErrClosed after Close.
func TestClosed(t *testing.T) {
	k := new(fakecm.Kernel)
	c := openOn(t, k)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	for _, g := range append(append(idCommands(), connectCommands()...), queryCommands()...) {
		if g.cmd == abi.RDMA_USER_CM_CMD_QUERY && g.name != "QUERY ADDR" || g.cmd == abi.RDMA_USER_CM_CMD_MIGRATE_ID {
			continue // these look into the answer, or open another channel
		}
		if _, err := g.call(t, c); !errors.Is(err, net.ErrClosed) {
			t.Errorf("%s: %v", g.name, err)
		}
	}
	if _, err := openOn(t, new(fakecm.Kernel)).MigrateID(c, 1); !errors.Is(err, net.ErrClosed) {
		t.Errorf("migrate from a closed channel: %v", err)
	}
}

// TestTooLong: what does not fit is refused before the kernel sees it.
func TestTooLong(t *testing.T) {
	r := &recorder{respAt: -1}
	c := openOn(t, r)
	p := &ConnParam{PrivateData: make([]byte, 256)}
	big := SockaddrFromIB(abi.SockaddrIB{})
	ip := sockaddr(t, addr4)
	for name, tc := range map[string]struct {
		err  error
		want error
	}{
		"connect":       {c.Connect(1, p, ECE{}), syscall.EINVAL},
		"accept":        {c.Accept(1, 1, p, ECE{}), syscall.EINVAL},
		"reject":        {c.Reject(1, p.PrivateData, 0), syscall.EINVAL},
		"option":        {c.SetOption(1, 0, 0, make([]byte, 2049)), syscall.EINVAL},
		"paths":         {c.SetIBPath(1, make([]abi.IBPathRecData, 29)), syscall.EINVAL},
		"bind ip":       {c.BindIP(1, big), syscall.EAFNOSUPPORT},
		"resolve ip":    {c.ResolveIP(1, ip, big, 1), syscall.EAFNOSUPPORT},
		"resolve ip, 2": {c.ResolveIP(1, big, ip, 1), syscall.EAFNOSUPPORT},
	} {
		if !errors.Is(tc.err, tc.want) {
			t.Errorf("%s: %v", name, tc.err)
		}
	}
	if _, err := c.JoinIPMulticast(1, 1, big); !errors.Is(err, syscall.EAFNOSUPPORT) {
		t.Errorf("join: %v", err)
	}
	if len(r.frames) != 0 {
		t.Errorf("%d writes", len(r.frames))
	}
	if err := c.Connect(1, &ConnParam{PrivateData: make([]byte, 255)}, ECE{}); err != nil {
		t.Errorf("255 bytes: %v", err)
	}
	if err := c.SetOption(1, 0, 0, make([]byte, 2048)); err != nil {
		t.Errorf("option of 2048 bytes: %v", err)
	}
}

func TestABIVersion(t *testing.T) {
	v, err := ABIVersion()
	if err == nil && v != 4 || err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %d, %v", v, err)
	}
}

// TestPrivilegedPort: EACCES means the port there, and the credentials
// elsewhere.
func TestPrivilegedPort(t *testing.T) {
	c := openOn(t, &recorder{respAt: -1, err: syscall.EACCES})
	low, high := sockaddr(t, netip.MustParseAddrPort("10.0.0.1:80")), sockaddr(t, addr4)
	for port, credentials := range map[uint16]bool{1: false, 1023: false, 1024: true, 1025: true, 0: true} {
		err := c.Bind(1, sockaddr(t, netip.AddrPortFrom(netip.MustParseAddr("10.0.0.1"), port)))
		if !errors.Is(err, syscall.EACCES) || errors.Is(err, ErrCredentialsChanged) != credentials {
			t.Errorf("port %d: %v, credentials %v", port, err, !credentials)
		}
	}
	for _, tc := range []struct {
		err         error
		credentials bool
	}{
		{c.Bind(1, low), false}, {c.BindIP(1, low), false}, {c.ResolveAddr(1, low, high, 1), false}, {c.ResolveIP(1, low, high, 1), false},
		{c.Bind(1, high), true}, {c.ResolveAddr(1, high, low, 1), true}, {c.ResolveAddr(1, Sockaddr{}, low, 1), true},
	} {
		if !errors.Is(tc.err, syscall.EACCES) || errors.Is(tc.err, ErrCredentialsChanged) != tc.credentials {
			t.Errorf("got %v, credentials %v", tc.err, tc.credentials)
		}
	}
}
