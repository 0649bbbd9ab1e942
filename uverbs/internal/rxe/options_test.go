package rxe

import (
	"errors"
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs/internal/provider"
	"github.com/purerdma/rdma/uverbs/internal/ringtest"
)

// TestOptions goes through what a queue pair may be asked to become: what
// rxe_qp_from_attr stores without use is refused, the rest is the kernel's to judge.
func TestOptions(t *testing.T) {
	c := newTestContext(t, ringtest.NewEnv())
	const path = abi.IB_QP_AV
	for _, tc := range []struct {
		name string
		req  provider.ModifyRequest
		can  bool
	}{
		{"slot 0 of the P_Key table", provider.ModifyRequest{Mask: abi.IB_QP_PKEY_INDEX}, true},
		{"slot 1", provider.ModifyRequest{Mask: abi.IB_QP_PKEY_INDEX, PKeyIndex: 1}, false},
		{"slot 1, not asked for", provider.ModifyRequest{Mask: abi.IB_QP_PORT, PKeyIndex: 1}, true},
		{"alternate path", provider.ModifyRequest{Mask: abi.IB_QP_ALT_PATH}, false},
		{"migrated", provider.ModifyRequest{Mask: abi.IB_QP_PATH_MIG_STATE, MigState: abi.IB_MIG_MIGRATED}, true},
		{"rearm", provider.ModifyRequest{Mask: abi.IB_QP_PATH_MIG_STATE, MigState: abi.IB_MIG_REARM}, false},
		{"armed", provider.ModifyRequest{Mask: abi.IB_QP_PATH_MIG_STATE, MigState: abi.IB_MIG_ARMED}, false},
		{"path", provider.ModifyRequest{Mask: path}, true},
		{"path with a LID", provider.ModifyRequest{Mask: path, DLID: 1}, false},
		{"path with bits of a LID", provider.ModifyRequest{Mask: path, PathBits: 1}, false},
		{"LID, no path", provider.ModifyRequest{DLID: 1, PathBits: 1}, true},
	} {
		err := c.CheckModify(tc.req)
		if tc.can != (err == nil) || !tc.can && !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%s: %v, works %v", tc.name, err, tc.can)
		}
	}
	for _, bits := range []provider.AHRequest{{DLID: 1}, {PathBits: 1}} {
		if _, err := c.SetupAH(bits); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("address handle %+v: %v", bits, err)
		}
	}
}

// TestSendFlags: what soft-RoCE does not know it would not look at.
func TestSendFlags(t *testing.T) {
	q, k := newTestQP(t, ringtest.NewEnv(), abi.IB_UVERBS_QPT_RC, 1)
	ringtest.RefusesFlags(t, q, abi.IB_UVERBS_WR_SEND, abi.IB_UVERBS_WR_RDMA_WRITE_WITH_IMM, abi.IB_UVERBS_WR_SEND_WITH_INV,
		abi.IB_UVERBS_WR_RDMA_READ, abi.IB_UVERBS_WR_LOCAL_INV, abi.IB_UVERBS_WR_ATOMIC_WRITE, abi.IB_UVERBS_WR_FLUSH,
		abi.IB_UVERBS_WR_BIND_MW, abi.IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD)
	if k.sq.head() != nil {
		t.Error("something was posted")
	}
}
