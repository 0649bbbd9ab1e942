package cm

import (
	"errors"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/fakecm"
)

func TestInterleave(t *testing.T) {
	parse := func(ss ...string) (out []netip.AddrPort) {
		for _, s := range ss {
			out = append(out, netip.MustParseAddrPort(s))
		}
		return out
	}
	a4, b4, c4, a6, b6 := "10.0.0.1:1", "10.0.0.2:1", "10.0.0.3:1", "[fd00::1]:1", "[fd00::2]:1"
	for _, tc := range []struct{ in, want []netip.AddrPort }{
		{parse(a4), parse(a4)},
		{parse(a4, b4, c4, a6), parse(a4, a6, b4, c4)},
		{parse(a6, b6, a4), parse(a6, a4, b6)},
	} {
		if diff := cmp.Diff(tc.want, interleave(tc.in), cmp.Comparer(func(a, b netip.AddrPort) bool { return a == b })); diff != "" {
			t.Errorf("%v (-want +got):\n%s", tc.in, diff)
		}
	}
}

// TestRaceSilentFirst: an address that does not answer delays the dial no
// longer than the fallback delay, and its attempt leaves nothing.
func TestRaceSilentFirst(t *testing.T) {
	r := newRig(t)
	var n atomic.Int32
	r.cm.Before = func(c fakecm.Call) error {
		if c.Cmd == abi.RDMA_USER_CM_CMD_RESOLVE_ADDR {
			if n.Add(1) == 1 {
				r.cm.Mute(c.Cmd)
			} else {
				r.cm.Unmute()
			}
		}
		return nil
	}
	l := r.listen(nil)
	ctx := testContext(t)
	d := &Dialer{Config: quick, FallbackDelay: 10 * time.Millisecond}
	dialed := async(func() (*Conn, error) { return d.race(ctx, []netip.AddrPort{serverAddr, serverAddr}) })
	client, server := r.accept(l, dialed, &AcceptOptions{Config: quick})
	if err := errors.Join(client.Close(), server.Close()); err != nil {
		t.Error(err)
	}
}

// TestRaceSlowDestroy: the winner of a race waits for the losers no longer than a Close
// does, although the kernel holds up the destruction of their IDs.
func TestRaceSlowDestroy(t *testing.T) {
	r := newRig(t)
	shortPatience(t)
	c := newCrowd(t)
	var n atomic.Int32
	r.cm.Before = func(call fakecm.Call) error {
		switch {
		case call.Op != "write":
		case call.Cmd == abi.RDMA_USER_CM_CMD_CONNECT && n.Add(1) == 1:
			r.cm.Mute(call.Cmd)
		case call.Cmd == abi.RDMA_USER_CM_CMD_CONNECT:
			r.cm.Unmute()
		case call.Cmd == abi.RDMA_USER_CM_CMD_DESTROY_ID:
			c.enter()
		}
		return nil
	}
	l := r.listen(nil)
	ctx := testContext(t)
	d := &Dialer{Config: quick, FallbackDelay: 10 * time.Millisecond}
	dialed := async(func() (*Conn, error) { return d.race(ctx, []netip.AddrPort{serverAddr, serverAddr}) })
	client, server := r.accept(l, dialed, &AcceptOptions{Config: quick})
	if c.inside.Load() != 1 {
		t.Errorf("%d IDs are held up, expected the loser's", c.inside.Load())
	}
	c.letGo()
	if err := errors.Join(client.Close(), server.Close()); err != nil {
		t.Error(err)
	}
}
