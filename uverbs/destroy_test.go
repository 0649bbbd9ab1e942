//go:build linux

package uverbs_test

import (
	"errors"
	"fmt"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/fakeverbs"
	"github.com/purerdma/rdma/uverbs"
)

// closer is an object that the kernel destroys by a command.
type closer interface{ Close() error }

// A destroyable is one object that a destroy command ends.
type destroyable struct {
	name  string
	write bool // has a write command
	make  func(t *testing.T, r *rig) closer
}

// one makes a destroyable of a constructor.
func one[T closer](name string, write bool, make func(r *rig) (T, error)) destroyable {
	return destroyable{name, write, func(t *testing.T, r *rig) closer {
		t.Helper()
		o, err := make(r)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}}
}

// part is one for an object that needs another, which is closed with the test.
func part[P, T closer](name string, write bool, of func(*rig) (P, error), make func(*rig, P) (T, error)) destroyable {
	return destroyable{name, write, func(t *testing.T, r *rig) closer {
		t.Helper()
		p, err := of(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		})
		o, err := make(r, p)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}}
}

func newWQ(r *rig) (*uverbs.WQ, error) {
	return r.pd.CreateWQ(uverbs.WQConfig{CQ: r.cq, MaxWR: 4})
}

func newUDQP(r *rig) (*uverbs.QP, error) {
	return r.pd.CreateQP(uverbs.QPConfig{Type: abi.IB_UVERBS_QPT_UD, SendCQ: r.cq, RecvCQ: r.cq})
}

func newGroupQP(r *rig) (*uverbs.QP, error) {
	qp, err := newUDQP(r)
	if err == nil {
		err = qp.AttachMulticast([16]byte{0xff, 0x0e, 15: 1}, 0)
	}
	return qp, err
}

// destroyables are all kinds of objects.
var destroyables = []destroyable{
	one("PD", true, func(r *rig) (*uverbs.PD, error) { return r.ctx.AllocPD() }),
	one("CQ", true, func(r *rig) (*uverbs.CQ, error) { return r.ctx.CreateCQ(uverbs.CQConfig{Entries: 4}) }),
	one("AH", true, func(r *rig) (*uverbs.AH, error) {
		return r.pd.CreateAH(uverbs.AHAttr{DGID: [16]byte{0xfd, 15: 2}})
	}),
	one("MR", true, func(r *rig) (*uverbs.MR, error) { return r.pd.RegMR(r.mem, uverbs.AccessLocalWrite) }),
	one("MW", true, func(r *rig) (*uverbs.MW, error) { return r.pd.AllocMW(abi.IB_MW_TYPE_2) }),
	one("SRQ", true, func(r *rig) (*uverbs.SRQ, error) { return r.pd.CreateSRQ(uverbs.SRQConfig{MaxWR: 4}) }),
	one("QP", true, func(r *rig) (*uverbs.QP, error) {
		return r.pd.CreateQP(uverbs.QPConfig{SendCQ: r.cq, RecvCQ: r.cq})
	}),
	one("QP in a group", true, newGroupQP),
	one("XRCD", true, func(r *rig) (*uverbs.XRCD, error) { return r.ctx.OpenXRCD() }),
	one("WQ", true, newWQ),
	part("WQ table", true, newWQ, func(r *rig, wq *uverbs.WQ) (*uverbs.WQTable, error) { return r.ctx.CreateWQTable(wq) }),
	part("flow", true, newUDQP, func(_ *rig, qp *uverbs.QP) (*uverbs.Flow, error) { return qp.CreateFlow(uverbs.FlowConfig{}) }),
	one("counters", false, func(r *rig) (*uverbs.Counters, error) { return r.ctx.CreateCounters() }),
	one("completion counter", false, func(r *rig) (*uverbs.CompCounter, error) { return r.ctx.CreateCompCounter() }),
	one("DM", false, func(r *rig) (*uverbs.DM, error) { return r.ctx.AllocDM(4096, 0) }),
	part("MR of DM", false, func(r *rig) (*uverbs.DM, error) { return r.ctx.AllocDM(4096, 0) },
		func(r *rig, dm *uverbs.DM) (*uverbs.MR, error) { return r.pd.RegDM(dm, 0, 64, 0) }),
	one("DMA hint", false, func(r *rig) (*uverbs.DMAHint, error) { return r.ctx.AllocDMAHint(uverbs.DMAHintConfig{}) }),
}

