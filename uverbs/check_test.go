//go:build linux

package uverbs_test

import (
	"errors"
	"math"
	"net"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/fakeverbs"
	"github.com/purerdma/rdma/uverbs"
)

// argument is a call with arguments that make no sense.
type argument struct {
	name string
	call func() error
	text string // of the error
}

// eachArgument checks that each call is refused, in words, and that the kernel
// sees nothing of it but questions about limits.
func eachArgument(t *testing.T, k *fakeverbs.Kernel, all []argument) {
	t.Helper()
	for _, a := range all {
		before := len(k.Calls())
		err := a.call()
		if !errors.Is(err, syscall.EINVAL) || !strings.HasPrefix(err.Error(), "rxe0: ") || !strings.Contains(err.Error(), a.text) {
			t.Errorf("%s: %v; want %q", a.name, err, a.text)
		}
		for _, call := range k.Calls()[before:] {
			if !strings.HasPrefix(call, "QUERY") && call != "INVOKE_WRITE" {
				t.Errorf("%s: the kernel got %s", a.name, call)
			}
		}
	}
}

// huge numbers are another number modulo 2^32, which would do.
const huge = 1<<32 + 4

// TestHugeNumbers: nothing is cut to the kernel's 32 bits.
func TestHugeNumbers(t *testing.T) {
	eachStyle(t, func(t *testing.T, k *fakeverbs.Kernel, c *uverbs.Context) {
		r := mustBuild(t, c, nil)
		cq := func(cfg uverbs.CQConfig) func() error {
			return func() error { _, err := c.CreateCQ(cfg); return err }
		}
		qp := func(limits uverbs.QPCap) func() error {
			return func() error {
				_, err := r.pd.CreateQP(uverbs.QPConfig{SendCQ: r.cq, RecvCQ: r.cq, Cap: limits})
				return err
			}
		}
		srq := func(cfg uverbs.SRQConfig) func() error {
			return func() error { _, err := r.pd.CreateSRQ(cfg); return err }
		}
		wq := func(cfg uverbs.WQConfig) func() error {
			return func() error { _, err := r.pd.CreateWQ(cfg); return err }
		}
		eachArgument(t, k, []argument{
			{"CQ entries", cq(uverbs.CQConfig{Entries: huge}), "Entries is 4294967300, the device allows 1 to 65536"},
			{"CQ vector", cq(uverbs.CQConfig{Entries: 1, Vector: 1 << 32}), "Vector is 4294967296, the device has 0 to 3"},
			{"CQ size", func() error { return r.cq.Resize(huge) }, "Entries is 4294967300"},
			{"moderation", func() error { return r.cq.Moderate(1<<16, 0) }, "65536 completions"},
			{"sends", qp(uverbs.QPCap{MaxSendWR: huge}), "Cap.MaxSendWR is 4294967300, the device allows 16384"},
			{"receives", qp(uverbs.QPCap{MaxRecvWR: huge}), "Cap.MaxRecvWR is 4294967300"},
			{"send entries", qp(uverbs.QPCap{MaxSendSGE: huge}), "Cap.MaxSendSGE is 4294967300"},
			{"receive entries", qp(uverbs.QPCap{MaxRecvSGE: huge}), "Cap.MaxRecvSGE is 4294967300"},
			{"inline", qp(uverbs.QPCap{MaxInline: huge}), "Cap.MaxInline is 4294967300"},
			{"negative send entries", qp(uverbs.QPCap{MaxSendSGE: -5}), "Cap.MaxSendSGE is -5"},
			{"negative receive entries", qp(uverbs.QPCap{MaxRecvSGE: -1}), "Cap.MaxRecvSGE is -1"},
			{"negative inline", qp(uverbs.QPCap{MaxInline: -1}), "Cap.MaxInline is -1"},
			{"SRQ", srq(uverbs.SRQConfig{MaxWR: huge}), "MaxWR is 4294967300, the device allows 4096"},
			{"SRQ entries", srq(uverbs.SRQConfig{MaxWR: 1, MaxSGE: huge}), "MaxSGE is 4294967300"},
			{"negative SRQ entries", srq(uverbs.SRQConfig{MaxWR: 1, MaxSGE: -1}), "MaxSGE is -1"},
			{"SRQ limit", srq(uverbs.SRQConfig{MaxWR: 1, Limit: 1 << 32}), "Limit is 4294967296, the device allows 1 (MaxWR)"},
			{"SRQ size", func() error { return r.srq.Resize(huge) }, "to 4294967300 requests"},
			{"SRQ new limit", func() error { return r.srq.SetLimit(1 << 32) }, "limit 4294967296"},
			{"WQ", wq(uverbs.WQConfig{CQ: r.cq, MaxWR: huge}), "4294967300 requests"},
			{"empty WQ", wq(uverbs.WQConfig{CQ: r.cq}), "0 requests"},
			{"WQ entries", wq(uverbs.WQConfig{CQ: r.cq, MaxWR: 1, MaxSGE: huge}), "of 4294967300 entries"},
			{"GID slot", func() error { _, err := c.QueryGID(1, 1<<32); return err }, "slot 4294967296"},
			{"port of GID", func() error { _, err := c.QueryGID(1<<32+1, 0); return err }, "port 4294967297"},
			{"port of GIDs", func() error { _, err := c.QueryGIDs(257); return err }, "port 257"},
			{"port of a datagram", func() error { _, err := c.AHAttrFromWC(257, new(uverbs.WC), nil); return err }, "port 257"},
			{"device memory", func() error { _, err := c.AllocDM(-1, 0); return err }, "-1 bytes"},
		})
	})
}

