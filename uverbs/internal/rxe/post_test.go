package rxe

import (
	"errors"
	"syscall"
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs/internal/provider"
	"github.com/purerdma/rdma/uverbs/internal/ringtest"
)

func sges(n int, length uint32) []provider.SGE {
	s := make([]provider.SGE, n)
	for i := range s {
		s[i].Length = length
	}
	return s
}

func TestPostSendRefuses(t *testing.T) {
	const (
		rc, uc, ud = abi.IB_UVERBS_QPT_RC, abi.IB_UVERBS_QPT_UC, abi.IB_UVERBS_QPT_UD
		send       = abi.IB_UVERBS_WR_SEND
		read       = abi.IB_UVERBS_WR_RDMA_READ
		faa        = abi.IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD
		inv        = abi.IB_UVERBS_WR_LOCAL_INV
		aw         = abi.IB_UVERBS_WR_ATOMIC_WRITE
		bind       = abi.IB_UVERBS_WR_BIND_MW
		flush      = abi.IB_UVERBS_WR_FLUSH
		regMR      = abi.IBUverbsWROpcode(0x20) // IB_WR_REG_MR: 5.10 follows a pointer in the request
	)
	for _, tc := range []struct {
		name string
		typ  abi.IBUverbsQPType
		wr   provider.SendWR
		want error
	}{
		{"5 entries of 4", rc, provider.SendWR{Opcode: send, SGEs: sges(5, 1)}, provider.ErrTooManySGEs},
		{"65 inline bytes of 64", rc, provider.SendWR{Opcode: send, Inline: make([]byte, 65)}, provider.ErrInlineSize},
		{"2 GiB", rc, provider.SendWR{Opcode: send, SGEs: sges(2, 1<<30)}, errMessageSize},
		{"sum wraps to 0", rc, provider.SendWR{Opcode: send, SGEs: sges(4, 1<<30)}, errMessageSize},
		{"sum wraps to 3", rc, provider.SendWR{Opcode: send, SGEs: []provider.SGE{{Length: 0xffffffff}, {Length: 4}}}, errMessageSize},
		{"inline and entries", rc, provider.SendWR{Opcode: send, Inline: []byte{1}, SGEs: sges(1, 1)}, errInlineAndSGE},
		{"inline flag with entries", rc, provider.SendWR{Opcode: send, Flags: provider.SendInline, SGEs: sges(1, 1)}, errInlineAndSGE},
		{"inline read", rc, provider.SendWR{Opcode: read, Inline: []byte{1}}, errInlineOpcode},
		{"inline atomic", rc, provider.SendWR{Opcode: faa, Inline: make([]byte, 8)}, errInlineOpcode},
		{"atomic of 4 bytes", rc, provider.SendWR{Opcode: faa, SGEs: sges(1, 4)}, errAtomicSize},
		{"atomic of 16 bytes", rc, provider.SendWR{Opcode: faa, SGEs: sges(2, 8)}, errAtomicSize},
		{"atomic, odd address", rc, provider.SendWR{Opcode: faa, SGEs: sges(1, 8), RemoteAddr: 4}, errAtomicAlign},
		{"local invalidate with data", rc, provider.SendWR{Opcode: inv, SGEs: sges(1, 0)}, errNoDataOp},
		{"local invalidate inline", rc, provider.SendWR{Opcode: inv, Flags: provider.SendInline}, errNoDataOp},
		{"atomic write of 7 bytes", rc, provider.SendWR{Opcode: aw, Inline: make([]byte, 7)}, errAtomicWrite},
		{"atomic write from an entry", rc, provider.SendWR{Opcode: aw, SGEs: sges(1, 8)}, errAtomicWrite},
		{"atomic write, odd address", rc, provider.SendWR{Opcode: aw, Inline: make([]byte, 8), RemoteAddr: 1}, errAtomicAlign},
		{"bind no memory window", rc, provider.SendWR{Opcode: bind}, provider.ErrNoBind},
		{"bind with data", rc, provider.SendWR{Opcode: bind, SGEs: sges(1, 0), Bind: new(provider.Bind)}, errNoDataOp},
		{"segmentation offload", rc, provider.SendWR{Opcode: abi.IB_UVERBS_WR_TSO}, provider.ErrOpcode},
		{"read with invalidate", rc, provider.SendWR{Opcode: abi.IB_UVERBS_WR_RDMA_READ_WITH_INV}, provider.ErrOpcode},
		{"masked atomic", rc, provider.SendWR{Opcode: abi.IB_UVERBS_WR_MASKED_ATOMIC_CMP_AND_SWP}, provider.ErrOpcode},
		{"flush with data", rc, provider.SendWR{Opcode: flush, Inline: []byte{1}}, errNoDataOp},
		{"flush of 2 GiB", rc, provider.SendWR{Opcode: flush, FlushLength: 1 << 31}, errMessageSize},
		{"register memory", rc, provider.SendWR{Opcode: regMR}, provider.ErrOpcode},
		{"largest opcode", rc, provider.SendWR{Opcode: 0xffffffff}, provider.ErrOpcode},
		{"read on UC", uc, provider.SendWR{Opcode: read, SGEs: sges(1, 1)}, provider.ErrOpcode},
		{"atomic on UC", uc, provider.SendWR{Opcode: faa, SGEs: sges(1, 8)}, provider.ErrOpcode},
		{"send with invalidate on UC", uc, provider.SendWR{Opcode: abi.IB_UVERBS_WR_SEND_WITH_INV}, provider.ErrOpcode},
		{"flush on UC", uc, provider.SendWR{Opcode: flush}, provider.ErrOpcode},
		{"bind on UD", ud, provider.SendWR{Opcode: bind, AH: &provider.AH{Driver: &ah{}}}, provider.ErrOpcode},
		{"local invalidate on UC", uc, provider.SendWR{Opcode: inv}, provider.ErrOpcode},
		{"send on UD, no address handle", ud, provider.SendWR{Opcode: send}, provider.ErrNoAH},
		{"datagram of 4097 bytes", ud, provider.SendWR{Opcode: send, SGEs: sges(1, 4097), AH: &provider.AH{Driver: &ah{}}}, errDatagramSize},
		{"write on UD", ud, provider.SendWR{Opcode: abi.IB_UVERBS_WR_RDMA_WRITE, AH: &provider.AH{Driver: &ah{}}}, provider.ErrOpcode},
	} {
		t.Run(tc.name, func(t *testing.T) {
			env := ringtest.NewEnv()
			q, k := newTestQP(t, env, tc.typ, 1)
			if err := ringtest.Send(q, &tc.wr); !errors.Is(err, tc.want) {
				t.Errorf("got %v, want %v", err, tc.want)
			}
			if _, err := q.PostSend(provider.List[provider.SendWR]{}); err != nil {
				t.Fatal(err)
			}
			if k.sq.head() != nil || env.Doorbells != 0 {
				t.Error("something of the refused request was posted")
			}
		})
	}
}

