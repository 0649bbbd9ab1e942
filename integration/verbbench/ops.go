//go:build linux

package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs"
)

const (
	depth   = 64 // requests and completions of a queue
	page    = 4096
	largest = 16 << 20
)

// rig is what the operations work on.
type rig struct {
	k           *kernel
	pd          *uverbs.PD
	cq          *uverbs.CQ
	qp          *uverbs.QP
	mem         *uverbs.Memory
	mr          *uverbs.MR
	sq, rq, cqr ring
	closers     []io.Closer
}

func newRig(device string) (r *rig, err error) {
	r = &rig{}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.Close())
		}
	}()
	if r.k, err = newKernel(); err != nil {
		return r, err
	}
	d, err := uverbs.DeviceByName(device)
	if err != nil {
		return r, err
	}
	c, err := uverbs.OpenOn(r.k, d, nil)
	if err != nil {
		return r, err
	}
	r.keep(c)
	if r.pd, err = c.AllocPD(); err != nil {
		return r, err
	}
	r.keep(r.pd)
	if r.mem, err = uverbs.NewMemory(largest); err != nil {
		return r, err
	}
	r.keep(r.mem)
	for i := range r.mem.Bytes() {
		r.mem.Bytes()[i] = 1 // so that no page is missing when it is registered
	}
	if r.mr, err = r.pd.RegMRRange(r.mem, 0, page, uverbs.AccessLocalWrite); err != nil {
		return r, err
	}
	r.keep(r.mr)
	return r, r.queues(c)
}

func (r *rig) keep(c io.Closer) { r.closers = append(r.closers, c) }

// Close closes everything.
func (r *rig) Close() (err error) {
	for _, c := range slices.Backward(r.closers) {
		err = errors.Join(err, c.Close())
	}
	return err
}

func (r *rig) queues(c *uverbs.Context) (err error) {
	r.k.maps = nil
	if r.cq, err = c.CreateCQ(uverbs.CQConfig{Entries: depth}); err != nil {
		return err
	}
	r.keep(r.cq)
	if len(r.k.maps) != 1 {
		return fmt.Errorf("%d mappings of a completion queue; only soft-RoCE can be measured", len(r.k.maps))
	}
	r.cqr, r.k.maps = r.k.maps[0], nil
	r.qp, err = r.pd.CreateQP(uverbs.QPConfig{
		SendCQ: r.cq, RecvCQ: r.cq, Cap: uverbs.QPCap{MaxSendWR: depth, MaxRecvWR: depth, MaxInline: 64},
	})
	if err != nil {
		return err
	}
	r.keep(r.qp)
	if len(r.k.maps) != 2 {
		return fmt.Errorf("%d mappings of a queue pair; only soft-RoCE can be measured", len(r.k.maps))
	}
	if err := errors.Join(r.qp.ToInit(1, 0), r.qp.PostRecv(uverbs.RecvWR{})); err != nil {
		return err
	}
	// The receive shows which ring is which.
	r.rq, r.sq = r.k.maps[0], r.k.maps[1]
	if r.sq.used() {
		r.rq, r.sq = r.sq, r.rq
	}
	r.rq.drain()
	return nil
}

// run does an operation n times, a multiple of depth.
type run func(n int) error

// measureAll prints one line per operation: name, tab, nanoseconds.
func (r *rig) measureAll(w io.Writer, n int) error {
	sge := []uverbs.SGE{r.mr.SGE(0, 64)}
	send := uverbs.SendWR{Opcode: abi.IB_UVERBS_WR_SEND, Flags: uverbs.SendSignaled, SGEs: sge}
	inline := uverbs.SendWR{Opcode: abi.IB_UVERBS_WR_SEND, Flags: uverbs.SendSignaled, Inline: r.mr.Bytes()[:32]}
	for _, op := range []struct {
		name     string
		doorbell int32
		run      run
	}{
		{"post send", leftOut, r.postSends(send, 1)},
		{"post send, list of 16", leftOut, r.postSends(send, 16)},
		{"post send, 32 bytes inline", leftOut, r.postSends(inline, 1)},
		{"post send, doorbell to /dev/null", nowhere, r.postSends(send, 1)},
		{"post receive", leftOut, r.postRecvs(uverbs.RecvWR{SGEs: sge})},
		{"poll", leftOut, r.polls(1)},
		{"poll, up to 16 at once", leftOut, r.polls(16)},
		{"poll, nothing there", leftOut, r.pollNone},
	} {
		r.k.doorbell = op.doorbell
		err := measure(w, op.name, op.run, n)
		r.k.doorbell = through
		if err != nil {
			return err
		}
	}
	for size := page; size <= largest; size *= 16 {
		n := 400
		if size >= 1<<20 {
			n = 40
		}
		if err := measure(w, fmt.Sprintf("register and deregister %d KiB", size>>10), r.registers(size), n); err != nil {
			return err
		}
	}
	return nil
}

func measure(w io.Writer, name string, f run, n int) error {
	if err := f(n / 8); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	begin := time.Now()
	if err := f(n); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	_, err := fmt.Fprintf(w, "%s\t%.1f\n", name, float64(time.Since(begin).Nanoseconds())/float64(n))
	return err
}

func (r *rig) postSends(wr uverbs.SendWR, per int) run {
	wrs := slices.Repeat([]uverbs.SendWR{wr}, per)
	return func(n int) error {
		for done := 0; done < n; done += depth {
			for posted := 0; posted < depth; posted += per {
				if err := r.qp.PostSend(wrs...); err != nil {
					return err
				}
			}
			r.sq.drain()
		}
		return nil
	}
}

func (r *rig) postRecvs(wr uverbs.RecvWR) run {
	return func(n int) error {
		for done := 0; done < n; done += depth {
			for range depth {
				if err := r.qp.PostRecv(wr); err != nil {
					return err
				}
			}
			r.rq.drain()
		}
		return nil
	}
}

func (r *rig) polls(per int) run {
	wcs := make([]uverbs.WC, per)
	return func(n int) error {
		for done := 0; done < n; done += depth {
			r.cqr.fill(depth)
			if err := poll(r.cq, wcs); err != nil {
				return err
			}
		}
		return nil
	}
}

// poll takes a queue's completions off. It is no closure: in one that is put in place
// itself the compiler does not put calls in place as it does in other programs.
func poll(cq *uverbs.CQ, wcs []uverbs.WC) error {
	for got := 0; got < depth; {
		k, err := cq.Poll(wcs)
		if err != nil || k == 0 {
			return miscounted(k, err)
		}
		got += k
	}
	return nil
}

//go:noinline
func miscounted(n int, err error) error { return fmt.Errorf("%d completions, %w", n, err) }

func (r *rig) pollNone(n int) error {
	var wcs [1]uverbs.WC
	cq := r.cq
	for range n {
		if k, err := cq.Poll(wcs[:]); err != nil || k != 0 {
			return miscounted(k, err)
		}
	}
	return nil
}

func (r *rig) registers(size int) run {
	return func(n int) error {
		for range n {
			mr, err := r.pd.RegMRRange(r.mem, 0, size, uverbs.AccessLocalWrite)
			if err != nil {
				return err
			}
			if err := mr.Close(); err != nil {
				return err
			}
		}
		return nil
	}
}
