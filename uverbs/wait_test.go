//go:build linux

package uverbs_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/fakeverbs"
	"github.com/purerdma/rdma/uverbs"
)

func TestWaitGetsEveryCompletion(t *testing.T) {
	eachChannel(t, func(t *testing.T, _ *fakeverbs.Kernel, r *rig) {
		const n = 500
		room := make(chan struct{}, r.cq.Entries()) // a queue that overflows loses completions
		posted := make(chan error, 1)
		go func() {
			for i := range uint64(n) {
				room <- struct{}{}
				err := r.qp.PostSend(signaled(i))
				for errors.Is(err, uverbs.ErrQueueFull) {
					err = r.qp.PostSend(signaled(i))
				}
				if err != nil {
					posted <- err
					return
				}
				time.Sleep(10 * time.Microsecond) // let the waiter fall asleep now and then
			}
			posted <- nil
		}()
		var wcs [4]uverbs.WC
		for got := 0; got < n; {
			m, err := r.cq.Wait(withTimeout(t), wcs[:])
			if err != nil {
				t.Fatalf("after %d: %v", got, err)
			}
			for i := range wcs[:m] {
				if wcs[i].ID != uint64(got) || wcs[i].Err() != nil {
					t.Fatalf("completion %d: %+v", got, wcs[i])
				}
				got++
				<-room
			}
		}
		if err := <-posted; err != nil {
			t.Error(err)
		}
	})
}

// TestWaitersShareEvents has more waiters than events: one event for several
// completions must reach several waiters.
func TestWaitersShareEvents(t *testing.T) {
	eachChannel(t, func(t *testing.T, _ *fakeverbs.Kernel, r *rig) {
		const waiters = 6
		var wg sync.WaitGroup
		for range waiters {
			wg.Go(func() {
				var wc [1]uverbs.WC
				if _, err := r.cq.Wait(withTimeout(t), wc[:]); err != nil {
					t.Error(err)
				}
			})
		}
		time.Sleep(20 * time.Millisecond)
		batch := make([]uverbs.SendWR, waiters)
		for i := range batch {
			batch[i] = signaled(uint64(i))
		}
		if err := r.qp.PostSend(batch...); err != nil {
			t.Fatal(err)
		}
		wg.Wait()
	})
}

func TestNotify(t *testing.T) {
	eachStyle(t, func(t *testing.T, _ *fakeverbs.Kernel, c *uverbs.Context) {
		var events atomic.Int32
		notified := make(chan struct{}, 1)
		r := mustBuild(t, c, func() {
			events.Add(1)
			notified <- struct{}{}
		})
		for range 3 {
			if err := r.cq.Arm(); err != nil {
				t.Fatal(err)
			}
			if err := r.qp.PostSend(signaled(1)); err != nil {
				t.Fatal(err)
			}
			<-notified
		}
		if n := events.Load(); n != 3 {
			t.Errorf("%d events", n)
		}
	})
}

func TestWaitEnds(t *testing.T) {
	eachChannel(t, func(t *testing.T, k *fakeverbs.Kernel, r *rig) {
		var wcs [1]uverbs.WC
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
		defer cancel()
		_, err := r.cq.Wait(ctx, wcs[:])
		var ve *uverbs.Error
		if !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &ve) || !ve.Timeout() {
			t.Errorf("time-out: %v", err)
		}
		canceled, cancel2 := context.WithCancel(context.Background())
		cancel2()
		if _, err := r.cq.Wait(canceled, wcs[:]); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled before: %v", err)
		}
		k.RaiseCQ(r.cq.Handle(), abi.IB_EVENT_CQ_ERR)
		_, err = r.cq.Wait(withTimeout(t), wcs[:])
		var ce *uverbs.CQError
		if !errors.As(err, &ce) || ce.Event != abi.IB_EVENT_CQ_ERR {
			t.Errorf("overflow: %v", err)
		}
	})
}

func TestWaitWithoutChannel(t *testing.T) {
	eachStyle(t, func(t *testing.T, _ *fakeverbs.Kernel, c *uverbs.Context) {
		cq, err := c.CreateCQ(uverbs.CQConfig{Entries: 4})
		if err != nil {
			t.Fatal(err)
		}
		defer cq.Close()
		if _, err := cq.Wait(withTimeout(t), make([]uverbs.WC, 1)); !errors.Is(err, syscall.EINVAL) {
			t.Error(err)
		}
	})
}

func TestAsyncEvents(t *testing.T) {
	eachStyle(t, func(t *testing.T, k *fakeverbs.Kernel, c *uverbs.Context) {
		r := mustBuild(t, c, nil)
		k.RaisePort(1, abi.IB_EVENT_PORT_ERR)
		k.RaiseCQ(r.cq.Handle(), abi.IB_EVENT_CQ_ERR)
		k.RaisePort(77, abi.IBEventType(1000))
		for _, want := range []uverbs.AsyncEvent{
			{Type: abi.IB_EVENT_PORT_ERR, Port: 1, Element: 1},
			{Type: abi.IB_EVENT_CQ_ERR, CQ: r.cq},
			{Type: 1000, Element: 77},
		} {
			got, err := c.NextAsyncEvent(withTimeout(t))
			if want.CQ != nil {
				want.Element = got.Element // the key is private
			}
			if err != nil || got != want {
				t.Errorf("got %+v, %v; want %+v", got, err, want)
			}
		}
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
		defer cancel()
		if _, err := c.NextAsyncEvent(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}

// TestAsyncEventsUnread has a program that does not read them.
func TestAsyncEventsUnread(t *testing.T) {
	k := fakeverbs.New()
	c, err := uverbs.OpenOn(k, fakeDevice(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	const raised = 600
	for i := range raised {
		k.RaisePort(i, abi.IB_EVENT_GID_CHANGE)
		awaitTrue(t, "events are not read", func() bool { return k.Unread() < 60 })
	}
	awaitTrue(t, "events are not read", func() bool { return k.Unread() == 0 })
	first, err := c.NextAsyncEvent(withTimeout(t))
	if err != nil || first.Lost == 0 || first.Port != first.Lost {
		t.Errorf("%+v, %v", first, err)
	}
	for i := first.Port + 1; i < raised; i++ { // the loss is told once
		if e, err := c.NextAsyncEvent(withTimeout(t)); err != nil || e.Lost != 0 || e.Port != i {
			t.Fatalf("event %d: %+v, %v", i, e, err)
		}
	}
}
