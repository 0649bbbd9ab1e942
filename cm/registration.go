package cm

import (
	"sync"

	"github.com/purerdma/rdma/uverbs"
)

// A registration is a memory region in the kernel, and what it pins in the
// statistics. The memory is somebody else's.
type registration struct {
	mr *uverbs.MR

	mu    sync.Mutex
	ended bool
}

// register registers n bytes of mem from off.
func register(pd *uverbs.PD, mem *uverbs.Memory, off, n int, access Access) (*registration, error) {
	mr, err := pd.RegMRRange(mem, off, n, uverbs.Access(access)|uverbs.AccessLocalWrite)
	if err != nil {
		return nil, err
	}
	usage.pinned.Add(int64(n))
	return &registration{mr: mr}, nil
}

// end takes the memory from the device, once: when it returns nil, the device has
// no part in it any more. It may be called again, also after it has failed.
func (r *registration) end() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return nil
	}
	if err := r.mr.Close(); err != nil {
		return err
	}
	r.ended = true
	usage.pinned.Add(-int64(r.mr.Len()))
	return nil
}