// TestNothingGiven: objects that are missing, or of another context, whose
// handles mean something else here.
func TestNothingGiven(t *testing.T) {
	eachStyle(t, func(t *testing.T, k *fakeverbs.Kernel, c *uverbs.Context) {
		k.Hardware = true
		r := mustBuild(t, c, nil)
		o := foreign(t)
		mr := func(_ *uverbs.MR, err error) func() error { return func() error { return err } }
		eachArgument(t, k, []argument{
			{"memory", func() error { _, err := r.pd.RegMR(nil, 0); return err }, "no memory"},
			{"range of memory", func() error { _, err := r.pd.RegMRRange(nil, 0, 8, 0); return err }, "no memory"},
			{"memory at", func() error { _, err := r.pd.RegMRAt(nil, 0, 8, 0, 0); return err }, "no memory"},
			{"memory with a hint", func() error { _, err := r.pd.RegMRHint(nil, 0, 8, 0, o.hint); return err }, "no memory"},
			{"hint", mr(r.pd.RegMRHint(r.mem, 0, 8, 0, nil)), "no hint"},
			{"other hint", mr(r.pd.RegMRHint(r.mem, 0, 8, 0, o.hint)), "no hint of the same context"},
			{"device memory", mr(r.pd.RegDM(nil, 0, 8, 0)), "no device memory"},
			{"other device memory", mr(r.pd.RegDM(o.dm, 0, 8, 0)), "no device memory of the same context"},
			{"counter", func() error { return r.qp.AttachCompCounter(nil, 1) }, "no counter"},
			{"other counter", func() error { return r.qp.AttachCompCounter(o.counter, 1) }, "no counter of the same context"},
			{"work queue", func() error { _, err := c.CreateWQTable(nil); return err }, "a work queue is missing"},
			{"CQ", func() error { _, err := r.pd.CreateWQ(uverbs.WQConfig{MaxWR: 1}); return err }, "needs a CQ"},
			{"file", func() error { _, err := c.OpenSharedXRCD(nil, 0); return err }, "no file"},
			{"window", func() error { _, err := r.qp.BindMW(1, 0, nil, uverbs.MWBind{}); return err }, "no memory window"},
			{"other window", func() error { _, err := r.qp.BindMW(1, 0, o.mw, uverbs.MWBind{}); return err }, "no memory window of the queue pair's protection domain"},
			{"region", func() error { _, err := r.qp.BindMW(1, 0, r.mw, uverbs.MWBind{Length: 1}); return err }, "no region"},
			{"other region", func() error { _, err := r.qp.BindMW(1, 0, r.mw, uverbs.MWBind{MR: o.mr, Length: 1}); return err }, "another protection domain"},
			{"completions", func() error { _, err := r.cq.Wait(withTimeout(t), nil); return err }, "no room"},
			{"no change", func() error { return r.mr.Rereg(uverbs.MRChange{}) }, "no change"},
			{"place of no memory", func() error { return r.mr.Rereg(uverbs.MRChange{Length: 8}) }, "not given"},
			{"other domain", func() error { return r.mr.Rereg(uverbs.MRChange{PD: o.pd}) }, "another context"},
			{"no advice", func() error { return r.pd.AdviseMR(0, false) }, "0 entries"},
			{"specification", flowOf(r, nil), "specification 0: it is of nothing"},
			{"inner specification", flowOf(r, uverbs.InnerFlow{}), "specification 0: it is of nothing"},
			{"inner counters", flowOf(r, uverbs.InnerFlow{FlowSpec: uverbs.FlowCount{}}), "no counters"},
			{"other counters", flowOf(r, uverbs.FlowCount{Counters: o.counters}), "no counters of the same context"},
			{"odd specification", flowOf(r, uverbs.FlowRaw{Body: make([]byte, 7)}), "7 bytes"},
			{"IPv6 among IPv4", flowOf(r, uverbs.FlowIPv4{Value: uverbs.FlowIPv4Fields{Dst: netip.IPv6Loopback()}}), "::1 is no IPv4 address"},
			{"IPv4 among IPv6", flowOf(r, uverbs.InnerFlow{FlowSpec: uverbs.FlowIPv6{Mask: uverbs.FlowIPv6Fields{Src: netip.AddrFrom4([4]byte{10})}}}), "10.0.0.0 is no IPv6 address"},
			{"VXLAN", flowOf(r, uverbs.FlowVXLAN{Value: 1 << 24}), "24 bits"},
			{"long specification", flowOf(r, uverbs.FlowRaw{Body: make([]byte, 4096)}), "4096 bytes"},
		})
	})
}

