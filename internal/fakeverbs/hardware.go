package fakeverbs

import (
	"syscall"
	"unsafe"

	"github.com/purerdma/rdma/abi"
)

// What soft-RoCE has not; each needs Kernel.Hardware.
type (
	wq struct {
		pd    *pd
		cq    *cq
		user  uint64
		state uint32
		flags uint32
		users int
	}
	wqTable struct {
		wqs   []*wq
		users int
	}
	flow     struct{ counters []*counters }
	counters struct{ users int }
	// compCounter has the numbers of completions that succeeded and failed.
	compCounter struct {
		values [2]uint64
		users  int
	}
	dm struct {
		length uint64
		users  int
	}
)

// hardwareTables declares the objects above.
func hardwareTables() {
	queue, table := uint16(abi.UVERBS_OBJECT_WQ), uint16(abi.UVERBS_OBJECT_RWQ_IND_TBL)
	native(queue, 0, "WQ_CREATE", (*Kernel).createWQNative, map[uint16]attrCheck{
		0: handleAttr, 1: handleAttr, 2: optHandle, 3: u64Attr, 4: constAttr, 5: optHandle, 6: u32Attr, 7: u32Attr,
		8: flagsMandatory, 9: u32Attr, 10: u32Attr, 11: {min: 4, exact: true}, 4096: bytesAttr, 4097: bytesAttr,
	})
	native(queue, 1, "WQ_DESTROY", (*Kernel).destroyNative, map[uint16]attrCheck{0: handleAttr, 1: u32Attr})
	native(table, 0, "RWQ_IND_TBL_DESTROY", (*Kernel).destroyNative, map[uint16]attrCheck{0: handleAttr})
	native(uint16(abi.UVERBS_OBJECT_FLOW), 0, "FLOW_DESTROY", (*Kernel).destroyNative, map[uint16]attrCheck{0: handleAttr})
	count := uint16(abi.UVERBS_OBJECT_COUNTERS)
	native(count, 0, "COUNTERS_CREATE", (*Kernel).createCounters, map[uint16]attrCheck{0: handleAttr})
	native(count, 1, "COUNTERS_DESTROY", (*Kernel).destroyNative, map[uint16]attrCheck{0: handleAttr})
	native(count, 2, "COUNTERS_READ", (*Kernel).readCounters, map[uint16]attrCheck{0: handleAttr, 1: minimumAttr(0), 2: flagsAttr})
	comp := uint16(abi.UVERBS_OBJECT_COMP_CNTR)
	native(comp, 0, "COMP_CNTR_CREATE", (*Kernel).createCompCounter, map[uint16]attrCheck{0: handleAttr})
	native(comp, 1, "COMP_CNTR_DESTROY", (*Kernel).destroyNative, map[uint16]attrCheck{0: handleAttr})
	native(comp, 2, "COMP_CNTR_MODIFY", (*Kernel).modifyCompCounter, map[uint16]attrCheck{0: handleAttr, 1: constAttr, 2: constAttr, 3: u64Attr})
	native(comp, 3, "COMP_CNTR_READ", (*Kernel).readCompCounter, map[uint16]attrCheck{0: handleAttr, 1: constAttr, 2: u64Attr})
	native(uint16(abi.UVERBS_OBJECT_DEVICE), 8, "QUERY_COMP_CNTR_CAPS", (*Kernel).queryCompCounters, map[uint16]attrCheck{
		0: {min: 4, exact: true}, 1: {min: 8, exact: true}, 2: {min: 4, exact: true},
	})
	native(uint16(abi.UVERBS_OBJECT_QP), 2, "QP_ATTACH_COMP_CNTR", (*Kernel).attachCompCounter, map[uint16]attrCheck{0: handleAttr, 1: handleAttr, 2: flagsMandatory})
	memory := uint16(abi.UVERBS_OBJECT_DM)
	native(memory, 0, "DM_ALLOC", (*Kernel).allocDM, map[uint16]attrCheck{0: handleAttr, 1: u64Attr, 2: u32Attr})
	native(memory, 1, "DM_FREE", (*Kernel).destroyNative, map[uint16]attrCheck{0: handleAttr})
	native(uint16(abi.UVERBS_OBJECT_MR), 0, "DM_MR_REG", (*Kernel).regDM, map[uint16]attrCheck{
		0: handleAttr, 1: u64Attr, 2: u64Attr, 3: handleAttr, 4: flagsAttr, 5: handleAttr, 6: u32Attr, 7: u32Attr,
	})
	const ex = abi.IB_USER_VERBS_CMD_FLAG_EXTENDED
	writeCommands[ex|abi.IB_USER_VERBS_EX_CMD_CREATE_WQ] = &writeCommand{"CREATE_WQ", 40, 24, (*Kernel).createWQWrite}
	writeCommands[ex|abi.IB_USER_VERBS_EX_CMD_MODIFY_WQ] = &writeCommand{"MODIFY_WQ", 16, 0, (*Kernel).modifyWQ}
	writeCommands[ex|abi.IB_USER_VERBS_EX_CMD_DESTROY_WQ] = &writeCommand{"DESTROY_WQ", 8, 16, (*Kernel).destroyEx}
	writeCommands[ex|abi.IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL] = &writeCommand{"CREATE_RWQ_IND_TBL", 8, 16, (*Kernel).createTable}
	writeCommands[ex|abi.IB_USER_VERBS_EX_CMD_DESTROY_RWQ_IND_TBL] = &writeCommand{"DESTROY_RWQ_IND_TBL", 8, 0, (*Kernel).destroyEx}
	writeCommands[ex|abi.IB_USER_VERBS_EX_CMD_CREATE_FLOW] = &writeCommand{"CREATE_FLOW", 24, 8, (*Kernel).createFlow}
	writeCommands[ex|abi.IB_USER_VERBS_EX_CMD_DESTROY_FLOW] = &writeCommand{"DESTROY_FLOW", 8, 0, (*Kernel).destroyEx}
}

