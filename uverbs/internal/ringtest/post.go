package ringtest

import (
	"errors"
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs/internal/provider"
)

// A Receiver is a queue pair or a shared receive queue.
type Receiver interface {
	PostRecv(wrs provider.List[provider.RecvWR]) (int, error)
}

// Send posts one request.
func Send(q provider.QP, wr *provider.SendWR) error {
	_, err := q.PostSend(provider.List[provider.SendWR]{First: wr, N: 1})
	return err
}

// Recv posts one receive.
func Recv(q Receiver, wr *provider.RecvWR) error {
	_, err := q.PostRecv(provider.List[provider.RecvWR]{First: wr, N: 1})
	return err
}

// MustRecv posts receives.
func MustRecv(tb testing.TB, q Receiver, wrs ...provider.RecvWR) {
	tb.Helper()
	if n, err := q.PostRecv(provider.ListOf(wrs)); n != len(wrs) || err != nil {
		tb.Fatalf("%d of %d receives posted: %v", n, len(wrs), err)
	}
}

// Poll takes one completion off a queue.
func Poll(q provider.CQ, wc *provider.WC) bool {
	n, _ := q.Poll(provider.List[provider.WC]{First: wc, N: 1}) // the error is that of CQ.End
	return n == 1
}

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
	send := func(wrs ...provider.SendWR) (int, error) { return q.PostSend(provider.ListOf(wrs)) }
	recv := func(wrs ...provider.RecvWR) (int, error) { return q.PostRecv(provider.ListOf(wrs)) }
	n, err := send()
	step("nothing", n, err, 0, nil, 0)
	n, err = send(refused, good)
	step("first refused", n, err, 0, provider.ErrOpcode, 0)
	env.DoorErr = errors.New("not yet")
	n, err = send(good, refused)
	step("doorbell refused", n, err, 1, env.DoorErr, 1)
	env.DoorErr = nil
	n, err = send(good, good, refused, good)
	step("third refused", n, err, 2, provider.ErrOpcode, 2)

	long := provider.RecvWR{SGEs: make([]provider.SGE, 100)}
	n, err = recv(provider.RecvWR{}, provider.RecvWR{}, long, provider.RecvWR{})
	step("third receive refused", n, err, 2, provider.ErrTooManySGEs, 2)
	n, err = recv()
	step("no receive", n, err, 0, nil, 2)
}

// PollEnds checks what polling returns once it has ended, with completions left, and
// when the ring has been unmapped.
func PollEnds(t *testing.T, q provider.CQ, push func()) {
	t.Helper()
	push()
	ended := errors.New("ended")
	q.Lock()
	q.End(ended)
	q.Unlock()
	wcs := make([]provider.WC, 2)
	poll := func(what string, most, want int, wantErr error) {
		t.Helper()
		if n, err := q.Poll(provider.ListOf(wcs[:most])); n != want || err != wantErr {
			t.Errorf("%s: %d completions, %v; want %d, %v", what, n, err, want, wantErr)
		}
	}
	poll("one left", 2, 1, nil)
	poll("none left", 2, 0, ended)
	push()
	if err := q.Close(); err != nil {
		t.Error(err)
	}
	poll("closed", 2, 0, ended)
	poll("closed, no room", 0, 0, ended)
}

// RefusesFlags wants requests of some opcodes to be refused when they have a flag
// that no driver here knows, with data of each kind and without.
func RefusesFlags(t *testing.T, q provider.QP, opcodes ...abi.IBUverbsWROpcode) {
	t.Helper()
	for _, code := range opcodes {
		for bit := provider.SendFlags(1); bit != 0; bit <<= 1 {
			if bit&provider.SendKnown != 0 {
				continue
			}
			for _, wr := range []provider.SendWR{
				{Opcode: code, Flags: bit},
				{Opcode: code, Flags: bit | provider.SendSignaled, SGEs: []provider.SGE{{Length: 8}}},
				{Opcode: code, Flags: bit, Inline: make([]byte, 8)},
			} {
				if err := Send(q, &wr); !errors.Is(err, provider.ErrSendFlags) {
					t.Fatalf("%+v: %v", wr, err)
				}
			}
		}
	}
}
