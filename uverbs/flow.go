package uverbs

import (
	"fmt"
	"net/netip"

	"github.com/purerdma/rdma/abi"
)

// FlowConfig says which packets a rule takes and what is done with them.
type FlowConfig struct {
	// Type is IB_FLOW_ATTR_NORMAL (zero), where all of Specs must match, or
	// _ALL_DEFAULT, _MC_DEFAULT, _SNIFFER, which have no Specs.
	Type abi.IBFlowAttrType

	Flags abi.IBFlowFlags // IB_FLOW_ATTR_FLAGS_…

	// Priority orders rules; 0 comes first.
	Priority uint16

	// Port is the own port, from 1; 0 becomes 1.
	Port uint8

	// Specs are what packets must look like, from the outer headers to the
	// inner, and then what is done with them; at most 10.
	Specs []FlowSpec
}

// A Flow is a rule that steers packets from the wire to a raw packet queue pair
// or a datagram queue pair.
type Flow struct {
	life   life
	c      *Context
	handle uint32
}

// maxFlowSpecs is IB_FLOW_SPEC_SUPPORT_LAYERS of the kernel.
const maxFlowSpecs = 10

// maxFlowBody bounds a specification so that ten fit the memory of one command;
// the longest of the kernel's has 88 bytes.
const maxFlowBody = 256

// CreateFlow makes a rule whose packets the queue pair receives (CREATE_FLOW). It
// needs CAP_NET_RAW; the error matches syscall.EPERM else. It is an *[Error], and
// matches errors.ErrUnsupported on a device without steering, such as soft-RoCE,
// and syscall.EINVAL for queue pairs of other types and rules that the device
// does not understand.
func (qp *QP) CreateFlow(cfg FlowConfig) (*Flow, error) {
	f := &Flow{c: qp.c}
	what := fmt.Sprintf("new flow to %s, %d specifications", qp.life.name, len(cfg.Specs))
	parents, err := cfg.parents(f.c)
	if err != nil {
		return nil, f.c.fail(cmdExCreateFlow.name, what, err)
	}
	if err := f.life.begin(f.c.dev.Name, what, append(parents, &qp.life)...); err != nil {
		return nil, err
	}
	if err := f.create(qp, &cfg); err != nil {
		f.life.unregister()
		return nil, err
	}
	f.life.settle(f.c.dev.Name, fmt.Sprintf("flow %d to %s", f.handle, qp.life.name))
	return f, nil
}

// parents returns the counters that a rule needs, and refuses rules that have no
// form for the kernel.
func (cfg *FlowConfig) parents(c *Context) (all []*life, err error) {
	if len(cfg.Specs) > maxFlowSpecs {
		return nil, invalid("at most %d specifications", maxFlowSpecs)
	}
	for i, s := range cfg.Specs {
		if inner, ok := s.(InnerFlow); ok {
			s = inner.FlowSpec
		}
		if err := checkSpec(s, c); err != nil {
			return nil, fmt.Errorf("specification %d: %w", i, err)
		}
		if s, ok := s.(FlowCount); ok {
			all = append(all, &s.Counters.life)
		}
	}
	return all, nil
}

// checkSpec refuses what would mean something else to the kernel.
func checkSpec(s FlowSpec, c *Context) error {
	const bits24 = 1<<24 - 1
	switch s := s.(type) {
	case nil, InnerFlow:
		return invalid("it is of nothing")
	case FlowRaw:
		if n := len(s.Body); n%8 != 0 || n > maxFlowBody {
			return invalid("it has %d bytes, must be a multiple of 8, at most %d", n, maxFlowBody)
		}
	case FlowCount:
		if s.Counters == nil || s.Counters.c != c {
			return invalid("it has no counters of the same context")
		}
	case FlowIPv4:
		for _, a := range []netip.Addr{s.Value.Src, s.Value.Dst, s.Mask.Src, s.Mask.Dst} {
			if a.IsValid() && !a.Unmap().Is4() {
				return invalid("%v is no IPv4 address", a)
			}
		}
	case FlowIPv6:
		for _, a := range []netip.Addr{s.Value.Src, s.Value.Dst, s.Mask.Src, s.Mask.Dst} {
			if a.Is4() {
				return invalid("%v is no IPv6 address", a)
			}
		}
	case FlowVXLAN:
		if s.Value > bits24 || s.Mask > bits24 {
			return invalid("a VXLAN network has 24 bits")
		}
	}
	return nil
}

func (f *Flow) create(qp *QP, cfg *FlowConfig) error {
	var specs []byte
	for _, s := range cfg.Specs {
		specs = s.appendSpec(specs)
	}
	w, err := newWriteTail(&cmdExCreateFlow, len(specs))
	if err != nil {
		return f.c.fail(cmdExCreateFlow.name, f.life.name, err)
	}
	defer w.release()
	copy(w.tail(), specs)
	req := reqOf[abi.IBUverbsCreateFlow](w)
	req.QPHandle = qp.handle
	req.FlowAttr = abi.IBUverbsFlowAttr{
		Type: uint32(cfg.Type), Size: uint16(len(specs)), Priority: cfg.Priority, NumOfSpecs: uint8(len(cfg.Specs)),
		Port: max(cfg.Port, 1), Flags: uint32(cfg.Flags),
	}
	if err := f.c.write(w, f.life.name); err != nil {
		return err
	}
	f.handle = respOf[abi.IBUverbsCreateFlowResp](w).FlowHandle
	return nil
}

// Handle returns the kernel's handle of the rule within its context.
func (f *Flow) Handle() uint32 { return f.handle }

// String returns "flow", the handle, and the queue pair it goes to.
func (f *Flow) String() string { return f.life.name }

// Close ends the rule (FLOW_DESTROY, DESTROY_FLOW). It may be called more than
// once and from any goroutine.
func (f *Flow) Close() error {
	return f.life.close(func() error {
		if !f.c.native() {
			return f.c.destroyEx(&cmdExDestroyFlow, f.handle, f.life.name)
		}
		return f.c.destroyNative(&methodFlowDestroy, uint16(abi.UVERBS_ATTR_DESTROY_FLOW_HANDLE), f.handle, f.life.name)
	}, nil)
}
