package siw

import (
	"runtime/debug"
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs/internal/provider"
	"github.com/purerdma/rdma/uverbs/internal/ringtest"
)

// Fuzzed rings lie before an unmapped page: reading outside faults, and the fault
// becomes a panic that fails the run.

// FuzzPoll fills a completion ring with any bytes while it is polled. Whatever is
// there, a place is read once and given back, and numbers stay in their range.
func FuzzPoll(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 0, 1, 3, 0, 0}, uint32(0))
	f.Add(make([]byte, 4*cqLen), uint32(0x80000003))
	f.Add([]byte{8: 0xff, 9: 0xff, 10: 0xff, 11: 0xff}, uint32(0xffffffff))
	f.Fuzz(func(t *testing.T, elements []byte, cons uint32) {
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		mem := ringtest.Guarded(t, 4*cqLen+ctrlLen)
		r, err := newRing(mem, 4, cqeSize, ctrlSize)
		if err != nil {
			t.Fatal(err)
		}
		q := cq{ring: r, cons: cons}
		copy(mem[:4*cqLen], elements)
		var wc provider.WC
		for range 8 {
			at := int(q.cons&3) * cqLen
			want := mem[at+cqFlags]&valid != 0
			if ringtest.Poll(&q, &wc) != want {
				t.Fatalf("flags %#x: wrong answer", mem[at+cqFlags])
			}
			if !want {
				q.cons++
				continue
			}
			if mem[at+cqFlags] != 0 {
				t.Fatal("the place was not given back")
			}
			if wc.Opcode > abi.IB_WC_RECV_RDMA_WITH_IMM || wc.Status > abi.IB_WC_TM_RNDV_INCOMPLETE {
				t.Fatalf("completion %+v", wc)
			}
		}
		if err := q.Arm(true); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzPostSend posts any request into a ring whose flags go wild. What lands in the
// element must keep the promises that the kernel relies on.
func FuzzPostSend(f *testing.F) {
	f.Add(uint32(2), uint32(2), uint8(1), uint32(100), []byte{}, uint32(0))
	f.Add(uint32(4), uint32(2), uint8(1), uint32(8), []byte{}, uint32(7))
	f.Add(uint32(2), uint32(8), uint8(0), uint32(0), []byte("8 bytes!"), uint32(0xfffffff0))
	f.Fuzz(func(t *testing.T, opcode, flags uint32, n uint8, length uint32, data []byte, word uint32) {
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		mem := ringtest.Guarded(t, 4*sqLen)
		r, err := newRing(mem, 4, sqeSize, 0)
		if err != nil {
			t.Fatal(err)
		}
		q := sendQueue{producer: newProducer(r), bell: ringtest.NewEnv().QPBell(0), limits: limits{sges: 6, inline: 80}}
		wr := provider.SendWR{Opcode: abi.IBUverbsWROpcode(opcode), Flags: flags, SGEs: sges(int(n), length), Inline: data}
		for i := range uint32(10) {
			r.word(i).Store(word)
			at := int(q.prod&3) * sqLen
			err := q.post(&wr)
			if flushErr := q.flush(); flushErr != nil {
				t.Fatal(flushErr)
			}
			if err == nil {
				checkElement(t, mem[at:at+sqLen])
			}
			word = word*7 + 1
		}
	})
}

func checkElement(t *testing.T, w []byte) {
	t.Helper()
	flags, num, op := host.Uint16(w[sqFlags:]), w[sqNum], abi.SIWOpcode(w[sqOp])
	if flags&valid == 0 || flags>>5 != 0 || num > 6 {
		t.Fatalf("flags %#x, %d entries", flags, num)
	}
	switch op {
	case abi.SIW_OP_WRITE, abi.SIW_OP_SEND:
	case abi.SIW_OP_SEND_REMOTE_INV, abi.SIW_OP_INVAL_STAG:
		if flags&isInlined != 0 {
			t.Fatalf("opcode %v inline", op)
		}
	case abi.SIW_OP_READ:
		if flags&(isInlined|fenced) != 0 || num != 1 {
			t.Fatalf("read with flags %#x and %d entries", flags, num)
		}
	default:
		t.Fatalf("opcode %d reached the ring", op)
	}
	if flags&isInlined != 0 && (num != 1 || host.Uint32(w[sqSGE+8:]) > 80) {
		t.Fatalf("inline request with %d entries and %d bytes", num, host.Uint32(w[sqSGE+8:]))
	}
}
