//go:build linux

package uverbs_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/devfile"
	"github.com/purerdma/rdma/internal/fakeverbs"
	"github.com/purerdma/rdma/uverbs"
)

// lifeOfEverything opens the device, builds one of each object, moves a
// request, and closes all.
func lifeOfEverything(k devfile.Kernel, style uverbs.CallStyle) error {
	c, err := uverbs.OpenOn(k, fakeDevice(), &uverbs.OpenOptions{CallStyle: style})
	if err != nil {
		return err
	}
	r, err := build(c, nil)
	if err == nil {
		_, queryErr := r.srq.Query()
		err = errors.Join(r.qp.ToInit(1, 0), r.qp.PostSend(signaled(1)), lifeOfMember(r),
			r.srq.SetLimit(2), r.srq.Resize(20), queryErr, r.cq.Resize(50), r.close())
	}
	// A destroy command that failed may be tried again.
	return errors.Join(err, r.close(), c.Close())
}

// lifeOfMember closes a queue pair that is in a multicast group.
func lifeOfMember(r *rig) error {
	qp, err := r.pd.CreateQP(uverbs.QPConfig{Type: abi.IB_UVERBS_QPT_UD, SendCQ: r.cq, RecvCQ: r.cq})
	if err != nil {
		return err
	}
	err = errors.Join(qp.AttachMulticast([16]byte{0xff, 0x0e, 15: 1}, 0), qp.Close())
	return errors.Join(err, qp.Close()) // a destroy command that failed may be tried again
}

// TestEachCallFails makes each kernel call of a life fail in turn: there must
// be an error, and afterwards nothing left.
func TestEachCallFails(t *testing.T) {
	for _, tc := range []struct {
		style uverbs.CallStyle
		old   bool // a kernel that does not number address handles
	}{{style: uverbs.StyleAuto}, {style: uverbs.StyleIoctl}, {style: uverbs.StyleWrite}, {style: uverbs.StyleAuto, old: true}} {
		style := tc.style
		t.Run(fmt.Sprint(style, tc.old), func(t *testing.T) {
			k := fakeverbs.New()
			k.NoAHNumber = tc.old
			if err := lifeOfEverything(k, style); err != nil {
				t.Fatal(err)
			}
			calls := k.Calls()
			for i, name := range calls {
				for _, errno := range []syscall.Errno{syscall.ENOMEM, syscall.EINVAL} {
					k := fakeverbs.New()
					k.NoAHNumber = tc.old
					k.FailCall(i, errno)
					err := lifeOfEverything(k, style)
					if !errors.Is(err, errno) {
						t.Errorf("call %d (%s) fails with %v: got %v", i, name, errno, err)
					}
					if left := k.Survivors(); len(left) > 0 {
						t.Errorf("call %d (%s) fails: left behind %v", i, name, left)
					}
				}
			}
			if len(calls) < 18 {
				t.Errorf("only %d calls: %v", len(calls), calls)
			}
		})
	}
}

func TestBusyNamesUsers(t *testing.T) {
	eachStyle(t, func(t *testing.T, _ *fakeverbs.Kernel, c *uverbs.Context) {
		r := mustBuild(t, c, nil)
		for _, tc := range []struct {
			object interface{ Close() error }
			users  []string
		}{
			{c, []string{r.cq.String(), r.pd.String(), r.ch.String()}},
			{r.pd, []string{r.ah.String(), r.mr.String(), r.mw.String(), r.qp.String(), r.srq.String()}},
			{r.ch, []string{r.cq.String()}},
			{r.cq, []string{r.qp.String()}},
			{r.mem, []string{r.mr.String()}},
		} {
			err := tc.object.Close()
			var busy *uverbs.BusyError
			if !errors.As(err, &busy) || !errors.Is(err, syscall.EBUSY) {
				t.Errorf("%v: %v", tc.object, err)
				continue
			}
			if diff := cmp.Diff(tc.users, busy.Users); diff != "" {
				t.Errorf("%s (-want +got):\n%s", busy.Object, diff)
			}
		}
	})
}

func TestCloseTwiceAndTogether(t *testing.T) {
	eachStyle(t, func(t *testing.T, _ *fakeverbs.Kernel, c *uverbs.Context) {
		r := mustBuild(t, c, nil)
		for _, object := range []interface{ Close() error }{r.qp, r.mw, r.srq, r.ah, r.mr, r.mem, r.cq, r.ch, r.pd} {
			var wg sync.WaitGroup
			for range 8 {
				wg.Go(func() {
					if err := object.Close(); err != nil {
						t.Errorf("%v: %v", object, err)
					}
				})
			}
			wg.Wait()
		}
	})
}

