//go:build linux

package integration

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs"
)

// waitModes are the ways to wait for a completion.
var waitModes = []struct {
	name     string
	spin     time.Duration
	blocking bool // the channel's waiters read it
}{
	{"event", 0, false},
	{"event, waiters read", 0, true},
	{"adaptive", time.Millisecond, false},
	{"poll", uverbs.SpinForever, false},
}

// TestWaitModes plays ping-pong with each way of waiting at both ends. The
// messages come faster and slower than the adaptive one spins.
func TestWaitModes(t *testing.T) {
	for _, mode := range waitModes {
		t.Run(mode.name, func(t *testing.T) {
			a, b := rxePair(t, rxeConfig{cap: verbsCap, blocking: mode.blocking})
			stop := waitEcho(t, b, mode.spin)
			a.cq.SetSpin(mode.spin)
			for i := range 200 {
				if err := waitPing(a); err != nil {
					t.Fatalf("message %d: %v", i, err)
				}
				if i%50 == 0 {
					time.Sleep(5 * time.Millisecond)
				}
			}
			stop()
		})
	}
}

// BenchmarkWaitModes is the round trip of 64 bytes.
func BenchmarkWaitModes(b *testing.B) {
	for _, mode := range waitModes {
		b.Run(mode.name, func(b *testing.B) {
			x, y := rxePair(b, rxeConfig{cap: verbsCap, blocking: mode.blocking})
			stop := waitEcho(b, y, mode.spin)
			x.cq.SetSpin(mode.spin)
			for b.Loop() {
				if err := waitPing(x); err != nil {
					b.Fatal(err)
				}
			}
			stop()
		})
	}
}

func waitPost(s *verbsSide) error {
	return s.qp.PostRecv(uverbs.RecvWR{ID: 1, SGEs: []uverbs.SGE{s.mr.SGE(0, 64)}})
}

func waitSend(s *verbsSide) error {
	return s.qp.PostSend(uverbs.SendWR{ID: 2, Opcode: abi.IB_UVERBS_WR_SEND, Flags: uverbs.SendSignaled, SGEs: []uverbs.SGE{s.mr.SGE(64, 64)}})
}

// waitBoth waits until the send and the receive are complete.
func waitBoth(ctx context.Context, s *verbsSide, n int) error {
	var wcs [2]uverbs.WC
	for n > 0 {
		got, err := s.cq.Wait(ctx, wcs[:])
		if err != nil {
			return err
		}
		for i := range got {
			if err := wcs[i].Err(); err != nil {
				return err
			}
		}
		n -= got
	}
	return nil
}

func waitPing(s *verbsSide) error {
	ctx, cancel := context.WithTimeout(context.Background(), verbsTimeout)
	defer cancel()
	return errors.Join(waitPost(s), waitSend(s), waitBoth(ctx, s, 2))
}

// waitEcho answers each message, until the function it returns is called.
func waitEcho(t testing.TB, s *verbsSide, spin time.Duration) (stop func()) {
	t.Helper()
	s.cq.SetSpin(spin)
	if err := waitPost(s); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		for pending := 1; ; pending = 2 { // a receive, and then the send before it too
			if err := waitBoth(ctx, s, pending); err != nil {
				if !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
				return
			}
			if err := errors.Join(waitPost(s), waitSend(s)); err != nil {
				t.Error(err)
				return
			}
		}
	})
	stop = sync.OnceFunc(func() {
		cancel()
		wg.Wait()
	})
	t.Cleanup(stop)
	return stop
}
