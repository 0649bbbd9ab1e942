package rxe

import (
	"errors"
	"math"
	"syscall"
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs/internal/provider"
	"github.com/purerdma/rdma/uverbs/internal/ringtest"
)

// TestDoorbellKinds: the Go runtime learns of doorbells in which the kernel may send for
// long, where it sends in them, and of no other.
func TestDoorbellKinds(t *testing.T) {
	const (
		send  = abi.IB_UVERBS_WR_SEND
		write = abi.IB_UVERBS_WR_RDMA_WRITE
		inv   = abi.IB_UVERBS_WR_LOCAL_INV
		imm   = abi.IB_UVERBS_WR_SEND_WITH_IMM
	)
	many := func(n int, wr provider.SendWR) (list []provider.SendWR) {
		for range n {
			list = append(list, wr)
		}
		return list
	}
	for _, tc := range []struct {
		name string
		wrs  []provider.SendWR
		long bool
	}{
		{"small", many(1, provider.SendWR{Opcode: send, SGEs: sges(1, 2)}), false},
		{"inline", many(1, provider.SendWR{Opcode: write, Inline: make([]byte, 64)}), false},
		{"7 KiB", many(1, provider.SendWR{Opcode: send, SGEs: sges(1, 7<<10)}), false},
		{"more", many(1, provider.SendWR{Opcode: send, SGEs: sges(1, 7<<10+1)}), true},
		{"more with immediate data", many(1, provider.SendWR{Opcode: imm, SGEs: sges(1, 7<<10+1)}), true},
		{"largest", many(1, provider.SendWR{Opcode: write, SGEs: sges(1, math.MaxInt32)}), true},
		{"largest, often", many(5, provider.SendWR{Opcode: write, SGEs: sges(1, math.MaxInt32)}), true},
		{"7 small", many(7, provider.SendWR{Opcode: send, SGEs: sges(1, 64)}), false},
		{"7 of 1 KiB", many(7, provider.SendWR{Opcode: send, SGEs: sges(1, 1<<10)}), true},
		{"no data", many(7, provider.SendWR{Opcode: inv}), false},
	} {
		for _, queues := range []bool{false, true} {
			env := ringtest.NewEnv()
			q, _ := newTestQP(t, env, abi.IB_UVERBS_QPT_RC, 1)
			q.short = 8 * packet
			if queues {
				q.short = math.MaxUint64
			}
			if n, err := q.PostSend(provider.ListOf(tc.wrs)); n != len(tc.wrs) || err != nil {
				t.Fatal(n, err)
			}
			want := [2]int{1, 0}
			if tc.long && !queues {
				want = [2]int{0, 1}
			}
			if got := [2]int{env.Short, env.Long}; got != want {
				t.Errorf("%s, kernel queues %v: %d short and %d long doorbells, want %d", tc.name, queues, got[0], got[1], want)
			}
		}
	}
}

// TestDoorbellCountsFromTheLast: what the kernel was told of does not count again, what
// it refused to be told of does.
func TestDoorbellCountsFromTheLast(t *testing.T) {
	env := ringtest.NewEnv()
	q, k := newTestQP(t, env, abi.IB_UVERBS_QPT_RC, 1)
	q.short = 8 * packet
	wr := provider.SendWR{Opcode: abi.IB_UVERBS_WR_SEND, SGEs: sges(1, 5<<10)}
	for range 20 {
		if err := ringtest.Send(q, &wr); err != nil {
			t.Fatal(err)
		}
		k.sq.release()
	}
	if env.Short != 20 || env.Long != 0 {
		t.Errorf("%d short and %d long doorbells for 20 messages", env.Short, env.Long)
	}
	env.DoorErr = syscall.EINVAL
	for range 2 {
		if err := ringtest.Send(q, &wr); !errors.Is(err, syscall.EINVAL) {
			t.Fatal(err)
		}
	}
	if env.Short != 21 || env.Long != 1 {
		t.Errorf("%d short and %d long doorbells after two refused", env.Short, env.Long)
	}
}