// TestHandleReuse closes queues whose handles the kernel gives to new ones at
// once, while others go on: each rings for itself only.
func TestHandleReuse(t *testing.T) {
	eachStyle(t, func(t *testing.T, _ *fakeverbs.Kernel, c *uverbs.Context) {
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for range 50 {
					r, err := build(c, nil)
					if err != nil {
						t.Error(err)
						return
					}
					step(t, r)
					if err := r.close(); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
	})
}

// TestCloseRetried has a queue pair that the kernel does not destroy at the
// first attempt: it works until it is gone.
func TestCloseRetried(t *testing.T) {
	eachStyle(t, func(t *testing.T, k *fakeverbs.Kernel, c *uverbs.Context) {
		r := mustBuild(t, c, nil)
		k.FailCall(len(k.Calls()), syscall.ENOMEM)
		if err := r.qp.Close(); !errors.Is(err, syscall.ENOMEM) {
			t.Errorf("first close: %v", err)
		}
		step(t, r)
		if err := r.qp.Close(); err != nil {
			t.Errorf("second close: %v", err)
		}
		if err := r.qp.PostSend(signaled(1)); !errors.Is(err, net.ErrClosed) {
			t.Errorf("post: %v", err)
		}
	})
}

func TestUseAfterClose(t *testing.T) {
	eachStyle(t, func(t *testing.T, _ *fakeverbs.Kernel, c *uverbs.Context) {
		r := mustBuild(t, c, nil)
		if err := r.close(); err != nil {
			t.Fatal(err)
		}
		_, pollErr := r.cq.Poll(make([]uverbs.WC, 1))
		_, waitErr := r.cq.Wait(context.Background(), make([]uverbs.WC, 1))
		_, queryErr := r.qp.Query()
		_, regErr := r.pd.RegMR(r.mem, 0)
		_, ahErr := r.pd.CreateAH(uverbs.AHAttr{})
		_, srqErr := r.pd.CreateSRQ(uverbs.SRQConfig{MaxWR: 1})
		_, srqQueryErr := r.srq.Query()
		_, qpErr := r.pd.CreateQP(uverbs.QPConfig{SendCQ: r.cq, RecvCQ: r.cq})
		_, cqErr := c.CreateCQ(uverbs.CQConfig{Entries: 1, Channel: r.ch})
		for name, err := range map[string]error{
			"poll": pollErr, "wait": waitErr, "arm": r.cq.Arm(), "query": queryErr,
			"modify": r.qp.ToError(), "post": r.qp.PostSend(signaled(1)),
			"receive": r.qp.PostRecv(uverbs.RecvWR{}), "register": regErr, "create QP": qpErr, "create AH": ahErr, "create SRQ": srqErr,
			"resize": r.cq.Resize(3), "moderate": r.cq.Moderate(1, 1), "query SRQ": srqQueryErr, "resize SRQ": r.srq.Resize(3), "limit of SRQ": r.srq.SetLimit(3), "create CQ": cqErr,
		} {
			if !errors.Is(err, net.ErrClosed) || !strings.HasPrefix(err.Error(), "rxe0: ") {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

func TestUseOfClosedContext(t *testing.T) {
	c, err := uverbs.OpenOn(fakeverbs.New(), fakeDevice(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	_, pdErr := c.AllocPD()
	_, devErr := c.QueryDevice()
	_, eventErr := c.NextAsyncEvent(context.Background())
	for _, err := range []error{pdErr, devErr, eventErr} {
		if !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
	}
}

// TestRemoval takes the device away under live objects: waiters end, commands
// tell why, and everything still closes.
func TestRemoval(t *testing.T) {
	eachStyle(t, func(t *testing.T, k *fakeverbs.Kernel, c *uverbs.Context) {
		r := mustBuild(t, c, nil)
		waited := make(chan error)
		go func() {
			_, err := r.cq.Wait(withTimeout(t), make([]uverbs.WC, 1))
			waited <- err
		}()
		k.Remove()
		if err := <-waited; !errors.Is(err, uverbs.ErrDeviceRemoved) {
			t.Errorf("wait: %v", err)
		}
		<-c.Removed()
		if err := r.qp.ToError(); !errors.Is(err, uverbs.ErrDeviceRemoved) || !errors.Is(err, syscall.EIO) {
			t.Errorf("modify: %v", err)
		}
		e, err := c.NextAsyncEvent(withTimeout(t))
		if err != nil || e.Type != abi.IB_EVENT_DEVICE_FATAL {
			t.Errorf("event: %v, %v", e, err)
		}
		if _, err := c.NextAsyncEvent(withTimeout(t)); !errors.Is(err, uverbs.ErrDeviceRemoved) {
			t.Errorf("after the last event: %v", err)
		}
	})
}

func TestNoProvider(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*uverbs.Device)
		text   string
	}{
		{"interface of another version", func(d *uverbs.Device) { d.CharDev.ABIVersion = 7 }, "version 7, this module speaks 2 to 2"},
		{"unknown driver", func(d *uverbs.Device) { d.DriverID = abi.RDMA_DRIVER_UNKNOWN }, "driver unknown"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := fakeDevice()
			tc.change(d)
			k := fakeverbs.New()
			c, err := uverbs.OpenOn(k, d, nil)
			if err != nil {
				t.Fatal(err)
			}
			pd, err := c.AllocPD()
			if err != nil {
				t.Fatal(err)
			}
			_, err = c.CreateCQ(uverbs.CQConfig{Entries: 1})
			if !errors.Is(err, uverbs.ErrNoProvider) || !strings.Contains(err.Error(), tc.text) {
				t.Errorf("create CQ: %v", err)
			}
			if _, err := c.Provider(); !errors.Is(err, uverbs.ErrNoProvider) {
				t.Errorf("provider: %v", err)
			}
			if err := errors.Join(pd.Close(), c.Close()); err != nil {
				t.Error(err)
			}
			if left := k.Survivors(); len(left) > 0 {
				t.Error(left)
			}
		})
	}
}

// TestAbandon closes a device under live objects, one of which is waited for:
// all end, nothing is left.
func TestAbandon(t *testing.T) {
	for _, style := range bothStyles {
		t.Run(style.String(), func(t *testing.T) {
			k := fakeverbs.New()
			c, err := uverbs.OpenOn(k, fakeDevice(), &uverbs.OpenOptions{CallStyle: style})
			if err != nil {
				t.Fatal(err)
			}
			r, err := build(c, nil)
			if err != nil {
				t.Fatal(err)
			}
			waited := make(chan error, 2)
			go func() {
				_, err := r.cq.Wait(withTimeout(t), make([]uverbs.WC, 1))
				waited <- err
			}()
			go func() {
				_, err := c.NextAsyncEvent(withTimeout(t))
				waited <- err
			}()
			time.Sleep(10 * time.Millisecond) // both sleep
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() {
					if err := c.Abandon(); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			_, regErr := r.pd.RegMR(r.mem, 0)
			if regErr == nil || !strings.HasSuffix(regErr.Error(), "it has been closed") {
				t.Errorf("register: %v", regErr)
			}
			_, pdErr := c.AllocPD()
			_, qpErr := r.pd.CreateQP(uverbs.QPConfig{SendCQ: r.cq, RecvCQ: r.cq})
			for name, err := range map[string]error{
				"wait": <-waited, "other wait": <-waited, "modify": r.qp.ToError(), "post": r.qp.PostSend(signaled(1)),
				"register": regErr, "domain": pdErr, "queue pair": qpErr, "bind": r.srq.SetLimit(1),
			} {
				if !errors.Is(err, net.ErrClosed) || errors.Is(err, uverbs.ErrDeviceRemoved) {
					t.Errorf("%s: %v", name, err)
				}
			}
			wantBusy(t, r.pd, r.ah.String(), r.mr.String(), r.mw.String(), r.qp.String(), r.srq.String())
			if err := errors.Join(r.close(), r.close(), c.Close(), c.Abandon()); err != nil {
				t.Error(err)
			}
			if left := k.Survivors(); len(left) > 0 {
				t.Error(left)
			}
		})
	}
}

// TestAbandonNothing is Close by another name where nothing is open.
func TestAbandonNothing(t *testing.T) {
	k := fakeverbs.New()
	c, err := uverbs.OpenOn(k, fakeDevice(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(c.Abandon(), c.Close()); err != nil || len(k.Survivors()) > 0 {
		t.Error(err, k.Survivors())
	}
}

// TestAbandonQueueLast: what an object gives back when it is the last one goes to
// its context before the context's own memory goes to others.
func TestAbandonQueueLast(t *testing.T) {
	c, err := uverbs.OpenOn(fakeverbs.New(), fakeDevice(), nil)
	if err != nil {
		t.Fatal(err)
	}
	cq, err := c.CreateCQ(uverbs.CQConfig{Entries: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(c.Abandon(), cq.Close()); err != nil {
		t.Fatal(err)
	}
	if n := uverbs.FreeBells(c); n != 0 {
		t.Errorf("%d commands were given back to a context that is gone", n)
	}
}

// TestAbandonArena: the kernel may still write to what was lent before.
func TestAbandonArena(t *testing.T) {
	c := openFake(t)
	pd, err := c.AllocPD()
	if err != nil {
		t.Fatal(err)
	}
	a, err := pd.NewArena(uverbs.ArenaConfig{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := a.Alloc(64)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(c.Abandon(), b.Close()); err != nil {
		t.Fatal(err)
	}
	if b, err := a.Alloc(64); !errors.Is(err, net.ErrClosed) {
		t.Errorf("lent after Abandon: %v, %v", b, err)
	}
	closeAll(t, a, pd)
}
