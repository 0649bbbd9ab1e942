//go:build linux

package uverbs_test

import (
	"errors"
	"net"
	"os"
	"slices"
	"syscall"
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/fakeverbs"
	"github.com/purerdma/rdma/uverbs"
)

func TestImport(t *testing.T) {
	for _, hardware := range []bool{false, true} {
		k := fakeverbs.New()
		k.Hardware = hardware
		c, err := uverbs.OpenOn(k, fakeDevice(), nil)
		if err != nil {
			t.Fatal(err)
		}
		r, err := build(c, nil)
		if err != nil {
			t.Fatal(err)
		}
		other, err := uverbs.ImportOn(k, fakeDevice(), k.Share(true))
		if err != nil {
			t.Fatal(err)
		}
		if want := map[bool]int{false: 1, true: 4}[hardware]; other.CompVectors() != want || other.CallStyle() != uverbs.StyleIoctl {
			t.Errorf("%d vectors, style %v", other.CompVectors(), other.CallStyle())
		}
		pd, err := other.ImportPD(r.pd.Handle())
		if err != nil {
			t.Fatal(err)
		}
		mr, err := pd.ImportMR(r.mr.Handle())
		if err != nil {
			t.Fatal(err)
		}
		if mr.LKey() != r.mr.LKey() || mr.RKey() != r.mr.RKey() || mr.Addr() != r.mr.Addr() || mr.Len() != r.mr.Len() || mr.Bytes() != nil {
			t.Errorf("imported %v at %#x", mr, mr.Addr())
		}
		if _, err := pd.ImportMR(999); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("no such region: %v", err)
		}
		if relaxed, err := pd.RegMR(r.mem, uverbs.AccessRelaxedOrdering); err != nil || k.AccessOf(relaxed.Handle()) == 0 {
			t.Errorf("hint as access flag: %v", err)
		} else {
			closeAll(t, relaxed)
		}
		importedQueues(t, other, pd)
		wantBusy(t, pd, mr.String())
		closeAll(t, mr, pd, other)
		step(t, r) // all is where it was
		if err := errors.Join(r.close(), c.Close()); err != nil {
			t.Error(err)
		}
		if left := k.Survivors(); len(left) > 0 {
			t.Error(left)
		}
	}
}

// importedQueues makes queues, whose events must name the importer's descriptor;
// the fake checks it.
func importedQueues(t *testing.T, c *uverbs.Context, pd *uverbs.PD) {
	t.Helper()
	cq, err := c.CreateCQ(uverbs.CQConfig{Entries: 4})
	if err != nil {
		t.Fatal(err)
	}
	srq, err := pd.CreateSRQ(uverbs.SRQConfig{MaxWR: 4})
	if err != nil {
		t.Fatal(err)
	}
	qp, err := pd.CreateQP(uverbs.QPConfig{SendCQ: cq, RecvCQ: cq, SRQ: srq, Cap: uverbs.QPCap{MaxSendWR: 4}})
	if err != nil {
		t.Fatal(err)
	}
	if err := qp.PostSend(signaled(1)); err != nil || statusOf(t, cq, 1) != abi.IB_WC_SUCCESS {
		t.Errorf("post: %v", err)
	}
	closeAll(t, qp, srq, cq)
}

func TestImportRefused(t *testing.T) {
	k := fakeverbs.New()
	if _, err := uverbs.ImportOn(k, fakeDevice(), k.Share(false)); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("descriptor without context: %v", err)
	}
	k.NoIoctl = true
	if _, err := uverbs.ImportOn(k, fakeDevice(), k.Share(true)); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("kernel without ioctl: %v", err)
	}
	if left := k.Survivors(); len(left) > 0 {
		t.Error(left)
	}
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := uverbs.ImportContext(int(f.Fd())); !errors.Is(err, uverbs.ErrNoDevice) {
		t.Errorf("descriptor of a file: %v", err)
	}
	if _, err := uverbs.ImportContext(-1); !errors.Is(err, syscall.EBADF) {
		t.Errorf("no descriptor: %v", err)
	}
}

func TestParentDomain(t *testing.T) {
	eachStyle(t, func(t *testing.T, k *fakeverbs.Kernel, c *uverbs.Context) {
		r := mustBuild(t, c, nil)
		before := len(k.Calls())
		p, err := r.pd.AllocParentDomain()
		if err != nil {
			t.Fatal(err)
		}
		if p.Handle() != r.pd.Handle() || p.Context() != c || len(k.Calls()) != before {
			t.Errorf("%v", p)
		}
		mr, err := p.RegMR(r.mem, uverbs.AccessLocalWrite)
		if err != nil {
			t.Fatal(err)
		}
		var busy *uverbs.BusyError
		if err := r.pd.Close(); !errors.As(err, &busy) || !slices.Contains(busy.Users, p.String()) {
			t.Errorf("close of the domain: %v", err)
		}
		wantBusy(t, p, mr.String())
		ud, err := p.CreateQP(uverbs.QPConfig{Type: abi.IB_UVERBS_QPT_UD, SendCQ: r.cq, RecvCQ: r.cq, Cap: uverbs.QPCap{MaxSendWR: 2}})
		if err != nil {
			t.Fatal(err)
		}
		wr := signaled(1)
		wr.AH = r.ah
		if err := ud.PostSend(wr); err != nil {
			t.Errorf("with an address handle of the domain: %v", err)
		}
		closeAll(t, ud, mr, p)
		if _, err := p.AllocMW(abi.IB_MW_TYPE_1); !errors.Is(err, net.ErrClosed) {
			t.Errorf("use of a closed domain: %v", err)
		}
	})
}
