package rdmanl

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/purerdma/rdma/abi"
)

func hostU32(v uint32) []byte { return binary.NativeEndian.AppendUint32(nil, v) }
func hostU64(v uint64) []byte { return binary.NativeEndian.AppendUint64(nil, v) }

// objectTableOf makes one message of a resource dump.
func objectTableOf(kind Kind, entries ...[]byte) []byte {
	var all []byte
	for _, e := range entries {
		all = append(all, encode(uint16(objectTables[kind].entry), e...)...)
	}
	return encode(uint16(objectTables[kind].table), all...)
}

func TestObjects(t *testing.T) {
	pid := encode(uint16(abi.RDMA_NLDEV_ATTR_RES_PID), hostU32(42)...)
	kernel := encode(uint16(abi.RDMA_NLDEV_ATTR_RES_KERN_NAME), []byte("ib_core\x00")...)
	for kind, table := range objectTables {
		id := encode(uint16(table.id), hostU32(9)...)
		length := encode(uint16(abi.RDMA_NLDEV_ATTR_RES_MRLEN), hostU64(1<<40)...)
		entries := encode(uint16(abi.RDMA_NLDEV_ATTR_RES_CQE), hostU32(255)...)
		c := answering(objectTableOf(kind, append(id, pid...), kernel), objectTableOf(kind, append(append(id, length...), entries...)))
		got, err := c.Objects(t.Context(), 0, kind)
		if err != nil {
			t.Fatal(kind, err)
		}
		want := []Object{{Owner: Owner{PID: 42}, ID: 9}, {Owner: Owner{KernelName: "ib_core"}}, {ID: 9, Length: 1 << 40, Entries: 255}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", kind, diff)
		}
	}
	c := answering(objectTableOf(KindMR, []byte{3, 0, 1, 0}))
	if _, err := c.Objects(t.Context(), 0, KindMR); !errors.Is(err, ErrMalformed) {
		t.Errorf("error %v for a broken entry", err)
	}
}
