package fakeverbs

import (
	"syscall"
	"unsafe"

	"github.com/purerdma/rdma/abi"
)

// mw is a memory window. Its key is its handle and, in the low byte, what the
// last bind chose.
type mw struct {
	pd           *pd
	typ          abi.IBMWType
	key          uint32
	mr           *mr // nil when bound to nothing
	qp           *qp // of type 2: who bound it
	addr, length uint64
	access       uint32
}

// NativeRegMR is what Calls says of the native registration of Linux 7.3, which the
// kernel calls as it calls the one of all versions.
const NativeRegMR = "REG_MR (native)"

// memoryTables declares what belongs to memory beyond REG_MR.
func memoryTables() {
	object, id := uint16(abi.UVERBS_OBJECT_MR), func(a abi.UverbsMethodsMR) uint16 { return uint16(a) }
	native(object, id(abi.UVERBS_METHOD_ADVISE_MR), "ADVISE_MR", (*Kernel).adviseMR, map[uint16]attrCheck{
		0: handleAttr, 1: constAttr, 2: flagsMandatory, 3: minimumAttr(16),
	})
	native(object, id(abi.UVERBS_METHOD_QUERY_MR), "QUERY_MR", (*Kernel).queryMR, map[uint16]attrCheck{
		0: handleAttr, 1: u32Attr, 2: u32Attr, 3: u64Attr, 4: {min: 8, exact: true},
	})
	native(object, id(abi.UVERBS_METHOD_REG_DMABUF_MR), "REG_DMABUF_MR", (*Kernel).regDMABuf, map[uint16]attrCheck{
		0: handleAttr, 1: handleAttr, 2: u64Attr, 3: u64Attr, 4: u64Attr, 5: u32Attr, 6: flagsAttr, 7: u32Attr, 8: u32Attr,
	})
	native(object, id(abi.UVERBS_METHOD_REG_MR), NativeRegMR, (*Kernel).regMRNative, map[uint16]attrCheck{
		0: handleAttr, 1: handleAttr, 2: optHandle, 3: u64Attr, 4: {min: 8, exact: true}, 5: u64Attr, 6: flagsMandatory,
		7: optHandle, 8: {min: 8, exact: true}, 9: u32Attr, 10: u32Attr, 4096: bytesAttr, 4097: bytesAttr,
	})
	native(uint16(abi.UVERBS_OBJECT_DMAH), 0, "DMAH_ALLOC", (*Kernel).allocDMAHint, map[uint16]attrCheck{
		0: handleAttr, 1: {min: 4, exact: true}, 2: {choice: true}, 3: {min: 1, exact: true},
	})
	native(uint16(abi.UVERBS_OBJECT_DMAH), 1, "DMAH_FREE", (*Kernel).destroyNative, map[uint16]attrCheck{0: handleAttr})
	native(uint16(abi.UVERBS_OBJECT_MW), 0, "MW_DESTROY", (*Kernel).destroyNative, map[uint16]attrCheck{0: handleAttr})
	writeCommands[uint32(abi.IB_USER_VERBS_CMD_REREG_MR)] = &writeCommand{"REREG_MR", 48, 8, (*Kernel).reregMR}
	writeCommands[uint32(abi.IB_USER_VERBS_CMD_ALLOC_MW)] = &writeCommand{"ALLOC_MW", 16, 8, (*Kernel).allocMW}
	writeCommands[uint32(abi.IB_USER_VERBS_CMD_DEALLOC_MW)] = &writeCommand{"DEALLOC_MW", 4, 0, (*Kernel).destroyByHandle}
}

var flagsMandatory = attrCheck{min: 4, mandatory: true}

func native(object, id uint16, name string, run func(*Kernel, *request) error, attrs map[uint16]attrCheck) {
	nativeMethods[methodKey{object, id}] = &nativeMethod{name: name, run: run, attrs: attrs}
}

// DMABufFD is the one descriptor that is a DMA buffer, of DMABufSize bytes.
const (
	DMABufFD   = 77
	DMABufSize = 1 << 20
)

func (k *Kernel) regDMABuf(r *request) error {
	if !k.Hardware {
		return syscall.EOPNOTSUPP
	}
	offset, length, addr := r.u64(2), r.u64(3), r.u64(4)
	p, err := find[*pd](k, uint32(r.u64(1)))
	switch {
	case err != nil || (offset^addr)&4095 != 0 || offset+length > DMABufSize:
		return syscall.EINVAL
	case r.u32(5) != DMABufFD:
		return syscall.EBADF
	}
	k.newMR(r, &mr{pd: p, start: offset, addr: addr, length: length, access: r.u32(6)}, 7)
	return nil
}

