//go:build linux

package integration

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/purerdma/rdma/cm"
)

// TestRaceDialCancel ends 400 dials before their first step, in each and after
// it, every other one of them a random moment later: nothing is left at either end,
// and the listener keeps working (parity scenarios 45, 52).
func TestRaceDialCancel(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	w := &watchdog{tb: t}
	l := listenOn(t, addrV4+":0", nil)
	serveCtx, stop := context.WithCancel(context.Background())
	served := make(chan int, 1)
	go func() { served <- serveRace(serveCtx, w, l) }()
	n := int64(raceCount(t, 400))
	var made, ended atomic.Int64
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for i := ended.Add(1); i <= n; i = ended.Add(1) {
				if cancelledDial(t, w, l.Addr().String(), int(i)) {
					made.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if err := w.dialRace(testContext(t), &cm.Dialer{}, l.Addr().String()); err != nil {
		t.Errorf("a dial in peace: %v", err)
	}
	stop()
	t.Logf("%d of %d dials were faster; %d served", made.Load(), n, <-served)
}

// cancelledDial is the i-th dial that is cancelled, and reports whether it was
// faster. A context that ends before the last step is not overlooked.
func cancelledDial(t *testing.T, w *watchdog, address string, i int) (made bool) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	moments := append([]string{""}, dialSteps...)
	moment, atOnce := moments[i%len(moments)], i/len(moments)%2 == 0
	end := cancel
	if !atOnce {
		end = func() { time.AfterFunc(rand.N(4*time.Millisecond), cancel) }
	}
	if moment == "" {
		end()
	}
	d := &cm.Dialer{OnStep: func(s cm.Step) {
		if s.Name == moment {
			end()
		}
	}}
	err := w.dialRace(ctx, d, address)
	switch late := moment == dialSteps[len(dialSteps)-1]; {
	case err == nil && atOnce && !late:
		t.Errorf("cancelled after step %q, and connected", moment)
	case err != nil && !errors.Is(err, context.Canceled):
		t.Errorf("cancelled after step %q: %v", moment, err)
	}
	return err == nil
}

// TestRaceListenerReopen closes a listener and opens it again on its port while
// 100 dials are under way, again and again: the port is free at once, each dial
// ends with a connection that works or is refused, and none hangs (parity
// scenario 51).
func TestRaceListenerReopen(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	w := &watchdog{tb: t}
	const address = addrV4 + ":7494"
	var flying sync.WaitGroup
	var tally dialTally
	landing := make(chan struct{})
	dials := 100
	if rxeRace {
		dials = 12 // a hundred take longer than the limit there, without any fault
	}
	for range dials {
		flying.Go(func() {
			for {
				tally.add(t, w, address)
				select {
				case <-landing:
					return
				default:
				}
			}
		})
	}
	for round := range raceCount(t, 5) {
		if err := listenFor(w, address, &tally.connected); err != nil {
			t.Errorf("round %d: %v", round, err)
		}
	}
	close(landing)
	flying.Wait()
	t.Logf("dials: %v", tally.counts())
	if tally.connected.Load() == 0 || tally.refused.Load() == 0 {
		t.Error("nothing raced")
	}
	// Several requests in a row may be lost, but not often.
	if late := tally.late.Load(); late > (tally.connected.Load()+tally.refused.Load())/10 {
		t.Errorf("%d dials got no answer", late)
	}
	// The dials that nobody waits for any more are over for the peer, too.
	l := listenOn(t, address, nil)
	client, server, _ := connect(t, l, &cm.Dialer{}, nil)
	exchange(t, client, server, 100)
}

// listenFor serves on an address until some dials have connected, and closes the
// listener twice at once while requests come.
func listenFor(w *watchdog, address string, connected *atomic.Int64) error {
	ctx, cancel := context.WithTimeout(context.Background(), raceLimit)
	defer cancel()
	before := connected.Load()
	var l *cm.Listener
	err := w.do("listen", func() (err error) {
		l, err = cm.Listen(ctx, address, nil)
		return err
	})
	if err != nil {
		return err
	}
	served := make(chan int, 1)
	go func() { served <- serveRace(ctx, w, l) }()
	for connected.Load() < before+10 && ctx.Err() == nil {
		time.Sleep(10 * time.Millisecond)
	}
	err = w.closeTwice("listener", l)
	<-served
	return err
}

// A dialTally counts how dials ended.
type dialTally struct{ connected, refused, late, noHandles atomic.Int64 }

func (c *dialTally) counts() string {
	return fmt.Sprintf("%d connected, %d refused, %d not answered in time, %d without an address handle",
		c.connected.Load(), c.refused.Load(), c.late.Load(), c.noHandles.Load())
}

// add dials once. A request that soft-RoCE drops, because its queue is full, is
// sent again after more than four seconds, so that a few dials run out of time.
func (c *dialTally) add(t *testing.T, w *watchdog, address string) {
	ctx, cancel := context.WithTimeout(context.Background(), raceDeadline)
	defer cancel()
	switch err := w.dialRace(ctx, &cm.Dialer{}, address); {
	case err == nil:
		c.connected.Add(1)
	case errors.Is(err, cm.ErrNoHandles):
		c.noHandles.Add(1)
	case errors.Is(err, cm.ErrRejected), errors.Is(err, cm.ErrPeerClosed):
		c.refused.Add(1)
	case errors.Is(err, context.DeadlineExceeded):
		c.late.Add(1)
	default:
		t.Errorf("dial: %v", err)
	}
}
