//go:build linux

package uverbs_test

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/fakeverbs"
	"github.com/purerdma/rdma/uverbs"
)

func TestQueries(t *testing.T) {
	eachStyle(t, func(t *testing.T, _ *fakeverbs.Kernel, c *uverbs.Context) {
		d, err := c.QueryDevice()
		if err != nil {
			t.Fatal(err)
		}
		if d.NodeGUID.Bytes() != [8]byte{1, 2, 3, 4, 5, 6, 7, 8} && d.NodeGUID.Bytes() != [8]byte{8, 7, 6, 5, 4, 3, 2, 1} ||
			d.CapFlags != 1<<31|1<<40 || d.Ports != 1 || !d.ExtendedAnswer || d.MaxPKeys != 64 {
			t.Errorf("%+v", d)
		}
		p, err := c.QueryPort(1)
		if err != nil {
			t.Fatal(err)
		}
		if p.State != uverbs.PortActive || p.ActiveMTU != abi.IB_MTU_1024 || p.LinkLayer != uverbs.LinkEthernet || !p.GRHRequired {
			t.Errorf("%+v", p)
		}
		for _, port := range []int{-1, 0, 2, 256, 257} {
			if _, err := c.QueryPort(port); !errors.Is(err, syscall.EINVAL) {
				t.Errorf("port %d: %v", port, err)
			}
		}
	})
}

func TestQueryGIDs(t *testing.T) {
	c := openFake(t)
	got, err := c.QueryGIDs(1)
	if err != nil {
		t.Fatal(err)
	}
	first, _ := uverbs.ParseGID("fe80::1")
	second, _ := uverbs.ParseGID("fd00::2")
	want := []uverbs.GIDEntry{
		{Index: 0, GID: first, Type: uverbs.GIDTypeRoCEv2}, {Index: 2, GID: second, Type: uverbs.GIDTypeRoCEv2},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
	one, err := c.QueryGID(1, 2)
	if diff := cmp.Diff(want[1], one); err != nil || diff != "" {
		t.Errorf("slot 2: %v\n%s", err, diff)
	}
	if _, err := c.QueryGID(1, 1); !errors.Is(err, syscall.ENODATA) {
		t.Errorf("empty slot: %v", err)
	}
	if _, err := c.QueryGID(3, 0); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("no such port: %v", err)
	}
}

