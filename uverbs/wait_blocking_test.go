//go:build linux

package uverbs_test

import (
	"context"
	"errors"
	"net"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/fakeverbs"
	"github.com/purerdma/rdma/uverbs"
)

// asleep is how long a waiter takes to fall asleep in the kernel, and more.
const asleep = 10 * time.Millisecond

// blockingCQ makes a queue without a queue pair, so that it can be closed.
func blockingCQ(t *testing.T, c *uverbs.Context) *uverbs.CQ {
	t.Helper()
	ch, err := c.CreateBlockingCompChannel()
	if err != nil {
		t.Fatal(err)
	}
	cq, err := c.CreateCQ(uverbs.CQConfig{Entries: 4, Channel: ch})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(cq.Close(), ch.Close()); err != nil {
			t.Error(err)
		}
	})
	return cq
}

// waitOn waits in a goroutine.
func waitOn(ctx context.Context, cq *uverbs.CQ) <-chan error {
	end := make(chan error, 1)
	go func() {
		_, err := cq.Wait(ctx, make([]uverbs.WC, 1))
		end <- err
	}()
	return end
}

// endOf returns how a wait ended, which must be soon.
func endOf(t *testing.T, end <-chan error) error {
	t.Helper()
	select {
	case err := <-end:
		return err
	case <-time.After(hangs):
		t.Fatal("still waiting")
		return nil
	}
}

// TestBlockingWaitEnds ends waits in the kernel in each way there is, for the one
// who leads and for one who follows.
func TestBlockingWaitEnds(t *testing.T) {
	abandon := waitEnd{"abandon", func(_ *fakeverbs.Kernel, cq *uverbs.CQ, _ func()) { _ = cq.Context().Abandon() }, net.ErrClosed}
	for _, tc := range append(slices.Clip(waitEnds), abandon) {
		t.Run(tc.name, func(t *testing.T) {
			k := fakeverbs.New()
			c, err := uverbs.OpenOn(k, fakeDevice(), nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = c.Close() })
			cq := blockingCQ(t, c)
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			ends := []<-chan error{waitOn(ctx, cq), waitOn(ctx, cq)}
			time.Sleep(asleep)
			tc.end(k, cq, cancel)
			for i, end := range ends {
				if err := endOf(t, end); !errors.Is(err, tc.want) {
					t.Errorf("waiter %d: %v", i, err)
				}
			}
		})
	}
}

// TestBlockingOverflow: the event of a queue that overflowed comes by another way.
func TestBlockingOverflow(t *testing.T) {
	eachStyle(t, func(t *testing.T, k *fakeverbs.Kernel, c *uverbs.Context) {
		cq := blockingCQ(t, c)
		end := waitOn(context.Background(), cq)
		time.Sleep(asleep)
		k.RaiseCQ(cq.Handle(), abi.IB_EVENT_CQ_ERR)
		var ce *uverbs.CQError
		if err := endOf(t, end); !errors.As(err, &ce) {
			t.Error(err)
		}
	})
}

// TestBlockingChannelShared: the leader passes on the events of other queues, and
// when it has its own, another waiter leads.
func TestBlockingChannelShared(t *testing.T) {
	eachStyle(t, func(t *testing.T, _ *fakeverbs.Kernel, c *uverbs.Context) {
		r := mustBuildOn(t, c, (*uverbs.Context).CreateBlockingCompChannel, nil)
		other, err := c.CreateCQ(uverbs.CQConfig{Entries: 8, Channel: r.ch})
		if err != nil {
			t.Fatal(err)
		}
		qp, err := r.pd.CreateQP(uverbs.QPConfig{SendCQ: other, RecvCQ: other, Cap: uverbs.QPCap{MaxSendWR: 8, MaxRecvWR: 1, MaxSendSGE: 1, MaxRecvSGE: 1}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := errors.Join(qp.Close(), other.Close()); err != nil {
				t.Error(err)
			}
		})
		for round := range 4 {
			first := waitOn(context.Background(), r.cq) // leads
			time.Sleep(asleep)
			second := waitOn(context.Background(), other)
			time.Sleep(asleep)
			queues := []struct {
				qp  *uverbs.QP
				end <-chan error
			}{{qp, second}, {r.qp, first}}
			for i := range queues {
				q := queues[(i+round)%2]
				if err := q.qp.PostSend(signaled(1)); err != nil {
					t.Fatal(err)
				}
				if err := endOf(t, q.end); err != nil {
					t.Errorf("round %d: %v", round, err)
				}
			}
		}
	})
}