func (k *Kernel) destroyEx(r *request) error {
	req := as[abi.IBUverbsDestroyFlow](r) // a mask and a handle, as in the others
	if req.CompMask != 0 {
		return syscall.EOPNOTSUPP
	}
	return k.destroy(req.FlowHandle)
}

func (k *Kernel) createWQNative(r *request) error {
	q, err := k.newWQ(uint32(r.u64(1)), uint32(r.u64(2)), r.u64(3), uint32(r.u64(4)), r.u32(6))
	if err != nil {
		return err
	}
	h := k.add(q)
	r.attr(0).Data = uint64(h)
	put(r, 9, r.u32(6)+1)
	put(r, 10, r.u32(7))
	put(r, 11, h<<4)
	return nil
}

func (k *Kernel) createWQWrite(r *request) error {
	req := as[abi.IBUverbsExCreateWQ](r)
	q, err := k.newWQ(req.PDHandle, req.CQHandle, req.UserHandle, req.WQType, req.MaxWR)
	if err != nil {
		return err
	}
	h := k.add(q)
	answer(r, abi.IBUverbsExCreateWQResp{ResponseLength: 24, WQHandle: h, MaxWR: req.MaxWR + 1, MaxSGE: req.MaxSGE, Wqn: h << 4})
	return nil
}

func (k *Kernel) newWQ(pdH, cqH uint32, user uint64, typ, maxWR uint32) (*wq, error) {
	if !k.Hardware {
		return nil, syscall.EOPNOTSUPP
	}
	p, pdErr := find[*pd](k, pdH)
	c, cqErr := find[*cq](k, cqH)
	if pdErr != nil || cqErr != nil || typ != uint32(abi.IB_UVERBS_WQT_RQ) || maxWR == 0 {
		return nil, syscall.EINVAL
	}
	p.users++
	c.users++
	return &wq{pd: p, cq: c, user: user}, nil
}

func (k *Kernel) modifyWQ(r *request) error {
	req := as[abi.IBUverbsExModifyWQ](r)
	q, err := find[*wq](k, req.WQHandle)
	const state, flags = uint32(abi.IB_WQ_STATE), uint32(abi.IB_WQ_FLAGS)
	if err != nil || req.AttrMask == 0 || req.AttrMask&^(state|flags) != 0 || req.WQState > uint32(abi.IB_WQS_ERR) {
		return syscall.EINVAL
	}
	if req.AttrMask&state != 0 {
		q.state = req.WQState
	}
	if req.AttrMask&flags != 0 {
		q.flags = q.flags&^req.FlagsMask | req.Flags&req.FlagsMask
	}
	return nil
}

