//go:build linux

package uverbs_test

import (
	"errors"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/fakeverbs"
	"github.com/purerdma/rdma/internal/offheap"
	"github.com/purerdma/rdma/uverbs"
)

// TestSeparateQueues: what is sent completes in the one queue and what is received
// in the other, in both call styles.
func TestSeparateQueues(t *testing.T) {
	eachStyle(t, func(t *testing.T, _ *fakeverbs.Kernel, c *uverbs.Context) {
		r := mustBuild(t, c, nil)
		second, err := c.CreateCQ(uverbs.CQConfig{Entries: 8})
		if err != nil {
			t.Fatal(err)
		}
		qp, err := r.pd.CreateQP(uverbs.QPConfig{
			SendCQ: r.cq, RecvCQ: second,
			Cap: uverbs.QPCap{MaxSendWR: 4, MaxRecvWR: 4, MaxInline: 32},
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(
			qp.ToInit(1, 0), qp.ToRTR(uverbs.RTRConfig{DestQPN: qp.Number()}), qp.ToRTS(uverbs.RTSConfig{}), // to itself
			qp.PostRecv(uverbs.RecvWR{ID: 7, SGEs: []uverbs.SGE{r.mr.SGE(0, 64)}}),
			qp.PostSend(uverbs.SendWR{ID: 8, Opcode: abi.IB_UVERBS_WR_SEND, Flags: uverbs.SendSignaled, Inline: []byte("x")}),
		); err != nil {
			t.Fatal(err)
		}
		for queue, want := range map[*uverbs.CQ]uint64{r.cq: 8, second: 7} {
			var wcs [4]uverbs.WC
			n, err := queue.Poll(wcs[:])
			if n != 1 || err != nil || wcs[0].ID != want || wcs[0].Status != abi.IB_WC_SUCCESS {
				t.Errorf("%v has %d completions, %+v, %v; want request %d", queue, n, wcs[:n], err, want)
			}
		}
		closeAll(t, qp, second)
	})
}

// TestAllAttributes: each attribute reaches the kernel, in its own place, and what a
// mask leaves out stays.
func TestAllAttributes(t *testing.T) {
	eachStyle(t, func(t *testing.T, _ *fakeverbs.Kernel, c *uverbs.Context) {
		r := mustBuild(t, c, nil)
		path := func(last byte, slot uint8) uverbs.AHAttr {
			return uverbs.AHAttr{
				DGID: uverbs.GID{0xfd, 15: last}, SGIDIndex: slot, Global: true, FlowLabel: 0x12345 + uint32(last), HopLimit: 9 + last,
				TrafficClass: 0x20 + last, SL: 1 + last, StaticRate: 3 + last, Port: 1,
			}
		}
		attr := uverbs.QPAttr{
			State: abi.IB_QPS_INIT, Port: 1, Access: uverbs.AccessRemoteRead,
			PathMTU: abi.IB_MTU_2048, DestQPN: 0x234567, RQPSN: 0x345678, SQPSN: 0x456789, MaxRdAtomic: 3, MaxDestRdAtomic: 4,
			MinRNRTimer: 5, Timeout: 17, RetryCount: 6, RNRRetry: 2,
			AH: path(2, 5),
		}
		steps := []abi.IBQPAttrMask{
			abi.IB_QP_STATE | abi.IB_QP_PKEY_INDEX | abi.IB_QP_PORT | abi.IB_QP_ACCESS_FLAGS,
			abi.IB_QP_STATE | abi.IB_QP_AV | abi.IB_QP_PATH_MTU | abi.IB_QP_DEST_QPN | abi.IB_QP_RQ_PSN | abi.IB_QP_MAX_DEST_RD_ATOMIC |
				abi.IB_QP_MIN_RNR_TIMER,
			abi.IB_QP_STATE | abi.IB_QP_SQ_PSN | abi.IB_QP_TIMEOUT | abi.IB_QP_RETRY_CNT | abi.IB_QP_RNR_RETRY | abi.IB_QP_MAX_QP_RD_ATOMIC,
		}
		for i, mask := range steps {
			attr.State = abi.IB_QPS_INIT + abi.IBQPState(i)
			if err := r.qp.Modify(attr, mask); err != nil {
				t.Fatal(err)
			}
		}
		got, err := r.qp.Query()
		if err != nil {
			t.Fatal(err)
		}
		attr.CurState, attr.Cap = attr.State, r.qp.Cap()
		if diff := cmp.Diff(attr, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// TestRegionInTheKernel: the kernel's region is where, and as long, and under the
// address that was asked for, and in the domain it was moved to.
func TestRegionInTheKernel(t *testing.T) {
	eachStyle(t, func(t *testing.T, k *fakeverbs.Kernel, c *uverbs.Context) {
		r := mustBuild(t, c, nil)
		mr, err := r.pd.RegMRAt(r.mem, 256, 512, 0x20000+256, uverbs.AccessLocalWrite|uverbs.AccessRemoteRead)
		if err != nil {
			t.Fatal(err)
		}
		want := fakeverbs.Region{
			Start: r.mem.Addr() + 256, Addr: 0x20000 + 256, Length: 512, PD: r.pd.Handle(),
			Access: abi.IB_UVERBS_ACCESS_LOCAL_WRITE | abi.IB_UVERBS_ACCESS_REMOTE_READ,
		}
		if diff := cmp.Diff(want, k.Region(mr.Handle())); diff != "" {
			t.Errorf("registered (-want +got):\n%s", diff)
		}
		other, err := c.AllocPD()
		if err != nil {
			t.Fatal(err)
		}
		if err := mr.Rereg(uverbs.MRChange{PD: other}); err != nil {
			t.Fatal(err)
		}
		want.PD = other.Handle()
		if diff := cmp.Diff(want, k.Region(mr.Handle())); diff != "" || mr.PD() != other {
			t.Errorf("moved to another domain (-want +got):\n%s", diff)
		}
		if err := mr.Rereg(uverbs.MRChange{Access: new(uverbs.AccessLocalWrite)}); err != nil {
			t.Fatal(err)
		}
		want.Access = abi.IB_UVERBS_ACCESS_LOCAL_WRITE
		if diff := cmp.Diff(want, k.Region(mr.Handle())); diff != "" {
			t.Errorf("with other rights (-want +got):\n%s", diff)
		}
		closeAll(t, mr, other)
	})
}

// TestNothingKeptAfterRefusal: whatever kernel or driver refuses on the way, the
// kernel's object and the memory of the command are gone.
func TestNothingKeptAfterRefusal(t *testing.T) {
	eachStyle(t, func(t *testing.T, k *fakeverbs.Kernel, c *uverbs.Context) {
		r := mustBuild(t, c, nil)
		objects, blocks := len(k.Survivors()), offheap.Lent()
		check := func(what string, err error) {
			t.Helper()
			if err == nil {
				t.Errorf("%s: no error", what)
			}
			if n := len(k.Survivors()); n != objects {
				t.Errorf("%s: %d objects, %d before: %v", what, n, objects, k.Survivors())
			}
			if n := offheap.Lent(); n != blocks {
				t.Errorf("%s: %d blocks of commands are in use, %d before", what, n, blocks)
			}
		}
		create := map[string]func() error{
			"CQ":  func() error { _, err := c.CreateCQ(uverbs.CQConfig{Entries: 8}); return err },
			"QP":  func() error { _, err := r.pd.CreateQP(uverbs.QPConfig{SendCQ: r.cq, RecvCQ: r.cq}); return err },
			"SRQ": func() error { _, err := r.pd.CreateSRQ(uverbs.SRQConfig{MaxWR: 8}); return err },
			"MR":  func() error { _, err := r.pd.RegMR(r.mem, 0); return err },
			"AH":  func() error { _, err := r.pd.CreateAH(uverbs.AHAttr{DGID: uverbs.GID{0xfd, 15: 2}}); return err },
			"MW":  func() error { _, err := r.pd.AllocMW(abi.IB_MW_TYPE_1); return err },
			"PD":  func() error { _, err := c.AllocPD(); return err },
		}
		for name, f := range create {
			k.FailCall(len(k.Calls()), syscall.ENOMEM)
			check("kernel refuses "+name, f())
			if name == "CQ" || name == "QP" || name == "SRQ" {
				k.FailNamed("mmap", syscall.ENOMEM) // the driver cannot map its ring
				check("driver fails with "+name, f())
			}
		}
		for name, f := range map[string]func() error{
			"MODIFY_SRQ": func() error { return r.srq.Resize(16) },
			"RESIZE_CQ":  func() error { return r.cq.Resize(64) },
			"MODIFY_QP":  func() error { return r.qp.ToInit(1, 0) },
			"QUERY_QP":   func() error { _, err := r.qp.Query(); return err },
			"QUERY_SRQ":  func() error { _, err := r.srq.Query(); return err },
			"REREG_MR":   func() error { return r.mr.Rereg(uverbs.MRChange{PD: r.pd}) },
		} {
			k.FailNamed(name, syscall.ENOMEM)
			check(name, f())
		}
	})
}

// TestCompletionTimeouts: which failures are time-outs, flushes and lack of access, of
// all there are.
func TestCompletionTimeouts(t *testing.T) {
	timeouts := map[abi.IBWCStatus]bool{
		abi.IB_WC_RETRY_EXC_ERR: true, abi.IB_WC_RESP_TIMEOUT_ERR: true, abi.IB_WC_RNR_RETRY_EXC_ERR: true,
	}
	access := map[abi.IBWCStatus]bool{abi.IB_WC_LOC_PROT_ERR: true, abi.IB_WC_LOC_ACCESS_ERR: true, abi.IB_WC_REM_ACCESS_ERR: true}
	for s := abi.IB_WC_LOC_LEN_ERR; s <= abi.IB_WC_GENERAL_ERR; s++ {
		e := &uverbs.CompletionError{Status: s}
		if e.Timeout() != timeouts[s] || errors.Is(e, syscall.ETIMEDOUT) != timeouts[s] {
			t.Errorf("%v: timeout %v, ETIMEDOUT %v", s, e.Timeout(), errors.Is(e, syscall.ETIMEDOUT))
		}
		flushed := s == abi.IB_WC_WR_FLUSH_ERR
		if e.Flushed() != flushed || errors.Is(e, syscall.ECANCELED) != flushed {
			t.Errorf("%v: flushed %v", s, e.Flushed())
		}
		if errors.Is(e, syscall.EACCES) != access[s] {
			t.Errorf("%v: EACCES %v", s, errors.Is(e, syscall.EACCES))
		}
	}
}

// TestAnswersReachTheCaller: numbers that the kernel chose, or was told, arrive where
// the program looks for them.
func TestAnswersReachTheCaller(t *testing.T) {
	eachStyle(t, func(t *testing.T, k *fakeverbs.Kernel, c *uverbs.Context) {
		r := mustBuild(t, c, nil)
		srq, err := r.pd.CreateSRQ(uverbs.SRQConfig{MaxWR: 8, Limit: 3})
		if err != nil {
			t.Fatal(err)
		}
		if a, err := srq.Query(); err != nil || a.Limit != 3 {
			t.Errorf("limit of a new shared queue: %+v, %v", a, err)
		}
		if r.mw.RKey() != r.mw.Handle()<<8 {
			t.Errorf("key %#x of window %d", r.mw.RKey(), r.mw.Handle())
		}
		k.Scramble = func(answer []byte) {
			if len(answer) == 8 {
				copy(answer, []byte{1, 1, 1, 1, 2, 2, 2, 2})
			}
		}
		err = r.mr.Rereg(uverbs.MRChange{PD: r.pd})
		k.Scramble = nil
		if err != nil || r.mr.LKey() != 0x01010101 || r.mr.RKey() != 0x02020202 {
			t.Errorf("keys %#x and %#x after a change, %v", r.mr.LKey(), r.mr.RKey(), err)
		}
		closeAll(t, srq)
	})
}

// TestAnswerKeepsTheClass: the way back has the traffic class and the flow label of
// the datagram.
func TestAnswerKeepsTheClass(t *testing.T) {
	c := openFake(t)
	table, err := c.QueryGIDs(1)
	if err != nil {
		t.Fatal(err)
	}
	header := make([]byte, uverbs.GRHSize)
	header[0], header[1], header[2], header[3], header[6] = 0x6b, 0x8a, 0xbc, 0xde, 17
	copy(header[8:], table[1].GID[:])
	copy(header[24:], table[0].GID[:])
	a, err := c.AHAttrFromWC(1, &uverbs.WC{Flags: abi.IB_WC_GRH}, header)
	if err != nil || a.TrafficClass != 0xb8 || a.FlowLabel != 0xabcde || a.DGID != table[1].GID || int(a.SGIDIndex) != table[0].Index {
		t.Errorf("%+v, %v", a, err)
	}
}