func flowOf(r *rig, s uverbs.FlowSpec) func() error {
	return func() error {
		_, err := r.qp.CreateFlow(uverbs.FlowConfig{Specs: []uverbs.FlowSpec{s}})
		return err
	}
}

// others are objects of another context.
type others struct {
	pd       *uverbs.PD
	mr       *uverbs.MR
	mw       *uverbs.MW
	hint     *uverbs.DMAHint
	dm       *uverbs.DM
	counter  *uverbs.CompCounter
	counters *uverbs.Counters
}

func foreign(t *testing.T) *others {
	t.Helper()
	k := fakeverbs.New()
	k.Hardware = true
	c, err := uverbs.OpenOn(k, fakeDevice(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeAll(t, c) })
	r := mustBuild(t, c, nil)
	o := &others{pd: r.pd, mr: r.mr, mw: r.mw}
	var errs [4]error
	o.hint, errs[0] = c.AllocDMAHint(uverbs.DMAHintConfig{})
	o.dm, errs[1] = c.AllocDM(4096, 0)
	o.counter, errs[2] = c.CreateCompCounter()
	o.counters, errs[3] = c.CreateCounters()
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeAll(t, o.hint, o.dm, o.counter, o.counters) })
	return o
}

// TestBadAttributes: what the kernel would cut to a byte, and combinations that no
// kernel takes.
func TestBadAttributes(t *testing.T) {
	eachStyle(t, func(t *testing.T, k *fakeverbs.Kernel, c *uverbs.Context) {
		k.Hardware = true
		r := mustBuild(t, c, nil)
		modify := func(a uverbs.QPAttr, mask abi.IBQPAttrMask) func() error {
			return func() error { return r.qp.Modify(a, mask) }
		}
		reg := func(a uverbs.Access) func() error {
			return func() error { _, err := r.pd.RegMR(r.mem, a); return err }
		}
		const missing = "AccessLocalWrite is missing"
		eachArgument(t, k, []argument{
			{"MTU in bytes", func() error { return r.qp.ToRTR(uverbs.RTRConfig{MTU: 1024}) }, "PathMTU is 1024: it is a code such as abi.IB_MTU_1024"},
			{"no MTU", modify(uverbs.QPAttr{}, abi.IB_QP_PATH_MTU), "PathMTU is 0"},
			{"state", modify(uverbs.QPAttr{State: 7}, abi.IB_QP_STATE), "State is 7, the most is 6"},
			{"state of 9 bits", modify(uverbs.QPAttr{State: 256 + 1}, abi.IB_QP_STATE), "State is 257"},
			{"assumed state", modify(uverbs.QPAttr{CurState: 7}, abi.IB_QP_CUR_STATE), "CurState is 7"},
			{"migration", modify(uverbs.QPAttr{MigState: 256}, abi.IB_QP_PATH_MIG_STATE), "MigState is 256"},
			{"peer", modify(uverbs.QPAttr{DestQPN: 1 << 24}, abi.IB_QP_DEST_QPN), "DestQPN is 16777216, the most is 16777215"},
			{"first packet expected", modify(uverbs.QPAttr{RQPSN: 1 << 24}, abi.IB_QP_RQ_PSN), "RQPSN is 16777216, the most is 16777215"},
			{"first packet sent", modify(uverbs.QPAttr{SQPSN: 1 << 24}, abi.IB_QP_SQ_PSN), "SQPSN is 16777216"},
			{"time-out", modify(uverbs.QPAttr{Timeout: 32}, abi.IB_QP_TIMEOUT), "Timeout is 32"},
			{"other time-out", modify(uverbs.QPAttr{AltTmout: 32}, abi.IB_QP_ALT_PATH), "AltTmout is 32"},
			{"pause", modify(uverbs.QPAttr{MinRNRTimer: 32}, abi.IB_QP_MIN_RNR_TIMER), "MinRNRTimer is 32"},
			{"repetitions", modify(uverbs.QPAttr{RetryCount: 8}, abi.IB_QP_RETRY_CNT), "RetryCount is 8, the most is 7"},
			{"RNR repetitions", modify(uverbs.QPAttr{RNRRetry: 8}, abi.IB_QP_RNR_RETRY), "RNRRetry is 8"},
			{"source", func() error {
				_, err := r.pd.CreateQP(uverbs.QPConfig{SendCQ: r.cq, RecvCQ: r.cq, SourceQPN: 1 << 24})
				return err
			}, "24 bits"},
			{"remote write", reg(uverbs.AccessRemoteWrite), missing},
			{"remote atomic", reg(uverbs.AccessRemoteAtomic), missing},
			{"new access", func() error { return r.mr.Rereg(uverbs.MRChange{Access: new(uverbs.AccessRemoteWrite)}) }, missing},
			{"DMA buffer", func() error { _, err := r.pd.RegDMABuf(3, 0, 8, 0, uverbs.AccessRemoteWrite); return err }, missing},
			{"offset of a DMA buffer", func() error { _, err := r.pd.RegDMABuf(3, 8, 8, 0, 0); return err }, "offset 8 within a page"},
			{"address", func() error { _, err := r.pd.RegMRAt(r.mem, 8, 8, 4096, 0); return err }, "offset 8 within a page"},
			{"before the region", bindAt(r, r.mr.Addr()-1, 8), "8 bytes at"},
			{"behind the region", bindAt(r, r.mr.Addr()+4090, 8), "8 bytes at"},
			{"wraps", bindAt(r, r.mr.Addr()+8, math.MaxUint64-4), "are not in MR"},
			{"window of type 257", func() error { _, err := r.pd.AllocMW(257); return err }, "type 257"},
		})
		// Outside of the mask nothing counts.
		if err := r.qp.Modify(uverbs.QPAttr{State: abi.IB_QPS_INIT, Port: 1, PathMTU: 1024, Timeout: 99},
			abi.IB_QP_STATE|abi.IB_QP_PORT|abi.IB_QP_PKEY_INDEX|abi.IB_QP_ACCESS_FLAGS); err != nil {
			t.Errorf("attributes that the mask does not name: %v", err)
		}
	})
}

