//go:build linux

package integration

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs"
)

// TestRxeUnsupportedOpcodes: each is refused when posted, and the queue pair
// works on as if nothing had happened.
func TestRxeUnsupportedOpcodes(t *testing.T) { eachCallStyle(t, rxeUnsupportedOpcodes) }

func rxeUnsupportedOpcodes(t *testing.T, style uverbs.CallStyle) {
	const rc, uc = abi.IB_UVERBS_QPT_RC, abi.IB_UVERBS_QPT_UC
	bad := map[abi.IBUverbsQPType][]abi.IBUverbsWROpcode{
		rc: {
			abi.IB_UVERBS_WR_TSO, abi.IB_UVERBS_WR_RDMA_READ_WITH_INV,
			abi.IB_UVERBS_WR_MASKED_ATOMIC_CMP_AND_SWP, abi.IB_UVERBS_WR_MASKED_ATOMIC_FETCH_AND_ADD, 0x20, 0xffffffff,
		},
		uc: {
			abi.IB_UVERBS_WR_RDMA_READ, abi.IB_UVERBS_WR_ATOMIC_CMP_AND_SWP, abi.IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD,
			abi.IB_UVERBS_WR_SEND_WITH_INV, abi.IB_UVERBS_WR_LOCAL_INV, abi.IB_UVERBS_WR_ATOMIC_WRITE, abi.IB_UVERBS_WR_FLUSH, 0x20,
		},
	}
	for typ, opcodes := range bad {
		t.Run(fmt.Sprint(typ), func(t *testing.T) {
			a, b := rxePair(t, rxeConfig{typ: typ, cap: verbsCap, style: style})
			for _, op := range opcodes {
				wr := uverbs.SendWR{Opcode: op, Flags: uverbs.SendSignaled, SGEs: []uverbs.SGE{a.mr.SGE(0, 8)}, RemoteAddr: b.mr.Addr(), RKey: b.mr.RKey()}
				if err := a.qp.PostSend(wr); !errors.Is(err, uverbs.ErrOpcode) {
					t.Errorf("opcode %d: %v", uint32(op), err)
				}
			}
			verbsSend(t, a, b)
		})
	}
}

func TestRxeUC(t *testing.T) {
	for _, style := range verbsStyles {
		t.Run(style.String(), func(t *testing.T) {
			a, b := rxePair(t, rxeConfig{typ: abi.IB_UVERBS_QPT_UC, cap: verbsCap, style: style})
			for _, run := range []func(*testing.T, *verbsSide, *verbsSide){
				verbsSend, verbsSendImm, verbsWriteImm, verbsInline, verbsEntries, verbsBatch, verbsSolicited,
			} {
				run(t, a, b)
				run(t, b, a)
			}
		})
	}
}

// TestRxeSendWithInvalidate: 5.10 hands a user's key over without looking at
// it; later kernels refuse to invalidate a region that a user registered. The
// receiver learns that from its completion and the state of its queue pair, the sender does
// not.
func TestRxeSendWithInvalidate(t *testing.T) { eachCallStyle(t, rxeSendWithInvalidate) }

func rxeSendWithInvalidate(t *testing.T, style uverbs.CallStyle) {
	a, b := rxePair(t, rxeConfig{cap: verbsCap, style: style})
	b.recv(uverbs.RecvWR{ID: 1, SGEs: []uverbs.SGE{b.mr.SGE(0, 64)}})
	a.send(uverbs.SendWR{ID: 2, Opcode: abi.IB_UVERBS_WR_SEND_WITH_INV, Flags: uverbs.SendSignaled, InvalidateKey: b.mr.RKey(), Inline: []byte("inv")})
	a.want(2, abi.IB_WC_SEND)
	got := rxeWait(t, b, 1)[0]
	if kernelAtLeast(t, 6, 0) {
		if got.ID != 1 || got.Status != abi.IB_WC_REM_INV_REQ_ERR || b.state() != abi.IB_QPS_ERR {
			t.Errorf("receiver, whose queue pair is in state %v: %+v", b.state(), got)
		}
		return
	}
	if err := got.Err(); err != nil {
		t.Fatal(err)
	}
	if got.Flags&abi.IB_WC_WITH_INVALIDATE == 0 || got.InvalidatedKey != b.mr.RKey() {
		t.Errorf("receiver: %+v", got)
	}
	verbsEqual(t, "received", b.mr.Bytes()[:3], []byte("inv"))
}

// TestRxeLocalInvalidate: as above, 5.10 does it and later kernels refuse to.
func TestRxeLocalInvalidate(t *testing.T) { eachCallStyle(t, rxeLocalInvalidate) }

func rxeLocalInvalidate(t *testing.T, style uverbs.CallStyle) {
	a, _ := rxePair(t, rxeConfig{cap: verbsCap, style: style})
	a.send(uverbs.SendWR{ID: 1, Opcode: abi.IB_UVERBS_WR_LOCAL_INV, Flags: uverbs.SendSignaled, InvalidateKey: a.mr.LKey()})
	if !kernelAtLeast(t, 6, 0) {
		a.want(1, abi.IB_WC_LOCAL_INV)
		return
	}
	want := abi.IB_WC_LOC_QP_OP_ERR
	if kernelAtLeast(t, 6, 12) {
		want = abi.IB_WC_WR_FLUSH_ERR
	}
	if wc := rxeWait(t, a, 1)[0]; wc.ID != 1 || wc.Status != want || a.state() != abi.IB_QPS_ERR {
		t.Errorf("queue pair in state %v, %+v", a.state(), wc)
	}
}

// TestRxeAtomicWrite: with the ability the 8 bytes arrive, without it the
// request completes with an error.
func TestRxeAtomicWrite(t *testing.T) { eachCallStyle(t, rxeAtomicWrite) }

func rxeAtomicWrite(t *testing.T, style uverbs.CallStyle) {
	a, b := rxePair(t, rxeConfig{cap: verbsCap, style: style})
	attr, err := a.qp.Context().QueryDevice()
	if err != nil {
		t.Fatal(err)
	}
	able := attr.CapFlags&uint64(abi.IB_UVERBS_DEVICE_ATOMIC_WRITE) != 0
	if able != kernelAtLeast(t, 6, 2) {
		t.Errorf("atomic writes: %v", able)
	}
	b.fill(0)
	var val [8]byte
	binary.NativeEndian.PutUint64(val[:], 0x1122334455667788)
	a.send(uverbs.SendWR{
		ID: 1, Opcode: abi.IB_UVERBS_WR_ATOMIC_WRITE, Flags: uverbs.SendSignaled, Inline: val[:],
		RemoteAddr: b.mr.Addr() + 8, RKey: b.mr.RKey(),
	})
	wc := rxeWait(t, a, 1)[0]
	if able != (wc.Err() == nil) {
		t.Fatalf("device can: %v; completion: %v", able, wc.Err())
	}
	if able != bytes.Equal(b.mr.Bytes()[8:16], val[:]) {
		t.Errorf("device can: %v; memory: % x", able, b.mr.Bytes()[8:16])
	}
}
