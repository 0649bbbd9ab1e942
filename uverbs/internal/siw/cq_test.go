package siw

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs/internal/provider"
	"github.com/purerdma/rdma/uverbs/internal/ringtest"
)

func TestPoll(t *testing.T) {
	q, k := newTestCQ(t, ringtest.NewEnv(), 4)
	var wc provider.WC
	if ringtest.Poll(q, &wc) {
		t.Fatal("completion in a new queue")
	}
	for i, tc := range []struct {
		in   completion
		want provider.WC
	}{
		{completion{id: 1, op: 3, bytes: 5, qp: 9}, provider.WC{ID: 1, Opcode: abi.IB_WC_SEND, ByteLen: 5, QPN: 9}},
		{completion{op: 0}, provider.WC{Opcode: abi.IB_WC_RDMA_WRITE}},
		{completion{op: 1}, provider.WC{Opcode: abi.IB_WC_RDMA_READ}},
		{completion{op: 5}, provider.WC{Opcode: abi.IB_WC_SEND}},
		{completion{op: 8, bytes: 7}, provider.WC{Opcode: abi.IB_WC_RECV, ByteLen: 7}},
		{completion{op: 10}, provider.WC{Opcode: abi.IB_WC_LOCAL_INV}},
		{completion{op: 8, status: 4}, provider.WC{Opcode: abi.IB_WC_RECV, Status: abi.IB_WC_WR_FLUSH_ERR}},
		{completion{op: 3, status: 1}, provider.WC{Opcode: abi.IB_WC_SEND, Status: abi.IB_WC_LOC_LEN_ERR}},
		{completion{op: 3, status: 9}, provider.WC{Opcode: abi.IB_WC_SEND, Status: abi.IB_WC_GENERAL_ERR}},
		{completion{op: 3, status: 10}, provider.WC{Opcode: abi.IB_WC_SEND, Status: abi.IB_WC_GENERAL_ERR, VendorErr: 10}},
		{completion{op: 12, id: 4}, provider.WC{ID: 4, Status: abi.IB_WC_GENERAL_ERR, VendorErr: 12}},
	} {
		if !k.push(tc.in) || !ringtest.Poll(q, &wc) {
			t.Fatalf("case %d: no completion", i)
		}
		if diff := cmp.Diff(tc.want, wc); diff != "" {
			t.Errorf("case %d (-want +got):\n%s", i, diff)
		}
		if ringtest.Poll(q, &wc) {
			t.Fatalf("case %d: two completions", i)
		}
	}
}

// TestPollFull: all places can be used, and come back one by one.
func TestPollFull(t *testing.T) {
	q, k := newTestCQ(t, ringtest.NewEnv(), 4)
	for i := range uint64(4) {
		if !k.push(completion{id: i}) {
			t.Fatalf("no place for completion %d", i)
		}
	}
	var wc provider.WC
	for i := range uint64(20) {
		if k.push(completion{}) {
			t.Fatal("place for a fifth completion")
		}
		if !ringtest.Poll(q, &wc) || wc.ID != i {
			t.Fatalf("completion %+v, want id %d", wc, i)
		}
		k.push(completion{id: i + 4})
	}
}

func TestArm(t *testing.T) {
	q, k := newTestCQ(t, ringtest.NewEnv(), 4)
	for _, solicitedOnly := range []bool{false, true} {
		k.control().Store(0)
		if err := q.Arm(solicitedOnly); err != nil {
			t.Fatal(err)
		}
		if got := k.control().Load(); got != 3 {
			t.Errorf("armed with %#x", got)
		}
	}
}

func TestPollEnds(t *testing.T) {
	q, k := newTestCQ(t, ringtest.NewEnv(), 8)
	ringtest.PollEnds(t, q, func() { k.push(completion{id: 1}) })
}
