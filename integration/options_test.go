//go:build linux

package integration

import (
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs"
)

// The tests of this file go through the options of each object on the running kernel:
// each does what it says, or is refused. Neither driver in the kernel refuses all that
// it does not do.

// TestOptionsSignalAll: requests complete without a flag of their own, of each opcode,
// and otherwise they do not.
func TestOptionsSignalAll(t *testing.T) {
	eachOption(t, func(r optionRig) {
		a, b := r.pair(func(cfg *uverbs.QPConfig) { cfg.SignalAll = true })
		for i, wr := range []uverbs.SendWR{
			{Opcode: abi.IB_UVERBS_WR_SEND, Inline: []byte("inline")},
			{Opcode: abi.IB_UVERBS_WR_SEND, SGEs: []uverbs.SGE{b.mr.SGE(0, 100)}},
			{Opcode: abi.IB_UVERBS_WR_RDMA_WRITE, RemoteAddr: a.mr.Addr(), RKey: a.mr.RKey(), SGEs: []uverbs.SGE{b.mr.SGE(0, 8)}},
			{Opcode: abi.IB_UVERBS_WR_RDMA_READ, RemoteAddr: a.mr.Addr(), RKey: a.mr.RKey(), SGEs: []uverbs.SGE{b.mr.SGE(0, 8)}},
		} {
			if wr.Opcode == abi.IB_UVERBS_WR_SEND {
				a.recv(uverbs.RecvWR{ID: 7, SGEs: []uverbs.SGE{a.mr.SGE(1024, 512)}})
			}
			wr.ID = uint64(100 + i)
			b.send(wr)
			op := abi.IB_WC_SEND
			switch wr.Opcode {
			case abi.IB_UVERBS_WR_RDMA_WRITE:
				op = abi.IB_WC_RDMA_WRITE
			case abi.IB_UVERBS_WR_RDMA_READ:
				op = abi.IB_WC_RDMA_READ
			}
			b.want(wr.ID, op)
			if wr.Opcode == abi.IB_UVERBS_WR_SEND {
				a.want(7, abi.IB_WC_RECV)
			}
		}
		// The other end was made without: only what is flagged completes.
		b.recv(uverbs.RecvWR{ID: 8}, uverbs.RecvWR{ID: 9})
		a.send(uverbs.SendWR{ID: 1, Opcode: abi.IB_UVERBS_WR_SEND}, uverbs.SendWR{ID: 2, Opcode: abi.IB_UVERBS_WR_SEND, Flags: uverbs.SendSignaled})
		a.want(2, abi.IB_WC_SEND)
	})
}

// TestOptionsRegion: the address of a region and each access flag.
func TestOptionsRegion(t *testing.T) {
	eachOption(t, func(r optionRig) {
		t := r.t
		_, b := r.pair(nil)
		const peers = uverbs.AccessLocalWrite | uverbs.AccessRemoteWrite | uverbs.AccessRemoteRead
		r.in("another address", func(r optionRig) {
			mr, err := r.pd.RegMRAt(b.mr.Memory(), 4096, 4096, 1<<20, peers)
			if r.refused(!onIWARP(), err) {
				return
			}
			verbsClose(r.t, mr)
			a, _ := r.pair(nil)
			want := append([]byte(nil), a.fill(3)[:8]...)
			if s := r.write(a, 1<<20+16, mr.RKey()); s != abi.IB_WC_SUCCESS {
				r.t.Error(s)
			}
			verbsEqual(r.t, "written", mr.Bytes()[16:24], want)
		})
		r.in("its own address", func(r optionRig) {
			mr, err := r.pd.RegMRAt(b.mr.Memory(), 4096, 4096, b.mr.Addr()+4096, peers)
			if err != nil {
				r.t.Fatal(err)
			}
			verbsClose(r.t, mr)
		})
		for _, tc := range []struct {
			name  string
			flag  uverbs.Access
			works bool
		}{
			{"zero-based", uverbs.AccessZeroBased, !onIWARP() && !kernelAtLeast(t, 6, 2)},
			{"atomics", uverbs.AccessRemoteAtomic, !onIWARP()},
			{"on demand", uverbs.AccessOnDemand, !onIWARP() && kernelAtLeast(t, 6, 15)},
			{"huge pages", uverbs.AccessHugeTLB, onIWARP() || !kernelAtLeast(t, 6, 2)},
			{"relaxed ordering", uverbs.AccessRelaxedOrdering, true},
			{"flush", uverbs.AccessFlushGlobal, !onIWARP() && kernelAtLeast(t, 6, 2)},
		} {
			r.in(tc.name, func(r optionRig) {
				_, err := r.region(b, peers|tc.flag)
				r.refused(tc.works, err)
			})
		}
		r.in("windows", func(r optionRig) {
			works := !onIWARP() && kernelAtLeast(t, 5, 14)
			_, err := r.region(b, peers|uverbs.AccessMWBind)
			if err == nil {
				var mw *uverbs.MW
				if mw, err = r.pd.AllocMW(abi.IB_MW_TYPE_1); err == nil {
					verbsClose(r.t, mw)
				}
			}
			r.refused(works, err)
		})
	})
}

