package siw

import (
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs/internal/provider"
)

// drain gives the elements of a ring back without looking at them.
func drain(k *kring) {
	for k.head0() {
		k.release()
	}
}

// head0 is head without the copy.
func (k *kring) head0() bool { return flagsOf(k.word(k.index).Load())&valid != 0 }

func benchSends() map[string]provider.SendWR {
	return map[string]provider.SendWR{
		"send":   {Opcode: abi.IB_UVERBS_WR_SEND, SGEs: sges(1, 64)},
		"inline": {Opcode: abi.IB_UVERBS_WR_SEND, Inline: make([]byte, 64)},
		"write":  {Opcode: abi.IB_UVERBS_WR_RDMA_WRITE, SGEs: sges(4, 64)},
		"read":   {Opcode: abi.IB_UVERBS_WR_RDMA_READ, SGEs: sges(1, 64)},
	}
}

func TestNoAllocations(t *testing.T) {
	q, k := newTestQP(t, newFakeEnv(), 1)
	c, kc := newTestCQ(t, newFakeEnv(), 8)
	check := func(name string, f func() error) {
		t.Helper()
		var err error
		if n := testing.AllocsPerRun(100, func() { err = f() }); n != 0 || err != nil {
			t.Errorf("%s: %v allocations, error %v", name, n, err)
		}
	}
	for name, wr := range benchSends() {
		check(name, func() error {
			drain(k.sq)
			if err := q.PostSend(&wr); err != nil {
				return err
			}
			return q.FlushSend()
		})
	}
	refused := provider.SendWR{Opcode: abi.IB_UVERBS_WR_TSO}
	check("refused send", func() error {
		if q.PostSend(&refused) == nil {
			t.Error("send accepted")
		}
		return nil
	})
	recv := provider.RecvWR{SGEs: sges(1, 64)}
	check("receive", func() error {
		drain(k.rq)
		if err := q.PostRecv(&recv); err != nil {
			return err
		}
		return q.FlushRecv()
	})
	var wc provider.WC
	check("poll and arm", func() error {
		kc.push(completion{id: 1})
		if !pollOne(c, &wc) {
			t.Error("no completion")
		}
		return c.Arm(false)
	})
}

func BenchmarkPostSendFlush(b *testing.B) {
	for name, wr := range benchSends() {
		b.Run(name, func(b *testing.B) {
			q, k := newTestQP(b, newFakeEnv(), 1)
			b.ReportAllocs()
			for b.Loop() {
				drain(k.sq)
				if q.PostSend(&wr) != nil || q.FlushSend() != nil {
					b.Fatal("post failed")
				}
			}
		})
	}
}

func BenchmarkPostRecv(b *testing.B) {
	q, k := newTestQP(b, newFakeEnv(), 1)
	wr := provider.RecvWR{SGEs: sges(1, 64)}
	b.ReportAllocs()
	for b.Loop() {
		drain(k.rq)
		if q.PostRecv(&wr) != nil || q.FlushRecv() != nil {
			b.Fatal("post failed")
		}
	}
}

func BenchmarkPoll(b *testing.B) {
	q, k := newTestCQ(b, newFakeEnv(), 8)
	var wc provider.WC
	b.ReportAllocs()
	for b.Loop() {
		k.push(completion{id: 1})
		if !pollOne(q, &wc) {
			b.Fatal("no completion")
		}
	}
}

func BenchmarkPollEmpty(b *testing.B) {
	q, _ := newTestCQ(b, newFakeEnv(), 8)
	var wc provider.WC
	b.ReportAllocs()
	for b.Loop() {
		if pollOne(q, &wc) {
			b.Fatal("completion from nowhere")
		}
	}
}