func bindAt(r *rig, addr, n uint64) func() error {
	return func() error {
		_, err := r.qp.BindMW(1, 0, r.mw, uverbs.MWBind{MR: r.mr, Addr: addr, Length: n})
		return err
	}
}

// TestSRQTypeConfig: a domain and a CQ go with one type only.
func TestSRQTypeConfig(t *testing.T) {
	eachStyle(t, func(t *testing.T, k *fakeverbs.Kernel, c *uverbs.Context) {
		r := mustBuild(t, c, nil)
		if _, err := r.pd.CreateSRQ(uverbs.SRQConfig{MaxWR: 1, CQ: r.cq}); !errors.Is(err, syscall.EINVAL) || !strings.Contains(err.Error(), "go with type XRC") {
			t.Errorf("CQ of a basic queue: %v", err)
		}
	})
}

// TestModifyExplained: a refused step tells the state, and a limit by name.
func TestModifyExplained(t *testing.T) {
	eachStyle(t, func(t *testing.T, _ *fakeverbs.Kernel, c *uverbs.Context) {
		r := mustBuild(t, c, nil)
		err := r.qp.ToRTS(uverbs.RTSConfig{})
		if !errors.Is(err, syscall.EINVAL) || !strings.HasSuffix(err.Error(), "the queue pair is in state RESET") {
			t.Errorf("RESET to RTS: %v", err)
		}
		err = r.qp.ToRTS(uverbs.RTSConfig{MaxRdAtomic: 200})
		if want := "in state RESET; MaxRdAtomic is 200, the device allows 16 (max_qp_init_rd_atom)"; !errors.Is(err, syscall.EINVAL) || !strings.Contains(err.Error(), want) {
			t.Errorf("too many reads: %v; want %q", err, want)
		}
	})
}

