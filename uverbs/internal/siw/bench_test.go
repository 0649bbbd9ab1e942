package siw

import (
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs/internal/provider"
	"github.com/purerdma/rdma/uverbs/internal/ringtest"
)

// drain gives the elements of a ring back without looking at them.
func drain(k *kring) {
	for flagsOf(k.word(k.index).Load())&valid != 0 {
		k.release()
	}
}

func measured(tb testing.TB) ringtest.Queues {
	q, k := newTestQP(tb, ringtest.NewEnv(), 1)
	c, kc := newTestCQ(tb, ringtest.NewEnv(), 8)
	return ringtest.Queues{
		QP: q, CQ: c,
		DrainSends: func() { drain(k.sq) },
		DrainRecvs: func() { drain(k.rq) },
		Push:       func() { kc.push(completion{id: 1}) },
		Sends: map[string]provider.SendWR{
			"send":   {Opcode: abi.IB_UVERBS_WR_SEND, SGEs: sges(1, 64)},
			"inline": {Opcode: abi.IB_UVERBS_WR_SEND, Inline: make([]byte, 64)},
			"write":  {Opcode: abi.IB_UVERBS_WR_RDMA_WRITE, SGEs: sges(4, 64)},
			"read":   {Opcode: abi.IB_UVERBS_WR_RDMA_READ, SGEs: sges(1, 64)},
		},
	}
}

func TestDataPathDoesNotAllocate(t *testing.T) { ringtest.NoAllocations(t, measured(t)) }

func TestArmDoesNotAllocate(t *testing.T) {
	c, _ := newTestCQ(t, ringtest.NewEnv(), 8)
	if n := testing.AllocsPerRun(100, func() { _ = c.Arm(false) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestPollCannotPanic(t *testing.T) { ringtest.CannotPanic(t, "(*cq).Poll", "decodeWC") }

func TestPostCannotPanic(t *testing.T) {
	ringtest.CannotPanic(t, ringtest.Interface,
		"(*qp).PostSend", "(*sendQueue).postAll", "(*sendQueue).post", "(*sendQueue).flush", "(*limits).check",
		"(*limits).checkInline", "checkSGEs", "encodeSend", "opcodeError", "(*producer).publish",
		"(*qp).PostRecv", "(*srq).PostRecv", "(*recvQueue).postAll", "(*recvQueue).post")
}

func BenchmarkDataPath(b *testing.B) { ringtest.Benchmark(b, measured(b)) }
