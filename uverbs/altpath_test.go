package uverbs

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/purerdma/rdma/abi"
)

// TestAlternatePath: the alternate path goes its own way, in every field; a path
// without a port has that of its half. No driver with a data path here takes one, so
// the command itself is looked at.
func TestAlternatePath(t *testing.T) {
	main, alt := GID{0xfd, 15: 1}, GID{0xfd, 15: 2}
	a := QPAttr{
		Port: 3, AH: AHAttr{DGID: main, SGIDIndex: 4}, MigState: abi.IB_MIG_REARM, SQDNotify: true,
		AltPort: 5, AltAH: AHAttr{DGID: alt, SGIDIndex: 6, HopLimit: 7}, AltPKey: 8, AltTmout: 9,
	}
	mask := abi.IB_QP_AV | abi.IB_QP_ALT_PATH | abi.IB_QP_PATH_MIG_STATE
	want := abi.IBUverbsModifyQP{
		QPHandle: 1, AttrMask: uint32(mask), PortNum: 3, PathMigState: uint8(abi.IB_MIG_REARM), EnSqdAsyncNotify: 1,
		Dest:       abi.IBUverbsQPDest{Dgid: main, SgidIndex: 4, HopLimit: 64, IsGlobal: 1, PortNum: 3},
		AltPortNum: 5, AltPKeyIndex: 8, AltTimeout: 9,
		AltDest: abi.IBUverbsQPDest{Dgid: alt, SgidIndex: 6, HopLimit: 7, IsGlobal: 1, PortNum: 5},
	}
	got := a.request(1, mask)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
	back := attrFromQuery(&abi.IBUverbsQueryQPResp{
		Dest: got.Dest, AltDest: got.AltDest, PortNum: got.PortNum, PathMigState: got.PathMigState,
		AltPortNum: got.AltPortNum, AltPKeyIndex: got.AltPKeyIndex, AltTimeout: got.AltTimeout,
	})
	a.SQDNotify = false // QUERY_QP does not tell
	a.AH.Global, a.AH.HopLimit, a.AH.Port, a.AltAH.Global, a.AltAH.Port = true, 64, 3, true, 5
	if diff := cmp.Diff(a, back); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
	if m := a.request(1, abi.IB_QP_AV); m.AltDest != (abi.IBUverbsQPDest{}) {
		t.Error("an alternate path that the mask does not name")
	}
}
