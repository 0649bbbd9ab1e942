package rxe

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs/internal/provider"
	"github.com/purerdma/rdma/uverbs/internal/ringtest"
)

// field is one value at one offset of a request; the slow encoder puts fields
// one by one over zeroes.
type field struct {
	off int
	val any // uint32, uint64, be32 or []byte
}

type be32 uint32

func slowEncode(size int, fields ...field) []byte {
	b := make([]byte, size)
	for _, f := range fields {
		switch v := f.val.(type) {
		case uint32:
			host.PutUint32(b[f.off:], v)
		case uint64:
			host.PutUint64(b[f.off:], v)
		case be32:
			binary.BigEndian.PutUint32(b[f.off:], uint32(v))
		case []byte:
			copy(b[f.off:], v)
		}
	}
	return b
}

func slowSGEs(at int, sges []provider.SGE) []field {
	var fs []field
	for i, s := range sges {
		fs = append(fs, field{at + i*16, s.Addr}, field{at + i*16 + 8, s.Length}, field{at + i*16 + 12, s.LKey})
	}
	return fs
}

var (
	oneSGE    = []provider.SGE{{Addr: 0x1122334455667788, Length: 100, LKey: 0xaabbccdd}}
	atomicSGE = []provider.SGE{{Addr: 0x7f0000001000, Length: 8, LKey: 5}}
	fourSGEs  = []provider.SGE{{Addr: 1, Length: 10, LKey: 2}, {Addr: 3, Length: 0, LKey: 4}, {Addr: 5, Length: 7, LKey: 6}, {Addr: 8, Length: 1 << 30, LKey: 9}}
)

func sendCases() []struct {
	name string
	wr   provider.SendWR
	want []field
} {
	const sig = provider.SendSignaled
	data := []byte("twenty-one bytes here")
	remote := []field{{wqeRemote, uint64(0xfeed0000beef0000)}, {wqeIova, uint64(0xfeed0000beef0000)}}
	length := func(n uint32) []field { return []field{{wqeLength, n}, {wqeResid, n}} }
	cat := func(fs ...[]field) (out []field) {
		for _, f := range fs {
			out = append(out, f...)
		}
		return out
	}
	rdma := cat(remote, []field{{wqeRKey, uint32(0x1234)}})
	operands := []field{{wqeCompare, uint64(7)}, {wqeSwap, uint64(9)}, {wqeAtomKey, uint32(0x1234)}}
	atomic := cat(remote, length(8), operands, []field{{wqeNumSGE, uint32(1)}}, slowSGEs(wqeSize, atomicSGE))
	wr := func(op abi.IBUverbsWROpcode, flags uint32, sges []provider.SGE) provider.SendWR {
		return provider.SendWR{
			ID: 0x0102030405060708, Opcode: op, Flags: flags, SGEs: sges, Imm: 0xcafe1234, InvalidateKey: 0x7777,
			RemoteAddr: 0xfeed0000beef0000, RKey: 0x1234, CompareAdd: 7, Swap: 9,
		}
	}
	inline := func(op abi.IBUverbsWROpcode, flags uint32, b []byte) provider.SendWR {
		w := wr(op, flags, nil)
		w.Inline = b
		return w
	}
	head := func(op abi.IBUverbsWROpcode, flags uint32) []field {
		return []field{{wqeID, uint64(0x0102030405060708)}, {wqeOpcode, uint32(op)}, {wqeFlags, flags}}
	}
	gather := func(n, l uint32, sges []provider.SGE) []field {
		return cat(length(l), []field{{wqeNumSGE, n}}, slowSGEs(wqeSize, sges))
	}
	imm := []field{{wqeEx, be32(0xcafe1234)}}
	inv := []field{{wqeEx, uint32(0x7777)}}
	flush := wr(abi.IB_UVERBS_WR_FLUSH, sig, nil)
	flush.FlushLength, flush.FlushType, flush.FlushCoverage = 0x1000, abi.IB_FLUSH_PERSISTENT, abi.IB_FLUSH_MR
	flushed := cat(remote, length(0x1000), []field{{wqeFlushKey, uint32(0x1234)}, {wqeFlushKind, []byte{2, 1}}})
	bind := wr(abi.IB_UVERBS_WR_BIND_MW, sig, nil)
	bind.Bind = &provider.Bind{WindowKey: 0x200, NewKey: 0x201, LKey: 0x300, Access: 3, Addr: 0xfeed0000, Length: 1 << 33}
	bound := []field{{wqeRemote, uint64(0xfeed0000)}, {wqeMWLength, uint64(1 << 33)}, {wqeMWKeys, uint32(0x300)},
		{wqeMWKeys + 4, uint32(0x200)}, {wqeMWKeys + 8, uint32(0x201)}, {wqeMWKeys + 12, uint32(3)}}
	return []struct {
		name string
		wr   provider.SendWR
		want []field
	}{
		{"flush", flush, cat(head(14, sig), flushed)},
		{"bind", bind, cat(head(8, sig), bound)},
		{"send", wr(abi.IB_UVERBS_WR_SEND, sig, oneSGE), cat(head(2, sig), gather(1, 100, oneSGE))},
		{"send nothing", wr(abi.IB_UVERBS_WR_SEND, 0, nil), head(2, 0)},
		{"send 4 entries, fenced and solicited", wr(abi.IB_UVERBS_WR_SEND, 5, fourSGEs), cat(head(2, 5), gather(4, 1<<30+17, fourSGEs))},
		{"send inline", inline(abi.IB_UVERBS_WR_SEND, sig, data), cat(head(2, sig|8), length(21), []field{{wqeSize, data}})},
		{"send inline flag, no data", inline(abi.IB_UVERBS_WR_SEND, 8, nil), head(2, 8)},
		{"send imm", wr(abi.IB_UVERBS_WR_SEND_WITH_IMM, 0, oneSGE), cat(head(3, 0), imm, gather(1, 100, oneSGE))},
		{"send inv", wr(abi.IB_UVERBS_WR_SEND_WITH_INV, 0, oneSGE), cat(head(9, 0), inv, gather(1, 100, oneSGE))},
		{"write", wr(abi.IB_UVERBS_WR_RDMA_WRITE, 0, oneSGE), cat(head(0, 0), rdma, gather(1, 100, oneSGE))},
		{"write inline", inline(abi.IB_UVERBS_WR_RDMA_WRITE, sig, data), cat(head(0, sig|8), rdma, length(21), []field{{wqeSize, data}})},
		{"write imm", wr(abi.IB_UVERBS_WR_RDMA_WRITE_WITH_IMM, 0, oneSGE), cat(head(1, 0), rdma, imm, gather(1, 100, oneSGE))},
		{"read", wr(abi.IB_UVERBS_WR_RDMA_READ, 0, fourSGEs), cat(head(4, 0), rdma, gather(4, 1<<30+17, fourSGEs))},
		{"compare and swap", wr(abi.IB_UVERBS_WR_ATOMIC_CMP_AND_SWP, 0, atomicSGE), cat(head(5, 0), atomic)},
		{"fetch and add", wr(abi.IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD, 0, atomicSGE), cat(head(6, 0), atomic)},
		{"local invalidate", wr(abi.IB_UVERBS_WR_LOCAL_INV, sig, nil), cat(head(7, sig), inv)},
		{"atomic write", inline(abi.IB_UVERBS_WR_ATOMIC_WRITE, sig, data[:8]), cat(head(15, sig), rdma, length(8), []field{{wqeSize, data[:8]}})},
	}
}