func TestLimitsAreInclusive(t *testing.T) {
	q, _ := newTestQP(t, ringtest.NewEnv(), abi.IB_UVERBS_QPT_RC, 1)
	for _, wr := range []provider.SendWR{
		{Opcode: abi.IB_UVERBS_WR_SEND, SGEs: sges(4, 1)},
		{Opcode: abi.IB_UVERBS_WR_SEND, Inline: make([]byte, 64)},
		{Opcode: abi.IB_UVERBS_WR_RDMA_WRITE, SGEs: []provider.SGE{{Length: 1<<31 - 1}}},
	} {
		if err := ringtest.Send(q, &wr); err != nil {
			t.Errorf("%+v: %v", wr, err)
		}
	}
}

// TestBatchIsOneDoorbell: when the kernel is asked, once, all that fits is visible.
// (That nothing is before it is written is what TestPostBesideConsumer looks for.)
func TestBatchIsOneDoorbell(t *testing.T) {
	env := ringtest.NewEnv()
	q, k := newTestQP(t, env, abi.IB_UVERBS_QPT_RC, 1)
	visible := uint32(0)
	env.OnSend = func(uint32) { visible = k.sq.word(hdrProd).Load() }
	var wrs [8]provider.SendWR
	for i := range wrs {
		wrs[i] = provider.SendWR{ID: uint64(i), Opcode: abi.IB_UVERBS_WR_SEND}
	}
	if n, err := q.PostSend(provider.ListOf(wrs[:])); n != 7 || !errors.Is(err, provider.ErrQueueFull) {
		t.Fatalf("eight requests into seven slots: %d, %v", n, err)
	}
	if n, err := q.PostSend(provider.List[provider.SendWR]{}); n != 0 || err != nil { // has nothing to say
		t.Fatal(n, err)
	}
	if env.Doorbells != 1 || visible != 7 {
		t.Errorf("%d doorbells for one batch, of which the kernel sees %d", env.Doorbells, visible)
	}
	for i := range 7 {
		head := k.sq.head()
		if head == nil || host.Uint64(head) != uint64(i) {
			t.Fatalf("request %d: %x", i, head)
		}
		k.sq.release()
	}
	if k.sq.head() != nil {
		t.Error("more requests than posted")
	}
}

