package rxe

import (
	"math"
	"strings"
	"testing"

	"github.com/purerdma/rdma/uverbs/internal/ringtest"
)

func TestNewRingChecksGeometry(t *testing.T) {
	for _, tc := range []struct {
		name       string
		len        int
		log2, mask uint32
		minSlot    uintptr
		err        string // "" = accepted
	}{
		{"usual", 384 + 8*64, 6, 7, 48, ""},
		{"mapping longer than the ring", 4096, 6, 7, 48, ""},
		{"one slot", 384 + 64, 6, 0, 48, ""},
		{"empty mapping", 0, 6, 7, 48, "shorter than a queue header"},
		{"half a header", 383, 6, 7, 48, "shorter than a queue header"},
		{"one byte short", 384 + 8*64 - 1, 6, 7, 48, "does not fit"},
		{"slots too small", 4096, 5, 7, 48, "have 32 bytes, need 48"},
		{"mask with a hole", 4096, 6, 5, 48, "malformed"},
		{"all-ones mask", 4096, 6, math.MaxUint32, 48, "does not fit"},
		{"size of 32-bit overflow", 4096, 31, 1, 48, "does not fit"},
		{"largest of both", 4096, 31, math.MaxUint32, 48, "does not fit"},
		{"shift beyond a word", 4096, 32, 0, 48, "malformed"},
		{"wild shift", 4096, math.MaxUint32, 7, 48, "malformed"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			mem := ringtest.Bytes(max(tc.len, 8))[:tc.len]
			if tc.len >= 8 {
				host.PutUint32(mem[hdrLog2:], tc.log2)
				host.PutUint32(mem[hdrMask:], tc.mask)
			}
			_, err := newRing(mem, tc.minSlot)
			switch {
			case tc.err == "" && err != nil:
				t.Fatalf("got error %v", err)
			case tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)):
				t.Fatalf("got error %v, want one with %q", err, tc.err)
			}
		})
	}
}

func TestNewRingRefusesUnalignedMemory(t *testing.T) {
	mem := newRingMem(8, 64)
	if _, err := newRing(append(ringtest.Bytes(8), mem...)[4:], wcSize); err == nil {
		t.Fatal("accepted a ring at an odd address")
	}
}

// TestGeometryIsPrivate rewrites the header after the ring was set up, as
// another process may: nothing may change.
func TestGeometryIsPrivate(t *testing.T) {
	mem := newRingMem(8, 64)
	r := mustRing(t, mem, wcSize)
	first, last := r.slot(0), r.slot(7)
	host.PutUint32(mem[hdrLog2:], math.MaxUint32)
	host.PutUint32(mem[hdrMask:], math.MaxUint32)
	if r.slot(8) != first || r.slot(math.MaxUint32) != last || r.size != 64 {
		t.Fatal("geometry follows the shared header")
	}
}

func TestFullFollowsConsumer(t *testing.T) {
	k := newKRing(4, 64)
	r := mustRing(t, k.mem, wcSize)
	for _, tc := range []struct {
		prod, cons uint32
		want       bool
	}{
		{0, 0, false}, {2, 0, false}, {3, 0, true}, {0, 1, true}, {1, 1, false}, {2, 3, true},
		{0, 0xfffffffd, true}, {3, 0xfffffffd, false}, // a hostile index counts masked
	} {
		k.word(hdrCons).Store(tc.cons)
		if got := r.full(tc.prod); got != tc.want {
			t.Errorf("producer %d, consumer %#x: full = %v", tc.prod, tc.cons, got)
		}
	}
	k.word(hdrCons).Store(3)
	for limit, want := range []uint32{0, 1, 2, 3, 3, 3} { // more than fits is what fits
		r.atMost(uint32(limit))
		got := uint32(0)
		for !r.full(3 + got) {
			got++
		}
		if got != want {
			t.Errorf("limit %d: %d requests fit, want %d", limit, got, want)
		}
	}
}

// TestInlineEndsWithTheSlot: data can never run into the next slot, whatever the
// limits of the queue are.
func TestInlineEndsWithTheSlot(t *testing.T) {
	r := mustRing(t, newRingMem(2, 256), sendWQESize)
	if got := len(r.inline(r.slot(1))); got != 48 {
		t.Errorf("room for %d bytes of inline data, want 48", got)
	}
}
