package siw

import (
	"encoding/binary"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs/internal/ringtest"
)

var host = binary.NativeEndian

// Offsets of the shared structs, written out by hand so that tests do not depend on
// package abi. layout_test.go compares the two.
const (
	sqID, sqFlags, sqNum, sqOp, sqRKey, sqRaddr, sqSGE = 0, 8, 10, 11, 12, 16, 24
	rqID, rqFlags, rqNum, rqSGE                        = 0, 8, 10, 16
	cqID, cqFlags, cqOp, cqStatus, cqBytes, cqQP       = 0, 8, 9, 10, 12, 24

	sqLen, rqLen, cqLen, ctrlLen = 120, 112, 32, 8
)

// Flags, as the header has them.
const valid, isInlined, signalled, solicited, fenced = 1, 2, 4, 8, 16

// kring is the kernel's side of a ring.
type kring struct {
	mem   []byte
	slots uint32
	size  int
	index uint32
}

func newKRing(slots, size, extra int) *kring {
	return &kring{mem: ringtest.Bytes(slots*size + extra), slots: uint32(slots), size: size}
}

func (k *kring) slot(i uint32) []byte {
	at := int(i%k.slots) * k.size
	return k.mem[at : at+k.size]
}

// word is the word with the flags of an element, which all kinds have at 8.
func (k *kring) word(i uint32) *atomic.Uint32 {
	return (*atomic.Uint32)(unsafe.Pointer(&k.slot(i)[8]))
}

func flagsOf(word uint32) uint16 {
	var b [4]byte
	host.PutUint32(b[:], word)
	return host.Uint16(b[:])
}

// head is a copy of the oldest request, or nil (sq_get_next).
func (k *kring) head() []byte {
	if flagsOf(k.word(k.index).Load())&valid == 0 {
		return nil
	}
	return append([]byte(nil), k.slot(k.index)...)
}

// release gives the element of head back.
func (k *kring) release() {
	k.word(k.index).Store(0)
	k.index++
}

// push adds a completion; false when full (siw_sqe_complete).
func (k *kring) push(e completion) bool {
	if k.word(k.index).Load() != 0 {
		return false
	}
	s := k.slot(k.index)
	host.PutUint64(s[cqID:], e.id)
	host.PutUint32(s[cqBytes:], e.bytes)
	host.PutUint64(s[cqQP:], uint64(e.qp))
	var w [4]byte
	w[0], w[1] = valid, e.op
	host.PutUint16(w[2:], e.status)
	k.word(k.index).Store(host.Uint32(w[:]))
	k.index++
	return true
}

type completion struct {
	id        uint64
	op        uint8
	status    uint16
	bytes, qp uint32
}

// control is the word that arms a completion queue.
func (k *kring) control() *atomic.Uint32 {
	return (*atomic.Uint32)(unsafe.Pointer(&k.mem[int(k.slots)*k.size]))
}

func TestRingRefuses(t *testing.T) {
	for _, tc := range []struct {
		name     string
		mem      []byte
		elements uint32
	}{
		{"no element", ringtest.Bytes(64), 0},
		{"three elements", ringtest.Bytes(512), 3},
		{"too short", ringtest.Bytes(8*cqLen + ctrlLen - 1), 8},
		{"more than an address can say", ringtest.Bytes(64), 1 << 31},
		{"crooked", ringtest.Bytes(512)[4:], 8},
	} {
		if _, err := newRing(tc.mem, tc.elements, cqeSize, ctrlSize); err == nil {
			t.Errorf("%s: accepted", tc.name)
		}
	}
	r, err := newRing(ringtest.Bytes(8*cqLen+ctrlLen), 8, cqeSize, ctrlSize)
	if err != nil {
		t.Fatal(err)
	}
	if r.word(9) != r.word(1) || r.control() == nil {
		t.Error("index 9 is not the place of index 1")
	}
}

func TestRequestWord(t *testing.T) {
	w := requestWord(abi.SIW_WQE_VALID|abi.SIW_WQE_READ_FENCE, 5, abi.SIW_OP_RECEIVE)
	var b [4]byte
	host.PutUint32(b[:], w)
	if host.Uint16(b[:]) != valid|fenced || b[2] != 5 || b[3] != 8 {
		t.Errorf("word is % x", b)
	}
	if requestFlags(w) != abi.SIW_WQE_VALID|abi.SIW_WQE_READ_FENCE {
		t.Errorf("flags %#x", requestFlags(w))
	}
}
