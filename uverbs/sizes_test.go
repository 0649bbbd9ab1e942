//go:build linux

package uverbs_test

import (
	"encoding/binary"
	"errors"
	"strings"
	"syscall"
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/fakeverbs"
	"github.com/purerdma/rdma/uverbs"
)

// TestPathIndex: a slot above 255 is refused, not cut to 8 bits.
func TestPathIndex(t *testing.T) {
	for index, ok := range map[int]bool{0: true, 1: true, 255: true, 256: false, 1 << 32: false, -1: false} {
		got, err := uverbs.GIDEntry{Index: index}.PathIndex()
		if ok != (err == nil) || ok && int(got) != index || err != nil && !errors.Is(err, syscall.EADDRNOTAVAIL) {
			t.Errorf("slot %d: %d, %v", index, got, err)
		}
	}
}

// TestAnswerBehindSlot255: a datagram to a GID behind slot 255 has no path back,
// and not one from whatever is in the slot of the lower 8 bits.
func TestAnswerBehindSlot255(t *testing.T) {
	k := fakeverbs.New()
	high := fakeverbs.GIDEntry(256+2, 0xfd00, 9)
	k.FirstGIDs = append(k.FirstGIDs, high)
	c := openFakeOn(t, k)
	table, err := c.QueryGIDs(1)
	if err != nil {
		t.Fatal(err)
	}
	header := make([]byte, uverbs.GRHSize)
	binary.BigEndian.PutUint32(header, 6<<28)
	header[6] = 17
	copy(header[8:], table[1].GID[:])
	copy(header[24:], table[0].GID[:]) // the high one
	a, err := c.AHAttrFromWC(1, &uverbs.WC{Flags: abi.IB_WC_GRH}, header)
	if !errors.Is(err, syscall.EADDRNOTAVAIL) || !strings.Contains(err.Error(), "slot 258") {
		t.Errorf("%v, %v", a, err)
	}
}

// TestDescriptorsAreNotCut: the kernel looks at 32 bits of a descriptor.
func TestDescriptorsAreNotCut(t *testing.T) {
	k := fakeverbs.New()
	k.Hardware = true
	c := openFakeOn(t, k)
	pd, err := c.AllocPD()
	if err != nil {
		t.Fatal(err)
	}
	defer pd.Close()
	if mr, err := pd.RegDMABuf(1<<32+fakeverbs.DMABufFD, 0, 4096, 0, uverbs.AccessLocalWrite); err == nil {
		t.Errorf("a descriptor that is none: %v", mr)
		_ = mr.Close()
	}
	if _, err := uverbs.ImportContext(1 << 32); !errors.Is(err, syscall.EBADF) {
		t.Errorf("import: %v", err)
	}
}

// TestTypesAreNotCut: numbers that have 8 bits in a command are not cut to them.
func TestTypesAreNotCut(t *testing.T) {
	eachStyle(t, func(t *testing.T, _ *fakeverbs.Kernel, c *uverbs.Context) {
		r := mustBuild(t, c, nil)
		qp, err := r.pd.CreateQP(uverbs.QPConfig{Type: 256 + abi.IB_UVERBS_QPT_RC, SendCQ: r.cq, RecvCQ: r.cq})
		if err == nil {
			t.Errorf("a queue pair of type %d", 256+abi.IB_UVERBS_QPT_RC)
			_ = qp.Close()
		}
		for name, modify := range map[string]struct {
			attr uverbs.QPAttr
			mask abi.IBQPAttrMask
		}{
			"state":     {uverbs.QPAttr{State: 256 + abi.IB_QPS_INIT}, abi.IB_QP_STATE},
			"state now": {uverbs.QPAttr{CurState: 256 + abi.IB_QPS_INIT}, abi.IB_QP_CUR_STATE},
			"MTU":       {uverbs.QPAttr{PathMTU: 256 + abi.IB_MTU_1024}, abi.IB_QP_PATH_MTU},
			"migration": {uverbs.QPAttr{MigState: 256 + 1}, abi.IB_QP_PATH_MIG_STATE},
			"number":    {uverbs.QPAttr{DestQPN: 1<<24 + 5}, abi.IB_QP_DEST_QPN},
		} {
			if err := r.qp.Modify(modify.attr, modify.mask); !errors.Is(err, syscall.EINVAL) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}
