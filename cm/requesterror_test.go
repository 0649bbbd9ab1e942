package cm

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs"
)

// TestTooLongMessage: each side says whose limit it was.
func TestTooLongMessage(t *testing.T) {
	r := newRig(t)
	l := r.listen(&ListenConfig{Config: &Config{RecvSize: 100, CloseTimeout: quick.CloseTimeout}})
	client, server := r.pair(l, &Dialer{Config: quick})
	received := async(func() (*Message, error) { return server.Recv(testContext(t)) })
	err := client.SendCopy(testContext(t), make([]byte, 200))
	wants(t, err, ErrConnLost)
	wantsText(t, err, "longer than the peer's Config.RecvSize (here that is 4096)")
	_, err = get(t, received)
	wants(t, err, ErrConnLost)
	wantsText(t, err, "receive 0x", "the peer's message is longer than this side's Config.RecvSize, which is 100")
	for _, err := range []error{client.Err(), server.Err()} {
		var ce *uverbs.CompletionError
		if !errors.As(err, &ce) || ce.Status != abi.IB_WC_REM_INV_REQ_ERR {
			t.Errorf("got %v", err)
		}
	}
}

// TestSlowReceiver: sends that time out say what they wait for.
func TestSlowReceiver(t *testing.T) {
	r := newRig(t)
	client, _ := r.pair(r.listen(nil), &Dialer{Config: quick})
	r.verbs.HoldSends(client.qp.Number()) // as the retries of a peer without a receive do
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	var sent []<-chan result[int]
	for range 3 {
		sent = append(sent, async(func() (int, error) { return 0, client.SendCopy(ctx, []byte("x")) }))
	}
	for _, s := range sent {
		_, err := get(t, s)
		wants(t, err, context.DeadlineExceeded)
		wantsText(t, err, "3 operations wait for the peer: it has no receive posted", "release messages", "RecvDepth")
	}
	mem := alloc(t, client, 8, 0)
	err := client.Write(ctx, RemoteMemory{Len: 8}, mem.All())
	wants(t, err, context.DeadlineExceeded)
	r.verbs.ReleaseSends()
}

// TestCompletionTexts: what a status means depends on the side.
func TestCompletionTexts(t *testing.T) {
	r := newRig(t)
	client, _ := r.pair(r.listen(nil), &Dialer{Config: &Config{RecvSize: 77, CloseTimeout: quick.CloseTimeout}})
	for _, tc := range []struct {
		status     abi.IBWCStatus
		send, recv string
	}{
		{abi.IB_WC_LOC_LEN_ERR, "device's limit", "RecvSize, which is 77"},
		{abi.IB_WC_REM_INV_REQ_ERR, "peer's Config.RecvSize", "RecvSize, which is 77"},
		{abi.IB_WC_REM_ACCESS_ERR, "the peer's region does not allow it", "this side refused a write of the peer"},
		{abi.IB_WC_LOC_ACCESS_ERR, "local region's access", "this side refused a write of the peer"},
		{abi.IB_WC_RNR_RETRY_EXC_ERR, "does not release messages", ""},
		{abi.IB_WC_RETRY_EXC_ERR, "no answer after all repetitions", ""},
	} {
		wantsText(t, client.wcError(&uverbs.WC{ID: 3, Status: tc.status}), "request 0x3 on QP", tc.send)
		if tc.recv != "" {
			wantsText(t, client.wcError(&uverbs.WC{ID: 3 | recvBit, Status: tc.status}), "receive 0x3 on QP", tc.recv)
		}
	}
	if err := client.wcError(&uverbs.WC{Status: abi.IB_WC_RETRY_EXC_ERR}); !errors.Is(err, ErrPeerDead) || !isTimeout(err) {
		t.Errorf("got %v", err)
	}
	if err := client.wcError(&uverbs.WC{Status: abi.IB_WC_RNR_RETRY_EXC_ERR}); errors.Is(err, ErrPeerDead) {
		t.Errorf("a peer that answers is dead: %v", err)
	}
}

// TestNoReads: where no reads were agreed on, by whomever, a read or an atomic is
// refused and everything else works.
func TestNoReads(t *testing.T) {
	for _, tc := range []struct {
		name           string
		iwarp          bool
		client, server Config
		text           string
	}{
		{"peer serves none", false, Config{}, Config{PeerReads: -1}, "the peer serves no reads"},
		{"own choice", false, Config{LocalReads: -1}, Config{}, "Config.LocalReads is negative"},
		{"iWARP peer serves none", true, Config{}, Config{PeerReads: -1}, "the peer serves no reads"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			newRig := newRig
			if tc.iwarp {
				newRig = func(t testing.TB) *rig { return newIWARPRig(t.(*testing.T)) }
			}
			r := newRig(t)
			tc.client.CloseTimeout, tc.server.CloseTimeout = quick.CloseTimeout, quick.CloseTimeout
			client, server := r.pair(r.listen(&ListenConfig{Config: &tc.server}), &Dialer{Config: &tc.client})
			ctx := testContext(t)
			far := alloc(t, server, 64, RemoteRead|RemoteAtomic)
			near := alloc(t, client, 64, 0)
			for name, err := range map[string]error{
				"read":     client.Read(ctx, far.Remote(), near.All()),
				"reads":    client.Read(ctx, far.Remote(), near.Slice(0, 8), near.Slice(8, 8)),
				"add":      client.FetchAdd(ctx, far.Slice(0, 8).Remote(), near.Slice(0, 8), 1),
				"exchange": client.CompareSwap(ctx, far.Slice(0, 8).Remote(), near.Slice(0, 8), 1, 2),
			} {
				wants(t, err, errors.ErrUnsupported)
				wantsText(t, err, tc.text)
				if client.Err() != nil {
					t.Fatalf("%s harmed the connection: %v", name, client.Err())
				}
			}
			if tc.iwarp {
				return // nothing moves in the rings of that rig
			}
			if err := client.SendCopy(ctx, []byte("x")); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestACKTimeout: the time-out reaches both queue pairs; see integration for what the
// device does with it.
func TestACKTimeout(t *testing.T) {
	for timeout, want := range map[time.Duration]uint8{
		1: 1, ackUnit << 1: 1, ackUnit<<1 + 1: 2, time.Millisecond: 8, time.Second: 18, maxACKTimeout: 31,
	} {
		if got := (&Config{ACKTimeout: timeout}).ackExponent(); got != want {
			t.Errorf("%v: exponent %d, want %d", timeout, got, want)
		}
	}
	for _, timeout := range []time.Duration{-1, maxACKTimeout + 1} {
		if _, err := (&Config{ACKTimeout: timeout}).resolved(); err == nil {
			t.Errorf("%v is accepted", timeout)
		}
	}
	r := newRig(t)
	cfg := &Config{ACKTimeout: time.Second, CloseTimeout: quick.CloseTimeout}
	client, server := r.pair(r.listen(&ListenConfig{Config: cfg}), &Dialer{Config: cfg})
	for _, c := range []*Conn{client, server} {
		if got := r.verbs.QPAttr(c.qp.Number()).Timeout; got != 18 {
			t.Errorf("exponent %d", got)
		}
	}
}
