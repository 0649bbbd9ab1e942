//go:build linux

package integration

import (
	"errors"
	"os"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs"
)

const verbsRemote = uverbs.AccessLocalWrite | uverbs.AccessRemoteWrite | uverbs.AccessRemoteRead

// verbsRegion registers memory of a side anew.
func verbsRegion(t *testing.T, s *verbsSide, access uverbs.Access) (*uverbs.MR, error) {
	t.Helper()
	mr, err := s.qp.PD().RegMR(s.mr.Memory(), access)
	if err == nil {
		verbsClose(t, mr)
	}
	return mr, err
}

// TestVerbsRegionAddress writes to a region whose addresses start at 0.
func TestVerbsRegionAddress(t *testing.T) {
	verbsEach(t, func(t *testing.T, c *uverbs.Context) {
		a, b := verbsPair(t, c)
		mr, err := b.qp.PD().RegMRAt(b.mr.Memory(), 4096, 4096, 0, verbsRemote)
		if err != nil {
			t.Fatal(err)
		}
		verbsClose(t, mr)
		want := a.fill(1)[:8]
		b.fill(2)
		if s := verbsWriteTo(t, a, mr.Addr()+16, mr.RKey()); s != abi.IB_WC_SUCCESS {
			t.Fatal(s)
		}
		verbsEqual(t, "written", mr.Bytes()[16:24], want)
		zero, err := verbsRegion(t, b, verbsRemote|uverbs.AccessZeroBased)
		if kernelAtLeast(t, 6, 2) {
			if !errors.Is(err, errors.ErrUnsupported) {
				t.Errorf("flag that the device does not have: %v", err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if s := verbsWriteTo(t, a, 32, zero.RKey()); s != abi.IB_WC_SUCCESS || zero.Addr() != 0 {
			t.Errorf("zero-based: %v", s)
		}
		verbsEqual(t, "written", zero.Bytes()[32:40], want)
	})
}

// TestVerbsRegionRelaxed: the device takes what is only a hint.
func TestVerbsRegionRelaxed(t *testing.T) {
	verbsEach(t, func(t *testing.T, c *uverbs.Context) {
		a, b := verbsPair(t, c)
		mr, err := verbsRegion(t, b, verbsRemote|uverbs.AccessRelaxedOrdering)
		if err != nil {
			t.Fatal(err)
		}
		if s := verbsWriteTo(t, a, mr.Addr(), mr.RKey()); s != abi.IB_WC_SUCCESS {
			t.Error(s)
		}
	})
}

// TestVerbsRereg changes access and domain of a region in place.
func TestVerbsRereg(t *testing.T) {
	verbsEach(t, func(t *testing.T, c *uverbs.Context) {
		a, b := verbsPair(t, c)
		mr, err := verbsRegion(t, b, uverbs.AccessLocalWrite)
		if err != nil {
			t.Fatal(err)
		}
		pd, err := c.AllocPD()
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := pd.Close(); err != nil {
				t.Error(err)
			}
		}()
		err = mr.Rereg(uverbs.MRChange{Access: new(verbsRemote)})
		if !kernelAtLeast(t, 6, 2) {
			if !errors.Is(err, errors.ErrUnsupported) {
				t.Errorf("on a kernel without: %v", err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if s := verbsWriteTo(t, a, mr.Addr(), mr.RKey()); s != abi.IB_WC_SUCCESS {
			t.Errorf("with the new access: %v", s)
		}
		if err := mr.Rereg(uverbs.MRChange{Memory: a.mr.Memory()}); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("new memory: %v", err)
		}
		if err := mr.Rereg(uverbs.MRChange{PD: pd}); err != nil {
			t.Fatal(err)
		}
		var busy *uverbs.BusyError
		if err := pd.Close(); !errors.As(err, &busy) {
			t.Errorf("close of the region's new domain: %v", err)
		}
		if s := verbsWriteTo(t, a, mr.Addr(), mr.RKey()); s != abi.IB_WC_REM_ACCESS_ERR {
			t.Errorf("from another domain: %v", s)
		}
		if err := mr.Rereg(uverbs.MRChange{PD: b.qp.PD()}); err != nil {
			t.Error(err)
		}
	})
}

// TestVerbsOnDemand reads and writes a region of which nothing is pinned.
func TestVerbsOnDemand(t *testing.T) {
	verbsEach(t, func(t *testing.T, c *uverbs.Context) {
		a, b := verbsPair(t, c)
		attr, err := c.QueryDevice()
		if err != nil {
			t.Fatal(err)
		}
		able := attr.Raw.OdpCaps.GeneralCaps&uint64(abi.IB_UVERBS_ODP_SUPPORT) != 0
		if able != kernelAtLeast(t, 6, 18) {
			t.Errorf("on-demand paging: %v", able)
		}
		mr, err := verbsRegion(t, b, verbsRemote|uverbs.AccessOnDemand)
		if able != (err == nil) || !able && !errors.Is(err, errors.ErrUnsupported) {
			t.Fatalf("register on demand: %v; device can: %v", err, able)
		}
		if _, err := b.qp.PD().RegMRImplicit(verbsRemote); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("implicit: %v", err)
		}
		const fetch = abi.IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE
		if !able {
			if err := b.qp.PD().AdviseMR(fetch, true, b.mr.SGE(0, 8)); !errors.Is(err, errors.ErrUnsupported) {
				t.Errorf("advise: %v", err)
			}
			return
		}
		want := a.fill(5)[:8]
		err = b.qp.PD().AdviseMR(fetch, true, mr.SGE(0, 8192))
		if c.CallStyle() == uverbs.StyleWrite {
			if !errors.Is(err, errors.ErrUnsupported) {
				t.Errorf("advise by write: %v", err)
			}
		} else if err != nil {
			t.Errorf("advise: %v", err)
		}
		// The pages go; the device fetches new ones.
		if err := unix.Madvise(mr.Bytes(), unix.MADV_DONTNEED); err != nil {
			t.Fatal(err)
		}
		if s := verbsWriteTo(t, a, mr.Addr()+4096, mr.RKey()); s != abi.IB_WC_SUCCESS {
			t.Fatal(s)
		}
		verbsEqual(t, "written", mr.Bytes()[4096:4104], want)
	})
}

// TestVerbsFlush makes a write visible. Kernels without flush refuse the access
// flag, or complete the request with an error.
func TestVerbsFlush(t *testing.T) {
	verbsEach(t, func(t *testing.T, c *uverbs.Context) {
		a, b := verbsPair(t, c)
		attr, err := c.QueryDevice()
		if err != nil {
			t.Fatal(err)
		}
		able := attr.CapFlags&uint64(abi.IB_UVERBS_DEVICE_FLUSH_GLOBAL) != 0
		if able != kernelAtLeast(t, 6, 2) {
			t.Errorf("flush: %v", able)
		}
		mr, err := verbsRegion(t, b, verbsRemote|uverbs.AccessFlushGlobal)
		if able != (err == nil) || !able && !errors.Is(err, errors.ErrUnsupported) {
			t.Fatalf("register: %v; device can: %v", err, able)
		}
		flush := uverbs.SendWR{ID: 1, Opcode: abi.IB_UVERBS_WR_FLUSH, Flags: uverbs.SendSignaled, FlushType: abi.IB_FLUSH_GLOBAL}
		if !able {
			a.send(flush)
			if wc := rxeWait(t, a, 1)[0]; wc.ID != 1 || wc.Err() == nil {
				t.Errorf("flush: %+v", wc)
			}
			return
		}
		if err := b.qp.Modify(uverbs.QPAttr{Access: verbsRemote | uverbs.AccessFlushGlobal}, abi.IB_QP_ACCESS_FLAGS); err != nil {
			t.Fatal(err)
		}
		flush.RemoteAddr, flush.RKey, flush.FlushLength = mr.Addr(), mr.RKey(), 4096
		want := a.fill(6)[:8]
		a.send(uverbs.SendWR{
			Opcode: abi.IB_UVERBS_WR_RDMA_WRITE, SGEs: []uverbs.SGE{a.mr.SGE(0, 8)}, RemoteAddr: mr.Addr(), RKey: mr.RKey(),
		}, flush)
		a.want(1, abi.IB_WC_FLUSH)
		verbsEqual(t, "flushed", mr.Bytes()[:8], want)
		flush.FlushCoverage, flush.FlushLength = abi.IB_FLUSH_MR, 0
		a.send(flush)
		a.want(1, abi.IB_WC_FLUSH)
		_, err = verbsRegion(t, b, verbsRemote|uverbs.AccessFlushPersistent)
		if !errors.Is(err, syscall.EINVAL) {
			t.Errorf("persistence without such memory: %v", err)
		}
		flush.FlushCoverage, flush.FlushLength, flush.RKey = abi.IB_FLUSH_RANGE, 4096, b.mr.RKey()
		a.send(flush)
		if wc := rxeWait(t, a, 1)[0]; wc.Status != abi.IB_WC_REM_ACCESS_ERR {
			t.Errorf("flush without the right: %v", wc.Err())
		}
	})
}

// TestVerbsDMABuf: soft-RoCE cannot, whatever the descriptor.
func TestVerbsDMABuf(t *testing.T) {
	verbsEach(t, func(t *testing.T, c *uverbs.Context) {
		pd, err := c.AllocPD()
		if err != nil {
			t.Fatal(err)
		}
		verbsClose(t, pd)
		f, err := os.Open("/dev/null")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := pd.RegDMABuf(int(f.Fd()), 0, 4096, 0, uverbs.AccessLocalWrite); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("register: %v", err)
		}
	})
}
