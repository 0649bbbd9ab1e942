//go:build linux

package uverbs_test

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/fakeverbs"
	"github.com/purerdma/rdma/uverbs"
)

// TestCountersOfRule: a rule that counts carries the specification of that, with the
// counters it was given.
func TestCountersOfRule(t *testing.T) {
	ask := func(r *rig) error {
		_, err := r.ctx.CreateCounters()
		return err
	}
	eachHardware(t, false, ask, func(t *testing.T, k *fakeverbs.Kernel, r *rig) {
		first, err := r.ctx.CreateCounters()
		if err != nil {
			t.Fatal(err)
		}
		second, err := r.ctx.CreateCounters()
		if err != nil {
			t.Fatal(err)
		}
		qp, err := r.pd.CreateQP(uverbs.QPConfig{Type: abi.IB_UVERBS_QPT_UD, SendCQ: r.cq, RecvCQ: r.cq})
		if err != nil {
			t.Fatal(err)
		}
		var handles []uint32
		for _, n := range []*uverbs.Counters{first, second} {
			f, err := qp.CreateFlow(uverbs.FlowConfig{Specs: []uverbs.FlowSpec{uverbs.FlowCount{Counters: n}}})
			if err != nil {
				t.Fatal(err)
			}
			spec := k.LastRule().Specs
			if len(spec) != 16 || binary.NativeEndian.Uint32(spec) != uint32(abi.IB_FLOW_SPEC_ACTION_COUNT) || binary.NativeEndian.Uint16(spec[4:]) != 16 {
				t.Fatalf("specification % x", spec)
			}
			handles = append(handles, binary.NativeEndian.Uint32(spec[8:]))
			closeAll(t, f)
		}
		if handles[0] == handles[1] {
			t.Errorf("both rules count in %d", handles[0])
		}
		closeAll(t, qp, first, second)
	})
}

// TestCloseWithEventsLeft: a queue whose events nobody took closes at once, where
// ibv_destroy_cq waits for their acknowledgement.
func TestCloseWithEventsLeft(t *testing.T) {
	eachChannel(t, func(t *testing.T, k *fakeverbs.Kernel, r *rig) {
		for range 3 {
			if err := r.cq.Arm(); err != nil {
				t.Fatal(err)
			}
			if err := r.qp.PostSend(signaled(1)); err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range []interface{ Close() error }{r.qp, r.cq} {
			if err := c.Close(); err != nil {
				t.Errorf("close %T: %v", c, err)
			}
		}
	})
}

// TestCloseWithAsyncEventsLeft: objects whose events the program has not taken close at
// once, where ibv_destroy_cq and ibv_destroy_qp wait for their acknowledgement.
func TestCloseWithAsyncEventsLeft(t *testing.T) {
	eachStyle(t, func(t *testing.T, k *fakeverbs.Kernel, c *uverbs.Context) {
		r := mustBuild(t, c, nil)
		k.RaiseCQ(r.cq.Handle(), abi.IB_EVENT_CQ_ERR)
		k.RaiseQP(r.qp.Number(), abi.IB_EVENT_QP_FATAL)
		awaitTrue(t, "events are not read", func() bool { return k.Unread() == 0 })
		for _, o := range []interface{ Close() error }{r.qp, r.cq} {
			if err := o.Close(); err != nil {
				t.Errorf("close %T: %v", o, err)
			}
		}
	})
}

// TestSRQOwnReceiveRefused: a queue pair with a shared receive queue takes no receives
// itself.
func TestSRQOwnReceiveRefused(t *testing.T) {
	eachStyle(t, func(t *testing.T, _ *fakeverbs.Kernel, c *uverbs.Context) {
		r := mustBuild(t, c, nil)
		qp, err := r.pd.CreateQP(uverbs.QPConfig{SendCQ: r.cq, RecvCQ: r.cq, SRQ: r.srq, Cap: uverbs.QPCap{MaxSendWR: 1}})
		if err != nil {
			t.Fatal(err)
		}
		if err := qp.PostRecv(uverbs.RecvWR{ID: 1}); err == nil {
			t.Error("a receive was taken")
		} else if errors.Is(err, uverbs.ErrQueueFull) {
			t.Errorf("as if there were a queue: %v", err)
		}
		closeAll(t, qp)
	})
}
