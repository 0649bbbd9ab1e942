package siw

import (
	"errors"
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs/internal/provider"
	"github.com/purerdma/rdma/uverbs/internal/ringtest"
)

// TestSignalAll: the kernel looks at the flag of each request and nothing else, whatever
// the queue pair was made with (siw_sqe_complete's callers).
func TestSignalAll(t *testing.T) {
	for _, all := range []bool{false, true} {
		for code, o := range ops {
			if o.flags == 0 {
				continue
			}
			for _, asked := range []provider.SendFlags{0, provider.SendSignaled} {
				q, k := newSignalledQP(t, ringtest.NewEnv(), 1, all)
				wr := provider.SendWR{ID: 1, Opcode: abi.IBUverbsWROpcode(code), Flags: asked}
				if err := ringtest.Send(q, &wr); err != nil {
					t.Fatal(err)
				}
				got := host.Uint16(k.sq.head()[sqFlags:])&signalled != 0
				if want := all || asked != 0; got != want {
					t.Errorf("opcode %d, flags %#x, SignalAll %v: signalled %v", code, asked, all, got)
				}
			}
		}
	}
}

// TestOptions goes through what a region and a queue pair may be asked to be: what
// siw_reg_user_mr and siw_verbs_modify_qp forget is refused.
func TestOptions(t *testing.T) {
	const (
		local     = abi.IB_UVERBS_ACCESS_LOCAL_WRITE
		readWrite = abi.IB_UVERBS_ACCESS_REMOTE_READ | abi.IB_UVERBS_ACCESS_REMOTE_WRITE
		start     = 0x7f0000001000
	)
	c := newTestContext(t, ringtest.NewEnv())
	region := func(addr uint64, a abi.IBUverbsAccessFlags) error {
		return c.CheckMR(provider.MRRequest{Start: start, Addr: addr, Access: a})
	}
	state := func(s abi.IBQPState) error {
		return c.CheckModify(provider.ModifyRequest{Mask: abi.IB_QP_STATE, State: s})
	}
	access := func(a abi.IBUverbsAccessFlags) error {
		return c.CheckModify(provider.ModifyRequest{Mask: abi.IB_QP_ACCESS_FLAGS, Access: a})
	}
	attr := func(m abi.IBQPAttrMask) error { return c.CheckModify(provider.ModifyRequest{Mask: m}) }
	for _, tc := range []struct {
		name string
		err  error
		can  bool
	}{
		{"region", region(start, 0), true},
		{"region for peers", region(start, local|readWrite), true},
		{"region, hints", region(start, abi.IB_UVERBS_ACCESS_HUGETLB|abi.IB_UVERBS_ACCESS_RELAXED_ORDERING), true},
		{"region at another address", region(start+0x1000, 0), false},
		{"region at 0", region(0, 0), false},
		{"zero-based region", region(start, abi.IB_UVERBS_ACCESS_ZERO_BASED), false},
		{"region for atomics", region(start, local|abi.IB_UVERBS_ACCESS_REMOTE_ATOMIC), false},
		{"region for windows", region(start, abi.IB_UVERBS_ACCESS_MW_BIND), false},
		{"nothing", attr(0), true},
		{"its port", c.CheckModify(provider.ModifyRequest{Mask: abi.IB_QP_PORT, Port: 1}), true},
		{"another port", c.CheckModify(provider.ModifyRequest{Mask: abi.IB_QP_PORT, Port: 2}), false},
		{"RESET", state(abi.IB_QPS_RESET), false},
		{"INIT", state(abi.IB_QPS_INIT), true},
		{"RTR", state(abi.IB_QPS_RTR), true},
		{"RTS", state(abi.IB_QPS_RTS), true}, // which the kernel refuses
		{"SQD", state(abi.IB_QPS_SQD), false},
		{"SQE", state(abi.IB_QPS_SQE), false},
		{"ERR", state(abi.IB_QPS_ERR), true},
		{"reads and writes", access(readWrite), true},
		{"and local writes", access(local | readWrite), true},
		{"reads alone", access(abi.IB_UVERBS_ACCESS_REMOTE_READ), true},
		{"writes alone", access(abi.IB_UVERBS_ACCESS_REMOTE_WRITE), true},
		{"neither", access(0), true},
		{"and atomics", access(readWrite | abi.IB_UVERBS_ACCESS_REMOTE_ATOMIC), false},
	} {
		if tc.can != (tc.err == nil) || !tc.can && !errors.Is(tc.err, errors.ErrUnsupported) {
			t.Errorf("%s: %v, works %v", tc.name, tc.err, tc.can)
		}
	}
	if _, err := c.SetupQP(provider.QPRequest{Type: uint32(abi.IB_UVERBS_QPT_RC), Flags: 1}); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("queue pair with a creation flag: %v", err)
	}
	for bit := abi.IBQPAttrMask(1); bit <= abi.IB_QP_RATE_LIMIT; bit <<= 1 {
		if known := bit == abi.IB_QP_STATE || bit == abi.IB_QP_ACCESS_FLAGS; !known && !errors.Is(attr(bit), errors.ErrUnsupported) {
			t.Errorf("attribute %#x: %v", uint32(bit), attr(bit))
		}
	}
}

// TestSendFlags: what siw does not know it would not look at.
func TestSendFlags(t *testing.T) {
	q, k := newTestQP(t, ringtest.NewEnv(), 1)
	ringtest.RefusesFlags(t, q, abi.IB_UVERBS_WR_SEND, abi.IB_UVERBS_WR_RDMA_WRITE, abi.IB_UVERBS_WR_SEND_WITH_INV,
		abi.IB_UVERBS_WR_RDMA_READ, abi.IB_UVERBS_WR_LOCAL_INV)
	if k.sq.head() != nil {
		t.Error("something was posted")
	}
}
