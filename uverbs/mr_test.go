//go:build linux

package uverbs_test

import (
	"errors"
	"slices"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/fakeverbs"
	"github.com/purerdma/rdma/uverbs"
)

// closeAll closes objects in order and reports failures.
func closeAll(t *testing.T, objects ...interface{ Close() error }) {
	t.Helper()
	for _, o := range objects {
		if err := o.Close(); err != nil {
			t.Errorf("close %v: %v", o, err)
		}
	}
}

func newMemory(t *testing.T, n int) *uverbs.Memory {
	t.Helper()
	mem, err := uverbs.NewMemory(n)
	if err != nil {
		t.Fatal(err)
	}
	return mem
}

func TestRegisterAt(t *testing.T) {
	eachStyle(t, func(t *testing.T, _ *fakeverbs.Kernel, c *uverbs.Context) {
		r := mustBuild(t, c, nil)
		mr, err := r.pd.RegMRAt(r.mem, 256, 512, 0x10000+256, uverbs.AccessLocalWrite)
		if err != nil {
			t.Fatal(err)
		}
		want := uverbs.SGE{Addr: 0x10000 + 256 + 8, Length: 4, LKey: mr.LKey()}
		if got := mr.SGE(8, 4); mr.Addr() != 0x10000+256 || got != want {
			t.Errorf("address %#x, entry %+v", mr.Addr(), got)
		}
		if &mr.Bytes()[0] != &r.mem.Bytes()[256] || len(mr.Bytes()) != 512 {
			t.Error("the bytes are not those registered")
		}
		zero, err := r.pd.RegMRRange(r.mem, 64, 64, uverbs.AccessLocalWrite|uverbs.AccessZeroBased)
		if err != nil || zero.Addr() != 64 {
			t.Fatalf("zero-based: %v", err)
		}
		closeAll(t, mr, zero)
		if _, err := r.pd.RegMRAt(r.mem, 0, 64, 1, 0); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("address with another offset in the page: %v", err)
		}
	})
}

// TestOptionalAccess: a flag that is a hint reaches only kernels that said that
// they know such flags, which they say by ioctl.
func TestOptionalAccess(t *testing.T) {
	eachStyle(t, func(t *testing.T, k *fakeverbs.Kernel, c *uverbs.Context) {
		r := mustBuild(t, c, nil)
		mr, err := r.pd.RegMR(r.mem, uverbs.AccessLocalWrite|uverbs.AccessRelaxedOrdering)
		if err != nil {
			t.Fatal(err)
		}
		want := uverbs.AccessLocalWrite
		if c.CallStyle() == uverbs.StyleIoctl {
			want |= uverbs.AccessRelaxedOrdering
		}
		if got := k.AccessOf(mr.Handle()); got != want {
			t.Errorf("access %#x, want %#x", got, want)
		}
		closeAll(t, mr)
	})
}

func TestDMAHint(t *testing.T) {
	eachStyle(t, func(t *testing.T, k *fakeverbs.Kernel, c *uverbs.Context) {
		r := mustBuild(t, c, nil)
		cfg := uverbs.DMAHintConfig{CPU: new(uint32(1)), MemType: new(uverbs.TPHPersistent), Hint: new(uint8(3))}
		if _, err := c.AllocDMAHint(cfg); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("a driver that cannot: %v", err)
		}
		if k.Hardware = true; c.CallStyle() == uverbs.StyleWrite {
			return
		}
		hint, err := c.AllocDMAHint(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if slices.Contains(k.Calls(), fakeverbs.NativeRegMR) {
			t.Error("the native command without a hint")
		}
		mr, err := r.pd.RegMRHint(r.mem, 64, 128, uverbs.AccessLocalWrite, hint)
		if err != nil {
			t.Fatal(err)
		}
		if mr.Addr() != r.mem.Addr()+64 || !slices.Contains(k.Calls(), fakeverbs.NativeRegMR) || len(mr.Bytes()) != 128 {
			t.Errorf("%v at %#x", mr, mr.Addr())
		}
		var busy *uverbs.BusyError
		if err := hint.Close(); !errors.As(err, &busy) {
			t.Errorf("close of a hint in use: %v", err)
		}
		if err := mr.Rereg(uverbs.MRChange{Access: new(uverbs.AccessRemoteRead)}); err != nil {
			t.Error(err)
		}
		wantBusy(t, hint, mr.String())
		closeAll(t, mr, hint)
		if _, err := c.AllocDMAHint(uverbs.DMAHintConfig{Hint: new(uint8(4))}); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("hint of three bits: %v", err)
		}
	})
}

func TestAccessNotThere(t *testing.T) {
	eachStyle(t, func(t *testing.T, k *fakeverbs.Kernel, c *uverbs.Context) {
		r := mustBuild(t, c, nil)
		if _, err := r.pd.RegMR(r.mem, uverbs.AccessOnDemand); !errors.Is(err, errors.ErrUnsupported) || !errors.Is(err, syscall.EINVAL) {
			t.Errorf("on demand: %v", err)
		}
		if _, err := r.pd.RegMRImplicit(0); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("implicit: %v", err)
		}
		k.Hardware = true
		mr, err := r.pd.RegMRImplicit(uverbs.AccessLocalWrite)
		if err != nil {
			t.Fatal(err)
		}
		if sge := mr.SGE(int(r.mem.Addr()), 8); sge.Addr != r.mem.Addr() || mr.Bytes() != nil || mr.Memory() != nil {
			t.Errorf("entry %+v", sge)
		}
		if got := k.AccessOf(mr.Handle()); got != uverbs.AccessLocalWrite|uverbs.AccessOnDemand {
			t.Errorf("access %#x", got)
		}
		closeAll(t, mr)
	})
}

