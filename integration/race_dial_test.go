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

// TestRaceDialCancel ends 1000 dials at random moments of their first 50 ms,
// which is before, in and after the handshake: nothing is left at either end,
// and the listener keeps working (parity scenarios 45, 52).
func TestRaceDialCancel(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	w := &watchdog{tb: t}
	l := listenOn(t, addrV4+":0", nil)
	serveCtx, stop := context.WithCancel(context.Background())
	served := make(chan int, 1)
	go func() { served <- serveRace(serveCtx, w, l) }()
	n := raceCount(t, 1000)
	var made, ended atomic.Int64
	var wg sync.WaitGroup
	for range 2 { // more would hardly ever be done in 50 ms
		wg.Go(func() {
			for ended.Add(1) <= int64(n) {
				ctx, cancel := context.WithCancel(context.Background())
				timer := time.AfterFunc(rand.N(50*time.Millisecond), cancel)
				switch err := w.dialRace(ctx, &cm.Dialer{}, l.Addr().String()); {
				case err == nil:
					made.Add(1)
				case !errors.Is(err, context.Canceled):
					t.Errorf("cancelled dial: %v", err)
				}
				timer.Stop()
				cancel()
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
