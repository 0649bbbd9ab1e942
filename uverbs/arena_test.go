//go:build linux

package uverbs_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"syscall"
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/fakeverbs"
	"github.com/purerdma/rdma/internal/offheap"
	"github.com/purerdma/rdma/uverbs"
)

// fakeArena makes an arena on a fake kernel, and checks at the end that all
// memory was given back.
func fakeArena(t testing.TB, cfg uverbs.ArenaConfig) *uverbs.Arena {
	t.Helper()
	a, _ := fakeArenaKernel(t, cfg)
	return a
}

func fakeArenaKernel(t testing.TB, cfg uverbs.ArenaConfig) (*uverbs.Arena, *fakeverbs.Kernel) {
	t.Helper()
	mapped := offheap.Mapped()
	k := fakeverbs.New()
	c, err := uverbs.OpenOn(k, fakeDevice(), nil)
	if err != nil {
		t.Fatal(err)
	}
	pd, err := c.AllocPD()
	if err != nil {
		t.Fatal(err)
	}
	a, err := pd.NewArena(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for range 2 {
			if err := a.Close(); err != nil {
				t.Error(err)
			}
		}
		if _, err := a.Alloc(1); !errors.Is(err, net.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
		if err := errors.Join(pd.Close(), c.Close()); err != nil {
			t.Error(err)
		}
		if left := k.Survivors(); len(left) > 0 {
			t.Errorf("left in the kernel: %v", left)
		}
		if n := offheap.Mapped(); n != mapped {
			t.Errorf("%d bytes left", n-mapped)
		}
	})
	return a, k
}