func TestRereg(t *testing.T) {
	eachStyle(t, func(t *testing.T, k *fakeverbs.Kernel, c *uverbs.Context) {
		r := mustBuild(t, c, nil)
		pd, err := c.AllocPD()
		if err != nil {
			t.Fatal(err)
		}
		mem, old := newMemory(t, 8192), newMemory(t, 4096)
		mr, err := r.pd.RegMR(old, uverbs.AccessLocalWrite)
		if err != nil {
			t.Fatal(err)
		}
		if err := mr.Rereg(uverbs.MRChange{Access: new(uverbs.AccessRemoteRead)}); err != nil || k.AccessOf(mr.Handle()) != uverbs.AccessRemoteRead {
			t.Errorf("access: %v", err)
		}
		if err := mr.Rereg(uverbs.MRChange{Memory: mem}); !errors.Is(err, errors.ErrUnsupported) || mr.Memory() != old {
			t.Errorf("memory, of a driver that cannot: %v", err)
		}
		closeAll(t, mem) // the region did not keep it
		mem = newMemory(t, 8192)
		k.Hardware = true
		if err := mr.Rereg(uverbs.MRChange{PD: pd, Memory: mem, Offset: 4096}); err != nil {
			t.Fatal(err)
		}
		if mr.PD() != pd || mr.Memory() != mem || mr.Len() != 4096 || mr.Addr() != mem.Addr()+4096 || &mr.Bytes()[0] != &mem.Bytes()[4096] {
			t.Errorf("changed to %v at %#x", mr, mr.Addr())
		}
		var busy *uverbs.BusyError
		for _, parent := range []interface{ Close() error }{pd, mem} {
			if err := parent.Close(); !errors.As(err, &busy) || !slices.Equal(busy.Users, []string{mr.String()}) {
				t.Errorf("close of the new parent: %v", err)
			}
		}
		closeAll(t, old) // the old one is free
		for name, change := range map[string]uverbs.MRChange{
			"nothing": {}, "outside": {Memory: mem, Offset: 8192}, "closed memory": {Memory: old},
		} {
			if err := mr.Rereg(change); err == nil {
				t.Errorf("%s: no error", name)
			}
		}
		closeAll(t, mr, pd, mem)
	})
}

func TestDMABuf(t *testing.T) {
	eachStyle(t, func(t *testing.T, k *fakeverbs.Kernel, c *uverbs.Context) {
		r := mustBuild(t, c, nil)
		reg := func(fd int) (*uverbs.MR, error) {
			return r.pd.RegDMABuf(fd, 4096+16, 64, 16, uverbs.AccessLocalWrite)
		}
		if _, err := reg(fakeverbs.DMABufFD); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("a driver that cannot: %v", err)
		}
		if k.Hardware = true; c.CallStyle() == uverbs.StyleWrite {
			if _, err := reg(fakeverbs.DMABufFD); !errors.Is(err, errors.ErrUnsupported) {
				t.Errorf("write interface: %v", err)
			}
			return
		}
		mr, err := reg(fakeverbs.DMABufFD)
		if err != nil {
			t.Fatal(err)
		}
		if mr.Addr() != 16 || mr.Len() != 64 || mr.Bytes() != nil || mr.Handle()<<8 != mr.LKey() {
			t.Errorf("%v at %#x", mr, mr.Addr())
		}
		closeAll(t, mr)
		if _, err := reg(3); !errors.Is(err, syscall.EBADF) {
			t.Errorf("no buffer: %v", err)
		}
	})
}

func TestAdvise(t *testing.T) {
	eachStyle(t, func(t *testing.T, k *fakeverbs.Kernel, c *uverbs.Context) {
		r := mustBuild(t, c, nil)
		const advice = abi.IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE
		if err := r.pd.AdviseMR(advice, true, r.mr.SGE(0, 8)); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("a driver that cannot: %v", err)
		}
		if k.Hardware = true; c.CallStyle() == uverbs.StyleWrite {
			return
		}
		mr, err := r.pd.RegMR(r.mem, uverbs.AccessLocalWrite|uverbs.AccessOnDemand)
		if err != nil {
			t.Fatal(err)
		}
		sges := []uverbs.SGE{mr.SGE(0, 8), mr.SGE(100, 1000)}
		if err := r.pd.AdviseMR(advice, true, sges...); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(fakeverbs.Advice{Kind: advice, Flush: true, SGEs: sges}, k.LastAdvice()); diff != "" {
			t.Error(diff)
		}
		for _, wrong := range [][]uverbs.SGE{nil, {r.mr.SGE(0, 8)}, make([]uverbs.SGE, 129)} {
			if err := r.pd.AdviseMR(advice, false, wrong...); !errors.Is(err, syscall.EINVAL) {
				t.Errorf("%d entries: %v", len(wrong), err)
			}
		}
		closeAll(t, mr)
	})
}
