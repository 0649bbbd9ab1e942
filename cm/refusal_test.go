package cm

import (
	"context"
	"errors"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/fakecm"
)

// TestRefusalTexts: whatever way this package refuses a peer that it has not answered, the
// peer gets a text.
func TestRefusalTexts(t *testing.T) {
	accept := func(t *testing.T, l *Listener) *Request {
		req, err := l.Accept(testContext(t))
		if err != nil {
			t.Fatal(err)
		}
		return req
	}
	for name, tc := range map[string]struct {
		cfg    ListenConfig
		refuse func(t *testing.T, r *rig, l *Listener)
		want   string
	}{
		"request closed": {refuse: func(t *testing.T, r *rig, l *Listener) { accept(t, l).Close() }, want: refusedClosed},
		"its ID closed":  {refuse: func(t *testing.T, r *rig, l *Listener) { accept(t, l).ID().Close() }, want: refusedClosed},
		"context ended before": {refuse: func(t *testing.T, r *rig, l *Listener) {
			ended, cancel := context.WithCancel(context.Background())
			cancel()
			_, err := accept(t, l).Accept(ended, nil)
			wants(t, err, context.Canceled)
		}, want: refusedCanceled},
		"no answer in time": {refuse: func(t *testing.T, r *rig, l *Listener) {
			r.cm.Mute(abi.RDMA_USER_CM_CMD_ACCEPT)
			ctx, expire := expiring(t)
			r.cm.SetAfter(func(c fakecm.Call) {
				if c.Cmd == abi.RDMA_USER_CM_CMD_ACCEPT {
					expire()
				}
			})
			_, err := accept(t, l).Accept(ctx, nil)
			wants(t, err, context.DeadlineExceeded)
		}, want: ""}, // see ID.Accept
		"no queue pair": {refuse: func(t *testing.T, r *rig, l *Listener) {
			req := accept(t, l)
			r.verbs.FailCall(len(r.verbs.Calls()), syscall.ENOMEM)
			_, err := req.Accept(testContext(t), nil)
			wants(t, err, syscall.ENOMEM)
		}, want: refusedSetUp},
		"listener closed": {refuse: func(t *testing.T, r *rig, l *Listener) { l.Close() }, want: refusedUnheard},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			l := r.listen(&tc.cfg)
			pending := r.dialInto(l, 1)
			tc.refuse(t, r, l)
			_, err := get(t, pending)
			var rejected *RejectError
			if !errors.As(err, &rejected) || rejected.Text() != tc.want || errors.Is(err, ErrBusy) {
				t.Errorf("the peer sees %v, want %q", err, tc.want)
			}
		})
	}
}

// TestRefusalBusy: a full backlog has a sentinel at the peer.
func TestRefusalBusy(t *testing.T) {
	r := newRig(t)
	l := r.listen(&ListenConfig{Backlog: 1})
	first := r.dialInto(l, 1)
	_, err := (&Dialer{Config: quick}).DialAddr(testContext(t), serverAddr)
	wants(t, err, ErrBusy, ErrRejected)
	req, err := l.Accept(testContext(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := req.Close(); err != nil {
		t.Error(err)
	}
	_, err = get(t, first)
	wants(t, err, ErrRejected)
}

// TestRefusalOfAnswer: the side that dials tells why it does not take the answer.
func TestRefusalOfAnswer(t *testing.T) {
	r := newRig(t)
	var answered atomic.Bool
	r.cm.Before = func(c fakecm.Call) error {
		switch c.Cmd {
		case abi.RDMA_USER_CM_CMD_ACCEPT:
			answered.Store(true) // the accepting side asks for no attributes after it
		case abi.RDMA_USER_CM_CMD_INIT_QP_ATTR:
			if answered.Load() {
				return syscall.EIO
			}
		}
		return nil
	}
	l := r.listen(nil)
	dialed := r.dialInto(l, 1)
	req, err := l.Accept(testContext(t))
	if err != nil {
		t.Fatal(err)
	}
	_, err = req.Accept(testContext(t), nil)
	var rejected *RejectError
	if !errors.As(err, &rejected) || rejected.Text() != refusedDial {
		t.Errorf("the accepting side sees %v", err)
	}
	_, err = get(t, dialed)
	wants(t, err, syscall.EIO)
}

// TestNoRefusalOfConnected: the end of a connection is none of a request.
func TestNoRefusalOfConnected(t *testing.T) {
	r := newRig(t)
	r.cm.After = func(c fakecm.Call) {
		if c.Cmd == abi.RDMA_USER_CM_CMD_REJECT {
			t.Error("a REJECT")
		}
	}
	client, server := r.pair(r.listen(nil), &Dialer{Config: quick})
	for _, c := range []*Conn{client, server} {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestRejectWithoutText: reason 28 without data is not blamed on the application alone.
func TestRejectWithoutText(t *testing.T) {
	e := &RejectError{Reason: abi.IB_CM_REJ_CONSUMER_DEFINED}
	wantsText(t, e, "by its application", "nobody listens on this address of the host", "did not accept in time", "CM reason 28")
	e.PrivateData = []byte("no seats left")
	wantsText(t, e, "by the application (CM reason 28)", `"no seats left"`)
}