// WQFlags tells the flags of a work queue.
func (k *Kernel) WQFlags(handle uint32) abi.IBUverbsWQFlags {
	k.mu.Lock()
	defer k.mu.Unlock()
	q, ok := k.objects[handle].(*wq)
	if !ok {
		return 0
	}
	return abi.IBUverbsWQFlags(q.flags)
}

// RaiseWQ raises an asynchronous event of a work queue.
func (k *Kernel) RaiseWQ(handle uint32, kind abi.IBEventType) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if q, ok := k.objects[handle].(*wq); ok {
		k.raise(q.user, kind)
	}
}

func (k *Kernel) createTable(r *request) error {
	req := as[abi.IBUverbsExCreateRWQIndTable](r)
	if !k.Hardware {
		return syscall.EOPNOTSUPP
	}
	n := 1 << req.LogIndTblSize
	if req.LogIndTblSize > abi.IB_USER_VERBS_MAX_LOG_IND_TBL_SIZE || len(r.in) < 8+4*n {
		return syscall.EINVAL
	}
	t := &wqTable{}
	for _, h := range unsafe.Slice((*uint32)(unsafe.Pointer(&r.in[8])), n) {
		q, err := find[*wq](k, h)
		if err != nil {
			return err
		}
		t.wqs = append(t.wqs, q)
	}
	for _, q := range t.wqs {
		q.users++
	}
	h := k.add(t)
	answer(r, abi.IBUverbsExCreateRWQIndTableResp{ResponseLength: 16, IndTblHandle: h, IndTblNum: h << 4})
	return nil
}

// Rule is what a flow rule was made of.
type Rule struct {
	Attr  abi.IBUverbsFlowAttr
	Specs []byte
}

// LastRule returns the last flow rule made.
func (k *Kernel) LastRule() Rule {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.rule
}

func (k *Kernel) createFlow(r *request) error {
	if !k.Hardware {
		return syscall.EOPNOTSUPP
	}
	req := as[abi.IBUverbsCreateFlow](r)
	q, err := find[*qp](k, req.QPHandle)
	specs := r.in[24:]
	if err != nil || q.typ != abi.IB_UVERBS_QPT_UD || len(specs) != int(req.FlowAttr.Size) || req.FlowAttr.NumOfSpecs > 10 {
		return syscall.EINVAL
	}
	f, rest, n := &flow{}, specs, 0
	for ; len(rest) >= 8; n++ {
		hdr := (*abi.IBUverbsFlowSpecHdr)(unsafe.Pointer(&rest[0]))
		if hdr.Size < 8 || int(hdr.Size) > len(rest) || hdr.Reserved != 0 {
			return syscall.EINVAL
		}
		if hdr.Type == uint32(abi.IB_FLOW_SPEC_ACTION_COUNT) {
			h := (*abi.IBUverbsFlowSpecActionCount)(unsafe.Pointer(hdr)).Handle
			c, err := find[*counters](k, h)
			if err != nil {
				return err
			}
			f.counters = append(f.counters, c)
		}
		rest = rest[hdr.Size:]
	}
	if n != int(req.FlowAttr.NumOfSpecs) || len(rest) != 0 {
		return syscall.EINVAL
	}
	for _, c := range f.counters {
		c.users++
	}
	k.rule = Rule{req.FlowAttr, append([]byte(nil), specs...)}
	answer(r, abi.IBUverbsCreateFlowResp{FlowHandle: k.add(f)})
	return nil
}

func (k *Kernel) createCounters(r *request) error {
	if !k.Hardware {
		return syscall.EOPNOTSUPP
	}
	r.attr(0).Data = uint64(k.add(&counters{}))
	return nil
}

