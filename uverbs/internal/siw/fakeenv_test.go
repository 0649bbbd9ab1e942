package siw

import (
	"errors"
	"fmt"
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs/internal/provider"
)

// fakeEnv is the core's side of the seam, with Go memory in place of mappings. Keys
// are those handed out by add.
type fakeEnv struct {
	maps   map[int64][]byte
	mapped map[*byte]bool
	failAt int // number of the Map call that fails, from 1
	calls  int

	doorbells int
	doorErr   error
	onSend    func(handle uint32)
}

// fakeBell is the bell of the object with the given handle.
type fakeBell struct {
	env    *fakeEnv
	handle uint32
}

var _ provider.Env = (*fakeEnv)(nil)

func newFakeEnv() *fakeEnv {
	return &fakeEnv{maps: map[int64][]byte{}, mapped: map[*byte]bool{}}
}

// add offers mem for mapping and returns its key.
func (e *fakeEnv) add(mem []byte) uint64 {
	key := int64(len(e.maps)+1) << 12
	e.maps[key] = mem
	return uint64(key)
}

func (e *fakeEnv) Map(offset int64, length int) ([]byte, error) {
	e.calls++
	mem, ok := e.maps[offset]
	if e.calls == e.failAt || !ok || length > len(mem) {
		return nil, fmt.Errorf("fake: cannot map %d bytes at %#x", length, offset)
	}
	e.mapped[&mem[0]] = true
	return mem[:length], nil
}

func (e *fakeEnv) Unmap(mems ...[]byte) error {
	var errs []error
	for _, mem := range mems {
		if mem != nil {
			errs = append(errs, e.unmap(mem))
		}
	}
	return errors.Join(errs...)
}

func (e *fakeEnv) unmap(mem []byte) error {
	if !e.mapped[&mem[0]] {
		return fmt.Errorf("fake: unmap of memory that is not mapped")
	}
	delete(e.mapped, &mem[0])
	return nil
}

func (b fakeBell) Send() error {
	b.env.doorbells++
	if b.env.doorErr != nil {
		return b.env.doorErr
	}
	if b.env.onSend != nil {
		b.env.onSend(b.handle)
	}
	return nil
}

func (fakeBell) Arm(bool) error { panic("siw arms without a command") }

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

func newTestCQ(tb testing.TB, env *fakeEnv, slots int) (*cq, *kring) {
	tb.Helper()
	k := newKRing(slots, cqLen, ctrlLen)
	s, err := newTestContext(tb, env).SetupCQ(provider.CQRequest{Entries: slots})
	if err != nil {
		tb.Fatal(err)
	}
	q, err := s.Done(fakeBell{env: env}, slots, cqAnswer(1, uint32(slots), env.add(k.mem)))
	if err != nil {
		tb.Fatal(err)
	}
	return q.(*cq), k
}

var testCap = provider.QPCap{MaxSendWR: 8, MaxRecvWR: 8, MaxSendSGE: 4, MaxRecvSGE: 4, MaxInline: 64}

// rings are the kernel's sides of the rings of one queue pair.
type rings struct{ sq, rq *kring }

func newTestQP(tb testing.TB, env *fakeEnv, handle uint32) (*qp, rings) {
	tb.Helper()
	k := rings{sq: newKRing(8, sqLen, 0), rq: newKRing(8, rqLen, 0)}
	s, err := newTestContext(tb, env).SetupQP(provider.QPRequest{Type: uint32(abi.IB_UVERBS_QPT_RC), Cap: testCap})
	if err != nil {
		tb.Fatal(err)
	}
	out := qpAnswer(handle+16, 8, 8, env.add(k.sq.mem), env.add(k.rq.mem))
	q, err := s.Done(fakeBell{env, handle}, handle+16, testCap, out)
	if err != nil {
		tb.Fatal(err)
	}
	return q.(*qp), k
}

func newTestSRQ(tb testing.TB, env *fakeEnv) (*srq, *kring) {
	tb.Helper()
	k := newKRing(8, rqLen, 0)
	s, err := newTestContext(tb, env).SetupSRQ(provider.SRQRequest{Type: uint32(abi.IB_UVERBS_SRQT_BASIC)})
	if err != nil {
		tb.Fatal(err)
	}
	q, err := s.Done(8, 4, srqAnswer(8, env.add(k.mem)))
	if err != nil {
		tb.Fatal(err)
	}
	return q.(*srq), k
}
