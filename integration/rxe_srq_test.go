//go:build linux

package integration

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs"
)

// srqRig is a shared receive queue, its receive memory, and what queue pairs
// are made of.
type srqRig struct {
	t   *testing.T
	ctx *uverbs.Context
	pd  *uverbs.PD
	ch  *uverbs.CompChannel
	srq *uverbs.SRQ
	mr  *uverbs.MR
}

func newSRQRig(t *testing.T, style uverbs.CallStyle, cfg uverbs.SRQConfig) *srqRig {
	t.Helper()
	r := &srqRig{t: t, ctx: verbsOpen(t, style)}
	var err error
	if r.pd, err = r.ctx.AllocPD(); err != nil {
		t.Fatal(err)
	}
	verbsClose(t, r.pd)
	if r.ch, err = r.ctx.CreateCompChannel(); err != nil {
		t.Fatal(err)
	}
	verbsClose(t, r.ch)
	mem, err := uverbs.NewMemory(verbsMemSize)
	if err != nil {
		t.Fatal(err)
	}
	verbsClose(t, mem)
	if r.mr, err = r.pd.RegMR(mem, uverbs.AccessLocalWrite); err != nil {
		t.Fatal(err)
	}
	verbsClose(t, r.mr)
	if r.srq, err = r.pd.CreateSRQ(cfg); err != nil {
		t.Fatal(err)
	}
	verbsClose(t, r.srq)
	return r
}

// pair is a queue pair and its peer that takes from the shared queue.
func (r *srqRig) pair(typ abi.IBUverbsQPType) (from, to *verbsSide) {
	r.t.Helper()
	from = rxeSide(r.t, r.pd, r.ch, rxeConfig{typ: typ, cap: verbsCap})
	to = rxeSide(r.t, r.pd, r.ch, rxeConfig{typ: typ, cap: verbsCap, srq: r.srq})
	if typ == abi.IB_UVERBS_QPT_UD {
		udReady(r.t, from)
		udReady(r.t, to)
	} else {
		rxeConnect(r.t, from, to)
	}
	return from, to
}

// post posts receives with consecutive numbers, each with its own place.
func (r *srqRig) post(first, n int) {
	r.t.Helper()
	for id := first; id < first+n; id++ {
		err := r.srq.PostRecv(uverbs.RecvWR{ID: uint64(id), SGEs: []uverbs.SGE{r.mr.SGE(id*128, 48), r.mr.SGE(id*128+48, 80)}})
		if err != nil {
			r.t.Fatalf("receive %d: %v", id, err)
		}
	}
}

// message sends a text and checks that it comes to the place of the receive
// with the given number.
func (r *srqRig) message(from, to *verbsSide, id int) {
	r.t.Helper()
	text := fmt.Appendf(nil, "message %d, long enough to fill more than one entry of a receive", id)
	wr := uverbs.SendWR{ID: 1, Opcode: abi.IB_UVERBS_WR_SEND, Flags: uverbs.SendSignaled, SGEs: []uverbs.SGE{from.mr.SGE(0, len(text))}}
	copy(from.mr.Bytes(), text)
	from.send(wr)
	wc := to.want(uint64(id), abi.IB_WC_RECV)
	from.want(1, abi.IB_WC_SEND)
	if int(wc.ByteLen) != len(text) {
		r.t.Errorf("receive: %+v", wc)
	}
	verbsEqual(r.t, "message", r.mr.Bytes()[id*128:id*128+len(text)], text)
}

// TestRxeSRQ: two connections take from one queue in turn, the limit event
// comes once, and the queue is resized while requests are in it.
func TestRxeSRQ(t *testing.T) {
	for _, style := range verbsStyles {
		t.Run(style.String(), func(t *testing.T) {
			r := newSRQRig(t, style, uverbs.SRQConfig{MaxWR: 12, MaxSGE: 2})
			from1, to1 := r.pair(abi.IB_UVERBS_QPT_RC)
			from2, to2 := r.pair(abi.IB_UVERBS_QPT_RC)
			r.post(0, 12)
			if err := r.srq.SetLimit(9); err != nil {
				t.Fatal(err)
			}
			if attr, err := r.srq.Query(); err != nil || attr.Limit != 9 || attr.MaxSGE != 2 || attr.MaxWR < 12 {
				t.Errorf("query: %+v, %v", attr, err)
			}
			for id := range 12 {
				if id == 6 {
					r.wantLimitEvent()
					r.resize(40)
				}
				if id%2 == 0 {
					r.message(from1, to1, id)
				} else {
					r.message(from2, to2, id)
				}
			}
			if attr, err := r.srq.Query(); err != nil || attr.Limit != 0 || attr.MaxWR < 40 {
				t.Errorf("query: %+v, %v", attr, err)
			}
			r.post(100, 40)
			r.resize(45)
			for id := 100; id < 140; id++ {
				r.message(from2, to2, id)
			}
			r.resize(2)
			r.post(200, 2)
			r.message(from1, to1, 200)
			r.message(from1, to1, 201)
			r.noEvent()
		})
	}
}

