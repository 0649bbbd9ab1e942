package rping

import (
	"context"
	"errors"
	"io"
	"sync"
)

// errAccess is what the fake device says about memory that is not there.
var errAccess = errors.New("remote access error")

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
	remote bool
	b      []byte
}

func (m *memory) Bytes() []byte { return m.b }

// base is where every memory pretends to be.
const base = 0x7f00_0000_1000

func (m *memory) Info() Info { return Info{Addr: base, RKey: m.key, Size: uint32(len(m.b))} }

func (m *memory) Close() error {
	m.f.mu.Lock()
	defer m.f.mu.Unlock()
	if _, ok := m.f.mem[m.key]; !ok {
		return errors.New("memory closed twice")
	}
	delete(m.f.mem, m.key)
	return nil
}

// live is how much memory nobody closed.
func (f *fabric) live() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.mem)
}

// end is one end of a connection over channels.
type end struct {
	f    *fabric
	in   <-chan []byte
	out  chan<- []byte
	gone <-chan struct{} // the peer has left
	quit chan struct{}
	once *sync.Once

	corrupt func([]byte) // changes what Write transfers
	failAt  int          // the n-th operation fails with errFail, from 1
	calls   int
}

var errFail = errors.New("injected failure")

// pipe returns two connected ends.
func pipe() (*end, *end) {
	f := &fabric{mem: make(map[uint32]*memory)}
	ab, ba := make(chan []byte, 8), make(chan []byte, 8)
	qa, qb := make(chan struct{}), make(chan struct{})
	a := &end{f: f, in: ba, out: ab, gone: qb, quit: qa, once: new(sync.Once)}
	b := &end{f: f, in: ab, out: ba, gone: qa, quit: qb, once: new(sync.Once)}
	return a, b
}

func (e *end) hangUp() { e.once.Do(func() { close(e.quit) }) }

func (e *end) count() error {
	e.calls++
	if e.calls == e.failAt {
		return errFail
	}
	return nil
}

func (e *end) Send(_ context.Context, p []byte) error {
	if err := e.count(); err != nil {
		return err
	}
	select {
	case <-e.gone:
		return io.EOF
	default:
		e.out <- append([]byte(nil), p...)
		return nil
	}
}

func (e *end) Recv(ctx context.Context, p []byte) (int, error) {
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

func (e *end) Alloc(n int, remote bool) (Memory, error) {
	if err := e.count(); err != nil {
		return nil, err
	}
	e.f.mu.Lock()
	defer e.f.mu.Unlock()
	e.f.next++
	m := &memory{f: e.f, key: e.f.next, remote: remote, b: make([]byte, n)}
	e.f.mem[m.key] = m
	return m, nil
}

// reach finds peer memory the way a device does.
func (e *end) reach(i Info) ([]byte, error) {
	m, ok := e.f.mem[i.RKey]
	if !ok || !m.remote || i.Addr < base || i.Addr-base+uint64(i.Size) > uint64(len(m.b)) {
		return nil, errAccess
	}
	return m.b[i.Addr-base:][:i.Size], nil
}

func (e *end) Read(_ context.Context, dst Memory, src Info) error {
	if err := e.count(); err != nil {
		return err
	}
	e.f.mu.Lock()
	defer e.f.mu.Unlock()
	b, err := e.reach(src)
	if err == nil {
		copy(dst.Bytes()[:src.Size], b)
	}
	return err
}

func (e *end) Write(_ context.Context, dst Info, src Memory, n int) error {
	if err := e.count(); err != nil {
		return err
	}
	e.f.mu.Lock()
	defer e.f.mu.Unlock()
	b, err := e.reach(dst)
	if err != nil {
		return err
	}
	copy(b, src.Bytes()[:n])
	if e.corrupt != nil {
		e.corrupt(b)
	}
	return nil
}
