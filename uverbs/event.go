package uverbs

import (
	"context"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/purerdma/rdma/internal/devfile"
)

// readEvents reads event descriptors, one whole descriptor a time, into buf,
// whose size is that of a descriptor, and calls event after each. It returns
// why no more come. It stays inside one wait, so that an event allocates
// nothing.
//
// When the kernel has disassociated the device it signals an error condition,
// of which the runtime's poller only says that the descriptor cannot be polled;
// a plain read then tells the errno (EIO, ib_uverbs_event_read).
func readEvents(f *devfile.File, buf []byte, event func()) error {
	drain := func() error {
		for {
			if err := readEvent(f, buf); err != nil {
				return err
			}
			event()
		}
	}
	err := f.WaitRead(context.Background(), drain)
	if !f.Closed() && !isGone(err) {
		err = drain()
	}
	return err
}

// readEvent reads one descriptor, which fills buf, and does not wait. The error is
// the bare errno, EAGAIN if there is none.
func readEvent(f *devfile.File, buf []byte) error {
	n, err := f.TryRead(buf)
	if err == nil && n != len(buf) {
		return syscall.EIO
	}
	return err
}

// lastKey numbers CQs, QPs, SRQs and WQs. The kernel hands a key back in events; it is
// never used again, so an event that arrives late finds nothing instead of
// another object.
var lastKey atomic.Uint64

func newKey() uint64 { return lastKey.Add(1) }

// registry finds the object for the key of an event.
type registry struct {
	mu      sync.RWMutex
	objects map[uint64]any // *CQ, *QP, *SRQ or *WQ
}

func (r *registry) put(key uint64, object any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.objects == nil {
		r.objects = make(map[uint64]any)
	}
	r.objects[key] = object
}

func (r *registry) drop(key uint64) {
	r.mu.Lock()
	delete(r.objects, key)
	r.mu.Unlock()
}

func (r *registry) get(key uint64) any {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.objects[key]
}

// all returns the objects that exist.
func (r *registry) all() []any {
	r.mu.RLock()
	defer r.mu.RUnlock()
	list := make([]any, 0, len(r.objects))
	for _, o := range r.objects {
		list = append(list, o)
	}
	return list
}

func (r *registry) cq(key uint64) *CQ {
	cq, _ := r.get(key).(*CQ)
	return cq
}

func (r *registry) qp(key uint64) *QP {
	qp, _ := r.get(key).(*QP)
	return qp
}

func (r *registry) srq(key uint64) *SRQ {
	srq, _ := r.get(key).(*SRQ)
	return srq
}

func (r *registry) wq(key uint64) *WQ {
	wq, _ := r.get(key).(*WQ)
	return wq
}
