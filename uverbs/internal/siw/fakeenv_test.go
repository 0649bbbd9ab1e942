package siw

import (
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs/internal/provider"
	"github.com/purerdma/rdma/uverbs/internal/ringtest"
)

func newTestContext(tb testing.TB, env provider.Env) provider.Context {
	tb.Helper()
	c, err := New().NewContext(env)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

func cqAnswer(id, slots uint32, key uint64) []byte {
	b := make([]byte, 16)
	host.PutUint32(b, id)
	host.PutUint32(b[4:], slots)
	host.PutUint64(b[8:], key)
	return b
}

func qpAnswer(id, sq, rq uint32, sqKey, rqKey uint64) []byte {
	b := make([]byte, 32)
	host.PutUint32(b, id)
	host.PutUint32(b[4:], sq)
	host.PutUint32(b[8:], rq)
	host.PutUint64(b[16:], sqKey)
	host.PutUint64(b[24:], rqKey)
	return b
}

func srqAnswer(slots uint32, key uint64) []byte {
	b := make([]byte, 16)
	host.PutUint32(b, slots)
	host.PutUint64(b[8:], key)
	return b
}

func newTestCQ(tb testing.TB, env *ringtest.Env, slots int) (*cq, *kring) {
	tb.Helper()
	k := newKRing(slots, cqLen, ctrlLen)
	s, err := newTestContext(tb, env).SetupCQ(provider.CQRequest{Entries: slots})
	if err != nil {
		tb.Fatal(err)
	}
	q, err := s.Done(ringtest.Bell{Env: env}, slots, cqAnswer(1, uint32(slots), env.Add(k.mem)))
	if err != nil {
		tb.Fatal(err)
	}
	return q.(*cq), k
}

var testCap = provider.QPCap{MaxSendWR: 8, MaxRecvWR: 8, MaxSendSGE: 4, MaxRecvSGE: 4, MaxInline: 64}

// rings are the kernel's sides of the rings of one queue pair.
type rings struct{ sq, rq *kring }

func newTestQP(tb testing.TB, env *ringtest.Env, handle uint32) (*qp, rings) {
	tb.Helper()
	return newSignalledQP(tb, env, handle, false)
}

// newSignalledQP makes a queue pair all of whose sends complete, if so.
func newSignalledQP(tb testing.TB, env *ringtest.Env, handle uint32, all bool) (*qp, rings) {
	tb.Helper()
	k := rings{sq: newKRing(8, sqLen, 0), rq: newKRing(8, rqLen, 0)}
	s, err := newTestContext(tb, env).SetupQP(provider.QPRequest{Type: uint32(abi.IB_UVERBS_QPT_RC), Cap: testCap, SignalAll: all})
	if err != nil {
		tb.Fatal(err)
	}
	out := qpAnswer(handle+16, 8, 8, env.Add(k.sq.mem), env.Add(k.rq.mem))
	q, err := s.Done(env.QPBell(handle), handle+16, testCap, out)
	if err != nil {
		tb.Fatal(err)
	}
	return q.(*qp), k
}

func newTestSRQ(tb testing.TB, env *ringtest.Env) (*srq, *kring) {
	tb.Helper()
	k := newKRing(8, rqLen, 0)
	s, err := newTestContext(tb, env).SetupSRQ(provider.SRQRequest{Type: uint32(abi.IB_UVERBS_SRQT_BASIC)})
	if err != nil {
		tb.Fatal(err)
	}
	q, err := s.Done(8, 4, srqAnswer(8, env.Add(k.mem)))
	if err != nil {
		tb.Fatal(err)
	}
	return q.(*srq), k
}