// TestModifyQuery checks that what Modify takes, Query returns.
func TestModifyQuery(t *testing.T) {
	eachStyle(t, func(t *testing.T, k *fakeverbs.Kernel, c *uverbs.Context) {
		r := mustBuild(t, c, nil)
		gid, _ := uverbs.ParseGID("10.77.0.1")
		err := errors.Join(
			r.qp.ToInit(1, uverbs.AccessRemoteRead),
			r.qp.ToRTR(uverbs.RTRConfig{AH: uverbs.AHAttr{DGID: gid, SGIDIndex: 1}, DestQPN: 0x123456, PSN: 9}),
		)
		if err != nil {
			t.Fatal(err)
		}
		got, err := r.qp.Query()
		if err != nil {
			t.Fatal(err)
		}
		want := uverbs.QPAttr{
			State: abi.IB_QPS_RTR, CurState: abi.IB_QPS_RTR, DestQPN: 0x123456, RQPSN: 9, PathMTU: abi.IB_MTU_1024, MaxDestRdAtomic: 1,
			Port: 1, Access: uverbs.AccessRemoteRead, AH: uverbs.AHAttr{DGID: gid, SGIDIndex: 1, Global: true, HopLimit: 64, Port: 1},
			Cap: r.qp.Cap(),
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if err := r.qp.Modify(uverbs.QPAttr{RateLimit: 5}, abi.IB_QP_RATE_LIMIT); err != nil || k.RateLimit(r.qp.Number()) != 5 {
			t.Errorf("rate limit %d, %v", k.RateLimit(r.qp.Number()), err)
		}
	})
}

// TestTransitions takes a queue pair of each type all the way; the fake knows
// what each step of each type demands and refuses.
func TestTransitions(t *testing.T) {
	eachStyle(t, func(t *testing.T, _ *fakeverbs.Kernel, c *uverbs.Context) {
		r := mustBuild(t, c, nil)
		for _, typ := range []abi.IBUverbsQPType{abi.IB_UVERBS_QPT_RC, abi.IB_UVERBS_QPT_UC, abi.IB_UVERBS_QPT_UD} {
			qp, err := r.pd.CreateQP(uverbs.QPConfig{Type: typ, SendCQ: r.cq, RecvCQ: r.cq})
			if err != nil {
				t.Fatal(err)
			}
			init := func() error { return qp.ToInit(1, uverbs.AccessLocalWrite) }
			if typ == abi.IB_UVERBS_QPT_UD {
				init = func() error { return qp.ToInitUD(1, 0x1234) }
			}
			if err := qp.ToRTS(uverbs.RTSConfig{}); !errors.Is(err, syscall.EINVAL) {
				t.Errorf("%v: RESET to RTS: %v", typ, err)
			}
			for range 2 {
				err := errors.Join(init(), qp.ToRTR(uverbs.RTRConfig{}), qp.ToRTS(uverbs.RTSConfig{}), qp.ToError(), qp.ToReset())
				if err != nil {
					t.Errorf("%v: %v", typ, err)
				}
			}
			if err := qp.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestModifyFromCM(t *testing.T) {
	eachStyle(t, func(t *testing.T, _ *fakeverbs.Kernel, c *uverbs.Context) {
		r := mustBuild(t, c, nil)
		if err := r.qp.ToInit(1, 0); err != nil {
			t.Fatal(err)
		}
		attr := abi.IBUverbsQPAttr{
			QPAttrMask: uint32(abi.IB_QP_STATE | abi.IB_QP_AV | abi.IB_QP_DEST_QPN | abi.IB_QP_PATH_MTU |
				abi.IB_QP_RQ_PSN | abi.IB_QP_MAX_DEST_RD_ATOMIC | abi.IB_QP_MIN_RNR_TIMER), QPState: uint32(abi.IB_QPS_RTR),
			DestQPNum: 77, PathMTU: uint32(abi.IB_MTU_1024), AHAttr: abi.IBUverbsAHAttr{IsGlobal: 1, PortNum: 1},
		}
		attr.AHAttr.GRH = abi.IBUverbsGlobalRoute{Dgid: [16]uint8{0xfe, 0x80, 15: 1}, SgidIndex: 3, HopLimit: 255, TrafficClass: 8, FlowLabel: 0xabcde}
		if err := r.qp.ModifyFromCM(&attr); err != nil {
			t.Fatal(err)
		}
		got, err := r.qp.Query()
		if err != nil {
			t.Fatal(err)
		}
		want := uverbs.AHAttr{
			DGID: attr.AHAttr.GRH.Dgid, SGIDIndex: 3, Global: true, FlowLabel: 0xabcde, HopLimit: 255, TrafficClass: 8, Port: 1,
		}
		if diff := cmp.Diff(want, got.AH); diff != "" || got.State != abi.IB_QPS_RTR || got.DestQPN != 77 {
			t.Errorf("%+v (-want +got):\n%s", got, diff)
		}
		attr.QPState = uint32(abi.IB_QPS_RTS)
		if converted, mask := uverbs.QPAttrFromCM(&attr); converted.State != abi.IB_QPS_RTS || converted.AH != want || uint32(mask) != attr.QPAttrMask {
			t.Errorf("%+v, mask %#x", converted, mask)
		}
	})
}

func TestBadConfigs(t *testing.T) {
	eachStyle(t, func(t *testing.T, _ *fakeverbs.Kernel, c *uverbs.Context) {
		r := mustBuild(t, c, nil)
		other := openFake(t)
		otherPD, err := other.AllocPD()
		if err != nil {
			t.Fatal(err)
		}
		defer otherPD.Close()
		qp := func(pd *uverbs.PD, cfg uverbs.QPConfig) error {
			_, err := pd.CreateQP(cfg)
			return err
		}
		cq := func(cfg uverbs.CQConfig) error {
			_, err := c.CreateCQ(cfg)
			return err
		}
		mr := func(offset, length int) error {
			_, err := r.pd.RegMRRange(r.mem, offset, length, 0)
			return err
		}
		for name, err := range map[string]error{
			"QP without CQ":       qp(r.pd, uverbs.QPConfig{SendCQ: r.cq}),
			"CQ of other context": qp(otherPD, uverbs.QPConfig{SendCQ: r.cq, RecvCQ: r.cq}),
			"large QP":            qp(r.pd, uverbs.QPConfig{SendCQ: r.cq, RecvCQ: r.cq, Cap: uverbs.QPCap{MaxRecvWR: fakeverbs.MaxQPWR + 1}}),
			"negative limit":      qp(r.pd, uverbs.QPConfig{SendCQ: r.cq, RecvCQ: r.cq, Cap: uverbs.QPCap{MaxRecvWR: -1}}),
			"empty CQ":            cq(uverbs.CQConfig{}),
			"negative CQ":         cq(uverbs.CQConfig{Entries: -1}),
			"large CQ":            cq(uverbs.CQConfig{Entries: fakeverbs.MaxCQE + 1}),
			"vector":              cq(uverbs.CQConfig{Entries: 1, Vector: 4}),
			"MR before":           mr(-1, 10), "MR behind": mr(4000, 97), "MR of nothing": mr(0, 0), "MR wraps": mr(1, 1<<63-1),
		} {
			if !errors.Is(err, syscall.EINVAL) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

func TestLimitsAreNamed(t *testing.T) {
	eachStyle(t, func(t *testing.T, _ *fakeverbs.Kernel, c *uverbs.Context) {
		r := mustBuild(t, c, nil)
		_, wrErr := r.pd.CreateQP(uverbs.QPConfig{SendCQ: r.cq, RecvCQ: r.cq, Cap: uverbs.QPCap{MaxRecvWR: 1 << 20}})
		_, cqErr := c.CreateCQ(uverbs.CQConfig{Entries: 1 << 20})
		_, vectorErr := c.CreateCQ(uverbs.CQConfig{Entries: 1, Vector: 9})
		for want, err := range map[string]error{
			"Cap.MaxRecvWR is 1048576, the device allows 16384 (max_qp_wr)": wrErr,
			"Entries is 1048576, the device allows 1 to 65536 (max_cqe)":    cqErr,
			"Vector is 9, the device has 0 to 3":                            vectorErr,
		} {
			if err == nil || !strings.HasSuffix(err.Error(), want) {
				t.Errorf("%v; want %q", err, want)
			}
		}
	})
}

func TestMemoryRegion(t *testing.T) {
	r := mustBuild(t, openFake(t), nil)
	mr, err := r.pd.RegMRRange(r.mem, 100, 200, uverbs.AccessLocalWrite)
	if err != nil {
		t.Fatal(err)
	}
	defer mr.Close()
	if mr.Len() != 200 || mr.Addr() != r.mem.Addr()+100 || mr.LKey() == 0 || mr.RKey() == 0 {
		t.Errorf("%v: %#x", mr, mr.Addr())
	}
	mr.Bytes()[0] = 42
	if r.mem.Bytes()[100] != 42 || len(mr.Bytes()) != 200 || cap(mr.Bytes()) != 200 {
		t.Error("wrong bytes")
	}
	if got, want := mr.SGE(10, 190), (uverbs.SGE{Addr: mr.Addr() + 10, Length: 190, LKey: mr.LKey()}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	for _, bad := range [][2]int{{-1, 1}, {0, -1}, {10, 191}, {201, 0}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("entry %v did not panic", bad)
				}
			}()
			mr.SGE(bad[0], bad[1])
		}()
	}
}

func TestCompletionErrorText(t *testing.T) {
	wc := uverbs.WC{ID: 5, QPN: 17, Status: abi.IB_WC_RETRY_EXC_ERR, VendorErr: 3}
	err := wc.Err()
	for _, part := range []string{"request 0x5", "QP 0x11", "4791", "vendor code 0x3"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q lacks %q", err, part)
		}
	}
	if !errors.Is(err, syscall.ETIMEDOUT) || errors.Is(err, syscall.ECANCELED) || (&uverbs.WC{}).Err() != nil {
		t.Error(err)
	}
}