func mustAlloc(t testing.TB, a *uverbs.Arena, n int) *uverbs.Buffer {
	t.Helper()
	b, err := a.Alloc(n)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestArenaBuffer(t *testing.T) {
	a := fakeArena(t, uverbs.ArenaConfig{Access: uverbs.AccessRemoteRead})
	b, c := mustAlloc(t, a, 100), mustAlloc(t, a, 100)
	if b.MR() != c.MR() || b.Addr() == c.Addr() || b.Addr()%64 != 0 || c.Addr()%64 != 0 {
		t.Errorf("at %#x and %#x of %v and %v", b.Addr(), c.Addr(), b.MR(), c.MR())
	}
	s := b.Slice(10, 30).Slice(5, 10)
	want := uverbs.SGE{Addr: b.Addr() + 15, Length: 5, LKey: b.MR().LKey()}
	if s.SGE() != want || s.Len() != 5 || s.Addr() != want.Addr || s.LKey() != want.LKey || s.RKey() != b.MR().RKey() || s.MR() != b.MR() {
		t.Errorf("slice %+v", s)
	}
	copy(s.Bytes(), "12345678")
	if got := b.Bytes(); !bytes.Equal(got[14:21], []byte("\x0012345\x00")) || len(got) != b.Len() || cap(s.Bytes()) != 5 {
		t.Errorf("% x", got[:32])
	}
	if b.SGE() != b.All().SGE() || b.All().Len() != 100 {
		t.Errorf("whole %+v", b.All())
	}
	for _, x := range []*uverbs.Buffer{b, b, c} {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestArenaClosedBuffer(t *testing.T) {
	a := fakeArena(t, uverbs.ArenaConfig{})
	b := mustAlloc(t, a, 64)
	s := b.Slice(0, 8)
	copy(s.Bytes(), "secret")
	old := b.Addr()
	if err := errors.Join(s.Err(), b.Close()); err != nil {
		t.Fatal(err)
	}
	next := mustAlloc(t, a, 64)
	defer next.Close()
	if next.Addr() != old || !bytes.Equal(next.Bytes(), make([]byte, 64)) {
		t.Errorf("reused: at %#x of %#x, % x", next.Addr(), old, next.Bytes())
	}
	if s.Bytes() != nil || b.Bytes() != nil || !errors.Is(s.Err(), net.ErrClosed) {
		t.Errorf("a closed buffer's slice still works: %v", s.Err())
	}
	var zero uverbs.Slice
	if zero.Addr() != 0 || zero.LKey() != 0 || zero.RKey() != 0 || zero.Bytes() != nil || !errors.Is(zero.Err(), net.ErrClosed) {
		t.Errorf("zero value %+v", zero)
	}
	for name, f := range map[string]func(){
		"entry of a closed buffer": func() { s.SGE() },
		"beyond the end":           func() { next.Slice(0, 65) },
		"before the start":         func() { next.Slice(-1, 5) },
		"backwards":                func() { next.Slice(5, 4) },
		"into the neighbour":       func() { next.Slice(0, 10).Slice(0, 11) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

func TestArenaSizes(t *testing.T) {
	page := os.Getpagesize()
	a := fakeArena(t, uverbs.ArenaConfig{ChunkSize: 4 * page, Limit: 16 * page})
	small, large := mustAlloc(t, a, 1), mustAlloc(t, a, page+1)
	if got := a.Mapped(); got != 6*page {
		t.Errorf("%d pages mapped for a chunk and two of its own", got/page)
	}
	if small.MR() == large.MR() {
		t.Error("a large buffer in a chunk for small ones")
	}
	if _, err := a.Alloc(11 * page); !errors.Is(err, uverbs.ErrArenaFull) {
		t.Errorf("beyond the limit: %v", err)
	}
	for _, n := range []int{0, -1} {
		if _, err := a.Alloc(n); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	var busy *uverbs.BusyError
	if err := a.Close(); !errors.As(err, &busy) || len(busy.Users) != 2 {
		t.Errorf("close with buffers: %v", err)
	}
	if err := errors.Join(large.Close(), small.Close()); err != nil {
		t.Error(err)
	}
	if got := a.Mapped(); got != 4*page {
		t.Errorf("%d pages kept", got/page)
	}
	if _, err := a.PD().NewArena(uverbs.ArenaConfig{Limit: -1}); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("negative limit: %v", err)
	}
}

// TestArenaLimit: the limit itself may be mapped, and no page more.
func TestArenaLimit(t *testing.T) {
	page := os.Getpagesize()
	a := fakeArena(t, uverbs.ArenaConfig{ChunkSize: 4 * page, Limit: 8 * page})
	first := mustAlloc(t, a, 4*page)
	if _, err := a.Alloc(5 * page); !errors.Is(err, uverbs.ErrArenaFull) {
		t.Errorf("5 pages behind 4 of 8: %v", err)
	}
	if err := errors.Join(mustAlloc(t, a, 4*page).Close(), first.Close()); err != nil {
		t.Error(err)
	}
}

// TestArenaRandom lends and takes back at random from several goroutines; no two
// buffers overlap, and each is zeroed.
func TestArenaRandom(t *testing.T) {
	a := fakeArena(t, uverbs.ArenaConfig{ChunkSize: 64 << 10})
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(g), 7))
			var held []*uverbs.Buffer
			for range 2000 {
				if len(held) > 20 || len(held) > 0 && rng.IntN(2) == 0 {
					i := rng.IntN(len(held))
					checkMark(t, held[i], byte(g+1))
					if err := held[i].Close(); err != nil {
						t.Error(err)
					}
					held = append(held[:i], held[i+1:]...)
					continue
				}
				b, err := a.Alloc(1 + rng.IntN(3000)*(1+rng.IntN(10)))
				if err != nil {
					t.Error(err)
					return
				}
				checkMark(t, b, 0)
				for i := range b.Bytes() {
					b.Bytes()[i] = byte(g + 1)
				}
				held = append(held, b)
			}
			for _, b := range held {
				_ = b.Close()
			}
		})
	}
	wg.Wait()
	if got := a.Mapped(); got > 64<<10 {
		t.Errorf("%d bytes kept of an empty arena", got)
	}
}

func checkMark(t *testing.T, b *uverbs.Buffer, want byte) {
	t.Helper()
	if mem := b.Bytes(); bytes.Count(mem, []byte{want}) != len(mem) {
		t.Errorf("a buffer of %d bytes is not all %d", len(mem), want)
	}
}

// TestArenaFails lets the kernel refuse the registration: the memory is given
// back, and the next call may succeed.
func TestArenaFails(t *testing.T) {
	k := fakeverbs.New()
	c, err := uverbs.OpenOn(k, fakeDevice(), &uverbs.OpenOptions{CallStyle: uverbs.StyleWrite})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	pd, err := c.AllocPD()
	if err != nil {
		t.Fatal(err)
	}
	defer pd.Close()
	a, err := pd.NewArena(uverbs.ArenaConfig{})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	mapped := offheap.Mapped()
	if err := pd.Close(); !errors.Is(err, syscall.EBUSY) {
		t.Errorf("close a domain with an arena: %v", err)
	}
	k.FailCall(len(k.Calls()), syscall.ENOMEM)
	if _, err := a.Alloc(1); !errors.Is(err, syscall.ENOMEM) {
		t.Errorf("refused registration: %v", err)
	}
	if n := offheap.Mapped(); n != mapped {
		t.Errorf("%d bytes left", n-mapped)
	}
	if err := mustAlloc(t, a, 1).Close(); err != nil {
		t.Error(err)
	}
}

func TestArenaPosts(t *testing.T) {
	eachStyle(t, func(t *testing.T, _ *fakeverbs.Kernel, c *uverbs.Context) {
		r := mustBuild(t, c, nil)
		a, err := r.pd.NewArena(uverbs.ArenaConfig{Shared: true})
		if err != nil {
			t.Fatal(err)
		}
		b := mustAlloc(t, a, 256)
		wr := uverbs.SendWR{ID: 1, Opcode: abi.IB_UVERBS_WR_SEND, Flags: uverbs.SendSignaled, SGEs: []uverbs.SGE{b.Slice(0, 16).SGE()}}
		if err := r.qp.PostSend(wr); err != nil {
			t.Fatal(err)
		}
		var wcs [1]uverbs.WC
		if _, err := r.cq.Wait(withTimeout(t), wcs[:]); err != nil || wcs[0].Err() != nil {
			t.Errorf("%v, %+v", err, wcs[0])
		}
		if err := errors.Join(b.Close(), a.Close()); err != nil {
			t.Error(err)
		}
	})
}

func BenchmarkArena(b *testing.B) {
	a := fakeArena(b, uverbs.ArenaConfig{})
	b.ReportAllocs()
	for b.Loop() {
		buf, err := a.Alloc(4096)
		if err != nil {
			b.Fatal(err)
		}
		if err := buf.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