// TestDoorbellIsRepeatedAfterFailure: the requests of a refused doorbell are in
// the ring, so the next call must ask the kernel again.
func TestDoorbellIsRepeatedAfterFailure(t *testing.T) {
	env := ringtest.NewEnv()
	q, _ := newTestQP(t, env, abi.IB_UVERBS_QPT_RC, 1)
	env.DoorErr = syscall.EINVAL
	if err := ringtest.Send(q, &provider.SendWR{Opcode: abi.IB_UVERBS_WR_SEND}); !errors.Is(err, syscall.EINVAL) {
		t.Fatalf("got %v", err)
	}
	env.DoorErr = nil
	for range 2 {
		if n, err := q.PostSend(provider.List[provider.SendWR]{}); n != 0 || err != nil {
			t.Fatal(n, err)
		}
	}
	if env.Doorbells != 2 {
		t.Errorf("%d doorbells, want the failed one and one more", env.Doorbells)
	}
}

func TestPostStops(t *testing.T) {
	env := ringtest.NewEnv()
	q, k := newTestQP(t, env, abi.IB_UVERBS_QPT_RC, 1)
	ringtest.PostStops(t, q, env)
	if s, r := k.sq.word(hdrProd).Load(), k.rq.word(hdrProd).Load(); s != 3 || r != 2 {
		t.Errorf("the kernel sees %d sends and %d receives", s, r)
	}
}

func TestPostRecv(t *testing.T) {
	env := ringtest.NewEnv()
	q, k := newTestQP(t, env, abi.IB_UVERBS_QPT_RC, 1)
	if err := ringtest.Recv(q, &provider.RecvWR{SGEs: sges(5, 1)}); !errors.Is(err, provider.ErrTooManySGEs) {
		t.Errorf("5 entries of 4: %v", err)
	}
	if err := ringtest.Recv(q, &provider.RecvWR{SGEs: sges(2, 1<<31)}); !errors.Is(err, errMessageSize) {
		t.Errorf("4 GiB: %v", err)
	}
	for id := uint64(0); id < 100; id++ { // many times round the ring
		if err := ringtest.Recv(q, &provider.RecvWR{ID: id}); err != nil {
			t.Fatal(err)
		}
		if got := host.Uint64(k.rq.head()); got != id {
			t.Fatalf("got id %d, want %d", got, id)
		}
		k.rq.release()
	}
	for range 7 {
		if err := ringtest.Recv(q, &provider.RecvWR{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := ringtest.Recv(q, &provider.RecvWR{}); !errors.Is(err, provider.ErrQueueFull) {
		t.Errorf("eighth request into seven slots: %v", err)
	}
	if env.Doorbells != 0 {
		t.Error("a receive rang a doorbell")
	}
}