// eachDestroyable runs a test with one of each kind of object, in each style that has
// it, and with each errno that also the end of a device has.
func eachDestroyable(t *testing.T, f func(t *testing.T, k *fakeverbs.Kernel, r *rig, o closer, errno syscall.Errno)) {
	for _, d := range destroyables {
		for _, errno := range []syscall.Errno{syscall.EIO, syscall.ENODEV, syscall.ENXIO} {
			t.Run(fmt.Sprint(d.name, " ", errno), func(t *testing.T) {
				eachStyle(t, func(t *testing.T, k *fakeverbs.Kernel, c *uverbs.Context) {
					k.Hardware, k.XRC = true, true
					if c.CallStyle() == uverbs.StyleWrite && !d.write {
						return
					}
					r := mustBuild(t, c, nil)
					f(t, k, r, d.make(t, r), errno)
				})
			})
		}
	}
}

// TestDestroyFails: an errno that the end of a device has as well does not count as
// the end of the object while the device lives (mlx5 makes EIO of errors of its
// firmware): the object stays, and another Close destroys it.
func TestDestroyFails(t *testing.T) {
	eachDestroyable(t, func(t *testing.T, k *fakeverbs.Kernel, r *rig, o closer, errno syscall.Errno) {
		before := k.Survivors()
		k.FailCall(len(k.Calls()), errno)
		err := o.Close()
		if !errors.Is(err, errno) || errors.Is(err, uverbs.ErrDeviceRemoved) {
			t.Errorf("close: %v", err)
		}
		if diff := cmp.Diff(before, k.Survivors()); diff != "" {
			t.Errorf("after a close that failed (-before +after):\n%s", diff)
		}
		select {
		case <-r.ctx.Removed():
			t.Error("the device counts as removed")
		default:
		}
		if err := o.Close(); err != nil {
			t.Errorf("second close: %v", err)
		}
		if left := k.Survivors(); len(left) >= len(before) {
			t.Errorf("after the second close there are %v", left)
		}
	})
}

// TestDestroyAfterRemoval: an object of a device that is gone is gone too, whatever
// the answer.
func TestDestroyAfterRemoval(t *testing.T) {
	eachDestroyable(t, func(t *testing.T, k *fakeverbs.Kernel, _ *rig, o closer, errno syscall.Errno) {
		k.Remove()
		k.FailCall(len(k.Calls()), errno)
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestDestroyUnregistersNothing: memory whose region the kernel did not destroy is
// still in use.
func TestDestroyUnregistersNothing(t *testing.T) {
	eachStyle(t, func(t *testing.T, k *fakeverbs.Kernel, c *uverbs.Context) {
		r := mustBuild(t, c, nil)
		k.FailCall(len(k.Calls()), syscall.EIO)
		if err := r.mr.Close(); !errors.Is(err, syscall.EIO) {
			t.Errorf("close: %v", err)
		}
		wantBusy(t, r.mem, r.mr.String())
	})
}

// TestFailureIsNoRemoval: a command that fails with EIO on a device that lives does
// not say that the device was removed.
func TestFailureIsNoRemoval(t *testing.T) {
	eachStyle(t, func(t *testing.T, k *fakeverbs.Kernel, c *uverbs.Context) {
		r := mustBuild(t, c, nil)
		k.FailCall(len(k.Calls()), syscall.EIO)
		if err := r.qp.ToError(); !errors.Is(err, syscall.EIO) || errors.Is(err, uverbs.ErrDeviceRemoved) {
			t.Errorf("modify: %v", err)
		}
		k.Remove()
		if err := r.qp.ToError(); !errors.Is(err, syscall.EIO) || !errors.Is(err, uverbs.ErrDeviceRemoved) {
			t.Errorf("modify after the removal: %v", err)
		}
	})
}