// TestOptionsRegionForbids: what a region's flags leave out fails.
func TestOptionsRegionForbids(t *testing.T) {
	eachOption(t, func(r optionRig) {
		t := r.t
		a, b := r.pair(nil)
		mr, err := r.region(b, uverbs.AccessLocalWrite|uverbs.AccessRemoteRead)
		if err != nil {
			t.Fatal(err)
		}
		before := append([]byte(nil), b.fill(7)[:8]...)
		a.fill(80)
		// On iWARP the completion says that TCP has the request.
		if s := r.write(a, mr.Addr(), mr.RKey()); s == abi.IB_WC_SUCCESS && !onIWARP() {
			t.Error("a write where only reads are allowed")
		}
		a2, b2 := r.pair(nil)
		mr, err = r.region(b2, uverbs.AccessLocalWrite|uverbs.AccessRemoteWrite)
		if err != nil {
			t.Fatal(err)
		}
		a2.send(uverbs.SendWR{ID: 1, Opcode: abi.IB_UVERBS_WR_RDMA_READ, Flags: uverbs.SendSignaled, RemoteAddr: mr.Addr(), RKey: mr.RKey(),
			SGEs: []uverbs.SGE{a2.mr.SGE(0, 8)}})
		// Siw lets peers of the same domain read whatever is registered: it asks for no
		// right (siw_check_sgl_tx of a read response in siw_qp_sq_proc_tx).
		if wc := rxeWait(t, a2, 1)[0]; (wc.Err() == nil) != onIWARP() {
			t.Errorf("a read where only writes are allowed: %v", wc.Err())
		}
		verbsEqual(t, "memory", b.mr.Bytes()[:8], before)
	})
}

// TestOptionsQPAccess: a queue pair that allows nothing forbids it. Soft-iWARP looks at
// the rights of regions only (uverbs.QPAttr.Access).
func TestOptionsQPAccess(t *testing.T) {
	eachOption(t, func(r optionRig) {
		t := r.t
		a, b := r.pair(nil)
		if err := b.qp.Modify(uverbs.QPAttr{Access: uverbs.AccessLocalWrite}, abi.IB_QP_ACCESS_FLAGS); err != nil {
			t.Fatal(err)
		}
		if s := r.write(a, b.mr.Addr(), b.mr.RKey()); (s == abi.IB_WC_SUCCESS) != onIWARP() {
			t.Errorf("a write through a queue pair that allows none: %v", s)
		}
	})
}

