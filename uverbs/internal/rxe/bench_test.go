package rxe

import (
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs/internal/provider"
	"github.com/purerdma/rdma/uverbs/internal/ringtest"
)

// drain gives the slots of a ring back without looking at them.
func drain(k *kring) {
	k.index = k.word(hdrProd).Load()
	k.word(hdrCons).Store(k.index)
}

func measured(tb testing.TB) ringtest.Queues {
	q, k := newTestQP(tb, ringtest.NewEnv(), abi.IB_UVERBS_QPT_RC, 1)
	c, kc := newTestCQ(tb, ringtest.NewEnv(), 1, 8)
	entry := cqe(field{wcID, uint64(1)})
	return ringtest.Queues{
		QP: q, CQ: c,
		DrainSends: func() { drain(k.sq) },
		DrainRecvs: func() { drain(k.rq) },
		Push:       func() { kc.push(entry) },
		Sends: map[string]provider.SendWR{
			"send":      {Opcode: abi.IB_UVERBS_WR_SEND, SGEs: oneSGE},
			"inline64":  {Opcode: abi.IB_UVERBS_WR_SEND, Inline: make([]byte, 64)},
			"write4sge": {Opcode: abi.IB_UVERBS_WR_RDMA_WRITE, SGEs: fourSGEs},
			"atomic":    {Opcode: abi.IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD, SGEs: atomicSGE},
		},
	}
}

func TestDataPathDoesNotAllocate(t *testing.T) { ringtest.NoAllocations(t, measured(t)) }

func TestPollCannotPanic(t *testing.T) { ringtest.CannotPanic(t, "(*cq).Poll") }

func TestPostCannotPanic(t *testing.T) {
	ringtest.CannotPanic(t, ringtest.Interface,
		"(*sendQueue).PostSend", "(*sendQueue).stop", "(*sendQueue).ringAgain",
		"(*sendQueue).postInline", "(*sendQueue).postOther", "(*limits).check", "(*limits).checkInline",
		"(*limits).checkAtomicWrite", "(*limits).lengthError", "checkNoData", "encodeMore", "encodeAtomic", "encodeBind",
		"encodePeer", "encodeInline", "(*recvQueue).PostRecv", "(*recvQueue).stop", "(*recvQueue).refuse")
}

func BenchmarkDataPath(b *testing.B) { ringtest.Benchmark(b, measured(b)) }
