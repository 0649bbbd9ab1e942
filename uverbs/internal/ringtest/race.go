package ringtest

import (
	"encoding/binary"
	"runtime"
	"sync"
	"sync/atomic"
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
	defer wg.Wait()
	var stop atomic.Bool // the ring stays full when a test that failed polls no more
	defer stop.Store(true)
	wg.Go(func() {
		for id := uint64(0); id < Total && !stop.Load(); {
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
}

// A Consumer is the kernel's side of a ring of requests, each of which begins with
// its ID.
type Consumer struct {
	Head    func() []byte // the oldest request, or nil
	Release func()        // gives its place back
}

// take looks at the oldest request, if there is one, and gives it back. Its ID must
// be want, and so must the byte at inlineAt, if that is not 0.
func (c Consumer) take(t *testing.T, want uint64, inlineAt int) bool {
	w := c.Head()
	if w == nil {
		return false
	}
	id := binary.NativeEndian.Uint64(w)
	if id != want || inlineAt > 0 && w[inlineAt] != byte(want) {
		t.Fatalf("request %d: got id %d, % x", want, id, w[inlineAt:])
	}
	c.Release()
	return true
}

// PostBesideConsumer posts sends, up to three at once, and receives from a goroutine
// each, while a third takes both off the rings as the kernel does. Each has its
// number as ID, and sends have it as inline data, which is at inlineAt.
func PostBesideConsumer(t *testing.T, q provider.QP, sq, rq Consumer, inlineAt int) {
	t.Helper()
	var wg sync.WaitGroup
	defer wg.Wait() // also after a failure, which both see
	wg.Go(func() { Retry(t, func(id uint64) (int, error) { return postUpToThree(q, id) }) })
	wg.Go(func() {
		Retry(t, func(id uint64) (int, error) {
			return q.PostRecv(provider.List[provider.RecvWR]{First: &provider.RecvWR{ID: id}, N: 1})
		})
	})
	for sent, received := uint64(0), uint64(0); sent < Total || received < Total; {
		idle := true
		if sq.take(t, sent, inlineAt) {
			sent, idle = sent+1, false
		}
		if rq.take(t, received, 0) {
			received, idle = received+1, false
		}
		if idle {
			if t.Failed() {
				return // nothing more may come
			}
			runtime.Gosched()
		}
	}
}

// postUpToThree posts the requests from id to the next multiple of three.
func postUpToThree(q provider.QP, id uint64) (int, error) {
	var wrs []provider.SendWR
	for len(wrs) == 0 || id%3 != 0 && id < Total {
		wrs = append(wrs, provider.SendWR{ID: id, Opcode: abi.IB_UVERBS_WR_SEND, Inline: []byte{byte(id)}})
		id++
	}
	return q.PostSend(provider.ListOf(wrs))
}

// Retry calls post for each number up to Total, waiting while the ring is full,
// unless the test failed. post returns how many it posted.
func Retry(t *testing.T, post func(id uint64) (int, error)) {
	for id := uint64(0); id < Total; {
		n, err := post(id)
		id += uint64(n)
		switch err {
		case nil:
		case provider.ErrQueueFull:
			if t.Failed() {
				return // maybe nobody empties it any more
			}
			runtime.Gosched()
		default:
			t.Error(err)
			return
		}
	}
}