// TestOptionsModify: each attribute alone, of a queue pair that is connected: it can be
// read back, or is refused. Soft-iWARP's has state and access only.
func TestOptionsModify(t *testing.T) {
	eachOption(t, func(r optionRig) {
		t := r.t
		_, b := r.pair(nil)
		gid := uverbs.AHAttr{DGID: uverbs.GID{10: 0xff, 0xff, 10, 77, 0, 1}, Port: 1}
		for _, tc := range []struct {
			name string
			mask abi.IBQPAttrMask
			attr uverbs.QPAttr
		}{
			{"alternate path", abi.IB_QP_ALT_PATH, uverbs.QPAttr{AltAH: gid, AltPort: 1}},
			{"migration", abi.IB_QP_PATH_MIG_STATE, uverbs.QPAttr{MigState: abi.IB_MIG_REARM}},
			{"P_Key", abi.IB_QP_PKEY_INDEX, uverbs.QPAttr{PKeyIndex: 1}},
			{"LID", abi.IB_QP_AV, uverbs.QPAttr{AH: uverbs.AHAttr{DGID: gid.DGID, DLID: 5, Port: 1}}},
			{"rate", abi.IB_QP_RATE_LIMIT, uverbs.QPAttr{RateLimit: 1000}},
		} {
			r.in(tc.name, func(r optionRig) { r.refused(false, b.qp.Modify(tc.attr, tc.mask)) })
		}
		for _, tc := range []struct {
			name string
			mask abi.IBQPAttrMask
			attr uverbs.QPAttr
			got  func(uverbs.QPAttr) bool
		}{
			{"RNR timer", abi.IB_QP_MIN_RNR_TIMER, uverbs.QPAttr{MinRNRTimer: 9}, func(a uverbs.QPAttr) bool { return a.MinRNRTimer == 9 }},
			{"atomics", abi.IB_QP_ACCESS_FLAGS, uverbs.QPAttr{Access: rxeAccess}, func(a uverbs.QPAttr) bool { return a.Access == rxeAccess }},
		} {
			r.in(tc.name, func(r optionRig) {
				if r.refused(!onIWARP(), b.qp.Modify(tc.attr, tc.mask)) {
					return
				}
				if now, err := b.qp.Query(); err != nil || !tc.got(now) {
					r.t.Errorf("%+v, %v", now, err)
				}
			})
		}
		if !onIWARP() {
			return
		}
		for mask := abi.IBQPAttrMask(1); mask <= abi.IB_QP_DEST_QPN; mask <<= 1 {
			if mask&(abi.IB_QP_STATE|abi.IB_QP_ACCESS_FLAGS) == 0 {
				err := b.qp.Modify(uverbs.QPAttr{PathMTU: abi.IB_MTU_1024, AH: gid, AltAH: gid, Port: 2}, mask)
				wantUnsupported(t, "attribute", err)
			}
		}
		for _, state := range []abi.IBQPState{abi.IB_QPS_RESET, abi.IB_QPS_SQD, abi.IB_QPS_SQE} {
			wantUnsupported(t, state.String(), b.qp.Modify(uverbs.QPAttr{State: state}, abi.IB_QP_STATE))
		}
	})
}

