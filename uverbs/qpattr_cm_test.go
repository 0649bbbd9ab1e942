package uverbs_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs"
)

// TestQPAttrFromCM: each attribute that the connection manager tells goes to its place; no
// value comes twice.
func TestQPAttrFromCM(t *testing.T) {
	cmPath := func(n uint8) abi.IBUverbsAHAttr {
		return abi.IBUverbsAHAttr{
			GRH:  abi.IBUverbsGlobalRoute{Dgid: [16]byte{15: n}, FlowLabel: 100 + uint32(n), SgidIndex: n + 1, HopLimit: n + 2, TrafficClass: n + 3},
			Dlid: 200 + uint16(n), SL: n + 4, SrcPathBits: n + 5, StaticRate: n + 6, PortNum: n + 7, IsGlobal: 1,
		}
	}
	path := func(n uint8) uverbs.AHAttr {
		return uverbs.AHAttr{
			DGID: uverbs.GID{15: n}, FlowLabel: 100 + uint32(n), SGIDIndex: n + 1, HopLimit: n + 2, TrafficClass: n + 3, Global: true,
			DLID: 200 + uint16(n), SL: n + 4, SrcPathBits: n + 5, StaticRate: n + 6, Port: n + 7,
		}
	}
	got, mask := uverbs.QPAttrFromCM(&abi.IBUverbsQPAttr{
		QPAttrMask: 0x1234, QPState: 3, CurQPState: 2, PathMTU: 4, PathMigState: 1, QKey: 11, RQPSN: 12, SQPSN: 13, DestQPNum: 14, QPAccessFlags: 15,
		AHAttr: cmPath(20), AltAHAttr: cmPath(40), PKeyIndex: 61, AltPKeyIndex: 62, EnSqdAsyncNotify: 1, MaxRdAtomic: 63, MaxDestRdAtomic: 64,
		MinRnrTimer: 65, PortNum: 66, Timeout: 67, RetryCnt: 68, RnrRetry: 69, AltPortNum: 70, AltTimeout: 71,
	})
	want := uverbs.QPAttr{
		State: 3, CurState: 2, PathMTU: 4, MigState: 1, QKey: 11, RQPSN: 12, SQPSN: 13, DestQPN: 14, Access: 15,
		AH: path(20), AltAH: path(40), PKeyIndex: 61, AltPKey: 62, SQDNotify: true, MaxRdAtomic: 63, MaxDestRdAtomic: 64,
		MinRNRTimer: 65, Port: 66, Timeout: 67, RetryCount: 68, RNRRetry: 69, AltPort: 70, AltTmout: 71,
	}
	if diff := cmp.Diff(want, got); diff != "" || mask != 0x1234 {
		t.Errorf("mask %#x (-want +got):\n%s", mask, diff)
	}
}
