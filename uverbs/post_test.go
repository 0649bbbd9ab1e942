//go:build linux

package uverbs_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/devfile"
	"github.com/purerdma/rdma/internal/fakeverbs"
	"github.com/purerdma/rdma/internal/kernelver"
	"github.com/purerdma/rdma/uverbs"
)

func openFake(tb testing.TB) *uverbs.Context {
	tb.Helper()
	return openFakeOn(tb, fakeverbs.New())
}

// openFakeOn opens the fake device of a kernel, until the test ends.
func openFakeOn(tb testing.TB, k devfile.Kernel) *uverbs.Context {
	tb.Helper()
	c, err := uverbs.OpenOn(k, fakeDevice(), nil)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := c.Close(); err != nil {
			tb.Error(err)
		}
	})
	return c
}

func TestPostStopsAtFirstError(t *testing.T) {
	r := mustBuild(t, openFake(t), nil)
	tooMany := signaled(9)
	tooMany.SGEs = make([]uverbs.SGE, 50)
	tooMuch := signaled(9)
	tooMuch.Inline = make([]byte, 5000)
	unknown := signaled(9)
	unknown.Opcode = abi.IB_UVERBS_WR_TSO
	for _, tc := range []struct {
		name string
		bad  uverbs.SendWR
		want error
	}{
		{"entries", tooMany, uverbs.ErrTooManySGEs},
		{"inline", tooMuch, uverbs.ErrInlineSize},
		{"opcode", unknown, uverbs.ErrOpcode},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if err := r.qp.PostSend(tc.bad); !errors.Is(err, tc.want) {
				t.Errorf("alone: %v", err)
			}
			err := r.qp.PostSend(signaled(1), signaled(2), tc.bad, signaled(3))
			var pe *uverbs.PostError
			if !errors.As(err, &pe) || pe.Posted != 2 || !errors.Is(err, tc.want) {
				t.Errorf("third of four: %v", err)
			}
			wcs := make([]uverbs.WC, 5)
			if n, err := r.cq.Poll(wcs); n != 2 || err != nil || wcs[1].ID != 2 {
				t.Errorf("%d completions, %v", n, err)
			}
		})
	}
}

// panicky is a fake kernel whose device file panics when it is written to.
type panicky struct {
	*fakeverbs.Kernel
	now atomic.Bool
}

type panickyFile struct {
	devfile.Handle
	k *panicky
}

func (k *panicky) Open(path string) (devfile.Handle, error) {
	h, err := k.Kernel.Open(path)
	return panickyFile{h, k}, err
}

func (f panickyFile) Write(p []byte) (int, error) {
	if f.k.now.Load() {
		panic("doorbell")
	}
	return f.Handle.Write(p)
}

func (f panickyFile) Ring(p []byte) (int, error) { return f.Write(p) }

// TestPanicLeavesNoLock: a queue pair whose doorbell panics goes on working.
func TestPanicLeavesNoLock(t *testing.T) {
	k := &panicky{Kernel: fakeverbs.New()}
	r := mustBuild(t, openFakeOn(t, k), nil)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		k.now.Store(true)
		_ = r.qp.PostSend(signaled(1))
	}()
	k.now.Store(false)
	done := make(chan error, 1)
	go func() { done <- r.qp.PostSend(signaled(2)) }()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(hangs):
		t.Fatal("the send queue is still locked")
	}
}

// ringing is a fake kernel that counts the commands of the data path by their way.
type ringing struct {
	*fakeverbs.Kernel
	rung, written atomic.Int32
}

type ringingFile struct {
	devfile.Handle
	k *ringing
}

func (k *ringing) Open(path string) (devfile.Handle, error) {
	h, err := k.Kernel.Open(path)
	return ringingFile{h, k}, err
}

func (f ringingFile) Write(p []byte) (int, error) {
	f.k.written.Add(1)
	return f.Handle.Write(p)
}

func (f ringingFile) Ring(p []byte) (int, error) {
	f.k.rung.Add(1)
	return f.Handle.Ring(p)
}

// TestRings: arming a queue is hidden from the Go runtime; so is a doorbell, but only
// where the kernel queues what it is rung for.
func TestRings(t *testing.T) {
	k := &ringing{Kernel: fakeverbs.New()}
	r := mustBuild(t, openFakeOn(t, k), nil)
	for _, step := range []struct {
		name string
		do   func() error
		ring bool
	}{
		{"arm", r.cq.Arm, true},
		{"arm for solicited", r.cq.ArmSolicited, true},
		{"post", func() error { return r.qp.PostSend(signaled(1)) }, kernelver.Since(6, 10)},
	} {
		rung, written := k.rung.Load(), k.written.Load()
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		rung, written = k.rung.Load()-rung, k.written.Load()-written
		if rung+written != 1 || rung == 1 != step.ring {
			t.Errorf("%s: rung %d times, written %d times", step.name, rung, written)
		}
	}
}