// TestOptionsCreate: types and flags of queue pairs and completion queues.
func TestOptionsCreate(t *testing.T) {
	eachOption(t, func(r optionRig) {
		t := r.t
		cq, err := r.c.CreateCQ(uverbs.CQConfig{Entries: 8})
		if err != nil {
			t.Fatal(err)
		}
		verbsClose(t, cq)
		base := uverbs.QPConfig{SendCQ: cq, RecvCQ: cq, Cap: uverbs.QPCap{MaxSendWR: 2, MaxRecvWR: 2}}
		for typ, works := range map[abi.IBUverbsQPType]bool{
			abi.IB_UVERBS_QPT_RC: true, abi.IB_UVERBS_QPT_UC: !onIWARP(), abi.IB_UVERBS_QPT_UD: !onIWARP(),
			abi.IB_UVERBS_QPT_RAW_PACKET: false, abi.IB_UVERBS_QPT_XRC_INI: false, abi.IB_UVERBS_QPT_DRIVER: false,
		} {
			r.in(typ.String(), func(r optionRig) {
				cfg := base
				cfg.Type = typ
				r.refused(works, verbsQP(r.pd, cfg))
			})
		}
		for bit := abi.IBUverbsQPCreateFlags(1); bit != 0; bit <<= 1 {
			cfg := base
			cfg.CreateFlags = bit
			if err := verbsQP(r.pd, cfg); bit == abi.IB_UVERBS_QP_CREATE_SQ_SIG_ALL && err != nil ||
				bit != abi.IB_UVERBS_QP_CREATE_SQ_SIG_ALL && !errors.Is(err, errors.ErrUnsupported) {
				t.Errorf("queue pair with flag %#x: %v", uint32(bit), err)
			}
		}
		cfg := base
		cfg.SourceQPN = 77
		wantUnsupported(t, "source number", verbsQP(r.pd, cfg))
		for bit := abi.IBUverbsExCreateCQFlags(1); bit != 0; bit <<= 1 {
			wantUnsupported(t, "completion queue with a flag", verbsCQ(r.c, bit))
		}
		if _, err := r.c.CreateCQ(uverbs.CQConfig{Entries: 8, Vector: r.c.CompVectors()}); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("a vector that is not there: %v", err)
		}
		wantUnsupported(t, "moderation", cq.Moderate(4, time.Millisecond))
		r.in("resize", func(r optionRig) { r.refused(!onIWARP(), cq.Resize(16)) })
		r.in("SRQ types", func(r optionRig) {
			for _, typ := range []abi.IBUverbsSRQType{abi.IB_UVERBS_SRQT_XRC, abi.IB_UVERBS_SRQT_TM} {
				_, err := r.pd.CreateSRQ(uverbs.SRQConfig{Type: typ, MaxWR: 4, MaxSGE: 1, CQ: cq})
				if err == nil {
					r.t.Errorf("a shared queue of type %d", uint32(typ))
				}
			}
		})
		r.in("rereg", func(r optionRig) {
			mem, err := uverbs.NewMemory(4096)
			if err != nil {
				r.t.Fatal(err)
			}
			verbsClose(r.t, mem)
			mr, err := r.pd.RegMR(mem, uverbs.AccessLocalWrite)
			if err != nil {
				r.t.Fatal(err)
			}
			verbsClose(r.t, mr)
			access := uverbs.AccessLocalWrite | uverbs.AccessRemoteRead
			r.refused(!onIWARP() && kernelAtLeast(t, 6, 2), mr.Rereg(uverbs.MRChange{Access: &access}))
		})
	})
}

// TestOptionsSRQLimit: a limit given at creation raises the event.
func TestOptionsSRQLimit(t *testing.T) {
	eachOption(t, func(r optionRig) {
		t := r.t
		srq, err := r.pd.CreateSRQ(uverbs.SRQConfig{MaxWR: 8, MaxSGE: 1, Limit: 3})
		if err != nil {
			t.Fatal(err)
		}
		verbsClose(t, srq)
		s := &srqRig{t: r.t, ctx: r.c, srq: srq}
		mem := verbsNewMemory(t, r.pd)
		for i := range 4 {
			if err := srq.PostRecv(uverbs.RecvWR{ID: uint64(i), SGEs: []uverbs.SGE{mem.SGE(0, 2048)}}); err != nil {
				t.Fatal(err)
			}
		}
		var a, b *verbsSide
		if onIWARP() {
			e := siwConnect(t, r.pd, func(cfg *uverbs.QPConfig) { cfg.SRQ = srq })
			a, b = e.client, e.server
		} else {
			a, b = r.pair(func(cfg *uverbs.QPConfig) { cfg.SRQ = srq })
		}
		for i := range 3 {
			a.send(uverbs.SendWR{ID: 5, Opcode: abi.IB_UVERBS_WR_SEND, Flags: uverbs.SendSignaled, Inline: []byte("x")})
			a.want(5, abi.IB_WC_SEND)
			b.want(uint64(i), abi.IB_WC_RECV)
		}
		s.wantLimitEvent()
		if onIWARP() {
			wantUnsupported(t, "resize", srq.Resize(16))
		}
	})
}

