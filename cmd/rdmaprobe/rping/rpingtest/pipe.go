// Package rpingtest connects both sides of package rping through memory.
package rpingtest

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"

	"github.com/purerdma/rdma/cmd/rdmaprobe/rping"
)

// ErrAccess is what the fake device says about memory that is not there.
var ErrAccess = errors.New("remote access error")

// fabric is the memory both ends of a pipe can reach, by key.
type fabric struct {
	mu   sync.Mutex
	next uint32
	mem  map[uint32]*memory
}

// memory is fake registered memory.
type memory struct {
	f      *fabric
	key    uint32
	rights rping.Rights
	b      []byte
}

func (m *memory) Bytes() []byte { return m.b }

// base is where every memory pretends to be.
const base = 0x7f00_0000_1000

func (m *memory) Info() rping.Info {
	return rping.Info{Addr: base, RKey: m.key, Size: uint32(len(m.b))}
}

func (m *memory) Close() error {
	m.f.mu.Lock()
	defer m.f.mu.Unlock()
	if _, ok := m.f.mem[m.key]; !ok {
		return errors.New("memory closed twice")
	}
	delete(m.f.mem, m.key)
	return nil
}

// Live is how many pieces of memory of either end nobody closed.
func (e *End) Live() int {
	f := e.f
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.mem)
}

// Allocs is how often the end has asked for memory.
func (e *End) Allocs() int {
	e.f.mu.Lock()
	defer e.f.mu.Unlock()
	return e.allocs
}

// An End is one end of a connection over channels.
type End struct {
	f    *fabric
	in   <-chan []byte
	out  chan<- []byte
	gone <-chan struct{} // the peer has left
	quit chan struct{}
	once *sync.Once

	// Corrupt, if not nil, changes what Write has transferred.
	Corrupt func([]byte)

	// Careless reaches the peer's memory whatever its rights, as soft-iWARP lets
	// anybody read.
	Careless bool

	// Drop makes Write succeed and transfer nothing. It is to be set while no
	// operation is under way.
	Drop bool

	// FailAt makes the operation with this number, from 1, fail with ErrFail.
	FailAt int
	calls  atomic.Int64
	allocs int // guarded by the fabric's mu
}

// ErrFail is what an operation chosen by FailAt returns.
var ErrFail = errors.New("injected failure")

// Pipe returns two connected ends.
func Pipe() (*End, *End) {
	f := &fabric{mem: make(map[uint32]*memory)}
	ab, ba := make(chan []byte, 8), make(chan []byte, 8)
	qa, qb := make(chan struct{}), make(chan struct{})
	a := &End{f: f, in: ba, out: ab, gone: qb, quit: qa, once: new(sync.Once)}
	b := &End{f: f, in: ab, out: ba, gone: qa, quit: qb, once: new(sync.Once)}
	return a, b
}

// Gone is closed when the other end has disconnected.
func (e *End) Gone() <-chan struct{} { return e.gone }

// HangUp disconnects. It may be called more than once.
func (e *End) HangUp() { e.once.Do(func() { close(e.quit) }) }

func (e *End) count() error {
	if n := e.calls.Add(1); n == int64(e.FailAt) {
		return ErrFail
	}
	return nil
}

// Send implements rping.Transport.
func (e *End) Send(ctx context.Context, p []byte) error {
	if err := e.count(); err != nil {
		return err
	}
	select {
	case <-e.gone:
		return io.EOF
	default:
	}
	select {
	case e.out <- append([]byte(nil), p...):
		return nil
	case <-e.gone: // while it was full
		return io.EOF
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Recv implements rping.Transport.
func (e *End) Recv(ctx context.Context, p []byte) (int, error) {
	if err := e.count(); err != nil {
		return 0, err
	}
	select {
	case m := <-e.in:
		return copyLen(p, m), nil
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-e.gone:
	}
	select {
	case m := <-e.in:
		return copyLen(p, m), nil
	default:
		return 0, io.EOF
	}
}

func copyLen(dst, src []byte) int {
	copy(dst, src)
	return len(src)
}

// Alloc implements rping.Transport.
func (e *End) Alloc(n int, rights rping.Rights) (rping.Memory, error) {
	if err := e.count(); err != nil {
		return nil, err
	}
	e.f.mu.Lock()
	defer e.f.mu.Unlock()
	e.f.next++
	e.allocs++
	m := &memory{f: e.f, key: e.f.next, rights: rights, b: make([]byte, n)}
	e.f.mem[m.key] = m
	return m, nil
}

// reach finds peer memory the way a device does.
func (e *End) reach(i rping.Info, need rping.Rights) ([]byte, error) {
	m, ok := e.f.mem[i.RKey]
	if !ok || m.rights != need && !e.Careless || i.Addr < base || i.Addr-base+uint64(i.Size) > uint64(len(m.b)) {
		return nil, ErrAccess
	}
	return m.b[i.Addr-base:][:i.Size], nil
}

// Read implements rping.Transport.
func (e *End) Read(_ context.Context, dst rping.Memory, src rping.Info) error {
	if err := e.count(); err != nil {
		return err
	}
	e.f.mu.Lock()
	defer e.f.mu.Unlock()
	b, err := e.reach(src, rping.PeerReads)
	if err == nil {
		copy(dst.Bytes()[:src.Size], b)
	}
	return err
}

// Write implements rping.Transport.
func (e *End) Write(_ context.Context, dst rping.Info, src rping.Memory, n int) error {
	if err := e.count(); err != nil {
		return err
	}
	e.f.mu.Lock()
	defer e.f.mu.Unlock()
	b, err := e.reach(dst, rping.PeerWrites)
	if err != nil {
		return err
	}
	if !e.Drop {
		copy(b, src.Bytes()[:n])
	}
	if e.Corrupt != nil {
		e.Corrupt(b)
	}
	return nil
}
