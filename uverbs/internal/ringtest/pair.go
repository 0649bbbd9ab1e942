package ringtest

import (
	"testing"

	"github.com/purerdma/rdma/uverbs/internal/provider"
)

// A Pair is two connected queue pairs with a completion queue each.
type Pair struct {
	QP [2]provider.QP
	CQ [2]provider.CQ
}

// Send posts requests with one doorbell.
func (p *Pair) Send(tb testing.TB, from int, wrs ...provider.SendWR) {
	tb.Helper()
	if n, err := p.QP[from].PostSend(provider.ListOf(wrs)); n != len(wrs) || err != nil {
		tb.Fatalf("%d of %d requests posted: %v", n, len(wrs), err)
	}
}

// Recv posts receives.
func (p *Pair) Recv(tb testing.TB, at int, wrs ...provider.RecvWR) {
	tb.Helper()
	MustRecv(tb, p.QP[at], wrs...)
}

// Poll takes all completions off a queue.
func (p *Pair) Poll(at int) (out []provider.WC) {
	var wc provider.WC
	for Poll(p.CQ[at], &wc) {
		out = append(out, wc)
	}
	return out
}
