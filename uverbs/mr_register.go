package uverbs

import (
	"errors"
	"fmt"
	"math"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs/internal/provider"
)

// register asks the kernel for a region of memory of this process.
func (mr *MR) register(access Access) error {
	c := mr.pd.c
	// Never the native method of Linux 7.3 without need: it leaves the address
	// of the kernel's region 0 where a driver relies on the core to set it, as
	// soft-RoCE does (UVERBS_METHOD_REG_MR; ib_uverbs_reg_mr sets it).
	call := mr.registerWrite
	if mr.hint != nil {
		call = mr.registerNative
	}
	err := checkAccess(access)
	if err == nil {
		err = c.driverTakes(mr.start, mr.addr, access)
	}
	if err == nil {
		err = call(c.forKernel(access))
	}
	if err == nil {
		return nil
	}
	hint, err := refusedMemory(c.explainAccess(err, access), mr.start, mr.length)
	return &Error{
		Op: cmdRegMR.name, Object: fmt.Sprintf("%d bytes, access %#x", mr.length, uint32(access)),
		Device: c.dev.Name, Hint: hint, Err: err,
	}
}

// driverTakes says what the driver's kernel half would take for a region and not do.
func (c *Context) driverTakes(start, addr uint64, access Access) error {
	if c.drv == nil {
		return nil
	}
	return c.drv.CheckMR(provider.MRRequest{Start: start, Addr: addr, Access: access})
}

// registerNative is the form with a hint for DMA.
func (mr *MR) registerNative(access Access) error {
	i, err := mr.pd.c.nativeOnly(&methodRegMR, mr.life.name)
	if err != nil {
		return err
	}
	defer i.release()
	handle := i.result(uint16(abi.UVERBS_ATTR_REG_MR_HANDLE))
	i.object(uint16(abi.UVERBS_ATTR_REG_MR_PD_HANDLE), mr.pd.handle)
	i.object(uint16(abi.UVERBS_ATTR_REG_MR_DMA_HANDLE), mr.hint.handle)
	i.u64(uint16(abi.UVERBS_ATTR_REG_MR_IOVA), mr.addr)
	i.u64(uint16(abi.UVERBS_ATTR_REG_MR_ADDR), mr.start)
	i.u64(uint16(abi.UVERBS_ATTR_REG_MR_LENGTH), mr.kernelLength())
	i.u32(uint16(abi.UVERBS_ATTR_REG_MR_ACCESS_FLAGS), uint32(access))
	lkey := i.outU32(uint16(abi.UVERBS_ATTR_REG_MR_RESP_LKEY))
	rkey := i.outU32(uint16(abi.UVERBS_ATTR_REG_MR_RESP_RKEY))
	i.uhwIn(make([]byte, mr.pd.c.payload.RegMRIn))
	i.uhwOut(mr.pd.c.payload.RegMROut)
	if err := mr.pd.c.ioctlRaw(i); err != nil {
		return err
	}
	mr.handle, mr.lkey, mr.rkey = uint32(handle.Data), *lkey, *rkey
	return nil
}

func (mr *MR) registerWrite(access Access) error {
	payload := mr.pd.c.payload
	w, err := newWrite(&cmdRegMR, make([]byte, payload.RegMRIn), payload.RegMROut)
	if err != nil {
		return err
	}
	defer w.release()
	req := reqOf[abi.IBUverbsRegMR](w)
	req.Start, req.Length, req.HcaVa = mr.start, mr.kernelLength(), mr.addr
	req.PDHandle, req.AccessFlags = mr.pd.handle, uint32(access)
	if err := mr.pd.c.writeRaw(w); err != nil {
		return err
	}
	resp := respOf[abi.IBUverbsRegMRResp](w)
	mr.handle, mr.lkey, mr.rkey = resp.MRHandle, resp.LKey, resp.RKey
	return nil
}

// kernelLength is the length as the kernel has it: all ones for a whole address
// space (ib_umem_odp_alloc_implicit).
func (mr *MR) kernelLength() uint64 {
	if mr.length == math.MaxInt {
		return math.MaxUint64
	}
	return uint64(mr.length)
}

// RegMRImplicit registers the whole address space of the process, present and
// future, under one key (REG_MR of length 2^64-1 with AccessOnDemand, which is
// added to access). Entries for it name memory by address: use [Memory.Addr].
// The memory they name must stay mapped until requests have completed; memory of
// the Go heap is not for devices, as ever.
//
// The error is an *[Error]; it matches errors.ErrUnsupported on a device without
// implicit on-demand paging, such as soft-RoCE.
func (pd *PD) RegMRImplicit(access Access) (*MR, error) {
	mr := &MR{pd: pd, length: math.MaxInt}
	return mr.create([]*life{&pd.life}, func() error {
		err := mr.register(access | AccessOnDemand)
		var e *Error
		if errors.As(err, &e) && !errors.Is(err, errors.ErrUnsupported) {
			e.Err = pd.c.explainImplicit(e.Err)
		}
		return err
	})
}

func (c *Context) explainImplicit(err error) error {
	raw, _, queryErr := c.queryDevice()
	if queryErr != nil || raw.OdpCaps.GeneralCaps&uint64(abi.IB_UVERBS_ODP_SUPPORT_IMPLICIT) != 0 {
		return err
	}
	return &unsupportedError{what: "implicit on-demand paging", err: err}
}