// readCounters answers 1, 2, 3 …, and from 101 on what is cached.
func (k *Kernel) readCounters(r *request) error {
	if _, err := find[*counters](k, uint32(r.u64(0))); err != nil {
		return err
	}
	first := uint64(1)
	if r.u32(2) != 0 {
		first = 101
	}
	out := r.output(1)
	for ; len(out) >= 8; first++ {
		out = out[copy(out, bytesOf(&first)):]
	}
	return nil
}

func (k *Kernel) queryCompCounters(r *request) error {
	if !k.Hardware {
		return syscall.EOPNOTSUPP
	}
	put(r, 0, uint32(12))
	put(r, 1, uint64(1<<40-1))
	put(r, 2, uint32(abi.IB_UVERBS_QP_ATTACH_COMP_CNTR_OP_SEND|abi.IB_UVERBS_QP_ATTACH_COMP_CNTR_OP_RECV))
	return nil
}

func (k *Kernel) createCompCounter(r *request) error {
	if !k.Hardware {
		return syscall.EOPNOTSUPP
	}
	r.attr(0).Data = uint64(k.add(&compCounter{}))
	return nil
}

// compEntry finds one of the two numbers.
func (k *Kernel) compEntry(r *request) (*uint64, error) {
	n, err := find[*compCounter](k, uint32(r.u64(0)))
	if err != nil || r.u64(1) > 1 {
		return nil, syscall.EINVAL
	}
	return &n.values[r.u64(1)], nil
}

func (k *Kernel) modifyCompCounter(r *request) error {
	v, err := k.compEntry(r)
	switch {
	case err != nil:
		return err
	case r.u64(2) == uint64(abi.IB_UVERBS_COMP_CNTR_MODIFY_OP_SET):
		*v = r.u64(3)
	default:
		*v += r.u64(3)
	}
	return nil
}

func (k *Kernel) readCompCounter(r *request) error {
	v, err := k.compEntry(r)
	if err == nil {
		put(r, 2, *v)
	}
	return err
}

func (k *Kernel) attachCompCounter(r *request) error {
	q, qpErr := find[*qp](k, uint32(r.u64(0)))
	n, err := find[*compCounter](k, uint32(r.u64(1)))
	switch kinds := r.u32(2); {
	case qpErr != nil || err != nil || kinds == 0:
		return syscall.EINVAL
	case kinds&q.counted != 0:
		return syscall.EBUSY
	default:
		q.counted |= kinds
	}
	q.counters = append(q.counters, n)
	n.users++
	return nil
}

func (k *Kernel) allocDM(r *request) error {
	switch n := r.u64(1); {
	case !k.Hardware:
		return syscall.EOPNOTSUPP
	case n > 1<<20:
		return syscall.ENOMEM
	}
	r.attr(0).Data = uint64(k.add(&dm{length: r.u64(1)}))
	return nil
}

func (k *Kernel) regDM(r *request) error {
	p, pdErr := find[*pd](k, uint32(r.u64(3)))
	d, dmErr := find[*dm](k, uint32(r.u64(5)))
	offset, length, access := r.u64(1), r.u64(2), r.u32(4)
	if pdErr != nil || dmErr != nil || offset+length > d.length || access&uint32(abi.IB_UVERBS_ACCESS_ZERO_BASED) == 0 {
		return syscall.EINVAL
	}
	d.users++
	k.newMR(r, &mr{pd: p, dm: d, length: length, access: access}, 6)
	return nil
}

// destroyHardware destroys one of the objects above.
func (k *Kernel) destroyHardware(o any) error {
	switch o := o.(type) {
	case *wq:
		if o.users > 0 {
			return syscall.EBUSY
		}
		o.pd.users--
		o.cq.users--
	case *wqTable:
		if o.users > 0 {
			return syscall.EBUSY
		}
		for _, q := range o.wqs {
			q.users--
		}
	case *compCounter:
		if o.users > 0 {
			return syscall.EBUSY
		}
	case *dm:
		if o.users > 0 {
			return syscall.EBUSY
		}
	case *flow:
		for _, c := range o.counters {
			c.users--
		}
	case *counters:
		if o.users > 0 {
			return syscall.EBUSY
		}
	default:
		return syscall.EINVAL
	}
	return nil
}
