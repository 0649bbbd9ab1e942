package rxe

import (
	"errors"
	"fmt"
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs/internal/provider"
)

// fakeEnv is the core's side of the seam, with Go memory in place of
// mappings. Offsets are those handed out by add.
type fakeEnv struct {
	maps   map[int64][]byte
	mapped map[*byte]int64
	failAt int // number of the Map call that fails, from 1
	calls  int

	doorbells int
	doorErr   error
	onSend    func(handle uint32)
	armed     []bool
}

// fakeBell is the bell of the object with the given handle.
type fakeBell struct {
	env    *fakeEnv
	handle uint32
}

var _ provider.Env = (*fakeEnv)(nil)

func newFakeEnv() *fakeEnv {
	return &fakeEnv{maps: map[int64][]byte{}, mapped: map[*byte]int64{}}
}

// add offers mem for mapping and returns the struct mminfo that describes it.
func (e *fakeEnv) add(mem []byte) []byte {
	off := int64(len(e.maps)+1) << 20
	e.maps[off] = mem
	return mminfo(uint64(off), uint32(len(mem)))
}

func mminfo(off uint64, size uint32) []byte {
	b := make([]byte, 16)
	host.PutUint64(b, off)
	host.PutUint32(b[8:], size)
	return b
}

func (e *fakeEnv) Map(offset int64, length int) ([]byte, error) {
	e.calls++
	mem, ok := e.maps[offset]
	if e.calls == e.failAt || !ok || length > len(mem) {
		return nil, fmt.Errorf("fake: cannot map %d bytes at %#x", length, offset)
	}
	delete(e.maps, offset) // one mapping each, as in rxe_mmap
	e.mapped[&mem[0]] = offset
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
	if _, ok := e.mapped[&mem[0]]; !ok {
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

func (b fakeBell) Arm(solicitedOnly bool) error {
	b.env.armed = append(b.env.armed, solicitedOnly)
	return nil
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

func newTestCQ(tb testing.TB, env *fakeEnv, handle uint32, slots int) (provider.CQ, *kring) {
	tb.Helper()
	k := newKRing(slots, 64)
	s, err := newTestContext(tb, env).SetupCQ(provider.CQRequest{Entries: slots - 1})
	if err != nil {
		tb.Fatal(err)
	}
	q, err := s.Done(fakeBell{env, handle}, slots-1, env.add(k.mem))
	if err != nil {
		tb.Fatal(err)
	}
	return q, k
}

var testCap = provider.QPCap{MaxSendWR: 7, MaxRecvWR: 7, MaxSendSGE: 4, MaxRecvSGE: 4, MaxInline: 64}

func newTestQP(tb testing.TB, env *fakeEnv, t abi.IBUverbsQPType, handle uint32) (*qp, rings) {
	tb.Helper()
	k := rings{sq: newKRing(8, 512), rq: newKRing(8, 128)}
	s, err := newTestContext(tb, env).SetupQP(provider.QPRequest{Type: uint32(t), Cap: testCap})
	if err != nil {
		tb.Fatal(err)
	}
	rq := env.add(k.rq.mem)
	q, err := s.Done(fakeBell{env, handle}, handle+16, testCap, append(rq, env.add(k.sq.mem)...))
	if err != nil {
		tb.Fatal(err)
	}
	return q.(*qp), k
}
