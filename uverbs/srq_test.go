//go:build linux

package uverbs_test

import (
	"errors"
	"net"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/fakeverbs"
	"github.com/purerdma/rdma/uverbs"
)

// connect makes a queue pair that sends to another of the fake.
func (r *rig) connect(t *testing.T, srq *uverbs.SRQ) (from, to *uverbs.QP) {
	t.Helper()
	cfg := uverbs.QPConfig{SendCQ: r.cq, RecvCQ: r.cq, Cap: uverbs.QPCap{MaxSendWR: 8, MaxRecvWR: 8, MaxInline: 64}}
	from, err := r.pd.CreateQP(cfg)
	if err != nil {
		t.Fatal(err)
	}
	cfg.SRQ = srq
	to, err = r.pd.CreateQP(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(from.Close(), to.Close()); err != nil {
			t.Error(err)
		}
	})
	for qp, peer := range map[*uverbs.QP]*uverbs.QP{from: to, to: from} {
		err := errors.Join(qp.ToInit(1, 0), qp.ToRTR(uverbs.RTRConfig{DestQPN: peer.Number()}), qp.ToRTS(uverbs.RTSConfig{}))
		if err != nil {
			t.Fatal(err)
		}
	}
	return from, to
}

// send sends an immediate value and returns the receiver's completion.
func (r *rig) send(t *testing.T, qp *uverbs.QP, imm uint32) uverbs.WC {
	t.Helper()
	if err := qp.PostSend(uverbs.SendWR{Opcode: abi.IB_UVERBS_WR_SEND_WITH_IMM, Imm: imm}); err != nil {
		t.Fatal(err)
	}
	var wcs [2]uverbs.WC
	if n, err := r.cq.Poll(wcs[:]); n != 1 || err != nil {
		t.Fatalf("%d completions %+v, %v", n, wcs, err)
	}
	return wcs[0]
}

func wantEvent(t *testing.T, c *uverbs.Context, want uverbs.AsyncEvent) {
	t.Helper()
	got, err := c.NextAsyncEvent(withTimeout(t))
	got.Element = want.Element
	if err != nil || got != want {
		t.Fatalf("event %+v, %v; want %+v", got, err, want)
	}
	if !strings.HasSuffix(got.String(), want.SRQ.String()) {
		t.Errorf("event as text: %v", got)
	}
}

