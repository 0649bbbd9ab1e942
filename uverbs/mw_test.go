//go:build linux

package uverbs_test

import (
	"errors"
	"net"
	"syscall"
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/fakeverbs"
	"github.com/purerdma/rdma/uverbs"
)

const windowAccess = uverbs.AccessLocalWrite | uverbs.AccessRemoteWrite | uverbs.AccessMWBind

// statusOf takes one completion off the queue.
func statusOf(t *testing.T, cq *uverbs.CQ, id uint64) abi.IBWCStatus {
	t.Helper()
	var wc [1]uverbs.WC
	if n, err := cq.Poll(wc[:]); n != 1 || err != nil || wc[0].ID != id {
		t.Fatalf("%d completions, %+v, %v; want request %d", n, wc[0], err, id)
	}
	return wc[0].Status
}

func TestMemoryWindow(t *testing.T) {
	for _, typ := range []abi.IBMWType{abi.IB_MW_TYPE_1, abi.IB_MW_TYPE_2} {
		eachStyle(t, func(t *testing.T, _ *fakeverbs.Kernel, c *uverbs.Context) {
			r := mustBuild(t, c, nil)
			mr, err := r.pd.RegMR(r.mem, windowAccess)
			if err != nil {
				t.Fatal(err)
			}
			mw, err := r.pd.AllocMW(typ)
			if err != nil {
				t.Fatal(err)
			}
			bind := uverbs.MWBind{MR: mr, Addr: mr.Addr() + 64, Length: 128, Access: uverbs.AccessRemoteWrite}
			first := mw.RKey()
			key, err := r.qp.BindMW(1, uverbs.SendSignaled, mw, bind)
			if err != nil || key != mw.RKey() || key != uverbs.NextKey(first) {
				t.Fatalf("key %#x, window has %#x, had %#x: %v", key, mw.RKey(), first, err)
			}
			if s := statusOf(t, r.cq, 1); s != abi.IB_WC_SUCCESS {
				t.Fatal(s)
			}
			if err := mr.Close(); !errors.Is(err, syscall.EINVAL) {
				t.Errorf("close of a region with a window: %v", err)
			}
			if typ == abi.IB_MW_TYPE_1 { // the region takes no commands, but windows
				if _, err := r.qp.BindMW(6, uverbs.SendSignaled, mw, bind); err != nil || statusOf(t, r.cq, 6) != abi.IB_WC_SUCCESS {
					t.Errorf("bind anew: %v", err)
				}
			}
			if typ == abi.IB_MW_TYPE_2 {
				inv := uverbs.SendWR{ID: 2, Opcode: abi.IB_UVERBS_WR_LOCAL_INV, Flags: uverbs.SendSignaled, InvalidateKey: key}
				if err := r.qp.PostSend(inv); err != nil || statusOf(t, r.cq, 2) != abi.IB_WC_SUCCESS {
					t.Fatalf("invalidate: %v", err)
				}
			}
			// In a list with others, as in C.
			again := mw.NextBind(bind)
			if err := r.qp.PostSend(signaled(3), uverbs.SendWR{ID: 4, Opcode: abi.IB_UVERBS_WR_BIND_MW, Flags: uverbs.SendSignaled, Bind: &again}); err != nil {
				t.Fatal(err)
			}
			if a, b := statusOf(t, r.cq, 3), statusOf(t, r.cq, 4); a != abi.IB_WC_SUCCESS || b != abi.IB_WC_SUCCESS {
				t.Errorf("list: %v, %v", a, b)
			}
			if err := errors.Join(mw.Close(), mw.Close(), mr.Close()); err != nil {
				t.Error(err)
			}
			other := uverbs.MWBind{MR: mr, Addr: mr.Addr(), Length: 8}
			if _, err := r.qp.BindMW(5, 0, r.mw, other); !errors.Is(err, net.ErrClosed) {
				t.Errorf("bind to a closed region: %v", err)
			}
			if _, err := r.qp.BindMW(5, 0, mw, bind); !errors.Is(err, net.ErrClosed) {
				t.Errorf("bind of a closed window: %v", err)
			}
		})
	}
}

func TestMemoryWindowRefused(t *testing.T) {
	eachStyle(t, func(t *testing.T, k *fakeverbs.Kernel, c *uverbs.Context) {
		r := mustBuild(t, c, nil)
		mw, err := r.pd.AllocMW(abi.IB_MW_TYPE_1)
		if err != nil {
			t.Fatal(err)
		}
		var busy *uverbs.BusyError
		if err := r.pd.Close(); !errors.As(err, &busy) {
			t.Errorf("close of the domain: %v", err)
		}
		if err := r.qp.PostSend(uverbs.SendWR{Opcode: abi.IB_UVERBS_WR_BIND_MW}); !errors.Is(err, uverbs.ErrNoBind) {
			t.Errorf("bind of nothing: %v", err)
		}
		for _, access := range []uverbs.Access{
			uverbs.AccessOnDemand, uverbs.AccessHugeTLB, uverbs.AccessMWBind, uverbs.AccessRelaxedOrdering,
			uverbs.AccessZeroBased, // which windows of type 2 have
		} {
			_, err := r.qp.BindMW(1, 0, mw, uverbs.MWBind{MR: r.mr, Addr: r.mr.Addr(), Length: 8, Access: uverbs.AccessRemoteRead | access})
			if !errors.Is(err, syscall.EINVAL) {
				t.Errorf("bind with access %#x: %v", uint32(access), err)
			}
		}
		// The region of the rig does not allow windows.
		if _, err := r.qp.BindMW(1, 0, mw, uverbs.MWBind{MR: r.mr, Addr: r.mr.Addr(), Length: 8}); err != nil {
			t.Fatal(err)
		}
		if s := statusOf(t, r.cq, 1); s != abi.IB_WC_MW_BIND_ERR {
			t.Errorf("bind to a region without AccessMWBind: %v", s)
		}
		if err := mw.Close(); err != nil {
			t.Error(err)
		}
		if _, err := r.pd.AllocMW(9); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("type 9: %v", err)
		}
		k.NoWindows = true
		if _, err := r.pd.AllocMW(abi.IB_MW_TYPE_1); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("device without windows: %v", err)
		}
	})
}

// TestRefusedBindKeepsKey: a bind that the queue pair does not take changes no key, since
// none is in use then but the old one.
func TestRefusedBindKeepsKey(t *testing.T) {
	r := mustBuild(t, openFake(t), nil)
	mr, err := r.pd.RegMR(r.mem, windowAccess)
	if err != nil {
		t.Fatal(err)
	}
	bind := uverbs.MWBind{MR: mr, Addr: mr.Addr(), Length: 8, Access: uverbs.AccessRemoteWrite}
	before := r.mw.RKey()
	for range 3 {
		var posted *uverbs.PostError
		if _, err := r.qp.BindMW(1, 1<<30, r.mw, bind); err == nil || errors.As(err, &posted) {
			t.Fatalf("unknown flags: %v", err)
		}
		if got := r.mw.RKey(); got != before {
			t.Fatalf("key %#x, had %#x", got, before)
		}
	}
	key, err := r.qp.BindMW(2, uverbs.SendSignaled, r.mw, bind)
	if err != nil || key != uverbs.NextKey(before) || statusOf(t, r.cq, 2) != abi.IB_WC_SUCCESS {
		t.Errorf("key %#x, had %#x: %v", key, before, err)
	}
	if err := errors.Join(r.mw.Close(), mr.Close()); err != nil {
		t.Error(err)
	}
}
