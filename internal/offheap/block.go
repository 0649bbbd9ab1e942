package offheap

import (
	"fmt"
	"sync"
	"unsafe"
)

// BlockSize is the number of bytes in a Block. The largest command of the
// RDMA ABIs with its answer (ucma CONNECT, a QP_CREATE ioctl with all its
// attributes) needs less than half of it.
const BlockSize = 4096

// arenaBlocks is how many blocks one mmap(2) brings.
const arenaBlocks = 16

// pool holds the free blocks of the process. Arenas are never given back:
// their number is bounded by the commands that ever ran at the same time.
var pool struct {
	mu   sync.Mutex
	free []*Block
	made int
}

// Lent is how many blocks are in use, for tests that look for what was not
// released.
func Lent() int {
	pool.mu.Lock()
	defer pool.mu.Unlock()
	return pool.made - len(pool.free)
}

// A Block is one page of off-heap scratch memory for one kernel command. It
// is used by one goroutine at a time.
type Block struct {
	mem []byte
	off int
}

// Get returns a zeroed block. The caller gives it back with Release.
func Get() (*Block, error) {
	pool.mu.Lock()
	defer pool.mu.Unlock()
	if len(pool.free) == 0 {
		if err := grow(); err != nil {
			return nil, err
		}
	}
	b := pool.free[len(pool.free)-1]
	pool.free = pool.free[:len(pool.free)-1]
	return b, nil
}

// grow adds one arena to the pool. The caller holds pool.mu.
func grow() error {
	mem, err := mapPages(arenaBlocks * BlockSize)
	if err != nil {
		return err
	}
	pool.made += arenaBlocks
	for i := range arenaBlocks {
		lo, hi := i*BlockSize, (i+1)*BlockSize
		pool.free = append(pool.free, &Block{mem: mem[lo:hi:hi]})
	}
	return nil
}

// Release zeroes what was used and puts the block back into the pool. No
// pointer into the block may be used afterwards.
func (b *Block) Release() {
	clear(b.mem[:b.off])
	b.off = 0
	pool.mu.Lock()
	pool.free = append(pool.free, b)
	pool.mu.Unlock()
}

// AllocBytes carves n zeroed bytes, aligned to 8, out of the block. It panics
// when the block is full: sizes are fixed by the ABI, so that is a bug.
func (b *Block) AllocBytes(n int) []byte {
	lo := (b.off + 7) &^ 7
	hi := lo + n
	if n < 0 || hi > len(b.mem) {
		panic(fmt.Sprintf("offheap: %d bytes do not fit behind %d of %d", n, b.off, len(b.mem)))
	}
	b.off = hi
	return b.mem[lo:hi:hi]
}

// Used returns the bytes carved so far, in one piece from the block's start.
func (b *Block) Used() []byte { return b.mem[:b.off] }

// Alloc carves a zeroed T out of the block. T must hold no Go pointers.
func Alloc[T any](b *Block) *T {
	var t T
	return (*T)(unsafe.Pointer(unsafe.SliceData(b.AllocBytes(int(unsafe.Sizeof(t))))))
}

// Addr returns the address of off-heap memory as the kernel ABIs want it.
func Addr[T any](p *T) uint64 { return uint64(uintptr(unsafe.Pointer(p))) }

// AddrBytes is Addr for a slice of off-heap memory; an empty slice has
// address 0.
func AddrBytes(p []byte) uint64 {
	if len(p) == 0 {
		return 0
	}
	return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(p))))
}

// BytesOf returns the bytes of an off-heap struct.
func BytesOf[T any](p *T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(p)), int(unsafe.Sizeof(*p)))
}
