package rxe

import (
	"errors"
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs/internal/provider"
	"github.com/purerdma/rdma/uverbs/internal/ringtest"
)

// TestLimitsOfEachSide: sends and receives have limits of their own, what is exactly
// one is taken, and more than that is not. The 8 bytes of an atomic write count as
// inline data.
func TestLimitsOfEachSide(t *testing.T) {
	for _, inline := range []int{7, 8, 16} {
		q := newLimitedQP(t, provider.QPCap{MaxSendWR: 7, MaxRecvWR: 3, MaxSendSGE: 3, MaxRecvSGE: 2, MaxInline: uint32(inline)})
		send := func(wr provider.SendWR) error {
			wr.Opcode = abi.IB_UVERBS_WR_SEND
			return ringtest.Send(q, &wr)
		}
		recv := func(n int) error { return ringtest.Recv(q, &provider.RecvWR{SGEs: sges(n, 1)}) }
		var atomicWrite error
		if inline < 8 {
			atomicWrite = provider.ErrInlineSize
		}
		for _, tc := range []struct {
			name      string
			got, want error
		}{
			{"3 entries to send", send(provider.SendWR{SGEs: sges(3, 1)}), nil},
			{"4 entries to send", send(provider.SendWR{SGEs: sges(4, 1)}), provider.ErrTooManySGEs},
			{"as much inline data as fits", send(provider.SendWR{Inline: make([]byte, inline)}), nil},
			{"one byte more", send(provider.SendWR{Inline: make([]byte, inline+1)}), provider.ErrInlineSize},
			{"atomic write", ringtest.Send(q, &provider.SendWR{Opcode: abi.IB_UVERBS_WR_ATOMIC_WRITE, Inline: make([]byte, 8)}), atomicWrite},
			{"2 entries to receive into", recv(2), nil},
			{"3 entries to receive into", recv(3), provider.ErrTooManySGEs},
			{"second receive", recv(1), nil},
			{"third receive", recv(1), nil},
			{"fourth receive", recv(1), provider.ErrQueueFull},
			{"a further send", send(provider.SendWR{}), nil},
		} {
			if !errors.Is(tc.got, tc.want) {
				t.Errorf("%d bytes inline: %s: %v, want %v", inline, tc.name, tc.got, tc.want)
			}
		}
	}
}

// newLimitedQP makes a queue pair with limits that differ, on rings with room for more.
func newLimitedQP(t *testing.T, limit provider.QPCap) provider.QP {
	t.Helper()
	env := ringtest.NewEnv()
	s, err := newTestContext(t, env).SetupQP(provider.QPRequest{Type: uint32(abi.IB_UVERBS_QPT_RC)})
	if err != nil {
		t.Fatal(err)
	}
	rq := offer(env, newRingMem(8, 128))
	q, err := s.Done(env.QPBell(0), 1, limit, append(rq, offer(env, newRingMem(8, 512))...))
	if err != nil {
		t.Fatal(err)
	}
	return q
}
