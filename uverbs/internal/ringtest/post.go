package ringtest

import (
	"errors"
	"testing"
	"unsafe"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs/internal/provider"
)

// A Receiver is a queue pair or a shared receive queue.
type Receiver interface {
	PostRecv(wrs []provider.RecvWR) (int, error)
}

// Send posts one request.
func Send(q provider.QP, wr *provider.SendWR) error {
	_, err := q.PostSend(unsafe.Slice(wr, 1))
	return err
}

// Recv posts one receive.
func Recv(q Receiver, wr *provider.RecvWR) error {
	_, err := q.PostRecv(unsafe.Slice(wr, 1))
	return err
}

// MustRecv posts receives.
func MustRecv(tb testing.TB, q Receiver, wrs ...provider.RecvWR) {
	tb.Helper()
	if n, err := q.PostRecv(wrs); n != len(wrs) || err != nil {
		tb.Fatalf("%d of %d receives posted: %v", n, len(wrs), err)
	}
}

// Poll takes one completion off a queue.
func Poll(q provider.CQ, wc *provider.WC) bool { return q.Poll(unsafe.Slice(wc, 1)) == 1 }

// PostStops checks that a list is posted up to the first request that is refused,
// with one doorbell, and none for nothing; and that a doorbell that fails leaves
// requests posted.
func PostStops(t *testing.T, q provider.QP, env *Env) {
	t.Helper()
	good := provider.SendWR{Opcode: abi.IB_UVERBS_WR_SEND}
	step := func(what string, n int, err error, wantN int, want error, doorbells int) {
		t.Helper()
		if n != wantN || !errors.Is(err, want) || env.Doorbells != doorbells {
			t.Errorf("%s: %d posted, %v, %d doorbells in all; want %d, %v, %d",
				what, n, err, env.Doorbells, wantN, want, doorbells)
		}
	}
	n, err := q.PostSend(nil)
	step("nothing", n, err, 0, nil, 0)
	n, err = q.PostSend([]provider.SendWR{refused, good})
	step("first refused", n, err, 0, provider.ErrOpcode, 0)
	env.DoorErr = errors.New("not yet")
	n, err = q.PostSend([]provider.SendWR{good, refused})
	step("doorbell refused", n, err, 1, env.DoorErr, 1)
	env.DoorErr = nil
	n, err = q.PostSend([]provider.SendWR{good, good, refused, good})
	step("third refused", n, err, 2, provider.ErrOpcode, 2)

	long := provider.RecvWR{SGEs: make([]provider.SGE, 100)}
	n, err = q.PostRecv([]provider.RecvWR{{}, {}, long, {}})
	step("third receive refused", n, err, 2, provider.ErrTooManySGEs, 2)
	n, err = q.PostRecv(nil)
	step("no receive", n, err, 0, nil, 2)
}
