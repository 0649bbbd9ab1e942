//go:build linux

package main

import (
	"context"
	"net/netip"
	"sync"
	"time"

	"github.com/purerdma/rdma/cm"
)

// runDials dials, and then closes, so many connections at a time.
func runDials(ctx context.Context, where netip.AddrPort, n, parallel int) (*result, error) {
	conns := make([]*cm.Conn, n)
	dialer := cm.Dialer{Config: small}
	r := &result{Conns: n}
	err := r.time("dial", func() error {
		return each(n, parallel, func(i int) (err error) {
			conns[i], err = dialer.DialAddr(ctx, where)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	return r, r.time("close", func() error {
		return each(n, parallel, func(i int) error { return conns[i].Close() })
	})
}

// time does a step and notes how long it took.
func (r *result) time(name string, do func() error) error {
	start := time.Now()
	err := do()
	r.Phases = append(r.Phases, phase{Name: name, Took: time.Since(start)})
	return err
}

// each calls do for 0 to n-1 from so many goroutines, and returns an error if
// there was one.
func each(n, parallel int, do func(i int) error) error {
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		first error
		next  int
	)
	take := func() (int, bool) {
		mu.Lock()
		defer mu.Unlock()
		next++
		return next - 1, next <= n && first == nil
	}
	for range min(parallel, n) {
		wg.Go(func() {
			for i, ok := take(); ok; i, ok = take() {
				if err := do(i); err != nil {
					mu.Lock()
					first = err
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	return first
}
