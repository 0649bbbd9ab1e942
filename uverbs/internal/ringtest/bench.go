package ringtest

import (
	"maps"
	"slices"
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs/internal/provider"
)

// Queues are a queue pair and a completion queue with the kernel's side of their
// rings, on which posting and polling is measured.
type Queues struct {
	QP         provider.QP
	CQ         provider.CQ
	DrainSends func() // gives all places of the send ring back
	DrainRecvs func()
	Push       func() // adds a completion
	Sends      map[string]provider.SendWR
}

var (
	oneSGE  = []provider.SGE{{Addr: 0x1000, Length: 64, LKey: 1}}
	refused = provider.SendWR{Opcode: abi.IB_UVERBS_WR_TSO}
)

// NoAllocations checks that the data path allocates nothing, whatever comes of it.
func NoAllocations(t *testing.T, q Queues) {
	t.Helper()
	recv := provider.RecvWR{SGEs: oneSGE}
	var wc provider.WC
	steps := map[string]func() error{
		"refused send": func() error {
			if Send(q.QP, &refused) == nil {
				t.Error("send accepted")
			}
			return nil
		},
		"receive": func() error {
			q.DrainRecvs()
			return Recv(q.QP, &recv)
		},
		"poll": func() error {
			q.Push()
			if !Poll(q.CQ, &wc) {
				t.Error("no completion")
			}
			return nil
		},
	}
	for name, wr := range q.Sends {
		steps[name] = func() error {
			q.DrainSends()
			return Send(q.QP, &wr)
		}
	}
	for name, step := range steps {
		var err error
		if n := testing.AllocsPerRun(100, func() { err = step() }); n != 0 || err != nil {
			t.Errorf("%s: %v allocations, error %v", name, n, err)
		}
	}
}

// Benchmark measures one step of the data path by turns, in sub-benchmarks.
func Benchmark(b *testing.B, q Queues) {
	for _, name := range slices.Sorted(maps.Keys(q.Sends)) {
		wr := q.Sends[name]
		b.Run("send/"+name, func(b *testing.B) { benchSends(b, q, []provider.SendWR{wr}) })
	}
	batch := slices.Repeat([]provider.SendWR{{Opcode: abi.IB_UVERBS_WR_SEND, SGEs: oneSGE}}, 7)
	b.Run("send/7 at once", func(b *testing.B) { benchSends(b, q, batch) })
	b.Run("receive", func(b *testing.B) {
		wr := provider.RecvWR{SGEs: oneSGE}
		b.ReportAllocs()
		for b.Loop() {
			q.DrainRecvs()
			if err := Recv(q.QP, &wr); err != nil {
				b.Fatal(err)
			}
		}
	})
	benchPolls(b, q)
}

func benchSends(b *testing.B, q Queues, wrs []provider.SendWR) {
	b.ReportAllocs()
	for b.Loop() {
		q.DrainSends()
		if _, err := q.QP.PostSend(provider.ListOf(wrs)); err != nil {
			b.Fatal(err)
		}
	}
}

func benchPolls(b *testing.B, q Queues) {
	var wc provider.WC
	b.Run("poll", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			q.Push()
			if !Poll(q.CQ, &wc) {
				b.Fatal("no completion")
			}
		}
	})
	b.Run("poll nothing", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if Poll(q.CQ, &wc) {
				b.Fatal("completion from nowhere")
			}
		}
	})
}