// newMR answers a native registration: handle, and the keys in two attributes.
func (k *Kernel) newMR(r *request, m *mr, keys uint16) {
	m.pd.users++
	h := k.add(m)
	r.attr(0).Data = uint64(h)
	put(r, keys, h<<8)
	put(r, keys+1, h<<8|1)
}

// regMRNative is the method that Linux 7.3 has.
func (k *Kernel) regMRNative(r *request) error {
	req := abi.IBUverbsRegMR{Start: r.u64(4), Length: r.u64(5), HcaVa: r.u64(3), PDHandle: uint32(r.u64(1)), AccessFlags: r.u32(6)}
	if r.attr(4) == nil || r.attr(7) != nil || r.attr(8) != nil {
		return syscall.EINVAL
	}
	m, err := k.checkMR(&req)
	if err != nil {
		return err
	}
	if r.attr(2) != nil {
		if m.hint, err = find[*dmaHint](k, uint32(r.u64(2))); err != nil {
			return err
		}
		m.hint.users++
	}
	k.newMR(r, m, 9)
	return nil
}

// dmaHint is what a program told about DMA.
type dmaHint struct{ users int }

func (k *Kernel) allocDMAHint(r *request) error {
	if ph := r.input(3); ph != nil && ph[0] > 3 || r.u32(1) >= 4 {
		return syscall.EINVAL
	}
	if a := r.attr(2); a != nil && a.AttrDataEnumData().ElemID > 1 {
		return syscall.EINVAL
	}
	if !k.Hardware {
		return syscall.EOPNOTSUPP
	}
	r.attr(0).Data = uint64(k.add(&dmaHint{}))
	return nil
}

// checkMR refuses what ib_uverbs_reg_mr and ib_check_mr_access refuse.
func (k *Kernel) checkMR(req *abi.IBUverbsRegMR) (*mr, error) {
	p, err := find[*pd](k, req.PDHandle)
	onDemand := req.AccessFlags&uint32(abi.IB_UVERBS_ACCESS_ON_DEMAND) != 0
	switch whole := req.Length == ^uint64(0); {
	case err != nil || (req.Start^req.HcaVa)&4095 != 0 || req.Length == 0 || onDemand && !k.Hardware:
		return nil, syscall.EINVAL
	case whole && (!onDemand || req.Start != 0):
		return nil, syscall.EINVAL
	case req.Length > MaxMR && !whole:
		return nil, syscall.ENOMEM
	}
	return &mr{pd: p, start: req.Start, addr: req.HcaVa, length: req.Length, access: req.AccessFlags}, nil
}

func (k *Kernel) queryMR(r *request) error {
	h := uint32(r.u64(0))
	m, err := find[*mr](k, h)
	if err != nil {
		return err
	}
	put(r, 1, h<<8)
	put(r, 2, h<<8|1)
	put(r, 3, m.length)
	put(r, 4, m.addr)
	return nil
}

// Advice is what a program last told about its regions.
type Advice struct {
	Kind  abi.IBUverbsAdviseMRAdvice
	Flush bool
	SGEs  []abi.IBUverbsSGE
}

// LastAdvice returns the last of ADVISE_MR.
func (k *Kernel) LastAdvice() Advice {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.advice
}

func (k *Kernel) adviseMR(r *request) error {
	if !k.Hardware {
		return syscall.EOPNOTSUPP
	}
	list := r.input(3)
	if len(list)%16 != 0 {
		return syscall.EINVAL
	}
	views := unsafe.Slice((*abi.IBUverbsSGE)(unsafe.Pointer(&list[0])), len(list)/16)
	for _, s := range views {
		m, ok := k.objects[s.LKey>>8].(*mr)
		if !ok || m.access&uint32(abi.IB_UVERBS_ACCESS_ON_DEMAND) == 0 {
			return syscall.EINVAL
		}
	}
	k.advice = Advice{abi.IBUverbsAdviseMRAdvice(r.u64(1)), r.u32(2) != 0, append([]abi.IBUverbsSGE(nil), views...)}
	return nil
}

// reregMR gives the region new keys when its memory changes.
func (k *Kernel) reregMR(r *request) error {
	req := as[abi.IBUverbsReregMR](r)
	m, err := find[*mr](k, req.MRHandle)
	flags := abi.IBMRReregFlags(req.Flags)
	if err != nil || flags == 0 || flags&^abi.IB_MR_REREG_SUPPORTED != 0 {
		return syscall.EINVAL
	}
	if !k.Hardware && flags&abi.IB_MR_REREG_TRANS != 0 {
		return syscall.EOPNOTSUPP
	}
	if flags&abi.IB_MR_REREG_PD != 0 {
		p, err := find[*pd](k, req.PDHandle)
		if err != nil {
			return err
		}
		m.pd.users--
		p.users++
		m.pd = p
	}
	if flags&abi.IB_MR_REREG_TRANS != 0 {
		if req.Length == 0 || (req.Start^req.HcaVa)&4095 != 0 {
			return syscall.EINVAL
		}
		m.start, m.addr, m.length = req.Start, req.HcaVa, req.Length
	}
	if flags&abi.IB_MR_REREG_ACCESS != 0 {
		m.access = req.AccessFlags
	}
	answer(r, abi.IBUverbsReregMRResp{LKey: req.MRHandle << 8, RKey: req.MRHandle<<8 | 1})
	return nil
}

