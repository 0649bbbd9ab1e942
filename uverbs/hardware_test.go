//go:build linux

package uverbs_test

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"slices"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/fakeverbs"
	"github.com/purerdma/rdma/uverbs"
)

// eachHardware is eachStyle with a device that has what soft-RoCE has not. ask
// asks for the object; without the ability, or by write where there is no write
// command, it is refused as it should be, and f does not run.
func eachHardware(t *testing.T, byWrite bool, ask func(*rig) error, f func(t *testing.T, k *fakeverbs.Kernel, r *rig)) {
	eachStyle(t, func(t *testing.T, k *fakeverbs.Kernel, c *uverbs.Context) {
		r := mustBuild(t, c, nil)
		if err := ask(r); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("a device that cannot: %v", err)
		}
		k.Hardware = true
		if c.CallStyle() == uverbs.StyleWrite && !byWrite {
			if err := ask(r); !errors.Is(err, errors.ErrUnsupported) {
				t.Errorf("by write: %v", err)
			}
			return
		}
		f(t, k, r)
	})
}

func wantBusy(t *testing.T, parent interface{ Close() error }, users ...string) {
	t.Helper()
	var busy *uverbs.BusyError
	if err := parent.Close(); !errors.As(err, &busy) || !slices.Equal(busy.Users, users) {
		t.Errorf("close of %v: %v", parent, err)
	}
}

func TestWorkQueues(t *testing.T) {
	ask := func(r *rig) error {
		_, err := r.pd.CreateWQ(uverbs.WQConfig{CQ: r.cq, MaxWR: 4})
		return err
	}
	eachHardware(t, true, ask, func(t *testing.T, k *fakeverbs.Kernel, r *rig) {
		var wqs []*uverbs.WQ
		for range 2 {
			wq, err := r.pd.CreateWQ(uverbs.WQConfig{CQ: r.cq, MaxWR: 4})
			if err != nil {
				t.Fatal(err)
			}
			wqs = append(wqs, wq)
		}
		if wq := wqs[0]; wq.MaxWR() != 5 || wq.MaxSGE() != 1 || wq.Number() != wq.Handle()<<4 {
			t.Errorf("%v: number %d, %d requests of %d entries", wq, wq.Number(), wq.MaxWR(), wq.MaxSGE())
		}
		if err := wqs[0].Modify(abi.IB_WQS_RDY); err != nil {
			t.Error(err)
		}
		if err := wqs[0].Modify(9); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("state 9: %v", err)
		}
		const strip, fcs = abi.IB_UVERBS_WQ_FLAGS_CVLAN_STRIPPING, abi.IB_UVERBS_WQ_FLAGS_SCATTER_FCS
		if err := errors.Join(wqs[0].ModifyFlags(strip|fcs, strip|fcs), wqs[0].ModifyFlags(0, fcs)); err != nil || k.WQFlags(wqs[0].Handle()) != strip {
			t.Errorf("flags %#x, %v", k.WQFlags(wqs[0].Handle()), err)
		}
		k.RaiseWQ(wqs[1].Handle(), abi.IB_EVENT_WQ_FATAL)
		e, err := r.ctx.NextAsyncEvent(withTimeout(t))
		if err != nil || e.WQ != wqs[1] || e.Scope() != uverbs.ScopeWQ {
			t.Errorf("event %v, %v", e, err)
		}
		table, err := r.ctx.CreateWQTable(wqs[0], wqs[1], wqs[0], wqs[0])
		if err != nil {
			t.Fatal(err)
		}
		one, err := r.ctx.CreateWQTable(wqs[1])
		if err != nil || one.Number() != one.Handle()<<4 {
			t.Fatalf("table of one: %v", err)
		}
		if _, err := r.ctx.CreateWQTable(wqs[0], wqs[1], wqs[0]); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("table of three: %v", err)
		}
		wantBusy(t, wqs[0], table.String())
		closeAll(t, table, one, wqs[0], wqs[1])
	})
}

