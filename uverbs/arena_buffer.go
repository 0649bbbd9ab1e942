package uverbs

import (
	"errors"
	"fmt"
	"math"
	"sync/atomic"
)

// ErrArenaFull is matched when an arena would have to map more than its limit.
var ErrArenaFull = errors.New("the arena's limit is reached")

// A Buffer is memory lent by an [Arena]. Methods are safe for concurrent use.
type Buffer struct {
	arena  *Arena
	chunk  *chunk
	at     int // in the chunk
	room   int // with the rest up to the next multiple of bufferAlign
	whole  Slice
	closed atomic.Bool
}

// All returns the slice of the whole buffer.
func (b *Buffer) All() Slice { return b.whole }

// Slice returns bytes from to to of the buffer, as b[from:to] of a Go slice. It
// panics when they are outside the buffer.
func (b *Buffer) Slice(from, to int) Slice { return b.whole.Slice(from, to) }

// Bytes returns the buffer's memory, nil after Close. The bytes must not be used
// after Close.
func (b *Buffer) Bytes() []byte { return b.whole.Bytes() }

// Len returns the size in bytes.
func (b *Buffer) Len() int { return b.whole.n }

// Addr returns the address of the first byte, for requests and peers.
func (b *Buffer) Addr() uint64 { return b.whole.Addr() }

// MR returns the memory region that the buffer is part of. It is the arena's: closed
// by somebody else, it takes all buffers in it out of use.
func (b *Buffer) MR() *MR { return b.whole.mr }

// SGE returns the scatter/gather entry of the whole buffer. It panics after
// Close.
func (b *Buffer) SGE() SGE { return b.whole.SGE() }

// String returns "buffer of ", the size and the arena.
func (b *Buffer) String() string {
	return fmt.Sprintf("buffer of %d bytes of %s", b.whole.n, b.arena)
}

// Close gives the memory back to the arena, cleared. No request may use it any
// more: wait for their completions, or destroy the queue pairs, before. Close
// may be called more than once and from any goroutine. An error means that the
// registration of a chunk that nobody uses could not be ended, or its memory not be
// unmapped; the arena lends nothing of it any more, and its Close tries again.
func (b *Buffer) Close() error {
	if b.closed.Swap(true) {
		return nil
	}
	if mem := b.chunk.mem.Bytes(); mem != nil { // else somebody closed it
		clear(mem[b.at : b.at+b.room])
	}
	return b.arena.giveBack(b)
}

// A Slice is a part of a [Buffer]: it knows the memory region it lies in, and
// its bounds. It is a value, to be copied and cut like a Go slice; the zero value
// is empty and belongs to no buffer.
type Slice struct {
	buf    *Buffer
	mr     *MR
	off, n int // in the region
}

// Len returns the size in bytes.
func (s Slice) Len() int { return s.n }

// MR returns the memory region that the slice lies in.
func (s Slice) MR() *MR { return s.mr }

// Addr returns the address of the first byte, for requests and peers; 0 for the
// zero value.
func (s Slice) Addr() uint64 {
	if s.mr == nil {
		return 0
	}
	return s.mr.Addr() + uint64(s.off)
}

// LKey returns the key for the own device's access, RKey that for peers. They
// are those of the region: a peer that has RKey reaches all of it. The zero value
// has key 0.
func (s Slice) LKey() uint32 {
	if s.mr == nil {
		return 0
	}
	return s.mr.LKey()
}

// RKey returns the key for peers, see [Slice.LKey].
func (s Slice) RKey() uint32 {
	if s.mr == nil {
		return 0
	}
	return s.mr.RKey()
}

// Slice returns bytes from to to of the slice. It panics when they are outside
// it: unlike that of a Go slice, the room behind the end is nobody's.
func (s Slice) Slice(from, to int) Slice {
	if from < 0 || to < from || to > s.n {
		panic(fmt.Sprintf("uverbs: bytes %d to %d of a slice of %d", from, to, s.n))
	}
	s.off, s.n = s.off+from, to-from
	return s
}

// Bytes returns the memory, nil when the buffer or its memory is closed.
func (s Slice) Bytes() []byte {
	if s.buf == nil || s.buf.closed.Load() {
		return nil
	}
	all := s.mr.Bytes()
	if all == nil {
		return nil
	}
	return all[s.off : s.off+s.n : s.off+s.n]
}

// SGE returns a scatter/gather entry. It panics when the buffer is closed,
// because the device would reach memory that is lent to somebody else, when its
// region is, and when the slice is longer than an entry can say, 2^32-1 bytes.
func (s Slice) SGE() SGE {
	if err := s.Err(); err != nil {
		panic("uverbs: " + err.Error())
	}
	if uint64(s.n) > math.MaxUint32 {
		panic(fmt.Sprintf("uverbs: entry of %d bytes", s.n))
	}
	return SGE{Addr: s.Addr(), Length: uint32(s.n), LKey: s.LKey()}
}

// Err returns nil while the slice may be used. The error matches net.ErrClosed.
func (s Slice) Err() error {
	if s.buf == nil || s.buf.closed.Load() {
		return fmt.Errorf("slice of %d bytes: its buffer: %w", s.n, errClosed)
	}
	if !s.buf.chunk.lives() {
		return fmt.Errorf("slice of %d bytes: its %v: %w", s.n, s.mr, errClosed)
	}
	return nil
}
