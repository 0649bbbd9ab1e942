package rxe

import (
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs/internal/ringtest"
)

// TestPollBesideProducer: the two indices order every access to a slot.
func TestPollBesideProducer(t *testing.T) {
	q, k := newTestCQ(t, ringtest.NewEnv(), 1, 8)
	ringtest.PollBesideProducer(t, q, func(id uint64) bool {
		return k.push(cqe(field{wcID, id}, field{wcLen, uint32(id)}))
	})
}

func TestPostBesideConsumer(t *testing.T) {
	q, k := newTestQP(t, ringtest.NewEnv(), abi.IB_UVERBS_QPT_RC, 1)
	ringtest.PostBesideConsumer(t, q, ringtest.Consumer{Head: k.sq.head, Release: k.sq.release},
		ringtest.Consumer{Head: k.rq.head, Release: k.rq.release}, wqeSize)
}
