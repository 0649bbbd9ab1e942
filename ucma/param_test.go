package ucma

import (
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"github.com/purerdma/rdma/abi"
)

// TestConnParamFields: each field has its place in struct rdma_ucm_conn_param, in what is
// sent and in what an event brings, and none another's.
func TestConnParamFields(t *testing.T) {
	for _, tc := range []struct {
		name string
		at   field
		want ConnParam
	}{
		{"queue pair", field{0, uint32(7)}, ConnParam{QPNum: 7}},
		{"Q_Key", field{4, uint32(7)}, ConnParam{QKey: 7}},
		{"shared receive queue", field{265, uint8(1)}, ConnParam{SRQ: true}},
		{"responder resources", field{266, uint8(7)}, ConnParam{ResponderResources: 7}},
		{"initiator depth", field{267, uint8(7)}, ConnParam{InitiatorDepth: 7}},
		{"flow control", field{268, uint8(1)}, ConnParam{FlowControl: true}},
		{"retry count", field{269, uint8(7)}, ConnParam{RetryCount: 7}},
		{"RNR retry count", field{270, uint8(7)}, ConnParam{RNRRetryCount: 7}},
	} {
		const valid = 271
		raw := lay(int(unsafe.Sizeof(abi.RDMAUCMConnParam{})), tc.at, field{valid, uint8(1)})
		var q abi.RDMAUCMConnParam
		mem := unsafe.Slice((*byte)(unsafe.Pointer(&q)), unsafe.Sizeof(q))
		tc.want.encode(&q)
		if diff := cmp.Diff(raw, mem); diff != "" {
			t.Errorf("%s, sent (-want +got):\n%s", tc.name, diff)
		}
		copy(mem, raw)
		if diff := cmp.Diff(tc.want, decodeConnParam(&q)); diff != "" {
			t.Errorf("%s, received (-want +got):\n%s", tc.name, diff)
		}
	}
}
