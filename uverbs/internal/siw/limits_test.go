package siw

import (
	"errors"
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs/internal/provider"
	"github.com/purerdma/rdma/uverbs/internal/ringtest"
)

// TestLimitsOfEachSide: sends and receives have limits of their own, what is exactly
// one is taken, and more than that is not.
func TestLimitsOfEachSide(t *testing.T) {
	env := ringtest.NewEnv()
	s, err := newTestContext(t, env).SetupQP(provider.QPRequest{Type: uint32(abi.IB_UVERBS_QPT_RC)})
	if err != nil {
		t.Fatal(err)
	}
	sq, rq := newKRing(8, sqLen, 0), newKRing(4, rqLen, 0)
	limit := provider.QPCap{MaxSendWR: 8, MaxRecvWR: 4, MaxSendSGE: 3, MaxRecvSGE: 2, MaxInline: 16}
	q, err := s.Done(env.QPBell(0), 1, limit, qpAnswer(1, 8, 4, env.Add(sq.mem), env.Add(rq.mem)))
	if err != nil {
		t.Fatal(err)
	}
	send := func(wr provider.SendWR) error {
		wr.Opcode = abi.IB_UVERBS_WR_SEND
		return ringtest.Send(q, &wr)
	}
	recv := func(n int) error { return ringtest.Recv(q, &provider.RecvWR{SGEs: sges(n, 1)}) }
	for _, tc := range []struct {
		name      string
		got, want error
	}{
		{"3 entries to send", send(provider.SendWR{SGEs: sges(3, 1)}), nil},
		{"4 entries to send", send(provider.SendWR{SGEs: sges(4, 1)}), provider.ErrTooManySGEs},
		{"16 bytes inline", send(provider.SendWR{Inline: make([]byte, 16)}), nil},
		{"17 bytes inline", send(provider.SendWR{Inline: make([]byte, 17)}), provider.ErrInlineSize},
		{"2 entries to receive into", recv(2), nil},
		{"3 entries to receive into", recv(3), provider.ErrTooManySGEs},
		{"second receive", recv(1), nil},
		{"third receive", recv(1), nil},
		{"fourth receive", recv(1), nil},
		{"fifth receive", recv(1), provider.ErrQueueFull},
		{"third send", send(provider.SendWR{}), nil},
	} {
		if !errors.Is(tc.got, tc.want) {
			t.Errorf("%s: %v, want %v", tc.name, tc.got, tc.want)
		}
	}
}