// verbsNewMemory is registered memory of its own.
func verbsNewMemory(t *testing.T, pd *uverbs.PD) *uverbs.MR {
	t.Helper()
	mem, err := uverbs.NewMemory(4096)
	if err != nil {
		t.Fatal(err)
	}
	verbsClose(t, mem)
	mr, err := pd.RegMR(mem, uverbs.AccessLocalWrite)
	if err != nil {
		t.Fatal(err)
	}
	verbsClose(t, mr)
	return mr
}

// TestOptionsSend: each flag of a request.
func TestOptionsSend(t *testing.T) {
	eachOption(t, func(r optionRig) {
		t := r.t
		a, b := r.pair(nil)
		for bit := uverbs.SendFlags(16); bit != 0; bit <<= 1 {
			wantUnsupported(t, "flag", a.qp.PostSend(uverbs.SendWR{Opcode: abi.IB_UVERBS_WR_SEND, Flags: bit}))
		}
		read := uverbs.SendWR{ID: 3, Opcode: abi.IB_UVERBS_WR_RDMA_READ, Flags: uverbs.SendSignaled | uverbs.SendFence,
			RemoteAddr: b.mr.Addr(), RKey: b.mr.RKey(), SGEs: []uverbs.SGE{a.mr.SGE(0, 8)}}
		r.in("fenced read", func(r optionRig) {
			if r.refused(!onIWARP(), a.qp.PostSend(read)) {
				return
			}
			a.want(3, abi.IB_WC_RDMA_READ)
		})
		// A send behind a read waits for it with the fence.
		read.Flags = uverbs.SendSignaled
		b.recv(uverbs.RecvWR{ID: 4, SGEs: []uverbs.SGE{b.mr.SGE(4096, 8)}})
		copy(b.fill(40)[:8], "the data")
		a.send(read, uverbs.SendWR{ID: 5, Opcode: abi.IB_UVERBS_WR_SEND, Flags: uverbs.SendSignaled | uverbs.SendFence,
			SGEs: []uverbs.SGE{a.mr.SGE(0, 8)}})
		a.want(3, abi.IB_WC_RDMA_READ)
		a.want(5, abi.IB_WC_SEND)
		b.want(4, abi.IB_WC_RECV)
		verbsEqual(t, "sent on", b.mr.Bytes()[4096:4104], []byte("the data"))
	})
}

// TestOptionsPath: what a path says is seen in the packets, or is refused.
func TestOptionsPath(t *testing.T) {
	eachOption(t, func(r optionRig) {
		t := r.t
		gid := verbsGIDOrNone(r)
		attr := uverbs.AHAttr{DGID: gid.GID, SGIDIndex: uint8(gid.Index), TrafficClass: 0x48, HopLimit: 9, SL: 3}
		if onIWARP() {
			_, err := r.pd.CreateAH(attr)
			wantUnsupported(t, "address handle", err)
			return
		}
		ud := rxeConfig{typ: abi.IB_UVERBS_QPT_UD, cap: verbsCap}
		ch := verbsChannel(t, r.c)
		a, b := rxeSide(t, r.pd, ch, ud), rxeSide(t, r.pd, ch, ud)
		udReady(t, a)
		udReady(t, b)
		udMessage(t, a, b, udHandle(t, a, attr), []byte("x"))
		h, err := uverbs.ParseGRH(b.mr.Bytes())
		if err != nil || h.TrafficClass != 0x48 {
			t.Errorf("header %+v, %v, want traffic class 0x48", h, err)
		}
		for _, bad := range []uverbs.AHAttr{
			{DGID: gid.GID, SGIDIndex: uint8(gid.Index), DLID: 7},
			{DGID: gid.GID, SGIDIndex: uint8(gid.Index), SrcPathBits: 1},
		} {
			_, err := r.pd.CreateAH(bad)
			wantUnsupported(t, "LID", err)
		}
	})
}

// verbsGIDOrNone is verbsGID where there are GIDs with addresses.
func verbsGIDOrNone(r optionRig) uverbs.GIDEntry {
	if onIWARP() {
		return uverbs.GIDEntry{}
	}
	return verbsGID(r.t, r.c)
}
