package siw

import (
	"runtime"
	"sync"
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs/internal/provider"
)

// TestPollBesideProducer polls while the kernel's side fills the ring from another
// goroutine. The ring is Go memory, so the race detector checks that the flags order
// every access to an element.
func TestPollBesideProducer(t *testing.T) {
	const total = 20000
	q, k := newTestCQ(t, newFakeEnv(), 8)
	var wg sync.WaitGroup
	wg.Go(func() {
		for id := uint64(0); id < total; {
			if k.push(completion{id: id, op: 8, bytes: uint32(id)}) {
				id++
			} else {
				runtime.Gosched()
			}
		}
	})
	var wc provider.WC
	for id := uint64(0); id < total; {
		if !pollOne(q, &wc) {
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

// TestPostBesideConsumer posts sends and receives from a goroutine each, while a
// third takes both off the rings as the kernel does.
func TestPostBesideConsumer(t *testing.T) {
	const total = 20000
	q, k := newTestQP(t, newFakeEnv(), 1)
	var wg sync.WaitGroup
	wg.Go(func() {
		retry(t, total, func(id uint64) error {
			wr := provider.SendWR{ID: id, Opcode: abi.IB_UVERBS_WR_SEND, Inline: []byte{byte(id)}}
			if err := q.PostSend(&wr); err != nil {
				return err
			}
			if id%3 != 0 && id != total-1 { // batches of up to three
				return nil
			}
			return q.FlushSend()
		}, q.FlushSend)
	})
	wg.Go(func() {
		retry(t, total, func(id uint64) error {
			if err := q.PostRecv(&provider.RecvWR{ID: id}); err != nil {
				return err
			}
			return q.FlushRecv()
		}, q.FlushRecv)
	})
	for sent, received := uint64(0), uint64(0); sent < total || received < total; {
		idle := true
		if w := k.sq.head(); w != nil {
			if host.Uint64(w) != sent || w[sqSGE+16] != byte(sent) {
				t.Errorf("send %d: got id %d", sent, host.Uint64(w))
			}
			k.sq.release()
			sent, idle = sent+1, false
		}
		if w := k.rq.head(); w != nil {
			if host.Uint64(w) != received {
				t.Errorf("receive %d: got id %d", received, host.Uint64(w))
			}
			k.rq.release()
			received, idle = received+1, false
		}
		if idle {
			runtime.Gosched()
		}
	}
	wg.Wait()
}

// retry calls post for each id, waiting while the ring is full.
func retry(t *testing.T, total uint64, post func(id uint64) error, onFull func() error) {
	for id := uint64(0); id < total; {
		switch err := post(id); err {
		case nil:
			id++
		case provider.ErrQueueFull:
			if err := onFull(); err != nil {
				t.Error(err)
				return
			}
			runtime.Gosched()
		default:
			t.Error(err)
			return
		}
	}
}

// TestDoorbellNotLost: a kernel that stops at the first element that is not valid,
// and starts only with a doorbell, gets to see every request.
func TestDoorbellNotLost(t *testing.T) {
	const total = 20000
	env := newFakeEnv()
	q, k := newTestQP(t, env, 1)
	bell := make(chan struct{}, total)
	env.onSend = func(uint32) { bell <- struct{}{} }
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
	retry(t, total, func(id uint64) error {
		if err := q.PostSend(&provider.SendWR{ID: id, Opcode: abi.IB_UVERBS_WR_SEND}); err != nil {
			return err
		}
		return q.FlushSend()
	}, q.FlushSend)
	close(bell)
	if n := <-seen; n != total {
		t.Errorf("the kernel saw %d requests", n)
	}
	t.Logf("%d doorbells for %d requests", env.doorbells, total)
}