func TestCounters(t *testing.T) {
	ask := func(r *rig) error {
		_, err := r.ctx.CreateCounters()
		return err
	}
	eachHardware(t, false, ask, func(t *testing.T, _ *fakeverbs.Kernel, r *rig) {
		n, err := r.ctx.CreateCounters()
		if err != nil {
			t.Fatal(err)
		}
		for _, tc := range []struct {
			cached bool
			want   []uint64
		}{{false, []uint64{1, 2, 3}}, {true, []uint64{101}}} {
			if got, err := n.Read(len(tc.want), tc.cached); err != nil || !slices.Equal(got, tc.want) {
				t.Errorf("read %v: %v", got, err)
			}
		}
		for _, count := range []int{0, -1, 129} {
			if _, err := n.Read(count, false); !errors.Is(err, syscall.EINVAL) {
				t.Errorf("%d values: %v", count, err)
			}
		}
		closeAll(t, n)
	})
}

func TestDeviceMemory(t *testing.T) {
	ask := func(r *rig) error {
		_, err := r.ctx.AllocDM(4096, 0)
		return err
	}
	eachHardware(t, false, ask, func(t *testing.T, k *fakeverbs.Kernel, r *rig) {
		dm, err := r.ctx.AllocDM(4096, 6)
		if err != nil {
			t.Fatal(err)
		}
		mr, err := r.pd.RegDM(dm, 1024, 512, uverbs.AccessLocalWrite)
		if err != nil {
			t.Fatal(err)
		}
		if mr.Addr() != 0 || mr.Len() != 512 || mr.Bytes() != nil || k.AccessOf(mr.Handle()) != uverbs.AccessLocalWrite|uverbs.AccessZeroBased {
			t.Errorf("%v at %#x, access %#x", mr, mr.Addr(), k.AccessOf(mr.Handle()))
		}
		if _, err := r.pd.RegDM(dm, 4000, 512, 0); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("outside: %v", err)
		}
		if _, err := r.ctx.AllocDM(1<<30, 0); !errors.Is(err, syscall.ENOMEM) {
			t.Errorf("too much: %v", err)
		}
		wantBusy(t, dm, mr.String())
		closeAll(t, mr, dm)
	})
}

