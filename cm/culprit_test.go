package cm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strings"
	"syscall"
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/fakecm"
	"github.com/purerdma/rdma/ucma"
	"github.com/purerdma/rdma/uverbs"
)

// Errors name who is to blame, and options do what they say.

// TestRawChannelRefused: a listener or dial on a channel in raw mode is refused before
// a peer hears of it.
func TestRawChannelRefused(t *testing.T) {
	r := newRig(t)
	ch, err := NewRawEventChannel(&ucma.Options{Kernel: r.cm, Path: fakecm.Path})
	if err != nil {
		t.Fatal(err)
	}
	defer ch.Close()
	if l, err := ListenAddr(serverAddr, &ListenConfig{Channel: ch}); !errors.Is(err, syscall.EINVAL) || !strings.Contains(err.Error(), "raw mode") {
		t.Errorf("listen: %v", err)
		if err == nil {
			l.Close()
		}
	}
	calls := r.cm.Calls()
	_, err = (&Dialer{Channel: ch, Config: quick}).DialAddr(testContext(t), serverAddr)
	wants(t, err, syscall.EINVAL)
	wantsText(t, err, "raw mode")
	if n := r.cm.Calls() - calls; n != 0 {
		t.Errorf("%d system calls", n)
	}
}

// TestDialLocalPort: a local port without an address is kept.
func TestDialLocalPort(t *testing.T) {
	for _, a := range []netip.AddrPort{netip.AddrPortFrom(netip.Addr{}, 5000), netip.MustParseAddrPort("0.0.0.0:5000")} {
		t.Run(a.String(), func(t *testing.T) {
			r := newRig(t)
			client, server := r.pair(r.listen(nil), &Dialer{LocalAddr: a, Config: quick})
			for _, addr := range []string{client.LocalAddr().String(), server.RemoteAddr().String()} {
				if !strings.HasSuffix(addr, ":5000") {
					t.Errorf("the client is at %s", addr)
				}
			}
		})
	}
	six := (&Dialer{LocalAddr: netip.AddrPortFrom(netip.Addr{}, 5000)}).source(netip.MustParseAddrPort("[fd00::1]:1"))
	if six != netip.MustParseAddrPort("[::]:5000") {
		t.Errorf("towards IPv6 from %v", six)
	}
}

// TestRecvCopyImmediate: immediate data is not lost.
func TestRecvCopyImmediate(t *testing.T) {
	r := newRig(t)
	client, server := r.pair(r.listen(nil), &Dialer{Config: quick})
	ctx := testContext(t)
	if err := client.SendImm(ctx, 42); err != nil {
		t.Fatal(err)
	}
	if err := client.SendCopy(ctx, []byte("next")); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 10)
	for range 2 {
		n, err := server.RecvCopy(ctx, buf)
		wants(t, err, ErrImmediate)
		if n != 0 || errors.Is(err, io.ErrShortBuffer) {
			t.Errorf("%d bytes, %v", n, err)
		}
	}
	m, err := server.Recv(ctx)
	if err != nil || !m.HasImm || m.Imm != 42 {
		t.Fatalf("the message is %+v, %v", m, err)
	}
	if err := m.Release(); err != nil {
		t.Error(err)
	}
	if n, err := server.RecvCopy(ctx, buf); err != nil || string(buf[:n]) != "next" {
		t.Errorf("then %q, %v", buf[:n], err)
	}
}

// TestTimeoutOfSeveral: a dial to several addresses timed out if one did and no peer
// refused, whichever came first.
func TestTimeoutOfSeveral(t *testing.T) {
	late := &OpError{Op: "dial", Err: context.DeadlineExceeded}
	refused := &OpError{Op: "dial", Err: &RejectError{Reason: abi.IB_CM_REJ_INVALID_SERVICE_ID}}
	noRoute := &OpError{Op: "dial", Err: syscall.ENETUNREACH}
	for _, tc := range []struct {
		all  attempts
		want bool
	}{
		{attempts{late, late}, true}, {attempts{late, noRoute}, true}, {attempts{noRoute, late}, true},
		{attempts{late, refused}, false}, {attempts{refused, late}, false}, {attempts{noRoute, noRoute}, false},
	} {
		e := newOpError("dial", nil, tc.all)
		if e.Timeout() != tc.want {
			t.Errorf("%v: time-out is %v", e, e.Timeout())
		}
		for _, err := range tc.all {
			wants(t, e, err.(*OpError).Err)
		}
	}
}

// TestPortDownIsBlamed: a time-out while the own port is down is not blamed on the peer.
func TestPortDownIsBlamed(t *testing.T) {
	for state, want := range map[uverbs.PortState]string{
		uverbs.PortActive: "UDP port 4791", uverbs.PortDown: "port 1 of rxe0 is DOWN: set its interface up (ip link set eth7 up)",
	} {
		t.Run(state.String(), func(t *testing.T) {
			r := newRig(t)
			byIndex := host.deviceByIndex
			host.deviceByIndex = func(index int) (*uverbs.Device, error) {
				d, err := byIndex(index)
				if err == nil {
					d.Ports = []uverbs.PortInfo{{Number: 1, State: state, Netdev: "eth7", LinkLayer: uverbs.LinkEthernet}}
				}
				return d, err
			}
			r.cm.Mute(abi.RDMA_USER_CM_CMD_CONNECT)
			ctx, expire := expiring(t)
			r.cm.After = func(c fakecm.Call) {
				if c.Cmd == abi.RDMA_USER_CM_CMD_CONNECT {
					expire()
				}
			}
			_, err := (&Dialer{Config: quick}).DialAddr(ctx, serverAddr)
			wants(t, err, context.DeadlineExceeded)
			wantsText(t, err, want)
			if state == uverbs.PortActive {
				wantsText(t, err, "its program has not accepted in time")
			} else if strings.Contains(err.Error(), "4791") {
				t.Errorf("also blamed on the network: %v", err)
			}
		})
	}
}

// TestPathMTU: the cap counts on both sides, and does not raise what the path allows,
// which is 1024 with the fake.
func TestPathMTU(t *testing.T) {
	for bytes, want := range map[int]abi.IBMTU{
		0: abi.IB_MTU_1024, 256: abi.IB_MTU_256, 512: abi.IB_MTU_512, 1024: abi.IB_MTU_1024, 4096: abi.IB_MTU_1024,
	} {
		t.Run(fmt.Sprint(bytes), func(t *testing.T) {
			r := newRig(t)
			cfg := *quick
			cfg.PathMTU = bytes
			client, server := r.pair(r.listen(&ListenConfig{Config: &cfg}), &Dialer{Config: &cfg})
			for _, c := range []*Conn{client, server} {
				if a := r.verbs.QPAttr(c.QP().Number()); abi.IBMTU(a.PathMTU) != want {
					t.Errorf("path MTU code %d, want %d", a.PathMTU, want)
				}
			}
		})
	}
}

// TestBadPortNamesAddress: the error of a port that is none has the whole address.
func TestBadPortNamesAddress(t *testing.T) {
	for _, address := range []string{"server:99999", "10.0.0.1:x", "[fd00::1]:-1"} {
		_, err := Dial(testContext(t), address)
		wants(t, err, syscall.EINVAL)
		wantsText(t, err, address)
	}
}
