//go:build linux

package integration

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs"
)

func verbsSend(t *testing.T, a, b *verbsSide) {
	want := a.fill(1)[:5000]
	b.fill(100)
	b.recv(uverbs.RecvWR{ID: 7, SGEs: []uverbs.SGE{b.mr.SGE(128, 8192)}})
	a.send(uverbs.SendWR{ID: 8, Opcode: abi.IB_UVERBS_WR_SEND, Flags: uverbs.SendSignaled, SGEs: []uverbs.SGE{a.mr.SGE(0, 5000)}})
	if wc := b.want(7, abi.IB_WC_RECV); wc.ByteLen != 5000 || wc.Flags&abi.IB_WC_WITH_IMM != 0 {
		t.Errorf("receive: %+v", wc)
	}
	a.want(8, abi.IB_WC_SEND)
	verbsEqual(t, "received", b.mr.Bytes()[128:5128], want)
	if b.mr.Bytes()[5128] != 100+byte(5128*7%256) {
		t.Error("the byte behind the message was written")
	}
}

func verbsSendImm(t *testing.T, a, b *verbsSide) {
	b.recv(uverbs.RecvWR{ID: 1})
	a.send(uverbs.SendWR{ID: 2, Opcode: abi.IB_UVERBS_WR_SEND_WITH_IMM, Flags: uverbs.SendSignaled, Imm: 0x12345678})
	if wc := b.want(1, abi.IB_WC_RECV); wc.Imm != 0x12345678 || wc.Flags&abi.IB_WC_WITH_IMM == 0 || wc.ByteLen != 0 {
		t.Errorf("receive: %+v", wc)
	}
	a.want(2, abi.IB_WC_SEND)
}

func verbsWrite(t *testing.T, a, b *verbsSide) {
	want := a.fill(3)[:verbsMemSize/2]
	b.fill(4)
	a.send(uverbs.SendWR{
		ID: 3, Opcode: abi.IB_UVERBS_WR_RDMA_WRITE, Flags: uverbs.SendSignaled,
		SGEs: []uverbs.SGE{a.mr.SGE(0, len(want))}, RemoteAddr: b.mr.Addr() + 1, RKey: b.mr.RKey(),
	})
	a.want(3, abi.IB_WC_RDMA_WRITE)
	verbsEqual(t, "written", b.mr.Bytes()[1:1+len(want)], want)
}

func verbsWriteImm(t *testing.T, a, b *verbsSide) {
	want := a.fill(5)[:300]
	b.fill(6)
	b.recv(uverbs.RecvWR{ID: 4})
	a.send(uverbs.SendWR{
		ID: 5, Opcode: abi.IB_UVERBS_WR_RDMA_WRITE_WITH_IMM, Flags: uverbs.SendSignaled, Imm: 99,
		SGEs: []uverbs.SGE{a.mr.SGE(0, 300)}, RemoteAddr: b.mr.Addr() + 4096, RKey: b.mr.RKey(),
	})
	if wc := b.want(4, abi.IB_WC_RECV_RDMA_WITH_IMM); wc.Imm != 99 || wc.ByteLen != 300 {
		t.Errorf("receive: %+v", wc)
	}
	a.want(5, abi.IB_WC_RDMA_WRITE)
	verbsEqual(t, "written", b.mr.Bytes()[4096:4396], want)
}

func verbsRead(t *testing.T, a, b *verbsSide) {
	a.fill(7)
	want := b.fill(8)[100:20100]
	a.send(uverbs.SendWR{
		ID: 6, Opcode: abi.IB_UVERBS_WR_RDMA_READ, Flags: uverbs.SendSignaled,
		SGEs: []uverbs.SGE{a.mr.SGE(50, 20000)}, RemoteAddr: b.mr.Addr() + 100, RKey: b.mr.RKey(),
	})
	a.want(6, abi.IB_WC_RDMA_READ)
	verbsEqual(t, "read", a.mr.Bytes()[50:20050], want)
}

func verbsAtomics(t *testing.T, a, b *verbsSide) {
	word := func(s *verbsSide, off int) uint64 { return binary.NativeEndian.Uint64(s.mr.Bytes()[off:]) }
	binary.NativeEndian.PutUint64(b.mr.Bytes()[64:], 1000)
	atomic := uverbs.SendWR{
		Flags: uverbs.SendSignaled, SGEs: []uverbs.SGE{a.mr.SGE(0, 8)},
		RemoteAddr: b.mr.Addr() + 64, RKey: b.mr.RKey(),
	}
	add := atomic
	add.ID, add.Opcode, add.CompareAdd = 1, abi.IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD, 234
	a.send(add)
	a.want(1, abi.IB_WC_FETCH_ADD)
	if old, now := word(a, 0), word(b, 64); old != 1000 || now != 1234 {
		t.Errorf("fetch-and-add: old %d, new %d", old, now)
	}
	swap := atomic
	swap.ID, swap.Opcode, swap.CompareAdd, swap.Swap = 2, abi.IB_UVERBS_WR_ATOMIC_CMP_AND_SWP, 1234, 77
	a.send(swap)
	a.want(2, abi.IB_WC_COMP_SWAP)
	if old, now := word(a, 0), word(b, 64); old != 1234 || now != 77 {
		t.Errorf("compare-and-swap: old %d, new %d", old, now)
	}
	swap.ID = 3
	a.send(swap)
	a.want(3, abi.IB_WC_COMP_SWAP)
	if old, now := word(a, 0), word(b, 64); old != 77 || now != 77 {
		t.Errorf("compare-and-swap that must not swap: old %d, new %d", old, now)
	}
}

