package ringtest

import (
	"runtime"
	"sync"
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs/internal/provider"
)

// Total is how many requests or completions the tests below move through rings of
// a few places. The rings are Go memory, so that the race detector checks that
// every access to a place is ordered by what driver and kernel tell each other.
const Total = 20000

// PollBesideProducer polls while push, the kernel's side, adds completions from
// another goroutine, each with its number as ID and length. push is false when the
// ring is full.
func PollBesideProducer(t *testing.T, q provider.CQ, push func(id uint64) bool) {
	t.Helper()
	var wg sync.WaitGroup
	wg.Go(func() {
		for id := uint64(0); id < Total; {
			if push(id) {
				id++
			} else {
				runtime.Gosched()
			}
		}
	})
	var wc provider.WC
	for id := uint64(0); id < Total; {
		if !Poll(q, &wc) {
			runtime.Gosched()
			continue
		}
		if wc.ID != id || wc.ByteLen != uint32(id) {
			t.Fatalf("got id %d and length %d, want %d", wc.ID, wc.ByteLen, id)
		}
		id++
	}
	wg.Wait()
}

// PostBesideConsumer posts sends, up to three at once with their number as ID and
// inline data, and receives from a goroutine each, while a third takes both off the
// rings as the kernel does: takeSend and takeRecv look at the oldest request, if
// there is one, and give it back.
func PostBesideConsumer(t *testing.T, q provider.QP, takeSend, takeRecv func(want uint64) bool) {
	t.Helper()
	var wg sync.WaitGroup
	wg.Go(func() { Retry(t, func(id uint64) (int, error) { return postUpToThree(q, id) }) })
	wg.Go(func() {
		Retry(t, func(id uint64) (int, error) { return q.PostRecv([]provider.RecvWR{{ID: id}}) })
	})
	for sent, received := uint64(0), uint64(0); sent < Total || received < Total; {
		idle := true
		if takeSend(sent) {
			sent, idle = sent+1, false
		}
		if takeRecv(received) {
			received, idle = received+1, false
		}
		if idle {
			runtime.Gosched()
		}
	}
	wg.Wait()
}

// postUpToThree posts the requests from id to the next multiple of three.
func postUpToThree(q provider.QP, id uint64) (int, error) {
	var wrs []provider.SendWR
	for len(wrs) == 0 || id%3 != 0 && id < Total {
		wrs = append(wrs, provider.SendWR{ID: id, Opcode: abi.IB_UVERBS_WR_SEND, Inline: []byte{byte(id)}})
		id++
	}
	return q.PostSend(wrs)
}

// Retry calls post for each number up to Total, waiting while the ring is full. post
// returns how many it posted.
func Retry(t *testing.T, post func(id uint64) (int, error)) {
	for id := uint64(0); id < Total; {
		n, err := post(id)
		id += uint64(n)
		switch err {
		case nil:
		case provider.ErrQueueFull:
			runtime.Gosched()
		default:
			t.Error(err)
			return
		}
	}
}
