//go:build linux

package integration

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/purerdma/rdma/cm"
)

// raceLimit is how long any single operation may take in a race: less than the
// kernel's own patience, which is over a minute (kernelPatienceMin), and much more
// than a busy machine needs. Those that have a context get a deadline before; a
// request that the kernel lost is sent again after more than four seconds.
const (
	raceLimit    = 50 * time.Second
	raceDeadline = 30 * time.Second
)

// raceCount returns how often a race is run: full, or a twentieth under the race
// detector, or the percentage that RDMA_RACES says, 20 in the short suite.
func raceCount(tb testing.TB, full int) int {
	tb.Helper()
	percent := 5
	if !rxeRace || os.Getenv("RDMA_RACES") != "" {
		percent = countFrom(tb, "RDMA_RACES", 100)
	}
	return max(full*percent/100, 1)
}

// A watchdog fails the test when an operation takes longer than raceLimit.
type watchdog struct {
	tb    testing.TB
	fired atomic.Bool
}

// do runs one operation.
func (w *watchdog) do(what string, op func() error) error {
	timer := time.AfterFunc(raceLimit, func() {
		if !w.fired.Swap(true) { // the stacks of one are enough
			w.tb.Errorf("%s takes more than %v\n%s", what, raceLimit, stacks())
		}
	})
	defer timer.Stop()
	return op()
}

// closeTwice closes from two goroutines at once. A second Close that fails
// after the first has succeeded is an error, too.
func (w *watchdog) closeTwice(what string, c closer) error {
	second := make(chan error, 1)
	go func() { second <- w.do("second close of "+what, c.Close) }()
	err := w.do("close of "+what, c.Close)
	return errors.Join(err, <-second)
}

// cutShort reports errors that a peer sees when the other end of a handshake
// vanishes in the middle.
func cutShort(err error) bool {
	return errors.Is(err, cm.ErrPeerGone) || errors.Is(err, cm.ErrRejected) || errors.Is(err, cm.ErrPeerClosed) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// serveRace accepts until the listener or ctx ends, answers each connection's
// first message with the same, and closes when the peer does. Peers may vanish
// at any moment. It returns how many connections it served.
func serveRace(ctx context.Context, w *watchdog, l *cm.Listener) int {
	var served atomic.Int64
	var running sync.WaitGroup
	for {
		r, err := l.Accept(ctx)
		if err != nil {
			running.Wait()
			return int(served.Load())
		}
		running.Go(func() {
			if err := w.serveOne(ctx, r); err == nil {
				served.Add(1)
			} else if !cutShort(err) {
				w.tb.Errorf("server: %v", err)
			}
		})
	}
}

func (w *watchdog) serveOne(ctx context.Context, r *cm.Request) error {
	limited, cancel := context.WithTimeout(ctx, raceDeadline)
	defer cancel()
	var c *cm.Conn
	err := w.do("accept", func() (err error) {
		c, err = r.Accept(limited, nil)
		return err
	})
	if err != nil {
		return err
	}
	m, err := c.Recv(limited)
	if err == nil {
		err = c.SendCopy(limited, m.Data)
		_ = m.Release()
	}
	if err == nil {
		select {
		case <-c.Done():
		case <-limited.Done():
		}
	}
	return errors.Join(err, w.do("close", c.Close))
}

// dialRace dials, and if it succeeds exchanges a message and closes.
func (w *watchdog) dialRace(ctx context.Context, d *cm.Dialer, address string) error {
	var c *cm.Conn
	err := w.do("dial", func() (err error) {
		c, err = d.Dial(ctx, address)
		return err
	})
	if err != nil {
		return err
	}
	err = pingConn(ctx, c, address)
	return errors.Join(err, w.do("close", c.Close))
}

// pingConn sends a text and wants it back.
func pingConn(ctx context.Context, c *cm.Conn, text string) error {
	if err := c.SendCopy(ctx, []byte(text)); err != nil {
		return err
	}
	buf := make([]byte, len(text)+1)
	n, err := c.RecvCopy(ctx, buf)
	if err == nil && string(buf[:n]) != text {
		err = fmt.Errorf("sent %q, got %q", text, buf[:n])
	}
	return err
}