// TestSendBytes compares each opcode with the slow encoder, in a slot that
// held something else before.
func TestSendBytes(t *testing.T) {
	for _, tc := range sendCases() {
		t.Run(tc.name, func(t *testing.T) {
			q, k := newTestQP(t, ringtest.NewEnv(), abi.IB_UVERBS_QPT_RC, 1)
			slot := k.sq.slot(0)
			fill(slot, 0xaa)
			if err := ringtest.Send(q, &tc.wr); err != nil {
				t.Fatal(err)
			}
			used := wqeSize + len(tc.wr.SGEs)*16 + len(tc.wr.Inline)
			want := slowEncode(used, tc.want...)
			if diff := cmp.Diff(want, slot[:used]); diff != "" {
				t.Errorf("slot (-want +got):\n%s", diff)
			}
			if rest := bytes.TrimLeft(slot[used:], "\xaa"); len(rest) != 0 {
				t.Errorf("%d bytes written behind the request", len(rest))
			}
			if next := k.sq.slot(1); !bytes.Equal(next, make([]byte, len(next))) {
				t.Error("the next slot was touched")
			}
		})
	}
}

func TestRecvBytes(t *testing.T) {
	for _, tc := range []struct {
		name string
		sges []provider.SGE
		len  uint32
	}{{"empty", nil, 0}, {"one entry", oneSGE, 100}, {"four entries", fourSGEs, 1<<30 + 17}} {
		t.Run(tc.name, func(t *testing.T) {
			q, k := newTestQP(t, ringtest.NewEnv(), abi.IB_UVERBS_QPT_UD, 1)
			slot := k.rq.slot(0)
			fill(slot, 0xaa)
			if err := ringtest.Recv(q, &provider.RecvWR{ID: 42, SGEs: tc.sges}); err != nil {
				t.Fatal(err)
			}
			used := rwqeSize + 16*len(tc.sges)
			fields := append(slowSGEs(rwqeSize, tc.sges), field{rwqeID, uint64(42)},
				field{rwqeLength, tc.len}, field{rwqeResid, tc.len}, field{rwqeNumSGE, uint32(len(tc.sges))})
			if diff := cmp.Diff(slowEncode(used, fields...), slot[:used]); diff != "" {
				t.Errorf("slot (-want +got):\n%s", diff)
			}
		})
	}
}

func fill(b []byte, v byte) {
	for i := range b {
		b[i] = v
	}
}
