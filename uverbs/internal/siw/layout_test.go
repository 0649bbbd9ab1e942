package siw

import (
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"github.com/purerdma/rdma/abi"
)

// TestLayout compares the abi structs with what siw-abi.h of 6.1 and 6.12 says,
// which are alike; package abi proves its structs with a C compiler.
func TestLayout(t *testing.T) {
	var (
		s abi.SIWSqe
		r abi.SIWRqe
		c abi.SIWCQE
	)
	got := []uintptr{
		unsafe.Offsetof(s.ID), unsafe.Offsetof(s.Flags), unsafe.Offsetof(s.NumSGE), unsafe.Offsetof(s.Opcode),
		unsafe.Offsetof(s.RKey), unsafe.Offsetof(s.Raddr), unsafe.Offsetof(s.SGE), unsafe.Sizeof(s),
		unsafe.Offsetof(r.ID), unsafe.Offsetof(r.Flags), unsafe.Offsetof(r.NumSGE), unsafe.Offsetof(r.SGE), unsafe.Sizeof(r),
		unsafe.Offsetof(c.ID), unsafe.Offsetof(c.Flags), unsafe.Offsetof(c.Opcode), unsafe.Offsetof(c.Status),
		unsafe.Offsetof(c.Bytes), unsafe.Offsetof(c.QPID), unsafe.Sizeof(c), unsafe.Sizeof(abi.SIWCQCtrl{}),
	}
	want := []uintptr{
		sqID, sqFlags, sqNum, sqOp, sqRKey, sqRaddr, sqSGE, sqLen,
		rqID, rqFlags, rqNum, rqSGE, rqLen,
		cqID, cqFlags, cqOp, cqStatus, cqBytes, cqQP, cqLen, ctrlLen,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("layout (-C +Go):\n%s", diff)
	}
}
