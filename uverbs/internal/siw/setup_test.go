package siw

import (
	"errors"
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs/internal/provider"
	"github.com/purerdma/rdma/uverbs/internal/ringtest"
)

func TestDriver(t *testing.T) {
	d := New()
	if lo, hi := d.ABIVersions(); d.Name() != "siw" || lo != 1 || hi != 1 {
		t.Errorf("%s, ABI %d to %d", d.Name(), lo, hi)
	}
	if got, want := d.Payload(), (provider.Payload{ContextOut: 8, RegMRIn: 8, RegMROut: 8}); got != want {
		t.Errorf("payload %+v, want %+v", got, want)
	}
}

// TestUnsupported: what iWARP or siw lacks is refused before the kernel is asked.
func TestUnsupported(t *testing.T) {
	env := ringtest.NewEnv()
	c := newTestContext(t, env)
	q, _ := newTestCQ(t, env, 8)
	s, _ := newTestSRQ(t, env)
	for name, f := range map[string]func() error{
		"UD": func() error { _, err := c.SetupQP(provider.QPRequest{Type: uint32(abi.IB_UVERBS_QPT_UD)}); return err },
		"UC": func() error { _, err := c.SetupQP(provider.QPRequest{Type: uint32(abi.IB_UVERBS_QPT_UC)}); return err },
		"XRC SRQ": func() error {
			_, err := c.SetupSRQ(provider.SRQRequest{Type: uint32(abi.IB_UVERBS_SRQT_XRC)})
			return err
		},
		"AH":         func() error { _, err := c.SetupAH(provider.AHRequest{}); return err },
		"resize CQ":  func() error { _, err := q.SetupResize(16); return err },
		"resize SRQ": func() error { _, err := s.SetupModify(true, 16); return err },
	} {
		if err := f(); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
	m, err := s.SetupModify(false, 3)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Done(3, nil); err != nil || len(m.UHWIn) != 0 {
		t.Errorf("limit: %v, %d bytes", err, len(m.UHWIn))
	}
}

// TestBadAnswers: answers that make no sense fail, and leave nothing mapped.
func TestBadAnswers(t *testing.T) {
	mem := ringtest.Bytes(8 * sqLen)
	cq := func(out func(key uint64) []byte) func(*ringtest.Env, provider.Context, uint64) error {
		return func(env *ringtest.Env, c provider.Context, key uint64) error {
			s, _ := c.SetupCQ(provider.CQRequest{Entries: 8})
			_, err := s.Done(ringtest.Bell{Env: env}, 8, out(key))
			return err
		}
	}
	qp := func(out func(key uint64) []byte) func(*ringtest.Env, provider.Context, uint64) error {
		return func(env *ringtest.Env, c provider.Context, key uint64) error {
			s, _ := c.SetupQP(provider.QPRequest{Type: uint32(abi.IB_UVERBS_QPT_RC)})
			_, err := s.Done(env.QPBell(0), 1, testCap, out(key))
			return err
		}
	}
	srq := func(out func(key uint64) []byte) func(*ringtest.Env, provider.Context, uint64) error {
		return func(env *ringtest.Env, c provider.Context, key uint64) error {
			s, _ := c.SetupSRQ(provider.SRQRequest{Type: uint32(abi.IB_UVERBS_SRQT_BASIC)})
			_, err := s.Done(8, 1, out(key))
			return err
		}
	}
	const none = 1 << 40
	for name, f := range map[string]func(*ringtest.Env, provider.Context, uint64) error{
		"CQ, short":            cq(func(key uint64) []byte { return cqAnswer(1, 8, key)[:15] }),
		"CQ, no ring":          cq(func(uint64) []byte { return cqAnswer(1, 8, none) }),
		"CQ, wrong key":        cq(func(key uint64) []byte { return cqAnswer(1, 8, key+1) }),
		"CQ, huge key":         cq(func(uint64) []byte { return cqAnswer(1, 8, 1<<63) }),
		"CQ, huge":             cq(func(key uint64) []byte { return cqAnswer(1, 1<<31, key) }),
		"CQ, no power of two":  cq(func(key uint64) []byte { return cqAnswer(1, 9, key) }),
		"CQ, too few":          cq(func(key uint64) []byte { return cqAnswer(1, 4, key) }),
		"CQ, empty":            cq(func(key uint64) []byte { return cqAnswer(1, 0, key) }),
		"QP, short":            qp(func(key uint64) []byte { return qpAnswer(1, 8, 8, key, key)[:31] }),
		"QP, no send ring":     qp(func(key uint64) []byte { return qpAnswer(1, 0, 8, key, key) }),
		"QP, no receive ring":  qp(func(key uint64) []byte { return qpAnswer(1, 8, 8, key, none) }),
		"QP, odd receive ring": qp(func(key uint64) []byte { return qpAnswer(1, 8, 7, key, key) }),
		"SRQ, short":           srq(func(key uint64) []byte { return srqAnswer(8, key)[:8] }),
		"SRQ, no ring":         srq(func(uint64) []byte { return srqAnswer(8, none) }),
	} {
		env := ringtest.NewEnv()
		if err := f(env, newTestContext(t, env), env.Add(mem)); err == nil {
			t.Errorf("%s: accepted", name)
		}
		if len(env.Mapped) != 0 {
			t.Errorf("%s: left a ring mapped", name)
		}
	}
}

// TestNotInvalidKey: the key that the header calls invalid is that of a ring when a
// process has many.
func TestNotInvalidKey(t *testing.T) {
	env := ringtest.NewEnv()
	env.Offered[abi.SIW_INVAL_UOBJ_KEY] = ringtest.Bytes(8 * rqLen)
	s, err := newTestContext(t, env).SetupSRQ(provider.SRQRequest{Type: uint32(abi.IB_UVERBS_SRQT_BASIC)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Done(8, 4, srqAnswer(8, abi.SIW_INVAL_UOBJ_KEY)); err != nil {
		t.Error(err)
	}
}

func TestSecondRingFails(t *testing.T) {
	env := ringtest.NewEnv()
	env.FailAt = 2
	s, err := newTestContext(t, env).SetupQP(provider.QPRequest{Type: uint32(abi.IB_UVERBS_QPT_RC)})
	if err != nil {
		t.Fatal(err)
	}
	mem := ringtest.Bytes(8 * sqLen)
	out := qpAnswer(1, 8, 8, env.Add(mem), env.Add(mem))
	if _, err := s.Done(env.QPBell(0), 1, testCap, out); err == nil || len(env.Mapped) != 0 {
		t.Errorf("error %v, %d rings mapped", err, len(env.Mapped))
	}
}

// TestWithoutReceiveRing: with a shared receive queue the answer names no ring, and
// without receives there is none.
func TestWithoutReceiveRing(t *testing.T) {
	for _, tc := range []struct {
		name   string
		hasSRQ bool
		num    uint32
		want   error
	}{
		{"shared", true, 8, errNoReceiveRing},
		{"none", false, 0, provider.ErrQueueFull},
	} {
		env := ringtest.NewEnv()
		s, err := newTestContext(t, env).SetupQP(provider.QPRequest{Type: uint32(abi.IB_UVERBS_QPT_RC), HasSRQ: tc.hasSRQ})
		if err != nil {
			t.Fatal(err)
		}
		q, err := s.Done(env.QPBell(0), 1, testCap, qpAnswer(1, 8, tc.num, env.Add(ringtest.Bytes(8*sqLen)), 0))
		if err != nil {
			t.Fatalf("%s: %v", tc.name, err)
		}
		if err := ringtest.Recv(q, &provider.RecvWR{}); !errors.Is(err, tc.want) {
			t.Errorf("%s: receive: %v, want %v", tc.name, err, tc.want)
		}
		if err := errors.Join(q.Close(), q.Close()); err != nil || len(env.Mapped) != 0 {
			t.Errorf("%s: close: %v, %d rings mapped", tc.name, err, len(env.Mapped))
		}
	}
}

func TestClose(t *testing.T) {
	env := ringtest.NewEnv()
	q, _ := newTestCQ(t, env, 8)
	p, _ := newTestQP(t, env, 1)
	s, _ := newTestSRQ(t, env)
	if err := errors.Join(q.Close(), p.Close(), s.Close(), q.Close(), p.Close(), s.Close()); err != nil || len(env.Mapped) != 0 {
		t.Errorf("%v, %d rings mapped", err, len(env.Mapped))
	}
}
