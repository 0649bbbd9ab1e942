package rxe

import (
	"errors"
	"strings"
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs/internal/provider"
	"github.com/purerdma/rdma/uverbs/internal/ringtest"
)

func TestDriverIdentity(t *testing.T) {
	d := New()
	if lo, hi := d.ABIVersions(); d.Name() != "rxe" || lo != 2 || hi != 2 {
		t.Errorf("driver %q, versions %d to %d", d.Name(), lo, hi)
	}
}

func TestSetupCQRefuses(t *testing.T) {
	good := newRingMem(8, 64)
	for _, tc := range []struct {
		name    string
		entries int
		out     func(env *ringtest.Env) []byte
		err     string
	}{
		{"short answer", 7, func(*ringtest.Env) []byte { return make([]byte, 15) }, "answer has 15 bytes"},
		{"unwritten answer", 7, func(*ringtest.Env) []byte { return make([]byte, 16) }, "described no mapping"},
		{"negative offset", 7, func(*ringtest.Env) []byte { return mminfo(1<<63, 4096) }, "described no mapping"},
		{"unknown offset", 7, func(*ringtest.Env) []byte { return mminfo(4096, 4096) }, "cannot map"},
		{"small slots", 7, func(e *ringtest.Env) []byte { return offer(e, newRingMem(8, 32)) }, "have 32 bytes, need 48"},
		{"truncated ring", 7, func(e *ringtest.Env) []byte { return offer(e, good[:len(good)-8]) }, "does not fit"},
		{"fewer slots than entries", 8, func(e *ringtest.Env) []byte { return offer(e, good) }, "ring has 7 entries, kernel said 8"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			env := ringtest.NewEnv()
			s, err := newTestContext(t, env).SetupCQ(provider.CQRequest{Entries: tc.entries})
			if err != nil {
				t.Fatal(err)
			}
			if _, err = s.Done(ringtest.Bell{Env: env}, tc.entries, tc.out(env)); err == nil || !strings.Contains(err.Error(), tc.err) {
				t.Errorf("got error %v, want one with %q", err, tc.err)
			}
			if len(env.Mapped) != 0 {
				t.Error("a mapping is left")
			}
		})
	}
}

func TestSetupQPTypes(t *testing.T) {
	for typ, ok := range map[abi.IBUverbsQPType]bool{
		abi.IB_UVERBS_QPT_RC: true, abi.IB_UVERBS_QPT_UC: true, abi.IB_UVERBS_QPT_UD: true,
		abi.IB_UVERBS_QPT_RAW_PACKET: false, abi.IB_UVERBS_QPT_XRC_INI: false, abi.IB_UVERBS_QPT_DRIVER: false, 0: false,
	} {
		_, err := newTestContext(t, ringtest.NewEnv()).SetupQP(provider.QPRequest{Type: uint32(typ)})
		if ok != (err == nil) || !ok && !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("type %d: %v", typ, err)
		}
	}
}

// TestSetupQPUndoes fails each mapping in turn, and each ring in turn, and
// looks for mappings that are left.
func TestSetupQPUndoes(t *testing.T) {
	for _, tc := range []struct {
		name           string
		failAt         int
		sqSlot, rqSlot int
		out            int // bytes of the answer
		err            string
	}{
		{"no send ring", 1, 512, 128, 32, "send ring: map"},
		{"no receive ring", 2, 512, 128, 32, "receive ring: map"},
		{"small send slots", 0, 256, 128, 32, "send ring: queue slots have 256 bytes, need 272"},
		{"small receive slots", 0, 512, 64, 32, "receive ring: queue slots have 64 bytes, need 104"},
		{"short answer", 0, 512, 128, 31, "answer has 31 bytes"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			env := ringtest.NewEnv()
			s, err := newTestContext(t, env).SetupQP(provider.QPRequest{Type: uint32(abi.IB_UVERBS_QPT_RC), Cap: testCap})
			if err != nil {
				t.Fatal(err)
			}
			rq := offer(env, newRingMem(8, tc.rqSlot))
			out := append(rq, offer(env, newRingMem(8, tc.sqSlot))...)
			env.FailAt = tc.failAt
			if _, err = s.Done(env.QPBell(1), 17, testCap, out[:tc.out]); err == nil || !strings.Contains(err.Error(), tc.err) {
				t.Errorf("got error %v, want one with %q", err, tc.err)
			}
			if len(env.Mapped) != 0 {
				t.Errorf("%d mappings are left", len(env.Mapped))
			}
		})
	}
}

func TestCloseUnmapsOnce(t *testing.T) {
	env := ringtest.NewEnv()
	q, _ := newTestQP(t, env, abi.IB_UVERBS_QPT_RC, 1)
	c, _ := newTestCQ(t, env, 2, 8)
	if len(env.Mapped) != 3 {
		t.Fatalf("%d mappings, want one per ring", len(env.Mapped))
	}
	for range 2 {
		if err := errors.Join(q.Close(), c.Close()); err != nil {
			t.Fatal(err)
		}
	}
	if len(env.Mapped) != 0 {
		t.Errorf("%d mappings are left", len(env.Mapped))
	}
}

// TestQPWithSRQ: the kernel leaves rq_mi unwritten, and there is no ring to
// post to.
func TestQPWithSRQ(t *testing.T) {
	env := ringtest.NewEnv()
	s, err := newTestContext(t, env).SetupQP(provider.QPRequest{Type: uint32(abi.IB_UVERBS_QPT_RC), HasSRQ: true})
	if err != nil {
		t.Fatal(err)
	}
	q, err := s.Done(env.QPBell(1), 17, testCap, append(make([]byte, 16), offer(env, newRingMem(8, 512))...))
	if err != nil {
		t.Fatal(err)
	}
	if err := ringtest.Recv(q, &provider.RecvWR{}); !errors.Is(err, errNoReceiveRing) {
		t.Errorf("got %v", err)
	}
	if err := q.Close(); err != nil || len(env.Mapped) != 0 {
		t.Errorf("close: %v, %d mappings left", err, len(env.Mapped))
	}
}

// TestNoEntriesNoInline: rxe_requester refuses inline data on a queue that was
// created without entries.
func TestNoEntriesNoInline(t *testing.T) {
	env := ringtest.NewEnv()
	s, err := newTestContext(t, env).SetupQP(provider.QPRequest{Type: uint32(abi.IB_UVERBS_QPT_RC)})
	if err != nil {
		t.Fatal(err)
	}
	rq := offer(env, newRingMem(2, 64))
	q, err := s.Done(env.QPBell(1), 17, provider.QPCap{MaxSendWR: 1, MaxInline: 8}, append(rq, offer(env, newRingMem(2, 256))...))
	if err != nil {
		t.Fatal(err)
	}
	err = ringtest.Send(q, &provider.SendWR{Opcode: abi.IB_UVERBS_WR_SEND, Inline: []byte{1}})
	if !errors.Is(err, provider.ErrInlineSize) {
		t.Errorf("got %v", err)
	}
}

// TestSetupQPFlags: 5.10 would take flags and forget them.
func TestSetupQPFlags(t *testing.T) {
	req := provider.QPRequest{Type: uint32(abi.IB_UVERBS_QPT_UD), Flags: uint32(abi.IB_UVERBS_QP_CREATE_BLOCK_MULTICAST_LOOPBACK)}
	if _, err := newTestContext(t, ringtest.NewEnv()).SetupQP(req); !errors.Is(err, errors.ErrUnsupported) {
		t.Error(err)
	}
}
