package uverbs

import (
	"context"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/purerdma/rdma/internal/devfile"
)

// eventReader reads event descriptors from a descriptor of the kernel, one
// whole descriptor a time, without allocating for each.
type eventReader struct {
	file *devfile.File
	buf  []byte
	try  func() error
}

// newEventReader reads into buf, whose size is that of a descriptor.
func newEventReader(f *devfile.File, buf []byte) *eventReader {
	r := &eventReader{file: f, buf: buf}
	r.try = r.tryRead
	return r
}

// next waits for an event and reads it. When the kernel has disassociated the
// device it signals an error condition, of which the runtime's poller only
// says that the descriptor cannot be polled; a plain read then tells the errno
// (EIO, ib_uverbs_event_read).
func (r *eventReader) next() error {
	err := r.file.WaitRead(context.Background(), r.try)
	if err != nil && !r.file.Closed() && !isGone(err) {
		err = r.tryRead()
	}
	return err
}

func (r *eventReader) tryRead() error {
	n, err := r.file.TryRead(r.buf)
	if err == nil && n != len(r.buf) {
		err = syscall.EIO
	}
	return err
}

// lastKey numbers CQs and QPs. The kernel hands a key back in events; it is
// never used again, so an event that arrives late finds nothing instead of
// another object.
var lastKey atomic.Uint64

func newKey() uint64 { return lastKey.Add(1) }

// registry finds the object for the key of an event.
type registry struct {
	mu      sync.RWMutex
	objects map[uint64]any // *CQ or *QP
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

func (r *registry) cq(key uint64) *CQ {
	cq, _ := r.get(key).(*CQ)
	return cq
}

func (r *registry) qp(key uint64) *QP {
	qp, _ := r.get(key).(*QP)
	return qp
}