// AccessOf tells what a region was last registered with.
func (k *Kernel) AccessOf(handle uint32) abi.IBUverbsAccessFlags {
	k.mu.Lock()
	defer k.mu.Unlock()
	m, _ := k.objects[handle].(*mr)
	if m == nil {
		return 0
	}
	return abi.IBUverbsAccessFlags(m.access)
}

// A Region is a memory region as the kernel has it.
type Region struct {
	Start        uint64 // in the process
	Addr, Length uint64 // as requests name it
	PD           uint32 // the domain's handle
	Access       abi.IBUverbsAccessFlags
}

// Region tells of the region with a handle.
func (k *Kernel) Region(handle uint32) Region {
	k.mu.Lock()
	defer k.mu.Unlock()
	m, ok := k.objects[handle].(*mr)
	if !ok {
		return Region{}
	}
	r := Region{Start: m.start, Addr: m.addr, Length: m.length, Access: abi.IBUverbsAccessFlags(m.access)}
	for h, o := range k.objects {
		if o == m.pd {
			r.PD = h
		}
	}
	return r
}

func (k *Kernel) allocMW(r *request) error {
	req := as[abi.IBUverbsAllocMW](r)
	p, err := find[*pd](k, req.PDHandle)
	switch {
	case k.NoWindows:
		return syscall.EOPNOTSUPP
	case err != nil || req.MWType != uint8(abi.IB_MW_TYPE_1) && req.MWType != uint8(abi.IB_MW_TYPE_2):
		return syscall.EINVAL
	}
	p.users++
	m := &mw{pd: p, typ: abi.IBMWType(req.MWType)}
	h := k.add(m)
	m.key = h << 8
	answer(r, abi.IBUverbsAllocMWResp{MWHandle: h, RKey: m.key})
	return nil
}

// bind carries out a request to bind a window, as rxe_bind_mw does.
func (k *Kernel) bind(q *qp, w *abi.RXESendWQE) abi.IBWCStatus {
	p := w.WR.WRMW()
	win, ok := k.objects[p.MWRKey>>8].(*mw)
	if !ok || win.key != p.MWRKey || win.typ == abi.IB_MW_TYPE_2 && (win.mr != nil || win.pd != q.pd) {
		return abi.IB_WC_MW_BIND_ERR
	}
	var region *mr
	if p.Length != 0 {
		region, _ = k.objects[p.MRLKey>>8].(*mr)
		const writes = abi.IB_UVERBS_ACCESS_REMOTE_WRITE | abi.IB_UVERBS_ACCESS_REMOTE_ATOMIC
		local := uint32(abi.IB_UVERBS_ACCESS_LOCAL_WRITE)
		if region == nil || region.pd != win.pd || p.MRLKey&0xff != localKey || p.Access&uint32(writes) != 0 && region.access&local == 0 || region.access&uint32(abi.IB_UVERBS_ACCESS_MW_BIND) == 0 ||
			p.Addr < region.addr || p.Addr+p.Length > region.addr+region.length {
			return abi.IB_WC_MW_BIND_ERR
		}
	} else if win.typ == abi.IB_MW_TYPE_2 {
		return abi.IB_WC_MW_BIND_ERR
	}
	win.unbind()
	win.key = win.key&^0xff | p.RKey&0xff
	win.mr, win.qp, win.addr, win.length, win.access = region, q, p.Addr, p.Length, p.Access
	if region != nil {
		region.windows++
	}
	return abi.IB_WC_SUCCESS
}

func (m *mw) unbind() {
	if m.mr != nil {
		m.mr.windows--
		m.mr = nil
	}
}

// invalidate ends a window of type 2.
func (k *Kernel) invalidate(q *qp, key uint32) abi.IBWCStatus {
	win, ok := k.objects[key>>8].(*mw)
	if !ok || win.key != key || win.pd != q.pd || win.typ != abi.IB_MW_TYPE_2 {
		return abi.IB_WC_LOC_QP_OP_ERR
	}
	win.unbind()
	return abi.IB_WC_SUCCESS
}
