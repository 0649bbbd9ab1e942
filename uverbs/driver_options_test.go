//go:build linux

package uverbs

import (
	"errors"
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/fakeverbs"
	"github.com/purerdma/rdma/uverbs/internal/provider"
)

// askedDriver keeps what the core asks a driver for, and refuses regions and changes
// on demand.
type askedDriver struct {
	provider.Context
	qps    []provider.QPRequest
	mrs    []provider.MRRequest
	mods   []provider.ModifyRequest
	refuse error
}

func (d *askedDriver) SetupQP(req provider.QPRequest) (*provider.QPSetup, error) {
	d.qps = append(d.qps, req)
	return d.Context.SetupQP(req)
}

func (d *askedDriver) CheckMR(req provider.MRRequest) error {
	d.mrs = append(d.mrs, req)
	return d.refuse
}

func (d *askedDriver) CheckModify(req provider.ModifyRequest) error {
	d.mods = append(d.mods, req)
	return d.refuse
}

// TestDriverIsAsked: a driver hears each option that its kernel half may forget, and
// what it refuses does not reach the kernel.
func TestDriverIsAsked(t *testing.T) {
	for _, style := range []CallStyle{StyleIoctl, StyleWrite} {
		t.Run(style.String(), func(t *testing.T) {
			k, c := openPermissive(t, style)
			d := &askedDriver{Context: c.drv}
			c.drv = d
			pd, err := c.AllocPD()
			if err != nil {
				t.Fatal(err)
			}
			cq, err := c.CreateCQ(CQConfig{Entries: 8})
			if err != nil {
				t.Fatal(err)
			}
			askSignalAll(t, d, pd, cq)
			askRegion(t, d, k, pd)
			askModify(t, d, pd, cq)
		})
	}
}

func askSignalAll(t *testing.T, d *askedDriver, pd *PD, cq *CQ) {
	for i, all := range []bool{false, true} {
		if _, err := pd.CreateQP(QPConfig{SendCQ: cq, RecvCQ: cq, Cap: QPCap{MaxSendWR: 2}, SignalAll: all}); err != nil {
			t.Fatal(err)
		}
		if d.qps[i].SignalAll != all {
			t.Errorf("SignalAll %v: the driver was asked for %+v", all, d.qps[i])
		}
	}
}

func askRegion(t *testing.T, d *askedDriver, k *fakeverbs.Kernel, pd *PD) {
	mem, err := NewMemory(8192)
	if err != nil {
		t.Fatal(err)
	}
	mr, err := pd.RegMRAt(mem, 16, 64, 0x10010, AccessLocalWrite)
	if err != nil {
		t.Fatal(err)
	}
	want := provider.MRRequest{Start: mem.Addr() + 16, Addr: 0x10010, Access: AccessLocalWrite}
	if d.mrs[0] != want {
		t.Errorf("the driver was asked for %+v, want %+v", d.mrs[0], want)
	}
	if _, err := pd.RegMRRange(mem, 16, 64, AccessZeroBased); err != nil {
		t.Fatal(err)
	}
	if want := (provider.MRRequest{Start: mem.Addr() + 16, Addr: 16, Access: AccessZeroBased}); d.mrs[1] != want {
		t.Errorf("zero-based: the driver was asked for %+v, want %+v", d.mrs[1], want)
	}
	d.refuse = errors.ErrUnsupported
	defer func() { d.refuse = nil }()
	before := len(k.Survivors())
	if _, err := pd.RegMR(mem, 0); !errors.Is(err, errors.ErrUnsupported) || len(k.Survivors()) != before {
		t.Errorf("a refused region: %v, kernel's objects %v", err, k.Survivors())
	}
	access := AccessLocalWrite | AccessRemoteRead
	if err := mr.Rereg(MRChange{Access: &access}); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a refused change of a region: %v", err)
	}
	if got, want := d.mrs[len(d.mrs)-1], (provider.MRRequest{Start: mem.Addr() + 16, Addr: 0x10010, Access: access}); got != want {
		t.Errorf("the driver was asked for %+v, want %+v", got, want)
	}
}

func askModify(t *testing.T, d *askedDriver, pd *PD, cq *CQ) {
	qp, err := pd.CreateQP(QPConfig{SendCQ: cq, RecvCQ: cq, Cap: QPCap{MaxSendWR: 2}})
	if err != nil {
		t.Fatal(err)
	}
	const mask = abi.IB_QP_STATE | abi.IB_QP_PKEY_INDEX | abi.IB_QP_PORT | abi.IB_QP_ACCESS_FLAGS
	attr := QPAttr{State: abi.IB_QPS_INIT, Port: 1, PKeyIndex: 3, Access: AccessRemoteRead,
		MigState: abi.IB_MIG_ARMED, AH: AHAttr{DLID: 4, SrcPathBits: 5}}
	d.refuse = errors.ErrUnsupported
	if err := qp.Modify(attr, mask); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a refused change: %v", err)
	}
	want := provider.ModifyRequest{Mask: mask, State: abi.IB_QPS_INIT, Access: AccessRemoteRead,
		MigState: abi.IB_MIG_ARMED, PKeyIndex: 3, Port: 1, DLID: 4, PathBits: 5}
	if d.mods[0] != want {
		t.Errorf("the driver was asked for %+v, want %+v", d.mods[0], want)
	}
	if now, err := qp.Query(); err != nil || now.State != abi.IB_QPS_RESET {
		t.Errorf("state %v, %v: the change reached the kernel", now.State, err)
	}
	d.refuse = nil
}
