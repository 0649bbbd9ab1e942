package rxe

import (
	"runtime/debug"
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs/internal/provider"
	"github.com/purerdma/rdma/uverbs/internal/ringtest"
)

// Fuzzed rings lie before an unmapped page: reading outside faults, and the
// fault becomes a panic that fails the run.

// FuzzRing takes any header in a mapping of any length. A ring that is
// accepted must be usable from end to end.
func FuzzRing(f *testing.F) {
	f.Add(uint32(6), uint32(7), uint32(0), uint32(0), uint16(384+512))
	f.Add(uint32(9), uint32(0), uint32(1), uint32(9), uint16(384+512))
	f.Add(uint32(31), uint32(0xffffffff), uint32(0xffffffff), uint32(1), uint16(4096))
	f.Fuzz(func(t *testing.T, log2, mask, prod, cons uint32, length uint16) {
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		mem := ringtest.Guarded(t, int(length)&^7)
		if len(mem) >= hdrSize {
			host.PutUint32(mem[hdrLog2:], log2)
			host.PutUint32(mem[hdrMask:], mask)
			host.PutUint32(mem[hdrProd:], prod)
			host.PutUint32(mem[hdrCons:], cons)
		}
		r, err := newRing(mem, sendWQESize+sgeSize)
		if err != nil {
			return
		}
		host.PutUint32(mem[hdrLog2:], ^log2) // too late to matter
		host.PutUint32(mem[hdrMask:], ^mask)
		q := sendQueue{ring: r, prod: prod & r.mask, ops: &rcOps, limits: limits{sges: 1, inline: 16, message: maxMessage}, bell: ringtest.NewEnv().QPBell(0)}
		for range 40 {
			wr := provider.SendWR{Opcode: abi.IB_UVERBS_WR_SEND, SGEs: sges(1, 1)}
			if _, err := q.PostSend(provider.List[provider.SendWR]{First: &wr, N: 1}); err != nil && err != provider.ErrQueueFull {
				t.Fatal(err)
			}
		}
	})
}

// FuzzPoll fills a completion ring with any bytes and moves its producer index
// about while it is polled.
func FuzzPoll(f *testing.F) {
	f.Add([]byte{1, 2, 3}, uint32(3), uint32(1))
	f.Add(make([]byte, 512), uint32(0xffffffff), uint32(0x80000001))
	f.Add([]byte{}, uint32(8), uint32(8)) // an empty ring, whatever the upper bits say
	f.Fuzz(func(t *testing.T, slots []byte, prod, step uint32) {
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		mem := ringtest.Guarded(t, hdrSize+8*64)
		host.PutUint32(mem[hdrLog2:], 6)
		host.PutUint32(mem[hdrMask:], 7)
		q := cq{ring: mustRing(t, mem, wcSize)}
		copy(mem[hdrSize:], slots)
		wcs := make([]provider.WC, 1+step%5)
		for range 30 {
			host.PutUint32(mem[hdrProd:], prod)
			host.PutUint32(mem[hdrCons:], ^prod) // the own index must not be read back
			before := q.cons
			if n, err := q.Poll(provider.ListOf(wcs)); err != nil || n != min(int((prod-before)&7), len(wcs)) {
				t.Fatalf("producer %#x, consumer %d: %d completions", prod, before, n)
			}
			if q.cons > 7 {
				t.Fatalf("consumer index %d leaves the ring", q.cons)
			}
			prod += step
		}
	})
}

// FuzzPostSend posts any request into a ring whose consumer index goes wild.
// What lands in the slot must keep the promises that the kernel relies on.
func FuzzPostSend(f *testing.F) {
	f.Add(uint32(2), uint32(2), uint8(1), uint32(100), uint64(0), []byte{}, uint32(0))
	f.Add(uint32(5), uint32(0), uint8(1), uint32(8), uint64(8), []byte{}, uint32(7))
	f.Add(uint32(15), uint32(8), uint8(0), uint32(0), uint64(16), []byte("8 bytes!"), uint32(0xfffffff0))
	f.Fuzz(func(t *testing.T, opcode, flags uint32, n uint8, length uint32, remote uint64, inline []byte, cons uint32) {
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		wr := provider.SendWR{
			Opcode: abi.IBUverbsWROpcode(opcode), Flags: flags, SGEs: sges(int(n), length), RemoteAddr: remote, Inline: inline,
			AH: &provider.AH{Driver: &ah{num: flags}}, RemoteQPN: opcode, RemoteQKey: cons,
		}
		for _, typ := range []abi.IBUverbsQPType{abi.IB_UVERBS_QPT_RC, abi.IB_UVERBS_QPT_UC, abi.IB_UVERBS_QPT_UD} {
			fuzzPost(t, opsOf(typ), &wr, cons)
		}
	})
}

func fuzzPost(t *testing.T, ops *opTable, wr *provider.SendWR, cons uint32) {
	mem := ringtest.Guarded(t, hdrSize+4*512)
	host.PutUint32(mem[hdrLog2:], 9)
	host.PutUint32(mem[hdrMask:], 3)
	q := sendQueue{
		ring: mustRing(t, mem, sendWQESize+16*16), ops: ops,
		limits: limits{sges: 16, inline: 256, message: maxMessage}, bell: ringtest.NewEnv().QPBell(0),
	}
	for range 10 {
		host.PutUint32(mem[hdrCons:], cons)
		slot := mem[hdrSize+int(q.prod)*512:][:512]
		if n, _ := q.PostSend(provider.List[provider.SendWR]{First: wr, N: 1}); n == 1 {
			checkSlot(t, slot, ops)
		}
		cons = cons*7 + 1
	}
}

func checkSlot(t *testing.T, slot []byte, ops *opTable) {
	t.Helper()
	op, num, total := host.Uint32(slot[wqeOpcode:]), host.Uint32(slot[wqeNumSGE:]), host.Uint32(slot[wqeLength:])
	if op >= uint32(len(ops)) || ops[op] == 0 {
		t.Fatalf("opcode %d reached the ring", op)
	}
	if host.Uint32(slot[wqeResid:]) != total || total > maxMessage || num > 16 {
		t.Fatalf("length %d, resid %d, %d entries", total, host.Uint32(slot[wqeResid:]), num)
	}
	if host.Uint32(slot[wqeFlags:])&provider.SendInline != 0 {
		if num != 0 || total > 256 {
			t.Fatalf("inline request with %d entries and %d bytes", num, total)
		}
		return
	}
	var sum uint64
	for i := range num {
		sum += uint64(host.Uint32(slot[wqeSize+16*i+8:]))
	}
	if num != 0 && sum != uint64(total) {
		t.Fatalf("entries hold %d bytes, request says %d", sum, total)
	}
}