// TestSRQ has two queue pairs that take from one queue in turn, until the limit
// is reached, and resizes it with requests in it.
func TestSRQ(t *testing.T) {
	eachStyle(t, func(t *testing.T, _ *fakeverbs.Kernel, c *uverbs.Context) {
		r := mustBuild(t, c, nil)
		from1, to1 := r.connect(t, r.srq)
		from2, to2 := r.connect(t, r.srq)
		if to1.SRQ() != r.srq || to1.Cap().MaxRecvWR != 0 {
			t.Errorf("queue pair: SRQ %v, %+v", to1.SRQ(), to1.Cap())
		}
		for id := range uint64(6) {
			if err := r.srq.PostRecv(uverbs.RecvWR{ID: id}); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.srq.SetLimit(4); err != nil {
			t.Fatal(err)
		}
		want := []uverbs.WC{
			{ID: 0, QPN: to1.Number()}, {ID: 1, QPN: to2.Number()}, {ID: 2, QPN: to1.Number()},
			{ID: 3, QPN: to2.Number()}, {ID: 4, QPN: to1.Number()}, {ID: 5, QPN: to2.Number()},
		}
		var got []uverbs.WC
		for i := range want {
			if i == 3 {
				wantEvent(t, c, uverbs.AsyncEvent{Type: abi.IB_EVENT_SRQ_LIMIT_REACHED, SRQ: r.srq})
				if err := r.srq.Resize(100); err != nil {
					t.Fatal(err)
				}
			}
			wc := r.send(t, []*uverbs.QP{from1, from2}[i%2], uint32(i))
			if wc.Imm != uint32(i) {
				t.Errorf("message %d: %+v", i, wc)
			}
			got = append(got, uverbs.WC{ID: wc.ID, QPN: wc.QPN})
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("receives (-want +got):\n%s", diff)
		}
		attr, err := r.srq.Query()
		if diff := cmp.Diff(uverbs.SRQAttr{MaxWR: 127, MaxSGE: 2}, attr); diff != "" || err != nil || r.srq.MaxWR() != 127 {
			t.Errorf("%d places, %v (-want +got):\n%s", r.srq.MaxWR(), err, diff)
		}
		err = r.srq.PostRecv(make([]uverbs.RecvWR, 200)...)
		var pe *uverbs.PostError
		if !errors.As(err, &pe) || pe.Posted != 127 || !errors.Is(err, uverbs.ErrQueueFull) {
			t.Errorf("post too many: %v", err)
		}
		if err := to1.PostRecv(uverbs.RecvWR{}); err == nil {
			t.Error("the queue pair took a receive of its own")
		}
		var busy *uverbs.BusyError
		if err := r.srq.Close(); !errors.As(err, &busy) || !slices.Contains(busy.Users, to1.String()) {
			t.Errorf("close: %v", err)
		}
	})
}

func TestSRQRefused(t *testing.T) {
	eachStyle(t, func(t *testing.T, _ *fakeverbs.Kernel, c *uverbs.Context) {
		r := mustBuild(t, c, nil)
		create := func(cfg uverbs.SRQConfig) error {
			_, err := r.pd.CreateSRQ(cfg)
			return err
		}
		if err := r.srq.PostRecv(make([]uverbs.RecvWR, 5)...); err != nil {
			t.Fatal(err)
		}
		other := openFake(t)
		cq, err := other.CreateCQ(uverbs.CQConfig{Entries: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer cq.Close()
		for _, tc := range []struct {
			name string
			err  error
			want error
			text string
		}{
			{"empty", create(uverbs.SRQConfig{}), syscall.EINVAL, "MaxWR is 0, must be at least 1"},
			{"large", create(uverbs.SRQConfig{MaxWR: 1 << 20}), syscall.EINVAL, "MaxWR is 1048576, the device allows 4096 (max_srq_wr)"},
			{"entries", create(uverbs.SRQConfig{MaxWR: 1, MaxSGE: 33}), syscall.EINVAL, "MaxSGE is 33, the device allows 32 (max_srq_sge)"},
			{"XRC", create(uverbs.SRQConfig{MaxWR: 1, Type: abi.IB_UVERBS_SRQT_XRC}), errors.ErrUnsupported, "type 1 (basic works)"},
			{"CQ of other context", create(uverbs.SRQConfig{MaxWR: 1, CQ: cq}), syscall.EINVAL, "different contexts"},
			{"limit", r.srq.SetLimit(1000), syscall.EINVAL, "limit 1000"},
			{"negative limit", r.srq.SetLimit(-1), syscall.EINVAL, "limit -1"},
			{"too small", r.srq.Resize(4), syscall.EINVAL, "5 requests are posted"},
			{"too large", r.srq.Resize(1 << 20), syscall.EINVAL, "to 1048576 requests"},
			{"negative size", r.srq.Resize(-1), syscall.EINVAL, "to -1 requests"},
		} {
			if !errors.Is(tc.err, tc.want) || !strings.Contains(tc.err.Error(), tc.text) {
				t.Errorf("%s: %v", tc.name, tc.err)
			}
		}
	})
}

// TestSRQResizeLosesRing: the kernel has moved on, but the new ring cannot be
// mapped.
func TestSRQResizeLosesRing(t *testing.T) {
	eachStyle(t, func(t *testing.T, k *fakeverbs.Kernel, c *uverbs.Context) {
		r := mustBuild(t, c, nil)
		k.FailCall(len(k.Calls())+1, syscall.EAGAIN) // the mmap after MODIFY_SRQ
		err := r.srq.Resize(50)
		if !errors.Is(err, syscall.EAGAIN) {
			t.Fatalf("resize: %v", err)
		}
		for name, later := range map[string]error{
			"post": r.srq.PostRecv(uverbs.RecvWR{}), "resize": r.srq.Resize(60), "limit": r.srq.SetLimit(1),
		} {
			if later != err {
				t.Errorf("%s: %v", name, later)
			}
		}
	})
}

func TestXRCDomain(t *testing.T) {
	eachStyle(t, func(t *testing.T, k *fakeverbs.Kernel, c *uverbs.Context) {
		if _, err := c.OpenXRCD(); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("on a device without: %v", err)
		}
		k.XRC = true
		x, err := c.OpenXRCD()
		if err != nil {
			t.Fatal(err)
		}
		var busy *uverbs.BusyError
		if err := c.Close(); !errors.As(err, &busy) || busy.Users[0] != x.String() {
			t.Errorf("close context: %v", err)
		}
		for range 2 {
			if err := x.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestSRQAllocatesNothing(t *testing.T) {
	r := mustBuild(t, openFake(t), nil)
	srq, err := r.pd.CreateSRQ(uverbs.SRQConfig{MaxWR: 2000})
	if err != nil {
		t.Fatal(err)
	}
	defer srq.Close()
	n := testing.AllocsPerRun(1000, func() {
		sges := [1]uverbs.SGE{r.mr.SGE(0, 64)}
		if err := srq.PostRecv(uverbs.RecvWR{ID: 1, SGEs: sges[:]}); err != nil {
			t.Fatal(err)
		}
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
	if err := srq.Close(); err != nil {
		t.Fatal(err)
	}
	if err := srq.PostRecv(uverbs.RecvWR{}); !errors.Is(err, net.ErrClosed) {
		t.Errorf("post after close: %v", err)
	}
}
