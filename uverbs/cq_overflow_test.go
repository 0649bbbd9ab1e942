//go:build linux

package uverbs_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/fakeverbs"
	"github.com/purerdma/rdma/uverbs"
)

// TestCQOverflowNumbers: the error of a queue that overflowed says how many requests
// those that use it can have outstanding. Each kind of queue counts, a shared one once.
func TestCQOverflowNumbers(t *testing.T) {
	eachStyle(t, func(t *testing.T, k *fakeverbs.Kernel, c *uverbs.Context) {
		k.Hardware = true
		r := mustBuild(t, c, nil)
		cq, cqErr := c.CreateCQ(uverbs.CQConfig{Entries: 4, Channel: r.ch})
		other, otherErr := c.CreateCQ(uverbs.CQConfig{Entries: 64})
		if err := errors.Join(cqErr, otherErr); err != nil {
			t.Fatal(err)
		}
		want := 0
		if n := cq.MaxOutstanding(); n != want {
			t.Errorf("nothing attached: %d", n)
		}
		var objects []closer
		attach := func(name string, o closer, err error, more int) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			objects = append(objects, o)
			want += more
			if n := cq.MaxOutstanding(); n != want || more == 0 {
				t.Errorf("with %s: %d, expected %d", name, n, want)
			}
		}
		caps := uverbs.QPCap{MaxSendWR: 16, MaxRecvWR: 8}
		both, err := r.pd.CreateQP(uverbs.QPConfig{SendCQ: cq, RecvCQ: cq, Cap: caps})
		attach("both queues", both, err, both.Cap().MaxSendWR+both.Cap().MaxRecvWR)
		sends, err := r.pd.CreateQP(uverbs.QPConfig{SendCQ: cq, RecvCQ: other, Cap: caps})
		attach("a send queue", sends, err, sends.Cap().MaxSendWR)
		receives, err := r.pd.CreateQP(uverbs.QPConfig{SendCQ: other, RecvCQ: cq, Cap: caps})
		attach("a receive queue", receives, err, receives.Cap().MaxRecvWR)
		shared, err := r.pd.CreateQP(uverbs.QPConfig{SendCQ: other, RecvCQ: cq, SRQ: r.srq, Cap: caps})
		attach("a shared receive queue", shared, err, r.srq.MaxWR())
		again, err := r.pd.CreateQP(uverbs.QPConfig{SendCQ: cq, RecvCQ: cq, SRQ: r.srq, Cap: caps})
		attach("the same again", again, err, again.Cap().MaxSendWR)
		wq, err := r.pd.CreateWQ(uverbs.WQConfig{CQ: cq, MaxWR: 4})
		attach("a work queue", wq, err, wq.MaxWR())

		k.RaiseCQ(cq.Handle(), abi.IB_EVENT_CQ_ERR)
		_, err = cq.Wait(withTimeout(t), make([]uverbs.WC, 1))
		var ce *uverbs.CQError
		if !errors.As(err, &ce) || ce.Entries != cq.Entries() || ce.Outstanding != want {
			t.Errorf("got %+v, expected %d entries and %d requests", ce, cq.Entries(), want)
		}
		numbers := fmt.Sprintf("it has %d entries, and the queues attached to it can have %d requests outstanding", cq.Entries(), want)
		if err == nil || !strings.Contains(err.Error(), numbers) {
			t.Errorf("got %v", err)
		}
		for _, o := range objects {
			if err := o.Close(); err != nil {
				t.Error(err)
			}
		}
		if n := cq.MaxOutstanding(); n != 0 {
			t.Errorf("everything closed: %d", n)
		}
		if err := errors.Join(cq.Close(), other.Close()); err != nil {
			t.Error(err)
		}
	})
}
