package rxe

import (
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs/internal/provider"
	"github.com/purerdma/rdma/uverbs/internal/ringtest"
)

// offer offers mem for one mapping, as rxe_mmap does, and returns the struct mminfo
// that describes it.
func offer(e *ringtest.Env, mem []byte) []byte {
	e.Once = true
	return mminfo(e.Add(mem), uint32(len(mem)))
}

func mminfo(off uint64, size uint32) []byte {
	b := make([]byte, 16)
	host.PutUint64(b, off)
	host.PutUint32(b[8:], size)
	return b
}

// rings are the kernel's sides of the rings of one queue pair.
type rings struct{ sq, rq *kring }

func newTestContext(tb testing.TB, env provider.Env) provider.Context {
	tb.Helper()
	c, err := New().NewContext(env)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

func newTestCQ(tb testing.TB, env *ringtest.Env, handle uint32, slots int) (provider.CQ, *kring) {
	tb.Helper()
	k := newKRing(slots, 64)
	s, err := newTestContext(tb, env).SetupCQ(provider.CQRequest{Entries: slots - 1})
	if err != nil {
		tb.Fatal(err)
	}
	q, err := s.Done(ringtest.Bell{Env: env}, slots-1, offer(env, k.mem))
	if err != nil {
		tb.Fatal(err)
	}
	return q, k
}

var testCap = provider.QPCap{MaxSendWR: 7, MaxRecvWR: 7, MaxSendSGE: 4, MaxRecvSGE: 4, MaxInline: 64}

func newTestQP(tb testing.TB, env *ringtest.Env, t abi.IBUverbsQPType, handle uint32) (*qp, rings) {
	tb.Helper()
	k := rings{sq: newKRing(8, 512), rq: newKRing(8, 128)}
	s, err := newTestContext(tb, env).SetupQP(provider.QPRequest{Type: uint32(t), Cap: testCap})
	if err != nil {
		tb.Fatal(err)
	}
	rq := offer(env, k.rq.mem)
	q, err := s.Done(env.QPBell(handle), handle+16, testCap, append(rq, offer(env, k.sq.mem)...))
	if err != nil {
		tb.Fatal(err)
	}
	return q.(*qp), k
}
