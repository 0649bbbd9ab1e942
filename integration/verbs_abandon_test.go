//go:build linux

package integration

import (
	"context"
	"errors"
	"net"
	"syscall"
	"testing"
	"time"

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
