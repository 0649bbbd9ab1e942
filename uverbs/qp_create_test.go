//go:build linux

package uverbs

import (
	"errors"
	"os"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/fakeverbs"
)

// hardwareRig is what queue pairs of every kind are made on.
type hardwareRig struct {
	k     *fakeverbs.Kernel
	c     *Context
	pd    *PD
	cq    *CQ
	x     *XRCD
	wq    *WQ
	table *WQTable
}

func newHardwareRig(t *testing.T, style CallStyle) *hardwareRig {
	t.Helper()
	k, c := openPermissive(t, style)
	r := &hardwareRig{k: k, c: c}
	var errs [5]error
	r.pd, errs[0] = c.AllocPD()
	r.cq, errs[1] = c.CreateCQ(CQConfig{Entries: 4})
	r.x, errs[2] = c.OpenXRCD()
	r.wq, errs[3] = r.pd.CreateWQ(WQConfig{CQ: r.cq, MaxWR: 4})
	r.table, errs[4] = c.CreateWQTable(r.wq)
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(r.table.Close(), r.wq.Close(), r.x.Close(), r.cq.Close(), r.pd.Close(), c.Close()); err != nil {
			t.Error(err)
		}
		if left := k.Survivors(); len(left) > 0 {
			t.Error(left)
		}
	})
	return r
}

func eachHardwareRig(t *testing.T, f func(t *testing.T, r *hardwareRig)) {
	for _, style := range []CallStyle{StyleIoctl, StyleWrite} {
		t.Run(style.String(), func(t *testing.T) { f(t, newHardwareRig(t, style)) })
	}
}

// TestCreateQPKinds checks what reaches the kernel of each kind of queue pair,
// and takes each to RTS.
func TestCreateQPKinds(t *testing.T) {
	const noLoop = abi.IB_UVERBS_QP_CREATE_BLOCK_MULTICAST_LOOPBACK
	eachHardwareRig(t, func(t *testing.T, r *hardwareRig) {
		for _, tc := range []struct {
			name string
			cfg  QPConfig
			want fakeverbs.QPMade
		}{
			{"flags", QPConfig{Type: abi.IB_UVERBS_QPT_UD, SendCQ: r.cq, RecvCQ: r.cq, CreateFlags: noLoop},
				fakeverbs.QPMade{Type: abi.IB_UVERBS_QPT_UD, Flags: uint32(noLoop)}},
			{"source", QPConfig{Type: abi.IB_UVERBS_QPT_UD, SendCQ: r.cq, RecvCQ: r.cq, SourceQPN: 77},
				fakeverbs.QPMade{Type: abi.IB_UVERBS_QPT_UD, Flags: 1 << 10, SourceQPN: 77}},
			{"raw packets", QPConfig{Type: abi.IB_UVERBS_QPT_RAW_PACKET, SendCQ: r.cq, RecvCQ: r.cq},
				fakeverbs.QPMade{Type: abi.IB_UVERBS_QPT_RAW_PACKET}},
			{"raw packets to several queues", QPConfig{Type: abi.IB_UVERBS_QPT_RAW_PACKET, SendCQ: r.cq, WQTable: r.table},
				fakeverbs.QPMade{Type: abi.IB_UVERBS_QPT_RAW_PACKET, Table: true}},
			{"source of XRC", QPConfig{Type: abi.IB_UVERBS_QPT_XRC_INI, SendCQ: r.cq, Cap: QPCap{MaxSendWR: 4}},
				fakeverbs.QPMade{Type: abi.IB_UVERBS_QPT_XRC_INI}},
			{"target of XRC", QPConfig{Type: abi.IB_UVERBS_QPT_XRC_TGT, XRCD: r.x},
				fakeverbs.QPMade{Type: abi.IB_UVERBS_QPT_XRC_TGT, XRCD: true}},
		} {
			t.Run(tc.name, func(t *testing.T) {
				qp, err := r.pd.CreateQP(tc.cfg)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tc.want, r.k.QPMade(qp.Handle())); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				if qp.Type() != abi.IB_UVERBS_QPT_RAW_PACKET { // whose steps the fake does not know
					init := func() error { return qp.ToInit(1, AccessRemoteRead) }
					if qp.Type() == abi.IB_UVERBS_QPT_UD {
						init = func() error { return qp.ToInitUD(1, 1) }
					}
					if err := errors.Join(init(), qp.ToRTR(RTRConfig{DestQPN: 1}), qp.ToRTS(RTSConfig{})); err != nil {
						t.Error(err)
					}
				}
				if err := qp.Close(); err != nil {
					t.Error(err)
				}
			})
		}
	})
}

