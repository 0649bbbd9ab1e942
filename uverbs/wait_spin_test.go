//go:build linux

package uverbs_test

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/fakeverbs"
	"github.com/purerdma/rdma/uverbs"
)

// spinModes are the three ways to wait.
var spinModes = []struct {
	name string
	spin time.Duration
}{
	{"event", 0},
	{"adaptive", 200 * time.Microsecond},
	{"poll", uverbs.SpinForever},
}

func armed(k *fakeverbs.Kernel) int {
	n := 0
	for _, call := range k.Calls() {
		if call == "REQ_NOTIFY_CQ" {
			n++
		}
	}
	return n
}

// TestSpin waits for completions that come at once and for late ones: who spins
// for ever never arms, who spins for a while arms for late ones only.
func TestSpin(t *testing.T) {
	eachStyle(t, func(t *testing.T, k *fakeverbs.Kernel, c *uverbs.Context) {
		r := mustBuild(t, c, nil)
		for _, mode := range spinModes {
			r.cq.SetSpin(mode.spin)
			for _, late := range []bool{false, true} {
				before := armed(k)
				var posted sync.WaitGroup
				posted.Go(func() {
					if late && mode.spin < 0 {
						time.Sleep(20 * time.Millisecond) // it would arm meanwhile
					} else if late {
						awaitArmed(t, k, before)
					}
					if err := r.qp.PostSend(signaled(7)); err != nil {
						t.Error(err)
					}
				})
				var wcs [2]uverbs.WC
				if n, err := r.cq.Wait(withTimeout(t), wcs[:]); n != 1 || err != nil || wcs[0].ID != 7 {
					t.Fatalf("%s: %d, %v, %+v", mode.name, n, err, wcs[0])
				}
				posted.Wait()
				if calls := armed(k) - before; mode.spin < 0 && calls != 0 {
					t.Errorf("%s, late %v: armed %d times", mode.name, late, calls)
				}
			}
		}
	})
}

// waitEnd is a way to end a wait, and the error that it ends with.
type waitEnd struct {
	name string
	end  func(k *fakeverbs.Kernel, cq *uverbs.CQ, cancel func())
	want error
}

var waitEnds = []waitEnd{
	{"context", func(_ *fakeverbs.Kernel, _ *uverbs.CQ, cancel func()) { cancel() }, context.Canceled},
	{"close", func(_ *fakeverbs.Kernel, cq *uverbs.CQ, _ func()) { _ = cq.Close() }, net.ErrClosed},
	{"device", func(k *fakeverbs.Kernel, _ *uverbs.CQ, _ func()) { k.Remove() }, uverbs.ErrDeviceRemoved},
}

// TestSpinEnds ends a waiter that spins for ever in every way.
func TestSpinEnds(t *testing.T) {
	overflow := waitEnd{"overflow", func(k *fakeverbs.Kernel, cq *uverbs.CQ, _ func()) {
		k.RaiseCQ(cq.Handle(), abi.IB_EVENT_CQ_ERR)
	}, new(uverbs.CQError)}
	for _, tc := range append(slices.Clip(waitEnds), overflow) {
		t.Run(tc.name, func(t *testing.T) {
			k := fakeverbs.New()
			c, err := uverbs.OpenOn(k, fakeDevice(), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			cq, err := c.CreateCQ(uverbs.CQConfig{Entries: 4, Spin: uverbs.SpinForever}) // no channel
			if err != nil {
				t.Fatal(err)
			}
			defer cq.Close()
			ctx, cancel := context.WithCancel(withTimeout(t))
			defer cancel()
			time.AfterFunc(10*time.Millisecond, func() { tc.end(k, cq, cancel) })
			_, err = cq.Wait(ctx, make([]uverbs.WC, 1))
			var overflow *uverbs.CQError
			if !errors.Is(err, tc.want) && !(errors.As(tc.want, &overflow) && errors.As(err, &overflow)) {
				t.Errorf("got %v, want %v", err, tc.want)
			}
		})
	}
}

// TestSpinWithoutChannel: who is to sleep after all needs a channel.
func TestSpinWithoutChannel(t *testing.T) {
	eachStyle(t, func(t *testing.T, _ *fakeverbs.Kernel, c *uverbs.Context) {
		cq, err := c.CreateCQ(uverbs.CQConfig{Entries: 4, Spin: time.Microsecond})
		if err != nil {
			t.Fatal(err)
		}
		defer cq.Close()
		if _, err := cq.Wait(withTimeout(t), make([]uverbs.WC, 1)); !errors.Is(err, syscall.EINVAL) {
			t.Error(err)
		}
	})
}

// TestNoLostEdge lets completions come at every moment between polling, arming
// and sleeping.
func TestNoLostEdge(t *testing.T) {
	for i, mode := range spinModes[:2] {
		for _, kind := range channelKinds[:2-i] { // who spins first sleeps the same way
			t.Run(mode.name+", "+kind.name, func(t *testing.T) { noLostEdge(t, mode.spin, kind.make) })
		}
	}
}

func noLostEdge(t *testing.T, spin time.Duration, channel newChannel) {
	k := fakeverbs.New()
	c, err := uverbs.OpenOn(k, fakeDevice(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	r := mustBuildOn(t, c, channel, nil)
	r.cq.SetSpin(min(spin, 5*time.Microsecond))
	next := make(chan int)
	go func() {
		for i := range next {
			for range i % 64 * 20 { // up to some microseconds
				spun++
			}
			if err := r.qp.PostSend(signaled(uint64(i))); err != nil {
				t.Error(err)
			}
		}
	}()
	defer close(next)
	var wcs [1]uverbs.WC
	for i := range 5000 {
		next <- i
		if _, err := r.cq.Wait(withTimeout(t), wcs[:]); err != nil || wcs[0].ID != uint64(i) {
			t.Fatalf("completion %d: %v, %+v", i, err, wcs[0])
		}
	}
	if !slices.Contains(k.Calls(), "REQ_NOTIFY_CQ") {
		t.Error("never armed: the test proves nothing")
	}
}

var spun int

// BenchmarkWait is a request and its completion on the fake kernel, where it
// completes at once.
func BenchmarkWait(b *testing.B) {
	for _, mode := range spinModes {
		b.Run(mode.name, func(b *testing.B) {
			c, err := uverbs.OpenOn(fakeverbs.New(), fakeDevice(), nil)
			if err != nil {
				b.Fatal(err)
			}
			defer c.Close()
			r, err := build(c, nil)
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = r.close() }()
			r.cq.SetSpin(mode.spin)
			wcs := make([]uverbs.WC, 1)
			b.ReportAllocs()
			for b.Loop() {
				if err := r.qp.PostSend(signaled(1)); err != nil {
					b.Fatal(err)
				}
				if _, err := r.cq.Wait(context.Background(), wcs); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