func (r *srqRig) resize(n int) {
	r.t.Helper()
	if err := r.srq.Resize(n); err != nil {
		r.t.Fatal(err)
	}
	if got := r.srq.MaxWR(); got < n {
		r.t.Errorf("%d places after resizing to %d", got, n)
	}
}

// wantLimitEvent skips what the device says of its port.
func (r *srqRig) wantLimitEvent() {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), verbsTimeout)
	defer cancel()
	for {
		e, err := r.ctx.NextAsyncEvent(ctx)
		if err != nil {
			r.t.Fatal(err)
		}
		if e.Port == 0 {
			if e.Type != abi.IB_EVENT_SRQ_LIMIT_REACHED || e.SRQ != r.srq {
				r.t.Fatalf("event %v", e)
			}
			return
		}
	}
}

func (r *srqRig) noEvent() {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	for {
		e, err := r.ctx.NextAsyncEvent(ctx)
		if err != nil {
			return
		}
		if e.SRQ != nil {
			r.t.Errorf("event %v", e)
		}
	}
}

// TestRxeSRQFull: exactly the reported number of requests fits, over and over.
func TestRxeSRQFull(t *testing.T) { eachCallStyle(t, rxeSRQFull) }

func rxeSRQFull(t *testing.T, style uverbs.CallStyle) {
	r := newSRQRig(t, style, uverbs.SRQConfig{MaxWR: 5, MaxSGE: 2})
	from, to := r.pair(abi.IB_UVERBS_QPT_RC)
	fits := r.srq.MaxWR()
	for range 5 {
		r.post(0, fits)
		if err := r.srq.PostRecv(uverbs.RecvWR{}); !errors.Is(err, uverbs.ErrQueueFull) {
			t.Fatalf("request %d of %d: %v", fits+1, fits, err)
		}
		for id := range fits {
			r.message(from, to, id)
		}
	}
}

// TestRxeSRQDatagrams: a datagram queue pair takes from the same queue as a
// connection.
func TestRxeSRQDatagrams(t *testing.T) { eachCallStyle(t, rxeSRQDatagrams) }

func rxeSRQDatagrams(t *testing.T, style uverbs.CallStyle) {
	r := newSRQRig(t, style, uverbs.SRQConfig{MaxWR: 8, MaxSGE: 2})
	fromRC, toRC := r.pair(abi.IB_UVERBS_QPT_RC)
	fromUD, toUD := r.pair(abi.IB_UVERBS_QPT_UD)
	gid := verbsGID(t, r.ctx)
	ah := udHandle(t, fromUD, uverbs.AHAttr{DGID: gid.GID, SGIDIndex: uint8(gid.Index)})
	r.post(0, 3)
	r.message(fromRC, toRC, 0)
	fromUD.send(uverbs.SendWR{Opcode: abi.IB_UVERBS_WR_SEND, Inline: []byte("datagram"), AH: ah, RemoteQPN: toUD.qp.Number(), RemoteQKey: udQKey})
	if wc := toUD.want(1, abi.IB_WC_RECV); wc.ByteLen != uverbs.GRHSize+8 {
		t.Errorf("%+v", wc)
	}
	verbsEqual(t, "datagram", r.mr.Bytes()[128+uverbs.GRHSize:][:8], []byte("datagram"))
	r.message(fromRC, toRC, 2)
}

// TestRxeSRQRefused checks errors, and the order of closing.
func TestRxeSRQRefused(t *testing.T) {
	for _, style := range verbsStyles {
		t.Run(style.String(), func(t *testing.T) {
			r := newSRQRig(t, style, uverbs.SRQConfig{MaxWR: 8, MaxSGE: 2})
			_, to := r.pair(abi.IB_UVERBS_QPT_RC)
			r.post(0, 5)
			create := func(cfg uverbs.SRQConfig) error {
				_, err := r.pd.CreateSRQ(cfg)
				return err
			}
			_, xrcErr := r.ctx.OpenXRCD()
			for name, tc := range map[string]struct{ err, want error }{
				"empty":           {create(uverbs.SRQConfig{}), syscall.EINVAL},
				"too large":       {create(uverbs.SRQConfig{MaxWR: 1 << 30}), syscall.EINVAL},
				"too many pieces": {create(uverbs.SRQConfig{MaxWR: 1, MaxSGE: 1000}), syscall.EINVAL},
				"XRC":             {create(uverbs.SRQConfig{MaxWR: 1, Type: abi.IB_UVERBS_SRQT_XRC}), errors.ErrUnsupported},
				"XRC domain":      {xrcErr, errors.ErrUnsupported},
				"resize too low":  {r.srq.Resize(4), syscall.EINVAL},
				"resize too high": {r.srq.Resize(1 << 30), syscall.EINVAL},
				"limit too high":  {r.srq.SetLimit(1000), syscall.EINVAL},
			} {
				if !errors.Is(tc.err, tc.want) {
					t.Errorf("%s: %v", name, tc.err)
				}
			}
			if err := to.qp.PostRecv(uverbs.RecvWR{}); err == nil {
				t.Error("the queue pair took a receive of its own")
			}
			var busy *uverbs.BusyError
			if err := r.srq.Close(); !errors.As(err, &busy) || !slices.Contains(busy.Users, to.qp.String()) {
				t.Errorf("close: %v", err)
			}
		})
	}
}
