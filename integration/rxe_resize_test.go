//go:build linux

package integration

import (
	"context"
	"errors"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs"
)

// resizeWrites makes writes with consecutive numbers, one after the other. The queue
// tells of each that it is complete; nobody polls.
func resizeWrites(t *testing.T, a, b *verbsSide, events <-chan struct{}, first, n int) {
	t.Helper()
	for id := first; id < first+n; id++ {
		if err := a.cq.Arm(); err != nil {
			t.Fatal(err)
		}
		a.send(uverbs.SendWR{
			ID: uint64(id), Opcode: abi.IB_UVERBS_WR_RDMA_WRITE, Flags: uverbs.SendSignaled,
			Inline: []byte{1}, RemoteAddr: b.mr.Addr(), RKey: b.mr.RKey(),
		})
		select {
		case <-events:
		case <-time.After(verbsTimeout):
			t.Fatalf("write %d is not completed", id)
		}
	}
}

// resizeWant takes n completions, which are there.
func resizeWant(t *testing.T, s *verbsSide, first, n int) {
	t.Helper()
	wcs := make([]uverbs.WC, n)
	if got, err := s.cq.Poll(wcs); got != n || err != nil {
		t.Fatalf("%d completions of %d, %v", got, n, err)
	}
	for i, wc := range wcs {
		if wc.ID != uint64(first+i) || wc.Err() != nil {
			t.Fatalf("completion %d: %+v", i, wc)
		}
	}
}

// TestRxeResizeCQ resizes a queue up and down with completions in it.
func TestRxeResizeCQ(t *testing.T) {
	for _, style := range verbsStyles {
		t.Run(style.String(), func(t *testing.T) {
			events := make(chan struct{}, 1)
			a, b := rxePair(t, rxeConfig{
				cap: uverbs.QPCap{MaxSendWR: 200, MaxRecvWR: 4, MaxInline: 16}, entries: 31, style: style,
				notify: func() { events <- struct{}{} },
			})
			resizeWrites(t, a, b, events, 0, 25)
			resizeWant(t, a, 0, 5)
			for _, bad := range []int{-1, 0, 19, 1 << 30} { // 20 completions are in it
				if err := a.cq.Resize(bad); !errors.Is(err, syscall.EINVAL) {
					t.Errorf("%d entries: %v", bad, err)
				}
			}
			for _, n := range []int{200, 20, 60} {
				if err := a.cq.Resize(n); err != nil || a.cq.Entries() < n {
					t.Fatalf("%d entries: %d, %v", n, a.cq.Entries(), err)
				}
			}
			resizeWrites(t, a, b, events, 25, 40)
			resizeWant(t, a, 5, 60)
			if err := a.cq.Resize(1); err != nil {
				t.Fatal(err)
			}
			resizeWrites(t, a, b, events, 65, 1)
			resizeWant(t, a, 65, 1)
			if err := a.cq.Moderate(4, 10*time.Microsecond); !errors.Is(err, errors.ErrUnsupported) {
				t.Errorf("moderation: %v", err)
			}
		})
	}
}

// TestRxeResizeCQBusy resizes both queues all the time while messages go to and
// fro and each side sleeps for each.
func TestRxeResizeCQBusy(t *testing.T) {
	a, b := rxePair(t, rxeConfig{cap: verbsCap})
	b.recv(uverbs.RecvWR{})
	a.recv(uverbs.RecvWR{})
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	resized := 0
	wg.Go(func() {
		for ; ctx.Err() == nil; resized++ {
			for _, s := range []*verbsSide{a, b} {
				if err := s.cq.Resize(64 + resized%100); err != nil {
					t.Error(err)
					return
				}
			}
		}
	})
	echoed := make(chan error)
	go func() { echoed <- b.pingPong(300, false) }()
	if err := a.pingPong(300, true); err != nil {
		t.Error(err)
	}
	if err := <-echoed; err != nil {
		t.Error(err)
	}
	cancel()
	wg.Wait()
	t.Logf("resized %d times", resized)
	if resized < 30 {
		t.Errorf("both queues were resized %d times while 300 messages went to and fro", resized)
	}
}
