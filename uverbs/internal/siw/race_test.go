package siw

import (
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs/internal/provider"
	"github.com/purerdma/rdma/uverbs/internal/ringtest"
)

// TestPollBesideProducer: the flags order every access to an element.
func TestPollBesideProducer(t *testing.T) {
	q, k := newTestCQ(t, ringtest.NewEnv(), 8)
	ringtest.PollBesideProducer(t, q, func(id uint64) bool {
		return k.push(completion{id: id, op: 8, bytes: uint32(id)})
	})
}

func TestPostBesideConsumer(t *testing.T) {
	q, k := newTestQP(t, ringtest.NewEnv(), 1)
	ringtest.PostBesideConsumer(t, q, ringtest.Consumer{Head: k.sq.head, Release: k.sq.release},
		ringtest.Consumer{Head: k.rq.head, Release: k.rq.release}, sqSGE+16)
}

// TestDoorbellNotLost: a kernel that stops at the first element that is not valid,
// and starts only with a doorbell, gets to see every request.
func TestDoorbellNotLost(t *testing.T) {
	env := ringtest.NewEnv()
	q, k := newTestQP(t, env, 1)
	bell := make(chan struct{}, ringtest.Total)
	env.OnSend = func(uint32) { bell <- struct{}{} }
	seen := make(chan uint64)
	go func() {
		n := uint64(0)
		for range bell {
			for w := k.sq.head(); w != nil; w = k.sq.head() {
				k.sq.release()
				n++
			}
		}
		seen <- n
	}()
	ringtest.Retry(t, func(id uint64) (int, error) {
		return q.PostSend(provider.List[provider.SendWR]{First: &provider.SendWR{ID: id, Opcode: abi.IB_UVERBS_WR_SEND}, N: 1})
	})
	close(bell)
	if n := <-seen; n != ringtest.Total {
		t.Errorf("the kernel saw %d requests", n)
	}
	t.Logf("%d doorbells for %d requests", env.Doorbells, ringtest.Total)
}
