package rxe

import (
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs/internal/provider"
)

// drain gives the slots of a ring back without looking at them.
func drain(k *kring) {
	k.index = k.word(hdrProd).Load()
	k.word(hdrCons).Store(k.index)
}

func benchSends() map[string]provider.SendWR {
	return map[string]provider.SendWR{
		"send":      {Opcode: abi.IB_UVERBS_WR_SEND, SGEs: oneSGE},
		"inline64":  {Opcode: abi.IB_UVERBS_WR_SEND, Inline: make([]byte, 64)},
		"write4sge": {Opcode: abi.IB_UVERBS_WR_RDMA_WRITE, SGEs: fourSGEs},
		"atomic":    {Opcode: abi.IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD, SGEs: atomicSGE},
	}
}

func TestDataPathDoesNotAllocate(t *testing.T) {
	q, k := newTestQP(t, newFakeEnv(), abi.IB_UVERBS_QPT_RC, 1)
	c, kc := newTestCQ(t, newFakeEnv(), 1, 8)
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
	recv := provider.RecvWR{SGEs: oneSGE}
	check("receive", func() error {
		drain(k.rq)
		if err := q.PostRecv(&recv); err != nil {
			return err
		}
		return q.FlushRecv()
	})
	entry := cqe(field{wcID, uint64(1)})
	var wc provider.WC
	check("poll", func() error {
		kc.push(entry)
		if !pollOne(c, &wc) {
			t.Error("no completion")
		}
		return nil
	})
}

func BenchmarkPostSendFlush(b *testing.B) {
	for name, wr := range benchSends() {
		b.Run(name, func(b *testing.B) {
			q, k := newTestQP(b, newFakeEnv(), abi.IB_UVERBS_QPT_RC, 1)
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

// BenchmarkPostSendBatch is the cost of one request in a batch of seven.
func BenchmarkPostSendBatch(b *testing.B) {
	q, k := newTestQP(b, newFakeEnv(), abi.IB_UVERBS_QPT_RC, 1)
	wr := provider.SendWR{Opcode: abi.IB_UVERBS_WR_SEND, SGEs: oneSGE}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if q.PostSend(&wr) != nil {
			b.Fatal("post failed")
		}
		if i%7 == 6 {
			if q.FlushSend() != nil {
				b.Fatal("flush failed")
			}
			drain(k.sq)
		}
	}
}

func BenchmarkPostRecv(b *testing.B) {
	q, k := newTestQP(b, newFakeEnv(), abi.IB_UVERBS_QPT_RC, 1)
	wr := provider.RecvWR{SGEs: oneSGE}
	b.ReportAllocs()
	for b.Loop() {
		drain(k.rq)
		if q.PostRecv(&wr) != nil || q.FlushRecv() != nil {
			b.Fatal("post failed")
		}
	}
}

func BenchmarkPoll(b *testing.B) {
	q, k := newTestCQ(b, newFakeEnv(), 1, 8)
	var wc provider.WC
	b.ReportAllocs()
	for n := uint32(0); b.Loop(); {
		n = (n + 1) % 8
		k.word(hdrProd).Store(n)
		if !pollOne(q, &wc) {
			b.Fatal("no completion")
		}
	}
}

func BenchmarkPollEmpty(b *testing.B) {
	q, _ := newTestCQ(b, newFakeEnv(), 1, 8)
	var wc provider.WC
	b.ReportAllocs()
	for b.Loop() {
		if pollOne(q, &wc) {
			b.Fatal("completion from nowhere")
		}
	}
}
