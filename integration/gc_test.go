//go:build linux

package integration

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs"
)

const (
	gcRegions     = 64   // registered at any time
	gcRegistering = 1000 // a second
	gcChildren    = 50   // a second
	gcSeconds     = 5    // RDMA_GC_SECONDS
	gcLong        = 128 << 10
	gcPiece       = 16 << 10
)

// TestGCStress looks for a byte that the device and the process see
// differently, while everything happens that could move, free or copy a page:
// the collector runs all the time and gives memory back to the system, memory
// is registered and unmapped, and children are started, half of them by a true
// fork. A peer reads patterns by RDMA that the process wrote, and writes
// patterns that the process reads.
func TestGCStress(t *testing.T) {
	requireRDMA(t)
	seconds := gcSeconds
	if s := os.Getenv("RDMA_GC_SECONDS"); s != "" {
		var err error
		if seconds, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	g := &gcRig{program: trivialProgram(t), access: rxeAccess}
	g.peer, g.own = rxePair(t, rxeConfig{cap: verbsCap})
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	long, err := g.region(gcLong)
	if err != nil {
		t.Fatal(err)
	}
	defer long.close()
	defer g.closeRegions(t)
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(seconds)*time.Second)
	defer cancel()
	var wg sync.WaitGroup
	for name, work := range map[string]func(context.Context) error{
		"collect":  g.collect,
		"register": func(ctx context.Context) error { return perSecond(ctx, gcRegistering, g.register) },
		"children": func(ctx context.Context) error { return perSecond(ctx, gcChildren, g.child) },
	} {
		wg.Go(func() {
			if err := work(ctx); err != nil {
				t.Errorf("%s: %v", name, err)
				cancel()
			}
		})
	}
	for ctx.Err() == nil && !t.Failed() {
		if err := g.verify(long); err != nil {
			t.Error(err)
		}
	}
	cancel()
	wg.Wait()
	t.Logf("%d s: %d bytes verified, %d registrations, %d children, %d collections", seconds,
		g.verified.Load(), g.registered.Load(), g.children.Load(), g.collections.Load())
	for what, n := range map[string]int64{"verified": g.verified.Load(), "registered": g.registered.Load(), "children": g.children.Load()} {
		if n == 0 {
			t.Errorf("nothing %s", what)
		}
	}
}

// gcRig is what the goroutines of TestGCStress share.
type gcRig struct {
	peer, own *verbsSide
	access    uverbs.Access
	program   string
	slots     [gcRegions]gcSlot

	verified, registered, children, collections atomic.Int64
}

// gcSlot holds a region; whoever uses or replaces it holds mu.
type gcSlot struct {
	mu sync.Mutex
	r  *gcRegion
}

// gcRegion is registered memory and the seed of the pattern in it.
type gcRegion struct {
	mem  *uverbs.Memory
	mr   *uverbs.MR
	seed int
}

func (g *gcRig) region(n int) (*gcRegion, error) {
	mem, err := uverbs.NewMemory(n)
	if err != nil {
		return nil, err
	}
	mr, err := g.own.qp.PD().RegMR(mem, g.access)
	if err != nil {
		return nil, errors.Join(err, mem.Close())
	}
	r := &gcRegion{mem: mem, mr: mr}
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

func (r *gcRegion) close() error { return errors.Join(r.mr.Close(), r.mem.Close()) }

// register replaces a region by a new one.
func (g *gcRig) register() error {
	r, err := g.region(4096 * (1 + rand.IntN(4)))
	if err != nil {
		return err
	}
	g.registered.Add(1)
	s := &g.slots[rand.IntN(gcRegions)]
	s.mu.Lock()
	old := s.r
	s.r = r
	s.mu.Unlock()
	if old == nil {
		return nil
	}
	return old.close()
}

func (g *gcRig) closeRegions(t *testing.T) {
	for i := range g.slots {
		if r := g.slots[i].r; r != nil {
			if err := r.close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// child starts a process and waits for it. A new user namespace makes Go use
// fork; else it uses vfork.
func (g *gcRig) child() error {
	cmd := exec.Command(g.program)
	if g.children.Add(1)%2 == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER}
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("child: %w: %s", err, out)
	}
	return nil
}

// collect makes garbage and gives memory back to the system, in a loop.
func (g *gcRig) collect(ctx context.Context) error {
	var keep [64][]byte
	for i := 0; ctx.Err() == nil; i++ {
		keep[i%len(keep)] = make([]byte, 1+rand.IntN(64<<10))
		if i%16 == 0 {
			debug.FreeOSMemory()
			g.collections.Add(1)
			time.Sleep(5 * time.Millisecond)
		}
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
		if err := g.compare(s.r, 0, s.r.mem.Len()); err != nil {
			return fmt.Errorf("region of a moment: %w", err)
		}
	}
	at := rand.IntN(gcLong - gcPiece)
	if err := g.compare(long, at, gcPiece); err != nil {
		return fmt.Errorf("region of all the time: %w", err)
	}
	return nil
}

// compare reads what the process wrote, lets the peer write, and reads that in
// the process.
func (g *gcRig) compare(r *gcRegion, at, n int) error {
	want := bytes.Clone(gcPattern(r.seed, r.mem.Len()))
	peer := g.peer.mr.Bytes()[:n]
	if err := g.transfer(abi.IB_UVERBS_WR_RDMA_READ, r.mr, at, n); err != nil {
		return err
	}
	if err := gcDiffer("read by the peer", peer, want[at:at+n]); err != nil {
		return err
	}
	copy(peer, gcPattern(r.seed+1, n))
	if err := g.transfer(abi.IB_UVERBS_WR_RDMA_WRITE, r.mr, at, n); err != nil {
		return err
	}
	if err := gcDiffer("written by the peer", r.mem.Bytes()[at:at+n], peer); err != nil {
		return err
	}
	copy(want[at:], peer)
	if err := gcDiffer("around what the peer wrote", r.mem.Bytes(), want); err != nil {
		return err
	}
	g.verified.Add(int64(2 * n))
	r.fill()
	return nil
}

func (g *gcRig) transfer(op abi.IBUverbsWROpcode, mr *uverbs.MR, at, n int) error {
	err := g.peer.qp.PostSend(uverbs.SendWR{Opcode: op, Flags: uverbs.SendSignaled,
		SGEs: []uverbs.SGE{g.peer.mr.SGE(0, n)}, RemoteAddr: mr.Addr() + uint64(at), RKey: mr.RKey()})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), verbsTimeout)
	defer cancel()
	var wcs [1]uverbs.WC
	if _, err := g.peer.cq.Wait(ctx, wcs[:]); err != nil {
		return err
	}
	return wcs[0].Err()
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

// perSecond calls f so many times a second, or as often as the machine can.
func perSecond(ctx context.Context, rate int, f func() error) error {
	start := time.Now()
	for i := 0; ctx.Err() == nil; i++ {
		if err := f(); err != nil {
			return err
		}
		if early := time.Duration(i)*time.Second/time.Duration(rate) - time.Since(start); early > 0 {
			time.Sleep(early)
		}
	}
	return nil
}