// TestEntryLimit: an entry has 32 bits for its length.
func TestEntryLimit(t *testing.T) {
	k := fakeverbs.New()
	k.Hardware = true
	c, err := uverbs.OpenOn(k, fakeDevice(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeAll(t, c) })
	r := mustBuild(t, c, nil)
	mr, err := r.pd.RegMRImplicit(uverbs.AccessLocalWrite)
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll(t, mr)
	if got := mr.SGE(0, math.MaxUint32); got.Length != math.MaxUint32 {
		t.Errorf("%+v", got)
	}
	defer func() {
		if recover() == nil {
			t.Error("an entry of 4 GiB did not panic")
		}
	}()
	mr.SGE(0, 1<<32)
}

// TestSignalAllFlag: the kernel's own flag for it means the same in both forms.
func TestSignalAllFlag(t *testing.T) {
	eachStyle(t, func(t *testing.T, _ *fakeverbs.Kernel, c *uverbs.Context) {
		r := mustBuild(t, c, nil)
		qp, err := r.pd.CreateQP(uverbs.QPConfig{
			SendCQ: r.cq, RecvCQ: r.cq, Cap: uverbs.QPCap{MaxSendWR: 2}, CreateFlags: abi.IB_UVERBS_QP_CREATE_SQ_SIG_ALL,
		})
		if err != nil {
			t.Fatal(err)
		}
		defer closeAll(t, qp)
		if attr, err := qp.Query(); err != nil || !attr.SignalAll {
			t.Errorf("%+v, %v", attr, err)
		}
	})
}

