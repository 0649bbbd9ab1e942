//go:build linux

package integration

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs"
)

// TestVerbsAbandon closes a device under live objects; that nothing is left is
// what checkLeaks finds once they are closed too.
func TestVerbsAbandon(t *testing.T) {
	verbsEach(t, func(t *testing.T, c *uverbs.Context) {
		a, b := verbsPair(t, c)
		verbsSend(t, a, b)
		waited := make(chan error)
		go func() {
			_, err := a.cq.Wait(context.Background(), make([]uverbs.WC, 1))
			waited <- err
		}()
		time.Sleep(10 * time.Millisecond) // it sleeps
		if err := c.Abandon(); err != nil {
			t.Fatal(err)
		}
		_, regErr := a.qp.PD().RegMR(a.mr.Memory(), uverbs.AccessLocalWrite)
		for name, err := range map[string]error{"wait": <-waited, "modify": a.qp.ToError(), "register": regErr, "arm": a.cq.Arm()} {
			if !errors.Is(err, net.ErrClosed) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// abandonRounds is how often TestVerbsAbandonOrder abandons a device with each call
// style, and abandonBeside how often another makes something at least meanwhile.
const abandonRounds, abandonBeside = 3, 100

// TestVerbsAbandonOrder: the last object that an abandoned device has may be a
// completion queue. What it holds is gone only after it: else the commands of
// another context, which use the memory again at once, would be spoilt.
func TestVerbsAbandonOrder(t *testing.T) {
	eachCallStyle(t, func(t *testing.T, style uverbs.CallStyle) {
		other := verbsOpen(t, style)
		ctx, cancel := context.WithCancel(context.Background())
		var beside atomic.Int64
		var wg sync.WaitGroup
		defer wg.Wait()
		defer cancel()
		for range 2 {
			wg.Go(func() {
				for ctx.Err() == nil {
					pd, err := other.AllocPD()
					if err == nil {
						err = pd.Close()
					}
					if err != nil {
						t.Errorf("beside it: %v", err)
						return
					}
					beside.Add(1)
				}
			})
		}
		for round := 0; round < abandonRounds || beside.Load() < abandonBeside; round++ {
			if err := verbsAbandonRound(other.Device(), style); err != nil || t.Failed() {
				t.Fatal(err)
			}
		}
	})
}

// verbsAbandonRound opens a device, abandons it, and closes what was made on it.
func verbsAbandonRound(d *uverbs.Device, style uverbs.CallStyle) error {
	c, err := d.Open(&uverbs.OpenOptions{CallStyle: style})
	if err != nil {
		return err
	}
	objects, err := verbsPageful(c)
	errs := []error{err, c.Abandon()}
	for _, o := range objects {
		errs = append(errs, o.Close())
	}
	return errors.Join(errs...)
}

// verbsPageful makes objects whose doorbells, two for each completion queue and one
// for each queue pair, fill a page of 32 from its end. Those of the queue made last
// are at its beginning, where any other command is that uses the page again. It
// returns the objects in an order in which they can be closed, with that one last.
func verbsPageful(c *uverbs.Context) (objects []io.Closer, err error) {
	pd, err := c.AllocPD()
	if err != nil {
		return nil, err
	}
	first, err := c.CreateCQ(uverbs.CQConfig{Entries: 4})
	if err != nil {
		return []io.Closer{pd}, err
	}
	last := []io.Closer{pd, first}
	defer func() { objects = append(objects, last...) }()
	for range 2 {
		qp, err := pd.CreateQP(uverbs.QPConfig{Type: abi.IB_UVERBS_QPT_RC, SendCQ: first, RecvCQ: first, Cap: verbsCap})
		if err != nil {
			return objects, err
		}
		objects = append(objects, qp)
	}
	for range 14 {
		cq, err := c.CreateCQ(uverbs.CQConfig{Entries: 4})
		if err != nil {
			return objects, err
		}
		last = append(last, cq)
	}
	return objects, nil
}

// TestVerbsAbandonShared: a domain that another process uses cannot be closed, nor
// the device then; but it can be left to the other, which goes on.
func TestVerbsAbandonShared(t *testing.T) {
	verbsEach(t, func(t *testing.T, c *uverbs.Context) {
		pd, err := c.AllocPD()
		if err != nil {
			t.Fatal(err)
		}
		other := verbsShare(t, c)
		verbsClose(t, other)
		shared, err := other.ImportPD(pd.Handle())
		if err != nil {
			t.Fatal(err)
		}
		verbsClose(t, shared)
		ch := verbsChannel(t, other)
		x, y := verbsNewSide(t, shared, ch, verbsCap), verbsNewSide(t, shared, ch, verbsCap)
		gid := verbsGID(t, other)
		x.connect(gid, y)
		y.connect(gid, x)
		if err := pd.Close(); !errors.Is(err, syscall.EBUSY) {
			t.Errorf("close of a domain in use: %v", err)
		}
		var busy *uverbs.BusyError
		if err := c.Close(); !errors.As(err, &busy) {
			t.Errorf("close of its device: %v", err)
		}
		if err := errors.Join(c.Abandon(), pd.Close()); err != nil {
			t.Error(err)
		}
		verbsSend(t, x, y)
	})
}

// TestVerbsParentDomain: what is made on a parent domain works with what is made
// on its domain, which stays open for it.
func TestVerbsParentDomain(t *testing.T) {
	verbsEach(t, func(t *testing.T, c *uverbs.Context) {
		pd, ch := verbsPD(t, c), verbsChannel(t, c)
		parent, err := pd.AllocParentDomain()
		if err != nil {
			t.Fatal(err)
		}
		verbsClose(t, parent)
		a, b := verbsNewSide(t, pd, ch, verbsCap), verbsNewSide(t, parent, ch, verbsCap)
		gid := verbsGID(t, c)
		a.connect(gid, b)
		b.connect(gid, a)
		a.mr, b.mr = b.mr, a.mr // each with memory of the other
		verbsSend(t, a, b)
		verbsWrite(t, b, a)
		var busy *uverbs.BusyError
		if err := pd.Close(); !errors.As(err, &busy) {
			t.Errorf("close of the domain: %v", err)
		}
	})
}
