//go:build linux

package integration

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/purerdma/rdma/uverbs"
)

const (
	gcRegions     = 64   // registered at any time
	gcRegistering = 1000 // a second
	gcChildren    = 50   // a second
	gcCollecting  = 10   // a second, each giving memory back to the system
	gcVerifying   = 20   // a second, each of two regions
	gcSeconds     = 5    // RDMA_GC_SECONDS
	gcRequiring   = 30   // from so many seconds on the rates are required
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
// All of it goes on the whole time, each at a rate of its own, so that none takes the
// time of the others. A short run, beside other tests, reports the rates; a long one also
// requires them. An emulated guest reaches them with scripts/vm --icount, where a second is
// 250 million instructions. With the clock of the machine the rates are what its
// other load leaves: between 77 and 503 registrations a second were seen.
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
	g.peer = startGCPeer(t, g.own)
	var err error
	if g.long, err = g.region(gcLong, 1); err != nil {
		t.Fatal(err)
	}
	verbsClose(t, g.long)
	defer g.closeRegions(t)
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	works := []*gcWork{
		{name: "registrations", rate: gcRegistering, do: g.register},
		{name: "children", rate: gcChildren, do: g.child},
		{name: "times memory given back", rate: gcCollecting, do: g.collect},
		{name: "verifications", rate: gcVerifying, do: g.verify},
	}
	before, start := gcCollections(), time.Now()
	gcStress(t, works, time.Duration(seconds)*time.Second)
	gcReport(t, works, time.Since(start), seconds >= gcRequiring)
	t.Logf("%d bytes verified, %d collections", g.verified, gcCollections()-before)
}

// gcCollections returns how many there have been.
func gcCollections() uint32 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.NumGC
}

// gcReport logs how much of everything happened. None may be missing, nor slower than
// asked for by more than a twentieth where that is required.
func gcReport(t *testing.T, works []*gcWork, took time.Duration, required bool) {
	t.Helper()
	for _, w := range works {
		rate := float64(w.done) / took.Seconds()
		t.Logf("%d %s in %v: %.1f/s, asked for %d/s", w.done, w.name, took, rate, w.rate)
		if w.done == 0 || required && rate < 0.95*float64(w.rate) {
			t.Errorf("too few %s", w.name)
		}
	}
}

// gcWork is done again and again, at a rate that is the most and not the least.
type gcWork struct {
	name string
	rate int // a second
	do   func() (done int, err error)
	done int // to be read after perform
}

// perform works until ctx ends, not faster than the rate.
func (w *gcWork) perform(ctx context.Context) error {
	start := time.Now()
	for ctx.Err() == nil {
		n, err := w.do()
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		w.done += n
		if early := time.Duration(w.done)*time.Second/time.Duration(w.rate) - time.Since(start); early > 0 {
			time.Sleep(early)
		}
	}
	return nil
}

// gcStress does everything at once.
func gcStress(t *testing.T, works []*gcWork, d time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	var wg sync.WaitGroup
	for _, w := range works {
		wg.Go(func() {
			if err := w.perform(ctx); err != nil {
				t.Error(err)
				cancel()
			}
		})
	}
	wg.Wait()
}

// gcRig is what the goroutines of TestGCStress share.
type gcRig struct {
	own     *verbsSide
	peer    *gcPeer
	program string
	started int        // children
	garbage [16][]byte // of collect, the latest
	slots   [gcRegions]gcSlot
	long    *gcRegion // exists all the time

	verified int // bytes
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

// collect makes garbage and gives memory back to the system, which collects first.
// Each new mapping makes garbage too, and starts more collections.
func (g *gcRig) collect() (int, error) {
	g.garbage[rand.IntN(len(g.garbage))] = make([]byte, 1+rand.IntN(64<<10))
	debug.FreeOSMemory()
	return 1, nil
}

// verify compares a region that exists for a moment and a piece of the one that
// exists all the time.
func (g *gcRig) verify() (int, error) {
	s := &g.slots[rand.IntN(gcRegions)]
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.r != nil {
		if err := g.compare(s.r, rand.IntN(gcParts), 0, 4096); err != nil {
			return 0, fmt.Errorf("region of a moment: %w", err)
		}
	}
	at := rand.IntN(gcLong - gcPiece)
	if err := g.compare(g.long, 0, at, gcPiece); err != nil {
		return 0, fmt.Errorf("region of all the time: %w", err)
	}
	return 1, nil
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
	g.verified += 2 * n
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
