package cm

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"unicode"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/fakecm"
	"github.com/purerdma/rdma/ucma"
)

// FuzzEvent: whatever the kernel reports about an ID reaches it whole, and can
// be asked for everything. Its bytes after the header are the peer's.
func FuzzEvent(f *testing.F) {
	kernel := new(fakecm.Kernel)
	ch, err := openChannel(&ucma.Options{Kernel: kernel}, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = ch.Close() })
	id, err := NewID(&IDOptions{Channel: ch})
	if err != nil {
		f.Fatal(err)
	}
	owned, _ := kernel.Handles()
	for t := range uint32(22) {
		f.Add(t, int32(0), bytes.Repeat([]byte{byte(t)}, 304))
		f.Add(t, int32(-110), []byte{})
		f.Add(t, int32(t), bytes.Repeat([]byte{0xff}, 304))
	}
	f.Fuzz(func(t *testing.T, typ uint32, status int32, param []byte) {
		raw := abi.RDMAUCMEventResp{UID: id.uid, ID: owned[0], Event: typ, Status: uint32(status)}
		copy(unsafe.Slice((*byte)(unsafe.Pointer(&raw.Param)), unsafe.Sizeof(raw.Param)), param)
		if isRequest(abi.RDMACMEventType(typ)) {
			raw.ID = 1 << 20 // the new ID; there is none behind it
		}
		if !kernel.Inject(owned[0], raw) {
			t.Fatal("no ID")
		}
		ev := takeAny(t, id)
		if ev.Request != nil {
			_ = ev.Request.Close()
		}
		if uint32(ev.Type) != typ || ev.Status != status || ev.UID != id.uid {
			t.Errorf("event %d, status %d came as %v, %d", typ, status, ev.Type, ev.Status)
		}
		if err := ev.Err(); err != nil {
			_ = err.Error()
			_ = errors.Is(err, ErrRejected) || isTimeout(err)
		}
		conn, ud := ev.Conn(), ev.UD()
		if len(conn.PrivateData) > 255 || len(ud.PrivateData) > 255 {
			t.Errorf("%d and %d bytes of private data", len(conn.PrivateData), len(ud.PrivateData))
		}
		_, _ = ev.Type.String(), ev.Arg()
	})
}

// takeAny waits for the ID's next event of any kind.
func takeAny(t *testing.T, id *ID) Event {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), testTime)
	defer cancel()
	e, err := id.waitEntry(ctx, nil, func(*ucma.Event) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	return e.event()
}

// FuzzRejectError: a peer's reason and data make an error of one printable
// line, that still has the data.
func FuzzRejectError(f *testing.F) {
	f.Add(uint32(28), []byte("busy\x00\x00"))
	f.Add(uint32(8), []byte{})
	f.Add(^uint32(110), []byte("\x1b[31mred\n"))
	f.Add(uint32(1<<31), bytes.Repeat([]byte{0xff}, 148))
	f.Fuzz(func(t *testing.T, reason uint32, data []byte) {
		e := &RejectError{Reason: abi.CMRejectReason(reason), PrivateData: trimZero(data)}
		for _, r := range e.Error() {
			if !unicode.IsPrint(r) {
				t.Fatalf("%q has %q", e.Error(), r)
			}
		}
		if text := e.Text(); text != "" && text != strings.TrimRight(string(data), "\x00") {
			t.Errorf("text %q of %q", text, data)
		}
		if !errors.Is(e, ErrRejected) || errors.Is(e, ErrNoListener) != (reason == 8 || reason == ^uint32(syscall.ECONNREFUSED)+1 && e.PrivateData == nil) {
			t.Errorf("%v matches wrong errors", e)
		}
		if e.PrivateData != nil && !bytes.Equal(e.PrivateData, data) {
			t.Errorf("data % x of % x", e.PrivateData, data)
		}
	})
}

// FuzzAddress: an address as text is refused, or survives the way to the
// kernel's form and back. Names are left out: they would ask the network.
func FuzzAddress(f *testing.F) {
	for _, s := range []string{
		"10.0.0.1:7471", ":0", "[::]:65535", "[fe80::1%lo]:1", "[fe80::1]:1", "[::ffff:1.2.3.4]:9", "127.0.0.1:1", "1:2:3", "[::1",
		"10.0.0.1:-1", "10.0.0.1:70000", "[::1%]:4", "0x7f.1:1",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		host, _, err := net.SplitHostPort(s)
		if ip, ipErr := netip.ParseAddr(host); err == nil && host != "" && (ipErr != nil || ip.Zone() != "" && len(ip.Zone()) > 15) {
			return
		}
		addrs, err := resolve(context.Background(), s)
		if err != nil {
			return
		}
		if len(addrs) != 1 {
			t.Fatalf("%q is %v", s, addrs)
		}
		a := addrs[0]
		sa, err := sockaddrIn("", a)
		if err != nil {
			return // an interface that does not exist
		}
		want := netip.AddrPortFrom(a.Addr().WithZone(""), a.Port())
		got, ok := addrOf(sa).(Addr)
		if !ok || cmp.Diff(want.String(), netip.AddrPortFrom(got.Addr().WithZone(""), got.Port()).String()) != "" {
			t.Errorf("%q: %v came back as %v", s, a, got)
		}
		if err := checkAddr(a.Addr()); (err != nil) != (a.Addr().IsLoopback() || a.Addr().Is6() && a.Addr().IsLinkLocalUnicast() && a.Addr().Zone() == "") {
			t.Errorf("%v: %v", a, err)
		}
	})
}
