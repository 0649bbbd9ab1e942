package rxe

import (
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs/internal/provider"
	"github.com/purerdma/rdma/uverbs/internal/ringtest"
)

// TestPollMany takes several completions at once, also across the end of the
// ring, into memory that holds something else; what is beyond them stays.
func TestPollMany(t *testing.T) {
	q, k := newTestCQ(t, ringtest.NewEnv(), 1, 8)
	dirty := provider.WC{}
	b := unsafe.Slice((*byte)(unsafe.Pointer(&dirty)), unsafe.Sizeof(dirty))
	for i := range b {
		b[i] = 0xff
	}
	id := uint64(0)
	for round := range 20 {
		var want []provider.WC
		for range 1 + round%7 {
			k.push(cqe(field{wcID, id}))
			want = append(want, provider.WC{ID: id, Opcode: abi.IB_WC_SEND})
			id++
		}
		for len(want) > 0 {
			got := []provider.WC{dirty, dirty, dirty, dirty}
			n, err := q.Poll(provider.ListOf(got[:3]))
			if err != nil || n != min(3, len(want)) {
				t.Fatalf("round %d: %d completions, %v; want up to 3 of %d", round, n, err, len(want))
			}
			if diff := cmp.Diff(append(want[:n:n], dirty), append(got[:n:n], got[3])); diff != "" {
				t.Fatalf("round %d (-want +got):\n%s", round, diff)
			}
			want = want[n:]
		}
		if n, err := q.Poll(provider.List[provider.WC]{First: &dirty, N: 1}); n != 0 || err != nil {
			t.Fatalf("round %d: %d completions from nowhere, %v", round, n, err)
		}
	}
}