func TestCreateQPRefused(t *testing.T) {
	r := newHardwareRig(t, StyleIoctl)
	for name, cfg := range map[string]QPConfig{
		"no CQ":                     {},
		"no receive CQ":             {SendCQ: r.cq},
		"XRC without CQ":            {Type: abi.IB_UVERBS_QPT_XRC_INI},
		"XRC without domain":        {Type: abi.IB_UVERBS_QPT_XRC_TGT},
		"domain without XRC":        {SendCQ: r.cq, RecvCQ: r.cq, XRCD: r.x},
		"things of another context": {SendCQ: newHardwareRig(t, StyleIoctl).cq, RecvCQ: r.cq},
	} {
		if _, err := r.pd.CreateQP(cfg); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestXRCShared opens a domain of a file, and a target that is there.
func TestXRCShared(t *testing.T) {
	eachHardwareRig(t, func(t *testing.T, r *hardwareRig) {
		f, err := os.CreateTemp(t.TempDir(), "")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		x, err := r.c.OpenSharedXRCD(f, os.O_CREATE)
		if err != nil {
			t.Fatal(err)
		}
		target, err := r.pd.CreateQP(QPConfig{Type: abi.IB_UVERBS_QPT_XRC_TGT, XRCD: x})
		if err != nil {
			t.Fatal(err)
		}
		qp, err := x.OpenQP(target.Number())
		if err != nil {
			t.Fatal(err)
		}
		if qp.Number() != target.Number() || qp.PD() != nil || qp.SendCQ() != nil || qp.Type() != abi.IB_UVERBS_QPT_XRC_TGT {
			t.Errorf("opened %v", qp)
		}
		for name, err := range map[string]error{
			"send": qp.PostSend(SendWR{Opcode: abi.IB_UVERBS_WR_SEND}), "receive": target.PostRecv(RecvWR{}),
		} {
			if !errors.Is(err, ErrOpcode) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := x.OpenQP(9999); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("a number nobody has: %v", err)
		}
		var busy *BusyError
		if err := x.Close(); !errors.As(err, &busy) || len(busy.Users) != 2 {
			t.Errorf("close of the domain: %v", err)
		}
		if err := errors.Join(qp.Close(), target.Close(), x.Close()); err != nil {
			t.Error(err)
		}
	})
}

// TestCQFlags: what the device cannot is said to be unsupported, although old
// kernels answer EINVAL.
func TestCQFlags(t *testing.T) {
	eachHardwareRig(t, func(t *testing.T, r *hardwareRig) {
		const flags = abi.IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION | abi.IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN
		cq, err := r.c.CreateCQ(CQConfig{Entries: 4, Flags: flags})
		if err != nil {
			t.Fatal(err)
		}
		if got := r.k.CQFlags(cq.Handle()); got != flags {
			t.Errorf("flags %#x", got)
		}
		if err := cq.Close(); err != nil {
			t.Error(err)
		}
		r.k.Hardware = false
		defer func() { r.k.Hardware = true }()
		if _, err := r.c.CreateCQ(CQConfig{Entries: 4, Flags: flags}); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("flags the device does not have: %v", err)
		}
		if _, err := r.c.CreateCQ(CQConfig{Entries: 1 << 20, Flags: flags}); errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("too many entries: %v", err)
		}
	})
}
