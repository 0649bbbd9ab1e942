package rxe

import (
	"errors"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs/internal/provider"
	"github.com/purerdma/rdma/uverbs/internal/ringtest"
)

func newTestSRQ(tb testing.TB, env *ringtest.Env, slots int) (provider.SRQ, *kring) {
	tb.Helper()
	k := newKRing(slots, 64)
	s, err := newTestContext(tb, env).SetupSRQ(provider.SRQRequest{})
	if err != nil {
		tb.Fatal(err)
	}
	q, err := s.Done(uint32(slots-1), 1, append(offer(env, k.mem), make([]byte, 8)...))
	if err != nil {
		tb.Fatal(err)
	}
	return q, k
}

func mustPost(tb testing.TB, q provider.SRQ, ids ...uint64) {
	tb.Helper()
	for _, id := range ids {
		ringtest.MustRecv(tb, q, provider.RecvWR{ID: id, SGEs: sges(1, 8)})
	}
}

func (k *kring) takeID(tb testing.TB, want uint64) {
	tb.Helper()
	w := k.head()
	if w == nil || host.Uint64(w) != want {
		tb.Fatalf("request %x, want id %d", w, want)
	}
	k.release()
}

// resized plays the kernel: it puts a description where the command says.
func resized(setup *provider.ModifySetup, info []byte) {
	addr := host.Uint64(setup.UHWIn)
	copy(unsafe.Slice(*(**byte)(unsafe.Pointer(&addr)), 16), info)
}

func TestSRQTypes(t *testing.T) {
	for typ, ok := range map[abi.IBUverbsSRQType]bool{
		abi.IB_UVERBS_SRQT_BASIC: true, abi.IB_UVERBS_SRQT_XRC: false, abi.IB_UVERBS_SRQT_TM: false, 9: false,
	} {
		_, err := newTestContext(t, ringtest.NewEnv()).SetupSRQ(provider.SRQRequest{Type: uint32(typ)})
		if ok != (err == nil) || !ok && !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("type %d: %v", typ, err)
		}
	}
}

func TestSetupSRQRefuses(t *testing.T) {
	for _, tc := range []struct {
		name string
		out  func(*ringtest.Env) []byte
		err  string
	}{
		{"short answer", func(*ringtest.Env) []byte { return make([]byte, 23) }, "answer has 23 bytes"},
		{"unwritten answer", func(*ringtest.Env) []byte { return make([]byte, 24) }, "rxe: shared receive ring: kernel described no mapping"},
		{"small slots", func(e *ringtest.Env) []byte { return append(offer(e, newRingMem(8, 32)), make([]byte, 8)...) }, "have 32 bytes, need 56"},
	} {
		env := ringtest.NewEnv()
		s, err := newTestContext(t, env).SetupSRQ(provider.SRQRequest{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = s.Done(7, 1, tc.out(env)); err == nil || !strings.Contains(err.Error(), tc.err) || len(env.Mapped) != 0 {
			t.Errorf("%s: %v, %d mappings left", tc.name, err, len(env.Mapped))
		}
	}
}

// TestSRQResize moves to another ring, which the kernel has filled with what
// was in the old one.
func TestSRQResize(t *testing.T) {
	env := ringtest.NewEnv()
	q, k := newTestSRQ(t, env, 8)
	mustPost(t, q, 1, 2, 3)
	k.takeID(t, 1)
	if _, err := q.SetupModify(true, 1); !errors.Is(err, syscall.EINVAL) {
		t.Fatalf("two requests into one place: %v", err)
	}
	setup, err := q.SetupModify(true, 31)
	if err != nil {
		t.Fatal(err)
	}
	larger := newKRing(32, 64)
	copy(larger.slot(0), k.slot(1))
	copy(larger.slot(1), k.slot(2))
	larger.word(hdrProd).Store(2)
	resized(setup, offer(env, larger.mem))
	if fits, err := setup.Done(31, nil); fits != 31 || err != nil {
		t.Fatalf("%d places, %v", fits, err)
	}
	if len(env.Mapped) != 1 {
		t.Errorf("%d mappings", len(env.Mapped))
	}
	mustPost(t, q, 4)
	for id := uint64(2); id <= 4; id++ {
		larger.takeID(t, id)
	}
	if err := q.Close(); err != nil || len(env.Mapped) != 0 {
		t.Errorf("close: %v, %d mappings left", err, len(env.Mapped))
	}
}

func TestSRQResizeFails(t *testing.T) {
	env := ringtest.NewEnv()
	q, _ := newTestSRQ(t, env, 8)
	limit, err := q.SetupModify(false, 3)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := limit.Done(3, nil); err != nil {
		t.Error(err)
	}
	aborted, err := q.SetupModify(true, 3)
	if err != nil {
		t.Fatal(err)
	}
	aborted.Abort()
	mustPost(t, q, 1)
	setup, err := q.SetupModify(true, 3)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := setup.Done(3, nil); err == nil || !strings.Contains(err.Error(), "no mapping") {
		t.Errorf("kernel says nothing: %v", err)
	}
	if err := q.Close(); err != nil || len(env.Mapped) != 0 {
		t.Errorf("close: %v, %d mappings left", err, len(env.Mapped))
	}
}
