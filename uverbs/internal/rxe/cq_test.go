package rxe

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs/internal/provider"
	"github.com/purerdma/rdma/uverbs/internal/ringtest"
)

// cqe is a completion as rxe_cq_post copies it into a slot.
func cqe(fields ...field) []byte { return slowEncode(48, fields...) }

func pad16(b []byte, off int, v uint16) []byte {
	host.PutUint16(b[off:], v)
	return b
}

func TestPollDecodes(t *testing.T) {
	all := cqe(field{wcID, uint64(0x1020304050607080)}, field{wcOpcode, uint32(128)}, field{wcVendor, uint32(3)},
		field{wcLen, uint32(4096)}, field{wcQPN, uint32(17)}, field{wcSrc, uint32(18)}, field{wcFlags, uint32(1)})
	all[wcSL], all[wcPath] = 5, 6
	pad16(pad16(all, wcPKey, 7), wcSLID, 8)
	for _, tc := range []struct {
		name string
		in   []byte
		want provider.WC
	}{
		{"all plain fields", all, provider.WC{
			ID: 0x1020304050607080, Opcode: abi.IB_WC_RECV, VendorErr: 3, ByteLen: 4096, QPN: 17, SrcQPN: 18,
			Flags: abi.IB_WC_GRH, PKeyIndex: 7, SLID: 8, SL: 5, DLIDPathBits: 6,
		}},
		{"immediate data is big-endian", cqe(field{wcEx, be32(0xcafe1234)}, field{wcFlags, uint32(3)}, field{wcOpcode, uint32(129)}),
			provider.WC{Opcode: abi.IB_WC_RECV_RDMA_WITH_IMM, Flags: 3, Imm: 0xcafe1234}},
		{"invalidated key is in host order", cqe(field{wcEx, uint32(0x1234)}, field{wcFlags, uint32(5)}),
			provider.WC{Flags: 5, InvalidatedKey: 0x1234}},
		{"no flag, no key", cqe(field{wcEx, uint32(0x1234)}), provider.WC{Imm: 0x1234}}, // whatever that means
		{"flush", cqe(field{wcID, uint64(1)}, field{wcStatus, uint32(5)}, field{wcQPN, uint32(2)}),
			provider.WC{ID: 1, Status: abi.IB_WC_WR_FLUSH_ERR, QPN: 2}},
		{"unknown values pass through", cqe(field{wcStatus, uint32(999)}, field{wcOpcode, uint32(77)}, field{wcFlags, uint32(0x80000000)}),
			provider.WC{Status: 999, Opcode: 77, Flags: 0x80000000}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			q, k := newTestCQ(t, ringtest.NewEnv(), 1, 8)
			k.push(tc.in)
			got := provider.WC{ID: 99, Imm: 99, InvalidatedKey: 99}
			if !ringtest.Poll(q, &got) {
				t.Fatal("no completion")
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("completion (-want +got):\n%s", diff)
			}
			if ringtest.Poll(q, &got) {
				t.Error("the ring gave a second completion")
			}
		})
	}
}

// TestPollWrapsAround runs many times round a small ring and fills it to the
// brim each time; every slot must be given back.
func TestPollWrapsAround(t *testing.T) {
	q, k := newTestCQ(t, ringtest.NewEnv(), 1, 4)
	var wc provider.WC
	for round, id := 0, uint64(0); round < 50; round++ {
		n := 0
		for k.push(cqe(field{wcID, id + uint64(n)})) {
			n++
		}
		if n != 3 {
			t.Fatalf("round %d: ring took %d entries, want 3", round, n)
		}
		for range n {
			if !ringtest.Poll(q, &wc) || wc.ID != id {
				t.Fatalf("round %d: got id %d, want %d", round, wc.ID, id)
			}
			id++
		}
		if ringtest.Poll(q, &wc) {
			t.Fatalf("round %d: completion from an empty ring", round)
		}
	}
}

func TestArmPassesThrough(t *testing.T) {
	env := ringtest.NewEnv()
	q, _ := newTestCQ(t, env, 1, 4)
	for _, solicited := range []bool{false, true} {
		if err := q.Arm(solicited); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]bool{false, true}, env.Armed); diff != "" {
		t.Error(diff)
	}
}

// TestCQResize moves to another ring, which the kernel has filled with what was
// in the old one.
func TestCQResize(t *testing.T) {
	env := ringtest.NewEnv()
	q, k := newTestCQ(t, env, 1, 8)
	for id := uint64(1); id <= 3; id++ {
		k.push(cqe(field{wcID, id}))
	}
	var wc provider.WC
	if !ringtest.Poll(q, &wc) || wc.ID != 1 {
		t.Fatalf("got %+v", wc)
	}
	setup, err := q.SetupResize(31)
	if err != nil {
		t.Fatal(err)
	}
	larger := newKRing(32, 64)
	for id := uint64(2); id <= 4; id++ {
		larger.push(cqe(field{wcID, id}))
	}
	if fits, err := setup.Done(31, offer(env, larger.mem)); fits != 31 || err != nil || len(env.Mapped) != 1 {
		t.Fatalf("%d entries, %v, %d mappings", fits, err, len(env.Mapped))
	}
	for id := uint64(2); id <= 4; id++ {
		if !ringtest.Poll(q, &wc) || wc.ID != id {
			t.Errorf("got %+v, want id %d", wc, id)
		}
	}
	if ringtest.Poll(q, &wc) {
		t.Errorf("got %+v from nowhere", wc)
	}
	for name, out := range map[string][]byte{
		"short answer": make([]byte, 15), "no mapping": make([]byte, 16), "fewer slots than entries": offer(env, newRingMem(8, 64)),
	} {
		setup, err := q.SetupResize(8)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := setup.Done(8, out); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if err := q.Close(); err != nil || len(env.Mapped) != 0 {
		t.Errorf("close: %v, %d mappings left", err, len(env.Mapped))
	}
}

func TestPollEnds(t *testing.T) {
	q, k := newTestCQ(t, ringtest.NewEnv(), 1, 8)
	ringtest.PollEnds(t, q, func() { k.push(cqe(field{wcID, uint64(1)})) })
}
