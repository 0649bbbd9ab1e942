//go:build linux

package uverbs_test

import (
	"errors"
	"net"
	"syscall"
	"testing"

	"github.com/purerdma/rdma/internal/fakeverbs"
	"github.com/purerdma/rdma/uverbs"
)

// TestArenaDeadChunk: a chunk whose region has ended is not lent from, whatever
// ended it, nor kept as the spare one; it goes as soon as it can.
func TestArenaDeadChunk(t *testing.T) {
	const size = 4096
	for name, kill := range map[string]func(t *testing.T, k *fakeverbs.Kernel, b *uverbs.Buffer) (revive func()){
		"the memory could not be unmapped": func(t *testing.T, _ *fakeverbs.Kernel, b *uverbs.Buffer) func() {
			mine, err := b.MR().PD().RegMR(b.MR().Memory(), uverbs.AccessLocalWrite)
			if err != nil {
				t.Fatal(err)
			}
			if err := b.Close(); !errors.Is(err, syscall.EBUSY) {
				t.Errorf("close of the buffer: %v", err)
			}
			return func() {
				if err := mine.Close(); err != nil {
					t.Error(err)
				}
			}
		},
		"the kernel did not end the registration": func(t *testing.T, k *fakeverbs.Kernel, b *uverbs.Buffer) func() {
			k.FailCall(len(k.Calls()), syscall.EBUSY)
			if err := b.Close(); !errors.Is(err, syscall.EBUSY) {
				t.Errorf("close of the buffer: %v", err)
			}
			return func() {}
		},
		"somebody closed the region": func(t *testing.T, _ *fakeverbs.Kernel, b *uverbs.Buffer) func() {
			if err := b.MR().Close(); err != nil {
				t.Error(err)
			}
			if err := b.All().Err(); !errors.Is(err, net.ErrClosed) {
				t.Errorf("a slice of a closed region: %v", err)
			}
			return func() {
				if err := b.Close(); err != nil {
					t.Error(err)
				}
			}
		},
		"somebody closed the region and its memory": func(t *testing.T, _ *fakeverbs.Kernel, b *uverbs.Buffer) func() {
			if err := errors.Join(b.MR().Close(), b.MR().Memory().Close()); err != nil {
				t.Error(err)
			}
			if b.Bytes() != nil || b.Slice(1, 5).Bytes() != nil {
				t.Error("memory that is not mapped has bytes")
			}
			return func() {
				if err := b.Close(); err != nil {
					t.Error(err)
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			a, k := fakeArenaKernel(t, uverbs.ArenaConfig{ChunkSize: size})
			first := mustAlloc(t, a, size) // a chunk of the usual size, alone in it
			spare := mustAlloc(t, a, 64)
			if err := spare.Close(); err != nil {
				t.Fatal(err)
			}
			dead := first.MR()
			revive := kill(t, k, first)
			var lent []*uverbs.Buffer
			for range 3 * size / 64 {
				b := mustAlloc(t, a, 64)
				if b.MR() == dead {
					t.Fatal("lent from a region that has ended")
				}
				_ = b.SGE() // panics if it must not be used
				lent = append(lent, b)
			}
			revive()
			mustAlloc(t, a, size).Close() // a new chunk; dead ones go before
			for _, b := range lent {
				if err := b.Close(); err != nil {
					t.Error(err)
				}
			}
			if n := a.Mapped(); n != size {
				t.Errorf("%d bytes mapped with nothing lent, want one chunk of %d", n, size)
			}
		})
	}
}