// TestFlow compares a rule with bytes laid out by hand.
func TestFlow(t *testing.T) {
	udQP := func(r *rig) *uverbs.QP {
		qp, err := r.pd.CreateQP(uverbs.QPConfig{Type: abi.IB_UVERBS_QPT_UD, SendCQ: r.cq, RecvCQ: r.cq})
		if err != nil {
			t.Fatal(err)
		}
		return qp
	}
	ask := func(r *rig) error {
		qp := udQP(r)
		_, err := qp.CreateFlow(uverbs.FlowConfig{})
		return errors.Join(err, qp.Close())
	}
	eachHardware(t, true, ask, func(t *testing.T, k *fakeverbs.Kernel, r *rig) {
		qp := udQP(r)
		f, err := qp.CreateFlow(uverbs.FlowConfig{Priority: 3, Specs: []uverbs.FlowSpec{
			uverbs.FlowEth{Value: uverbs.FlowEthFields{Dst: [6]byte{1, 2, 3, 4, 5, 6}, EtherType: 0x0800}, Mask: uverbs.FlowEthFields{EtherType: 0xffff}},
			uverbs.InnerFlow{FlowSpec: uverbs.FlowIPv4{Value: uverbs.FlowIPv4Fields{Dst: netip.MustParseAddr("10.1.2.3"), Protocol: 17}}},
			uverbs.FlowIPv6{Mask: uverbs.FlowIPv6Fields{Src: netip.MustParseAddr("fd00::1"), FlowLabel: 0xabcde}},
			uverbs.FlowUDP{Value: uverbs.FlowPorts{Dst: 4791}, Mask: uverbs.FlowPorts{Dst: 0xffff}},
			uverbs.FlowVXLAN{Value: 7, Mask: 0xffffff},
			uverbs.FlowTag{Tag: 99},
		}})
		if err != nil {
			t.Fatal(err)
		}
		got := k.LastRule()
		if a := got.Attr; a.Priority != 3 || a.NumOfSpecs != 6 || a.Port != 1 || int(a.Size) != len(got.Specs) {
			t.Errorf("rule %+v", a)
		}
		want := make([]byte, 40+32+88+16+16+16)
		header := func(at int, typ uint32, n uint16) {
			binary.NativeEndian.PutUint32(want[at:], typ)
			binary.NativeEndian.PutUint16(want[at+4:], n)
		}
		header(0, 0x20, 40)
		copy(want[8:], []byte{1, 2, 3, 4, 5, 6})
		copy(want[20:], []byte{8, 0})
		copy(want[36:], []byte{0xff, 0xff})
		header(40, 0x130, 32)
		copy(want[52:], []byte{10, 1, 2, 3, 17})
		header(72, 0x31, 88)
		copy(want[120:], []byte{0xfd, 15: 1})
		copy(want[152:], []byte{0, 0x0a, 0xbc, 0xde})
		header(160, 0x41, 16)
		copy(want[168:], []byte{0x12, 0xb7, 0, 0, 0xff, 0xff})
		header(176, 0x50, 16)
		copy(want[184:], []byte{0, 0, 0, 7, 0, 0xff, 0xff, 0xff})
		header(192, 0x1000, 16)
		binary.NativeEndian.PutUint32(want[200:], 99)
		if diff := cmp.Diff(want, got.Specs); diff != "" {
			t.Errorf("specifications (-want +got):\n%s", diff)
		}
		wantBusy(t, qp, f.String())
		closeAll(t, f)
		if _, err := r.qp.CreateFlow(uverbs.FlowConfig{}); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("to a connected queue pair: %v", err)
		}
		if r.ctx.CallStyle() == uverbs.StyleIoctl {
			countedFlow(t, k, r, qp)
		}
		closeAll(t, qp)
	})
}

