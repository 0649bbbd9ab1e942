//go:build linux

package integration

import (
	"context"
	"errors"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/ucma"
)

// The kernel sends each message of a connection 16 times, and waits for more
// than four seconds each time. How long depends on the path: 78 s here since 6.12,
// 102 s before.
const (
	kernelPatienceMin = 60 * time.Second
	kernelPatienceMax = 120 * time.Second
)

// TestLongSilence waits for the kernel's own patience to end: a peer that does
// not answer a request, of connections and of datagram services, and one that
// does not answer a disconnect (parity scenarios 45, 55). In a guest whose idle
// time passes at once (scripts/vm --icount) it is quick.
func TestLongSilence(t *testing.T) {
	requireRDMA(t)
	if os.Getenv("RDMA_LONG") == "" {
		// Not "missing": scripts/test runs it in a step of its own.
		t.Skip("takes a minute and a half: set RDMA_LONG=1")
	}
	qps := idsQPs(t)
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	changeNeighbour(t, addrSilent, 99) // known, and answers nothing
	l, dst := idsListen(t, nil)
	a, b := qps.pair(l, dst, nil)
	lonely := idsResolved(t, nil, sockaddr(t, addrSilent+":7471"))
	param := idsParam(0)
	waits := map[string]func() error{
		"request": func() error { return second(cm.Dial(ctx, addrSilent+":7471")) },
		"disconnect": func() error {
			if err := a.Disconnect(); err != nil {
				return err
			}
			if err := b.WaitDisconnected(ctx); err != nil { // is told at once
				t.Errorf("the peer: %v", err)
			}
			return a.WaitDisconnected(ctx)
		},
		"ID's request": func() error { return second(lonely.Connect(ctx, param, ucma.ECE{})) },
	}
	start := time.Now()
	type result struct {
		name string
		err  error
		took time.Duration
	}
	results := make(chan result)
	for name, wait := range waits {
		go func() {
			err := wait()
			results <- result{name, err, time.Since(start)}
		}()
	}
	for range waits {
		r := <-results
		t.Logf("%s: after %v: %v", r.name, r.took.Round(time.Millisecond), r.err)
		if !errors.Is(r.err, syscall.ETIMEDOUT) {
			t.Errorf("%s: %v", r.name, r.err)
		}
		if r.took < kernelPatienceMin || r.took > kernelPatienceMax {
			t.Errorf("%s: the kernel took %v", r.name, r.took)
		}
	}
}
