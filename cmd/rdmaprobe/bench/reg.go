package bench

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/purerdma/rdma/uverbs"
)

// RegParams say what registrations to measure.
type RegParams struct {
	Size    int  // bytes of a region
	Count   int  // registrations of each thread
	Threads int  // that register regions of their own at the same time
	Huge    bool // ask for huge pages
}

// RegResult is what registering memory costs.
type RegResult struct {
	RegParams
	Device     string
	Touch      time.Duration // first use of all pages of one region, before
	Register   Summary
	Deregister Summary
	Took       time.Duration // of all threads together
}

// Register measures on a device. ctx ends it early. Errors are those of
// package uverbs, which explain limits of locked memory.
func Register(ctx context.Context, d *uverbs.Device, p RegParams) (*RegResult, error) {
	dev, err := d.Open(nil)
	if err != nil {
		return nil, err
	}
	defer dev.Close() // it has no children then
	pd, err := dev.AllocPD()
	if err != nil {
		return nil, err
	}
	defer pd.Close()
	res := &RegResult{RegParams: p, Device: d.Name}
	workers := make([]regWorker, p.Threads)
	var wg sync.WaitGroup
	for i := range workers {
		w := &workers[i]
		if err := w.prepare(pd, p); err != nil {
			return nil, err
		}
		defer w.mem.Close()
	}
	res.Touch = workers[0].touch
	start := time.Now()
	for i := range workers {
		wg.Go(func() { workers[i].err = workers[i].run(ctx, p.Count) })
	}
	wg.Wait()
	res.Took = time.Since(start)
	reg, dereg := hdrhistogram.New(1, longest, 3), hdrhistogram.New(1, longest, 3)
	for i := range workers {
		if err := workers[i].err; err != nil {
			return nil, err
		}
		reg.Merge(workers[i].reg)
		dereg.Merge(workers[i].dereg)
	}
	res.Register, res.Deregister = summarize(reg), summarize(dereg)
	return res, nil
}

type regWorker struct {
	pd         *uverbs.PD
	mem        *uverbs.Memory
	reg, dereg *hdrhistogram.Histogram
	touch      time.Duration
	err        error
}

func (w *regWorker) prepare(pd *uverbs.PD, p RegParams) (err error) {
	w.pd, w.reg, w.dereg = pd, hdrhistogram.New(1, longest, 3), hdrhistogram.New(1, longest, 3)
	if w.mem, err = uverbs.NewMemory(p.Size); err != nil {
		return fmt.Errorf("memory of %d bytes: %w", p.Size, err)
	}
	if p.Huge {
		hugePages(w.mem.Bytes())
	}
	start := time.Now()
	b := w.mem.Bytes()
	for i := 0; i < len(b); i += 4096 {
		b[i] = 1
	}
	w.touch = time.Since(start)
	return nil
}

func (w *regWorker) run(ctx context.Context, count int) error {
	for range count {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		start := time.Now()
		mr, err := w.pd.RegMR(w.mem, uverbs.AccessLocalWrite|uverbs.AccessRemoteRead|uverbs.AccessRemoteWrite)
		if err != nil {
			return err
		}
		_ = w.reg.RecordValue(min(int64(time.Since(start)), longest))
		start = time.Now()
		if err := mr.Close(); err != nil {
			return err
		}
		_ = w.dereg.RecordValue(min(int64(time.Since(start)), longest))
	}
	return nil
}
