//go:build linux

package uverbs

import (
	"encoding/binary"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"github.com/purerdma/rdma/abi"
)

// TestMulticastEncoding compares both commands with bytes written by hand.
func TestMulticastEncoding(t *testing.T) {
	gid := GID{0xff, 0x0e, 15: 7}
	for _, m := range []*writeCmd{&cmdAttachMcast, &cmdDetachMcast} {
		t.Run(m.name, func(t *testing.T) {
			w, err := newWrite(m, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer w.release()
			// The two structs are alike.
			req := (*abi.IBUverbsAttachMcast)(unsafe.Pointer(&w.frame[w.core]))
			req.GID, req.QPHandle, req.Mlid = gid, 0x01020304, 0xc001
			want := binary.NativeEndian.AppendUint32(nil, m.num)
			want = binary.NativeEndian.AppendUint16(want, 8) // words in
			want = binary.NativeEndian.AppendUint16(want, 0) // and out
			want = append(want, gid[:]...)
			want = binary.NativeEndian.AppendUint32(want, 0x01020304)
			want = binary.NativeEndian.AppendUint16(want, 0xc001)
			want = append(want, 0, 0)
			if diff := cmp.Diff(want, w.frame); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