// TestBlockingPassOn: a waiter that leaves has the next look, although that one
// sleeps in the kernel by then: it may have taken the event of both.
func TestBlockingPassOn(t *testing.T) {
	eachStyle(t, func(t *testing.T, k *fakeverbs.Kernel, c *uverbs.Context) {
		cq := blockingCQ(t, c)
		ctx, cancel := context.WithCancel(context.Background())
		end := waitOn(ctx, cq)
		time.Sleep(asleep)
		before := armed(k)
		uverbs.PassOn(cq)
		awaitArmed(t, k, before)
		cancel()
		if err := endOf(t, end); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

// TestBlockingDrains: events that were armed and not waited for do not end later
// sleeps.
func TestBlockingDrains(t *testing.T) {
	eachStyle(t, func(t *testing.T, k *fakeverbs.Kernel, c *uverbs.Context) {
		r := mustBuildOn(t, c, (*uverbs.Context).CreateBlockingCompChannel, nil)
		var wcs [1]uverbs.WC
		for range 20 {
			if err := errors.Join(r.cq.Arm(), r.qp.PostSend(signaled(1))); err != nil {
				t.Fatal(err)
			}
			if _, err := r.cq.Wait(withTimeout(t), wcs[:]); err != nil {
				t.Fatal(err)
			}
		}
		uverbs.Drain(r.ch) // as a wait does whose completion comes while it arms
		before := armed(k)
		ctx, cancel := context.WithTimeout(context.Background(), asleep)
		defer cancel()
		if _, err := r.cq.Wait(ctx, wcs[:]); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		// Once for the token that stands for all of them, and once to sleep.
		if n := armed(k) - before; n > 2 {
			t.Errorf("armed %d times", n)
		}
	})
}

func TestBlockingChannelRefusesNotify(t *testing.T) {
	eachStyle(t, func(t *testing.T, _ *fakeverbs.Kernel, c *uverbs.Context) {
		ch, err := c.CreateBlockingCompChannel()
		if err != nil {
			t.Fatal(err)
		}
		defer ch.Close()
		_, err = c.CreateCQ(uverbs.CQConfig{Entries: 4, Channel: ch, Notify: func() {}})
		if !errors.Is(err, syscall.EINVAL) {
			t.Error(err)
		}
	})
}

// countedContext counts who wants to know of its end, by the way that package
// context has for contexts of others.
type countedContext struct {
	context.Context
	now, ever int
}

// Value hides that it is one of package context itself.
func (c *countedContext) Value(any) any { return nil }

func (c *countedContext) AfterFunc(f func()) (stop func() bool) {
	c.now++
	c.ever++
	end := context.AfterFunc(c.Context, f)
	return func() bool {
		c.now--
		return end()
	}
}

// TestBlockingContexts: a channel heeds the context of a wait, and keeps doing so when
// the next has it too, until one has another.
func TestBlockingContexts(t *testing.T) {
	eachStyle(t, func(t *testing.T, k *fakeverbs.Kernel, c *uverbs.Context) {
		r := mustBuildOn(t, c, (*uverbs.Context).CreateBlockingCompChannel, nil)
		newContext := func() (*countedContext, func()) {
			ctx, cancel := context.WithCancel(context.Background())
			t.Cleanup(cancel)
			return &countedContext{Context: ctx}, cancel
		}
		sleepOn := func(ctx context.Context) <-chan error {
			t.Helper()
			before := armed(k)
			end := waitOn(ctx, r.cq)
			awaitArmed(t, k, before)
			awaitTrue(t, "nobody sleeps", func() bool { return k.Sleeping() > 0 })
			return end
		}
		exchange := func(ctx context.Context) {
			t.Helper()
			end := sleepOn(ctx)
			if err := r.qp.PostSend(signaled(1)); err != nil {
				t.Fatal(err)
			}
			if err := endOf(t, end); err != nil {
				t.Fatal(err)
			}
		}
		want := func(when string, ctx *countedContext, now, ever int) {
			t.Helper()
			if ctx.now != now || ctx.ever != ever {
				t.Errorf("%s: registered %d times of %d, want %d of %d", when, ctx.now, ctx.ever, now, ever)
			}
		}
		once, endOnce := newContext()
		exchange(once)
		want("after one wait", once, 0, 1)
		endOnce()

		loop, _ := newContext()
		for range 5 {
			exchange(loop)
		}
		want("after five waits", loop, 1, 2)
		exchange(context.Background())
		want("after a wait that nothing ends", loop, 0, 2)

		ended, end := newContext()
		exchange(ended)
		exchange(ended)
		end() // wakes nobody
		exchange(context.Background())

		canceled, cancel := newContext()
		exchange(canceled)
		exchange(canceled)
		wait := sleepOn(canceled)
		cancel()
		if err := endOf(t, wait); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}

		last, _ := newContext()
		exchange(last)
		exchange(last)
		want("before Close", last, 1, 2)
		if err := errors.Join(r.qp.Close(), r.cq.Close(), r.ch.Close()); err != nil {
			t.Fatal(err)
		}
		want("after Close", last, 0, 2)
	})
}

// awaitArmed waits until queues have been armed more often than before.
func awaitArmed(t *testing.T, k *fakeverbs.Kernel, before int) {
	t.Helper()
	awaitTrue(t, "the waiter has not looked", func() bool { return armed(k) != before })
}
