//go:build linux

package uverbs

import (
	"errors"
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/fakeverbs"
	"github.com/purerdma/rdma/uverbs/internal/provider"
)

// permissive is a driver that leaves every refusal to the kernel.
type permissive struct{ provider.Context }

func (p permissive) SetupSRQ(req provider.SRQRequest) (*provider.SRQSetup, error) {
	req.Type = uint32(abi.IB_UVERBS_SRQT_BASIC)
	return p.Context.SetupSRQ(req)
}

func (p permissive) SetupQP(req provider.QPRequest) (*provider.QPSetup, error) {
	switch abi.IBUverbsQPType(req.Type) {
	case abi.IB_UVERBS_QPT_RC, abi.IB_UVERBS_QPT_UC, abi.IB_UVERBS_QPT_UD:
		req.Flags = 0
		return p.Context.SetupQP(req)
	}
	done := func(*provider.QPBell, uint32, provider.QPCap, []byte) (provider.QP, error) { return ringless{}, nil }
	return &provider.QPSetup{Done: done}, nil
}

// openPermissive opens a fake device of hardware with a permissive driver.
func openPermissive(t *testing.T, style CallStyle) (*fakeverbs.Kernel, *Context) {
	t.Helper()
	k := fakeverbs.New()
	k.XRC, k.Hardware = true, true
	d := &Device{Name: "rxe0", DriverID: abi.RDMA_DRIVER_RXE, CharDev: CharDev{Path: fakeverbs.Path}}
	c, err := OpenOn(k, d, &OpenOptions{CallStyle: style})
	if err != nil {
		t.Fatal(err)
	}
	c.drv = permissive{c.drv}
	return k, c
}

// TestXRCQueue is the kernel's interface of XRC queues, for drivers that have
// them.
func TestXRCQueue(t *testing.T) {
	for _, style := range []CallStyle{StyleIoctl, StyleWrite} {
		t.Run(style.String(), func(t *testing.T) {
			k, c := openPermissive(t, style)
			x, xErr := c.OpenXRCD()
			pd, pdErr := c.AllocPD()
			cq, cqErr := c.CreateCQ(CQConfig{Entries: 4})
			if err := errors.Join(xErr, pdErr, cqErr); err != nil {
				t.Fatal(err)
			}
			srq, err := pd.CreateSRQ(SRQConfig{MaxWR: 4, Type: abi.IB_UVERBS_SRQT_XRC, XRCD: x, CQ: cq})
			if err != nil {
				t.Fatal(err)
			}
			if srq.Number() != 0x77 || srq.MaxWR() != 7 || srq.MaxSGE() != 1 {
				t.Errorf("number %#x, %d requests of %d entries", srq.Number(), srq.MaxWR(), srq.MaxSGE())
			}
			for _, parent := range []interface{ Close() error }{x, cq} {
				var busy *BusyError
				if err := parent.Close(); !errors.As(err, &busy) || busy.Users[0] != srq.String() {
					t.Errorf("close %v: %v", parent, err)
				}
			}
			if err := errors.Join(srq.Close(), cq.Close(), x.Close(), pd.Close(), c.Close()); err != nil {
				t.Error(err)
			}
			if left := k.Survivors(); len(left) > 0 {
				t.Error(left)
			}
		})
	}
}
