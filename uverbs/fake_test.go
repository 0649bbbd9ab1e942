//go:build linux

package uverbs_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/fakeverbs"
	"github.com/purerdma/rdma/uverbs"
)

// fakeDevice is the device of a fake kernel as discovery would find it.
func fakeDevice() *uverbs.Device {
	return &uverbs.Device{
		Name: "rxe0", DriverID: abi.RDMA_DRIVER_RXE,
		CharDev: uverbs.CharDev{Name: "uverbs0", Path: fakeverbs.Path, ABIVersion: 2},
	}
}

var bothStyles = []uverbs.CallStyle{uverbs.StyleIoctl, uverbs.StyleWrite}

// eachStyle runs a test with a fresh fake kernel for each call style, and
// checks that nothing is left in it.
func eachStyle(t *testing.T, f func(t *testing.T, k *fakeverbs.Kernel, c *uverbs.Context)) {
	for _, style := range bothStyles {
		t.Run(style.String(), func(t *testing.T) {
			k := fakeverbs.New()
			c, err := uverbs.OpenOn(k, fakeDevice(), &uverbs.OpenOptions{CallStyle: style})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := c.Close(); err != nil {
					t.Error(err)
				}
				if left := k.Survivors(); len(left) > 0 {
					t.Errorf("left in the kernel: %v", left)
				}
			})
			f(t, k, c)
		})
	}
}

// rig is one of each object.
type rig struct {
	ctx *uverbs.Context
	pd  *uverbs.PD
	ch  *uverbs.CompChannel
	cq  *uverbs.CQ
	mem *uverbs.Memory
	mr  *uverbs.MR
	ah  *uverbs.AH
	srq *uverbs.SRQ
	mw  *uverbs.MW
	qp  *uverbs.QP
}

// build makes one of each object. On failure it closes those made.
func build(c *uverbs.Context, notify func()) (*rig, error) {
	return buildOn(c, (*uverbs.Context).CreateCompChannel, notify)
}

// A newChannel makes one of the kinds of channel.
type newChannel func(*uverbs.Context) (*uverbs.CompChannel, error)

var channelKinds = []struct {
	name string
	make newChannel
}{
	{"goroutine reads", (*uverbs.Context).CreateCompChannel},
	{"waiters read", (*uverbs.Context).CreateBlockingCompChannel},
}

// eachChannel runs a test with each call style and kind of channel.
func eachChannel(t *testing.T, f func(t *testing.T, k *fakeverbs.Kernel, r *rig)) {
	for _, kind := range channelKinds {
		t.Run(kind.name, func(t *testing.T) {
			eachStyle(t, func(t *testing.T, k *fakeverbs.Kernel, c *uverbs.Context) {
				f(t, k, mustBuildOn(t, c, kind.make, nil))
			})
		})
	}
}

func buildOn(c *uverbs.Context, channel newChannel, notify func()) (r *rig, err error) {
	r = &rig{ctx: c}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.close())
		}
	}()
	if r.pd, err = c.AllocPD(); err != nil {
		return r, err
	}
	if r.ch, err = channel(c); err != nil {
		return r, err
	}
	if r.cq, err = c.CreateCQ(uverbs.CQConfig{Entries: 32, Channel: r.ch, Notify: notify}); err != nil {
		return r, err
	}
	if r.mem, err = uverbs.NewMemory(4096); err != nil {
		return r, err
	}
	if r.mr, err = r.pd.RegMR(r.mem, uverbs.AccessLocalWrite); err != nil {
		return r, err
	}
	if r.ah, err = r.pd.CreateAH(uverbs.AHAttr{DGID: [16]byte{0xfd, 15: 2}}); err != nil {
		return r, err
	}
	if r.srq, err = r.pd.CreateSRQ(uverbs.SRQConfig{MaxWR: 8, MaxSGE: 2}); err != nil {
		return r, err
	}
	if r.mw, err = r.pd.AllocMW(abi.IB_MW_TYPE_2); err != nil {
		return r, err
	}
	r.qp, err = r.pd.CreateQP(uverbs.QPConfig{
		SendCQ: r.cq, RecvCQ: r.cq,
		Cap: uverbs.QPCap{MaxSendWR: 8, MaxRecvWR: 8, MaxSendSGE: 2, MaxRecvSGE: 2, MaxInline: 32},
	})
	return r, err
}

// close closes what exists, in order.
func (r *rig) close() error {
	var errs []error
	if r.qp != nil {
		errs = append(errs, r.qp.Close())
	}
	if r.mw != nil {
		errs = append(errs, r.mw.Close())
	}
	if r.srq != nil {
		errs = append(errs, r.srq.Close())
	}
	if r.ah != nil {
		errs = append(errs, r.ah.Close())
	}
	if r.mr != nil {
		errs = append(errs, r.mr.Close())
	}
	if r.mem != nil {
		errs = append(errs, r.mem.Close())
	}
	if r.cq != nil {
		errs = append(errs, r.cq.Close())
	}
	if r.ch != nil {
		errs = append(errs, r.ch.Close())
	}
	if r.pd != nil {
		errs = append(errs, r.pd.Close())
	}
	return errors.Join(errs...)
}

// mustBuild is build with the objects closed at the end of the test.
func mustBuild(t testing.TB, c *uverbs.Context, notify func()) *rig {
	t.Helper()
	return mustBuildOn(t, c, (*uverbs.Context).CreateCompChannel, notify)
}

// mustBuildOn is mustBuild with a channel of a kind.
func mustBuildOn(t testing.TB, c *uverbs.Context, channel newChannel, notify func()) *rig {
	t.Helper()
	r, err := buildOn(c, channel, notify)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// signaled is a request that the fake completes.
func signaled(id uint64) uverbs.SendWR {
	return uverbs.SendWR{ID: id, Opcode: abi.IB_UVERBS_WR_SEND, Flags: uverbs.SendSignaled}
}

// hangs is how long nothing takes, however busy the machine is.
const hangs = time.Minute

// awaitTrue waits for a condition.
func awaitTrue(t testing.TB, otherwise string, cond func() bool) {
	t.Helper()
	for deadline := time.Now().Add(hangs); !cond(); time.Sleep(100 * time.Microsecond) {
		if time.Now().After(deadline) {
			t.Fatal(otherwise)
		}
	}
}

func withTimeout(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), hangs)
	t.Cleanup(cancel)
	return ctx
}