func countedFlow(t *testing.T, k *fakeverbs.Kernel, r *rig, qp *uverbs.QP) {
	t.Helper()
	n, err := r.ctx.CreateCounters()
	if err != nil {
		t.Fatal(err)
	}
	f, err := qp.CreateFlow(uverbs.FlowConfig{Specs: []uverbs.FlowSpec{
		uverbs.FlowTCP{}, uverbs.FlowDrop{}, uverbs.FlowCount{Counters: n}, uverbs.FlowRaw{Type: abi.IB_FLOW_SPEC_MPLS, Body: make([]byte, 8)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if rule := k.LastRule(); len(rule.Specs) != 16+8+16+16 || rule.Attr.NumOfSpecs != 4 {
		t.Errorf("rule %+v", rule)
	}
	wantBusy(t, n, f.String())
	closeAll(t, f, n)
	if _, err := qp.CreateFlow(uverbs.FlowConfig{Specs: []uverbs.FlowSpec{uverbs.FlowCount{}}}); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("no counters: %v", err)
	}
}

func TestCompCounter(t *testing.T) {
	const (
		comp, failed = abi.IB_UVERBS_COMP_CNTR_ENTRY_COMP, abi.IB_UVERBS_COMP_CNTR_ENTRY_ERR
		sends, recvs = abi.IB_UVERBS_QP_ATTACH_COMP_CNTR_OP_SEND, abi.IB_UVERBS_QP_ATTACH_COMP_CNTR_OP_RECV
	)
	ask := func(r *rig) error {
		if _, err := r.ctx.QueryCompCounters(); !errors.Is(err, errors.ErrUnsupported) && r.ctx.CallStyle() == uverbs.StyleWrite {
			t.Errorf("limits by write: %v", err)
		}
		_, err := r.ctx.CreateCompCounter()
		return err
	}
	eachHardware(t, false, ask, func(t *testing.T, _ *fakeverbs.Kernel, r *rig) {
		limits, err := r.ctx.QueryCompCounters()
		if want := (uverbs.CompCounterLimits{Max: 12, MaxValue: 1<<40 - 1, Kinds: sends | recvs}); limits != want || err != nil {
			t.Errorf("limits %+v, %v", limits, err)
		}
		n, err := r.ctx.CreateCompCounter()
		if err != nil {
			t.Fatal(err)
		}
		err = errors.Join(n.Modify(comp, abi.IB_UVERBS_COMP_CNTR_MODIFY_OP_SET, 40), n.Modify(comp, abi.IB_UVERBS_COMP_CNTR_MODIFY_OP_INC, 2))
		if err != nil {
			t.Error(err)
		}
		for entry, want := range map[abi.IBUverbsCompCntrEntry]uint64{comp: 42, failed: 0} {
			if got, err := n.Read(entry); got != want || err != nil {
				t.Errorf("number %d is %d: %v", entry, got, err)
			}
		}
		if err := errors.Join(r.qp.AttachCompCounter(n, sends), r.qp.AttachCompCounter(n, recvs)); err != nil {
			t.Fatal(err)
		}
		if err := r.qp.AttachCompCounter(n, sends|recvs); !errors.Is(err, syscall.EBUSY) {
			t.Errorf("counted already: %v", err)
		}
		wantBusy(t, n, r.qp.String())
		closeAll(t, r.qp, n)
	})
}

// TestHardwareUndone fails the command that makes each object: nothing is left,
// and what it was to be made on can be closed.
func TestHardwareUndone(t *testing.T) {
	for name, ask := range map[string]func(*rig) error{
		"counters":           func(r *rig) error { _, err := r.ctx.CreateCounters(); return err },
		"completion counter": func(r *rig) error { _, err := r.ctx.CreateCompCounter(); return err },
		"device memory":      func(r *rig) error { _, err := r.ctx.AllocDM(4096, 0); return err },
		"DMA hint":           func(r *rig) error { _, err := r.ctx.AllocDMAHint(uverbs.DMAHintConfig{}); return err },
		"work queue":         func(r *rig) error { _, err := r.pd.CreateWQ(uverbs.WQConfig{CQ: r.cq, MaxWR: 1}); return err },
		"flow":               func(r *rig) error { _, err := r.qp.CreateFlow(uverbs.FlowConfig{}); return err },
		"window":             func(r *rig) error { _, err := r.pd.AllocMW(abi.IB_MW_TYPE_1); return err },
		"DMA buffer":         func(r *rig) error { _, err := r.pd.RegDMABuf(fakeverbs.DMABufFD, 0, 64, 0, 0); return err },
		"address space":      func(r *rig) error { _, err := r.pd.RegMRImplicit(0); return err },
		"imported region":    func(r *rig) error { _, err := r.pd.ImportMR(r.mr.Handle()); return err },
		"changed region":     func(r *rig) error { return r.mr.Rereg(uverbs.MRChange{Memory: r.mem}) },
	} {
		t.Run(name, func(t *testing.T) {
			k := fakeverbs.New()
			k.Hardware = true
			c, err := uverbs.OpenOn(k, fakeDevice(), nil)
			if err != nil {
				t.Fatal(err)
			}
			r, err := build(c, nil)
			if err != nil {
				t.Fatal(err)
			}
			k.FailCall(len(k.Calls()), syscall.ENFILE)
			if err := ask(r); !errors.Is(err, syscall.ENFILE) {
				t.Error(err)
			}
			if err := errors.Join(r.close(), c.Close()); err != nil {
				t.Error(err)
			}
			if left := k.Survivors(); len(left) > 0 {
				t.Error(left)
			}
		})
	}
}
