//go:build linux

package integration

import (
	"errors"
	"syscall"
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs"
)

// verbsWindow makes a region that allows windows, and a window, on a side. They
// are closed before the side's objects. On a kernel without windows it checks
// that one is refused, and returns nil.
func verbsWindow(t *testing.T, s *verbsSide, typ abi.IBMWType) (*uverbs.MR, *uverbs.MW) {
	t.Helper()
	mw, err := s.qp.PD().AllocMW(typ)
	if !kernelAtLeast(t, 5, 14) {
		if !errors.Is(err, errors.ErrUnsupported) {
			t.Fatalf("window on a kernel without: %v", err)
		}
		return nil, nil
	}
	if err != nil {
		t.Fatal(err)
	}
	mr, err := s.qp.PD().RegMR(s.mr.Memory(), uverbs.AccessLocalWrite|uverbs.AccessRemoteWrite|uverbs.AccessRemoteRead|uverbs.AccessMWBind)
	if err != nil {
		t.Fatal(err)
	}
	verbsClose(t, mr)
	verbsClose(t, mw)
	return mr, mw
}

func verbsBindMW(t *testing.T, s *verbsSide, mw *uverbs.MW, b uverbs.MWBind) uint32 {
	t.Helper()
	key, err := s.qp.BindMW(70, uverbs.SendSignaled, mw, b)
	if err != nil {
		t.Fatal(err)
	}
	s.want(70, abi.IB_WC_BIND_MW)
	return key
}

// verbsWriteTo writes 8 bytes and returns the status.
func verbsWriteTo(t *testing.T, s *verbsSide, addr uint64, key uint32) abi.IBWCStatus {
	t.Helper()
	s.send(uverbs.SendWR{
		ID: 71, Opcode: abi.IB_UVERBS_WR_RDMA_WRITE, Flags: uverbs.SendSignaled,
		SGEs: []uverbs.SGE{s.mr.SGE(0, 8)}, RemoteAddr: addr, RKey: key,
	})
	return rxeWait(t, s, 1)[0].Status
}

// TestVerbsWindowType1 binds a window, moves it, and unbinds it: each time the
// earlier key ends.
func TestVerbsWindowType1(t *testing.T) {
	verbsEach(t, func(t *testing.T, c *uverbs.Context) {
		a, b := verbsPair(t, c)
		mr, mw := verbsWindow(t, b, abi.IB_MW_TYPE_1)
		if mw == nil {
			return
		}
		want := a.fill(1)[:8]
		b.fill(2)
		first := verbsBindMW(t, b, mw, uverbs.MWBind{MR: mr, Addr: mr.Addr(), Length: 64, Access: uverbs.AccessRemoteWrite})
		if s := verbsWriteTo(t, a, mr.Addr()+8, first); s != abi.IB_WC_SUCCESS {
			t.Fatal(s)
		}
		verbsEqual(t, "through the window", b.mr.Bytes()[8:16], want)
		if err := mr.Close(); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("close of a region with a window: %v", err)
		}
		second := verbsBindMW(t, b, mw, uverbs.MWBind{MR: mr, Addr: mr.Addr() + 4096, Length: 64, Access: uverbs.AccessRemoteWrite})
		if s := verbsWriteTo(t, a, mr.Addr()+4096, second); s != abi.IB_WC_SUCCESS {
			t.Fatal(s)
		}
		verbsEqual(t, "through the moved window", b.mr.Bytes()[4096:4104], want)
		verbsBindMW(t, b, mw, uverbs.MWBind{})
		if s := verbsWriteTo(t, a, mr.Addr()+4096, second); s != abi.IB_WC_REM_ACCESS_ERR {
			t.Errorf("through a window bound to nothing: %v", s)
		}
	})
}

// TestVerbsWindowLimits: what the binding does not allow, and what is outside of
// the region. Soft-RoCE does not look at the ends of the window itself
// (rxe_resp.c check_rkey).
func TestVerbsWindowLimits(t *testing.T) {
	for _, tc := range []struct {
		name   string
		offset int
		access uverbs.Access
	}{{"read only", 0, uverbs.AccessRemoteRead}, {"outside", verbsMemSize - 4, uverbs.AccessRemoteWrite}} {
		t.Run(tc.name, func(t *testing.T) {
			verbsEach(t, func(t *testing.T, c *uverbs.Context) {
				a, b := verbsPair(t, c)
				mr, mw := verbsWindow(t, b, abi.IB_MW_TYPE_1)
				if mw == nil {
					return
				}
				key := verbsBindMW(t, b, mw, uverbs.MWBind{MR: mr, Addr: mr.Addr(), Length: verbsMemSize, Access: tc.access})
				if s := verbsWriteTo(t, a, mr.Addr()+uint64(tc.offset), key); s != abi.IB_WC_REM_ACCESS_ERR {
					t.Errorf("write: %v", s)
				}
			})
		})
	}
}