// TestClosedText: what a user reads after Close fits the object.
func TestClosedText(t *testing.T) {
	r := mustBuild(t, openFake(t), nil)
	closeAll(t, r.qp)
	err := r.qp.ToError()
	if !errors.Is(err, net.ErrClosed) || err.Error() != "rxe0: use ("+r.qp.String()+"): it has been closed" {
		t.Error(err)
	}
	d := fakeDevice()
	c, err := uverbs.OpenOn(fakeverbs.New(), d, nil)
	if err != nil {
		t.Fatal(err)
	}
	closeAll(t, c)
	f, exportErr := c.Export()
	_, keyErr := c.QueryPKey(1, 0)
	_, gidErr := c.QueryGIDs(1)
	for name, err := range map[string]error{"export": exportErr, "P_Key": keyErr, "GIDs": gidErr} {
		if !errors.Is(err, net.ErrClosed) {
			t.Errorf("%s of a closed context: %v", name, err)
		}
	}
	if f != nil {
		t.Errorf("%v", (*os.File)(f))
	}
}

// TestAbsurdSizes: sums of sizes do not turn around, and nothing is lent that is
// not there.
func TestAbsurdSizes(t *testing.T) {
	r := mustBuild(t, openFake(t), nil)
	a, err := r.pd.NewArena(uverbs.ArenaConfig{})
	if err != nil {
		t.Fatal(err)
	}
	small, err := a.Alloc(64)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{math.MaxInt, math.MaxInt - 63, math.MaxInt / 4, 1 << 50} {
		if b, err := a.Alloc(n); err == nil {
			t.Errorf("%d bytes: %v", n, b)
		}
	}
	closeAll(t, small, a)
	for _, cfg := range []uverbs.ArenaConfig{{ChunkSize: math.MaxInt}, {HugePageSize: 1 << 62}, {ChunkSize: -1}} {
		if _, err := r.pd.NewArena(cfg); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("%+v: %v", cfg, err)
		}
	}
	for _, cfg := range []uverbs.MemoryConfig{
		{Size: math.MaxInt}, {Size: math.MaxInt, Shared: true}, {Size: math.MaxInt, HugePageSize: 2 << 20},
		{Size: 4096, HugePageSize: 1}, {Size: 4096, HugePageSize: 4096}, {Size: 4096, HugePageSize: 1 << 62}, {Size: 4096, HugePageSize: math.MinInt},
	} {
		m, err := uverbs.AllocMemory(cfg)
		if err == nil {
			t.Errorf("%+v: %v", cfg, m)
			closeAll(t, m)
		}
	}
}

// TestBytesAfterClose: who asks for memory that is gone gets none, instead of a
// fault.
func TestBytesAfterClose(t *testing.T) {
	r := mustBuild(t, openFake(t), nil)
	closeAll(t, r.mr, r.mem)
	if r.mr.Bytes() != nil || r.mem.Bytes() != nil || r.mem.Len() != 4096 {
		t.Errorf("%d bytes of a region, %d of a memory of %d", len(r.mr.Bytes()), len(r.mem.Bytes()), r.mem.Len())
	}
}

// TestBusyText: an error of Close says which device, what, and what to close.
func TestBusyText(t *testing.T) {
	r := mustBuild(t, openFake(t), nil)
	want := "rxe0: close " + r.cq.String() + ": still in use by " + r.qp.String()
	if err := r.cq.Close(); err == nil || err.Error() != want {
		t.Errorf("%v, want %q", err, want)
	}
	if err := r.mem.Close(); err == nil || err.Error() != "close memory of 4096 bytes: still in use by "+r.mr.String() {
		t.Error(err)
	}
	if _, err := uverbs.OpenOn(fakeverbs.New(), fakeDevice(), &uverbs.OpenOptions{CallStyle: 7}); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("call style 7: %v", err)
	}
}