func verbsInline(t *testing.T, a, b *verbsSide) {
	b.fill(9)
	b.recv(uverbs.RecvWR{ID: 1, SGEs: []uverbs.SGE{b.mr.SGE(0, 64)}})
	heap := []byte("inline data comes from any memory")
	want := bytes.Clone(heap)
	a.send(uverbs.SendWR{ID: 2, Opcode: abi.IB_UVERBS_WR_SEND, Flags: uverbs.SendSignaled, Inline: heap})
	clear(heap)
	wc := b.want(1, abi.IB_WC_RECV)
	a.want(2, abi.IB_WC_SEND)
	verbsEqual(t, "received", b.mr.Bytes()[:wc.ByteLen], want)
	err := a.qp.PostSend(uverbs.SendWR{Opcode: abi.IB_UVERBS_WR_SEND, Inline: make([]byte, a.qp.Cap().MaxInline+1)})
	if !errors.Is(err, uverbs.ErrInlineSize) {
		t.Errorf("too much inline data: %v", err)
	}
}

func verbsEntries(t *testing.T, a, b *verbsSide) {
	p := a.fill(10)
	b.fill(11)
	want := bytes.Join([][]byte{p[1000:1100], p[0:10], p[5000:8000]}, nil)
	b.recv(uverbs.RecvWR{ID: 1, SGEs: []uverbs.SGE{b.mr.SGE(0, 7), b.mr.SGE(100, 5000)}})
	a.send(uverbs.SendWR{
		ID: 2, Opcode: abi.IB_UVERBS_WR_SEND, Flags: uverbs.SendSignaled,
		SGEs: []uverbs.SGE{a.mr.SGE(1000, 100), a.mr.SGE(0, 10), a.mr.SGE(5000, 3000)},
	})
	wc := b.want(1, abi.IB_WC_RECV)
	a.want(2, abi.IB_WC_SEND)
	got := b.mr.Bytes()
	verbsEqual(t, "first entry", got[:7], want[:7])
	verbsEqual(t, "second entry", got[100:100+len(want)-7], want[7:])
	if int(wc.ByteLen) != len(want) {
		t.Errorf("%d bytes received, %d sent", wc.ByteLen, len(want))
	}
}

func verbsBatch(t *testing.T, a, b *verbsSide) {
	const n = 10
	a.fill(12)
	var sends []uverbs.SendWR
	var recvs []uverbs.RecvWR
	for i := range n {
		recvs = append(recvs, uverbs.RecvWR{ID: uint64(i), SGEs: []uverbs.SGE{b.mr.SGE(i*100, 100)}})
		wr := uverbs.SendWR{ID: uint64(100 + i), Opcode: abi.IB_UVERBS_WR_SEND, SGEs: []uverbs.SGE{a.mr.SGE(i*200, 100)}}
		if i == n-1 {
			wr.Flags = uverbs.SendSignaled
		}
		sends = append(sends, wr)
	}
	b.recv(recvs...)
	a.send(sends...)
	for i := range n {
		b.want(uint64(i), abi.IB_WC_RECV)
		verbsEqual(t, "message", b.mr.Bytes()[i*100:i*100+100], a.mr.Bytes()[i*200:i*200+100])
	}
	a.want(100+n-1, abi.IB_WC_SEND)
}

// verbsSolicited marks one of two messages as solicited; TestVerbsSolicited looks
// at what that is good for.
func verbsSolicited(t *testing.T, a, b *verbsSide) {
	b.recv(uverbs.RecvWR{ID: 1}, uverbs.RecvWR{ID: 2})
	a.send(uverbs.SendWR{ID: 3, Opcode: abi.IB_UVERBS_WR_SEND},
		uverbs.SendWR{ID: 4, Opcode: abi.IB_UVERBS_WR_SEND, Flags: uverbs.SendSignaled | uverbs.SendSolicited})
	a.want(4, abi.IB_WC_SEND)
	b.want(1, abi.IB_WC_RECV)
	b.want(2, abi.IB_WC_RECV)
}
