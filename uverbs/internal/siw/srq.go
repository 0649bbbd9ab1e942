package siw

import (
	"errors"
	"fmt"

	"github.com/purerdma/rdma/uverbs/internal/provider"
)

// srq is the data path of a shared receive queue. Its requests lie in the ring as
// those of a queue pair do.
type srq struct {
	recv recvQueue
	env  provider.Env
}

var _ provider.SRQ = (*srq)(nil)

// PostRecv posts to the ring.
func (q *srq) PostRecv(wrs provider.List[provider.RecvWR]) (int, error) { return q.recv.postAll(wrs) }

// SetupModify: siw_modify_srq sets the limit and refuses a new size.
func (q *srq) SetupModify(resize bool, _ uint32) (*provider.ModifySetup, error) {
	if resize {
		return nil, fmt.Errorf("siw: the size of a shared receive queue is fixed: %w", errors.ErrUnsupported)
	}
	return &provider.ModifySetup{Done: func(uint32, []byte) (uint32, error) { return 0, nil }}, nil
}

// Close unmaps the ring.
func (q *srq) Close() error { return q.recv.ring.close(q.env) }