func TestPostNothing(t *testing.T) {
	r := mustBuild(t, openFake(t), nil)
	if err := errors.Join(r.qp.PostSend(), r.qp.PostRecv()); err != nil {
		t.Error(err)
	}
	if n, err := r.cq.Poll(nil); n != 0 || err != nil {
		t.Error(n, err)
	}
}

// step posts a request, which the fake completes, arms and polls. All it uses
// is on its stack.
func step(tb testing.TB, r *rig) {
	var wcs [2]uverbs.WC
	sges := [1]uverbs.SGE{r.mr.SGE(0, 64)}
	err := r.qp.PostSend(uverbs.SendWR{
		ID: 7, Opcode: abi.IB_UVERBS_WR_SEND, Flags: uverbs.SendSignaled, SGEs: sges[:],
	})
	if err == nil {
		err = r.cq.Arm()
	}
	n, pollErr := r.cq.Poll(wcs[:])
	if n != 1 || err != nil || pollErr != nil || wcs[0].ID != 7 {
		tb.Fatalf("%d completions, first %+v; %v, %v", n, wcs[0], err, pollErr)
	}
}

// eventStep does the same, but waits for the event first.
func eventStep(tb testing.TB, r *rig, event <-chan struct{}) {
	var wcs [2]uverbs.WC
	err := r.cq.Arm()
	if err == nil {
		err = r.qp.PostSend(signaled(8))
	}
	if err == nil {
		<-event
	}
	if n, pollErr := r.cq.Poll(wcs[:]); n != 1 || err != nil || pollErr != nil || wcs[0].ID != 8 {
		tb.Fatalf("%d completions, first %+v; %v, %v", n, wcs[0], err, pollErr)
	}
}

func TestDataPathAllocatesNothing(t *testing.T) {
	for _, style := range []uverbs.CallStyle{uverbs.StyleAuto, uverbs.StyleIoctl, uverbs.StyleWrite} {
		t.Run(style.String(), func(t *testing.T) {
			c, err := uverbs.OpenOn(fakeverbs.New(), fakeDevice(), &uverbs.OpenOptions{CallStyle: style})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			event := make(chan struct{}, 1)
			r := mustBuild(t, c, func() { event <- struct{}{} })
			for name, f := range map[string]func(){
				"post, event and poll": func() { eventStep(t, r, event) },
				"poll of an empty queue": func() {
					var wcs [16]uverbs.WC
					if n, err := r.cq.Poll(wcs[:]); n != 0 || err != nil {
						t.Fatal(n, err)
					}
				},
			} {
				if n := testing.AllocsPerRun(1000, f); n != 0 {
					t.Errorf("%s: %v allocations", name, n)
				}
			}
			if err := r.close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestPostRecvAllocatesNothing(t *testing.T) {
	r, err := build(openFake(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := r.close(); err != nil {
			t.Error(err)
		}
	}()
	qp, err := r.pd.CreateQP(uverbs.QPConfig{SendCQ: r.cq, RecvCQ: r.cq, Cap: uverbs.QPCap{MaxSendWR: 1, MaxRecvWR: 8000}})
	if err != nil {
		t.Fatal(err)
	}
	defer qp.Close()
	n := testing.AllocsPerRun(1000, func() {
		sges := [1]uverbs.SGE{r.mr.SGE(0, 64)}
		if err := qp.PostRecv(uverbs.RecvWR{ID: 1, SGEs: sges[:]}); err != nil {
			t.Fatal(err)
		}
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// The benchmarks measure this side of the data path: ring, locks and the
// prebuilt doorbell, with a kernel that does next to nothing.

func BenchmarkPostPoll(b *testing.B) {
	r := mustBuild(b, openFake(b), nil)
	b.ReportAllocs()
	for b.Loop() {
		step(b, r)
	}
}

func BenchmarkPostBatch(b *testing.B) {
	r := mustBuild(b, openFake(b), nil)
	var batch [8]uverbs.SendWR
	sge := [1]uverbs.SGE{r.mr.SGE(0, 64)}
	for i := range batch {
		batch[i] = uverbs.SendWR{Opcode: abi.IB_UVERBS_WR_SEND, SGEs: sge[:]}
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := r.qp.PostSend(batch[:]...); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPollEmpty(b *testing.B) {
	r := mustBuild(b, openFake(b), nil)
	b.ReportAllocs()
	for b.Loop() {
		var wcs [16]uverbs.WC
		if n, err := r.cq.Poll(wcs[:]); n != 0 || err != nil {
			b.Fatal(n, err)
		}
	}
}
