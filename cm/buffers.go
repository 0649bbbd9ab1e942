package cm

import (
	"sync"

	"github.com/purerdma/rdma/uverbs"
)

// buffers is the memory of one connection's messages: in front what the peer's
// messages go to, behind it what SendCopy copies to. It is mapped at once; the
// part of SendCopy is registered, and thereby pinned, at its first use.
type buffers struct {
	pd   *uverbs.PD
	mem  *uverbs.Memory
	recv *registration
	at   int // where the part of SendCopy begins

	mu   sync.Mutex
	send *registration // nil before the first use
	left bool          // counted as left behind
}

// newBuffers maps recv and send bytes, and registers the former.
func newBuffers(pd *uverbs.PD, recv, send int) (*buffers, error) {
	mem, err := uverbs.NewMemory(recv + send)
	if err != nil {
		return nil, err
	}
	r, err := register(pd, mem, 0, recv, 0)
	if err != nil {
		_ = mem.Close()
		return nil, err
	}
	return &buffers{pd: pd, mem: mem, recv: r, at: recv}, nil
}

// forSend returns the region of SendCopy.
func (b *buffers) forSend() (*uverbs.MR, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.send == nil {
		r, err := register(b.pd, b.mem, b.at, b.mem.Len()-b.at, 0)
		if err != nil {
			return nil, err
		}
		b.send = r
	}
	return b.send.mr, nil
}

// deregister takes the memory from the device and leaves it mapped.
func (b *buffers) deregister() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.left {
		b.left = true
		usage.left.Add(int64(b.mem.Len()))
	}
	err := b.recv.end()
	if b.send != nil {
		if sendErr := b.send.end(); err == nil {
			err = sendErr
		}
	}
	return err
}

// unmap fails while the device has the memory.
func (b *buffers) unmap() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.mem.Close(); err != nil {
		return err
	}
	if b.left {
		b.left = false
		usage.left.Add(-int64(b.mem.Len()))
	}
	return nil
}