// TestVerbsWindowType2 binds a window in a list with a send that hands its key
// over, and lets each side invalidate it.
func TestVerbsWindowType2(t *testing.T) {
	verbsEach(t, func(t *testing.T, c *uverbs.Context) {
		a, b := verbsPair(t, c)
		mr, mw := verbsWindow(t, b, abi.IB_MW_TYPE_2)
		if mw == nil {
			return
		}
		want := a.fill(3)[:8]
		b.fill(4)
		to := uverbs.MWBind{MR: mr, Addr: mr.Addr() + 128, Length: 64, Access: uverbs.AccessRemoteWrite}
		bind := mw.NextBind(to)
		a.recv(uverbs.RecvWR{ID: 1})
		b.send(uverbs.SendWR{ID: 2, Opcode: abi.IB_UVERBS_WR_BIND_MW, Bind: &bind},
			uverbs.SendWR{ID: 3, Opcode: abi.IB_UVERBS_WR_SEND_WITH_IMM, Flags: uverbs.SendSignaled, Imm: mw.RKey()})
		key := a.want(1, abi.IB_WC_RECV).Imm
		b.want(3, abi.IB_WC_SEND)
		if s := verbsWriteTo(t, a, mr.Addr()+128, key); s != abi.IB_WC_SUCCESS || key != bind.NewKey {
			t.Fatalf("key %#x of %#x: %v", key, bind.NewKey, s)
		}
		verbsEqual(t, "through the window", b.mr.Bytes()[128:136], want)
		b.recv(uverbs.RecvWR{ID: 4})
		a.send(uverbs.SendWR{ID: 5, Opcode: abi.IB_UVERBS_WR_SEND_WITH_INV, Flags: uverbs.SendSignaled, InvalidateKey: key})
		a.want(5, abi.IB_WC_SEND)
		if wc := b.want(4, abi.IB_WC_RECV); wc.Flags&abi.IB_WC_WITH_INVALIDATE == 0 || wc.InvalidatedKey != key {
			t.Errorf("invalidated: %+v", wc)
		}
		key = verbsBindMW(t, b, mw, to)
		b.send(uverbs.SendWR{ID: 6, Opcode: abi.IB_UVERBS_WR_LOCAL_INV, Flags: uverbs.SendSignaled, InvalidateKey: key})
		b.want(6, abi.IB_WC_LOCAL_INV)
		if s := verbsWriteTo(t, a, mr.Addr()+128, key); s != abi.IB_WC_REM_ACCESS_ERR {
			t.Errorf("through an invalidated window: %v", s)
		}
	})
}

// TestVerbsWindowRefused: a region without AccessMWBind, and a window of type 2
// that is bound.
func TestVerbsWindowRefused(t *testing.T) {
	verbsEach(t, func(t *testing.T, c *uverbs.Context) {
		a, b := verbsPair(t, c)
		mr, mw := verbsWindow(t, b, abi.IB_MW_TYPE_2)
		if mw == nil {
			return
		}
		to := uverbs.MWBind{MR: mr, Addr: mr.Addr(), Length: 64}
		verbsBindMW(t, b, mw, to)
		for _, tc := range []struct {
			s  *verbsSide
			to uverbs.MWBind
		}{{b, to}, {a, uverbs.MWBind{MR: a.mr, Addr: a.mr.Addr(), Length: 8}}} {
			if _, err := tc.s.qp.BindMW(72, 0, mw, tc.to); err != nil {
				t.Fatal(err)
			}
			// From 6.2 on the request that fails is flushed like those behind it
			// (rxe_requester goes to ERR before it is completed).
			wc := rxeWait(t, tc.s, 1)[0]
			if wc.ID != 72 || wc.Status != abi.IB_WC_MW_BIND_ERR && (wc.Status != abi.IB_WC_WR_FLUSH_ERR || !kernelAtLeast(t, 6, 2)) {
				t.Errorf("%+v: %v", wc, wc.Err())
			}
			if attr, err := tc.s.qp.Query(); err != nil || attr.State != abi.IB_QPS_ERR {
				t.Errorf("state %v, %v", attr.State, err)
			}
		}
	})
}
