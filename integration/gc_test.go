//go:build linux

package integration

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/purerdma/rdma/uverbs"
)

const (
	gcRegions     = 64   // registered at any time
	gcRegistering = 1000 // a second
	gcChildren    = 50   // a second
	gcSeconds     = 5    // RDMA_GC_SECONDS
	gcLong        = 128 << 10
	gcPiece       = 16 << 10
	gcParts       = 4 // registrations of each new mapping, a page each
)

// TestGCStress looks for a byte that the device and the process see
// differently, while everything happens that could move, free or copy a page:
// the collector runs all the time and gives memory back to the system, memory
// is registered and unmapped, and children are started, a quarter of them by a
// true fork. The peer, another process, reads patterns by RDMA that this one wrote,
// and writes patterns that this one reads.
//
// The rates asked for are more than an emulated processor can do. How close it comes
// is no matter: each of it must have happened, and nothing else counts.
func TestGCStress(t *testing.T) {
	requireRDMA(t)
	seconds := gcSeconds
	if s := os.Getenv("RDMA_GC_SECONDS"); s != "" {
		var err error
		if seconds, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	checkLeaks(t)
	g := &gcRig{program: trivialProgram(t), own: gcSide(t)}
	g.works = []*gcWork{{name: "registrations", rate: gcRegistering, do: g.register}, {name: "children", rate: gcChildren, do: g.child}}
	g.peer = startGCPeer(t, g.own)
	long, err := g.region(gcLong, 1)
	if err != nil {
		t.Fatal(err)
	}
	verbsClose(t, long)
	defer g.closeRegions(t)
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	start := time.Now()
	g.stress(t, long, time.Duration(seconds)*time.Second)
	g.report(t, time.Since(start))
}

// report logs how much of everything happened, none of which may be missing.
func (g *gcRig) report(t *testing.T, took time.Duration) {
	t.Helper()
	for _, w := range g.works {
		n := w.done.Load()
		t.Logf("%d %s in %v: %.0f/s, asked for %d/s", n, w.name, took, float64(n)/took.Seconds(), w.rate)
		if n == 0 {
			t.Errorf("no %s", w.name)
		}
	}
	verified, collections := g.verified.Load(), g.collections.Load()
	t.Logf("%d bytes verified, %d collections", verified, collections)
	if verified == 0 {
		t.Error("nothing verified")
	}
	if collections == 0 {
		t.Error("no collections")
	}
}

// gcWork is done again and again, at a rate that is the most and not the least.
type gcWork struct {
	name string
	rate int // a second
	do   func() (done int, err error)
	done atomic.Int64
}

// perform works until ctx ends, not faster than the rate.
func (w *gcWork) perform(ctx context.Context) error {
	start := time.Now()
	for total := 0; ctx.Err() == nil; {
		n, err := w.do()
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		w.done.Add(int64(n))
		total += n
		if early := time.Duration(total)*time.Second/time.Duration(w.rate) - time.Since(start); early > 0 {
			time.Sleep(early)
		}
	}
	return nil
}

// stress does everything at once.
func (g *gcRig) stress(t *testing.T, long *gcRegion, d time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	var wg sync.WaitGroup
	run := func(f func() error) {
		wg.Go(func() {
			if err := f(); err != nil {
				t.Error(err)
				cancel()
			}
		})
	}
	for _, w := range g.works {
		run(func() error { return w.perform(ctx) })
	}
	run(func() error { return g.collect(ctx) })
	for ctx.Err() == nil {
		if err := g.verify(long); err != nil {
			t.Error(err)
			break
		}
	}
	cancel()
	wg.Wait()
}

// gcRig is what the goroutines of TestGCStress share.
type gcRig struct {
	own     *verbsSide
	peer    *gcPeer
	works   []*gcWork
	program string
	started int // children
	slots   [gcRegions]gcSlot

	verified, collections atomic.Int64
}

// gcSlot holds a region; whoever uses or replaces it holds mu.
type gcSlot struct {
	mu sync.Mutex
	r  *gcRegion
}

// gcRegion is registered memory and the seed of the pattern in it.
type gcRegion struct {
	mem  *uverbs.Memory
	mrs  []*uverbs.MR // of parts of the same length
	seed int
}

// region registers n bytes in so many parts.
func (g *gcRig) region(n, parts int) (*gcRegion, error) {
	mem, err := uverbs.NewMemory(n)
	if err != nil {
		return nil, err
	}
	r := &gcRegion{mem: mem}
	for i := range parts {
		mr, err := g.own.qp.PD().RegMRRange(mem, i*n/parts, n/parts, rxeAccess)
		if err != nil {
			return nil, errors.Join(err, r.Close())
		}
		r.mrs = append(r.mrs, mr)
	}
	r.fill()
	return r, nil
}

// fill writes a pattern that the region did not hold before.
func (r *gcRegion) fill() {
	r.seed = rand.IntN(gcLong - 1)
	copy(r.mem.Bytes(), gcPattern(r.seed, r.mem.Len()))
}

// gcRandom is where patterns come from: a seed is an offset into it.
var gcRandom = sync.OnceValue(func() []byte {
	b := make([]byte, 2*gcLong)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(b) // never fails
	return b
})

func gcPattern(seed, n int) []byte { return gcRandom()[seed : seed+n] }

// Close releases it.
func (r *gcRegion) Close() error {
	var errs []error
	for _, mr := range r.mrs {
		errs = append(errs, mr.Close())
	}
	return errors.Join(append(errs, r.mem.Close())...)
}

// register replaces a region by a new one, and says how many registrations that
// took.
func (g *gcRig) register() (int, error) {
	r, err := g.region(gcParts*4096, gcParts)
	if err != nil {
		return 0, err
	}
	s := &g.slots[rand.IntN(gcRegions)]
	s.mu.Lock()
	old := s.r
	s.r = r
	s.mu.Unlock()
	if old == nil {
		return gcParts, nil
	}
	return gcParts, old.Close()
}

func (g *gcRig) closeRegions(t *testing.T) {
	for i := range g.slots {
		if r := g.slots[i].r; r != nil {
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// child starts a process and waits for it. A new user namespace makes Go use
// fork; else it uses vfork.
func (g *gcRig) child() (int, error) {
	attr := &os.ProcAttr{Files: []*os.File{nil, nil, os.Stderr}}
	if g.started++; g.started%4 == 0 {
		attr.Sys = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER}
	}
	p, err := os.StartProcess(g.program, []string{g.program}, attr)
	if err != nil {
		return 0, err
	}
	state, err := p.Wait()
	if err == nil && !state.Success() {
		err = errors.New(state.String())
	}
	return 1, err
}

// collect makes garbage and gives memory back to the system, in a loop, for about
// half of the time.
func (g *gcRig) collect(ctx context.Context) error {
	var keep [16][]byte
	for i := 0; ctx.Err() == nil; i++ {
		start := time.Now()
		keep[i%len(keep)] = make([]byte, 1+rand.IntN(64<<10))
		debug.FreeOSMemory()
		g.collections.Add(1)
		time.Sleep(time.Since(start))
	}
	return nil
}

// verify compares a region that exists for a moment and a piece of the one that
// exists all the time.
func (g *gcRig) verify(long *gcRegion) error {
	s := &g.slots[rand.IntN(gcRegions)]
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.r != nil {
		if err := g.compare(s.r, rand.IntN(gcParts), 0, 4096); err != nil {
			return fmt.Errorf("region of a moment: %w", err)
		}
	}
	at := rand.IntN(gcLong - gcPiece)
	if err := g.compare(long, 0, at, gcPiece); err != nil {
		return fmt.Errorf("region of all the time: %w", err)
	}
	return nil
}

// compare has the peer read what the process wrote in a part and write something
// else, and looks at that.
func (g *gcRig) compare(r *gcRegion, part, at, n int) error {
	mem, mr := r.mem.Bytes(), r.mrs[part]
	at += part * (len(mem) / len(r.mrs))
	addr := r.mrs[0].Addr() + uint64(at)
	err := g.peer.check(gcOrder{Addr: addr, RKey: mr.RKey(), Seed: r.seed, At: at, Len: n})
	if err != nil {
		return err
	}
	old := gcPattern(r.seed, len(mem))
	for _, e := range []error{
		gcDiffer("written by the peer", mem[at:at+n], gcPattern(r.seed+1, n)),
		gcDiffer("before what the peer wrote", mem[:at], old[:at]),
		gcDiffer("behind what the peer wrote", mem[at+n:], old[at+n:]),
	} {
		if e != nil {
			return e
		}
	}
	g.verified.Add(int64(2 * n))
	r.fill()
	return nil
}

func gcDiffer(what string, got, want []byte) error {
	if bytes.Equal(got, want) {
		return nil
	}
	for i := range got {
		if got[i] != want[i] {
			return fmt.Errorf("%s: byte %d of %d is %#x, want %#x", what, i, len(got), got[i], want[i])
		}
	}
	return nil
}
