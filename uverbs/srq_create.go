package uverbs

import "github.com/purerdma/rdma/abi"

func (srq *SRQ) createKernel(uhwIn, uhwOut []byte) error {
	if err := srq.cfg.check(); err != nil {
		return srq.c.fail(methodSRQCreate.name, srq.life.name, err)
	}
	switch {
	case srq.c.native():
		return srq.createNative(uhwIn, uhwOut)
	case srq.cfg.Type == abi.IB_UVERBS_SRQT_BASIC:
		return srq.createWrite(uhwIn, uhwOut)
	}
	return srq.createXWrite(uhwIn, uhwOut)
}

func (srq *SRQ) createNative(uhwIn, uhwOut []byte) error {
	i, err := newIoctl(&methodSRQCreate)
	if err != nil {
		return srq.c.fail(methodSRQCreate.name, srq.life.name, err)
	}
	defer i.release()
	handle := i.result(uint16(abi.UVERBS_ATTR_CREATE_SRQ_HANDLE))
	i.object(uint16(abi.UVERBS_ATTR_CREATE_SRQ_PD_HANDLE), srq.pd.handle)
	i.u64(uint16(abi.UVERBS_ATTR_CREATE_SRQ_TYPE), uint64(srq.cfg.Type))
	i.u64(uint16(abi.UVERBS_ATTR_CREATE_SRQ_USER_HANDLE), srq.key)
	i.events(uint16(abi.UVERBS_ATTR_CREATE_SRQ_EVENT_FD), srq.c)
	i.u32(uint16(abi.UVERBS_ATTR_CREATE_SRQ_MAX_WR), uint32(srq.cfg.MaxWR))
	i.u32(uint16(abi.UVERBS_ATTR_CREATE_SRQ_MAX_SGE), uint32(srq.cfg.MaxSGE))
	i.u32(uint16(abi.UVERBS_ATTR_CREATE_SRQ_LIMIT), uint32(srq.cfg.Limit))
	if srq.cfg.XRCD != nil {
		i.object(uint16(abi.UVERBS_ATTR_CREATE_SRQ_XRCD_HANDLE), srq.cfg.XRCD.handle)
	}
	if srq.cfg.CQ != nil {
		i.object(uint16(abi.UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE), srq.cfg.CQ.handle)
	}
	maxWR := i.outU32(uint16(abi.UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR))
	maxSGE := i.outU32(uint16(abi.UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE))
	number := i.outU32(uint16(abi.UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM))
	i.uhwIn(uhwIn)
	out := i.uhwOut(len(uhwOut))
	if err := srq.c.ioctl(i, srq.life.name); err != nil {
		return err
	}
	srq.handle, srq.number = uint32(handle.Data), *number
	srq.maxWR, srq.maxSGE = int(*maxWR), int(*maxSGE)
	copy(uhwOut, out)
	return nil
}

func (srq *SRQ) createWrite(uhwIn, uhwOut []byte) error {
	w, err := newWrite(&cmdCreateSRQ, uhwIn, len(uhwOut))
	if err != nil {
		return srq.c.fail(cmdCreateSRQ.name, srq.life.name, err)
	}
	defer w.release()
	req := reqOf[abi.IBUverbsCreateSRQ](w)
	req.UserHandle, req.PDHandle = srq.key, srq.pd.handle
	req.MaxWR, req.MaxSGE, req.SRQLimit = uint32(srq.cfg.MaxWR), uint32(srq.cfg.MaxSGE), uint32(srq.cfg.Limit)
	return srq.createdByWrite(w, uhwOut)
}

// createXWrite is the form with a type.
func (srq *SRQ) createXWrite(uhwIn, uhwOut []byte) error {
	w, err := newWrite(&cmdCreateXSRQ, uhwIn, len(uhwOut))
	if err != nil {
		return srq.c.fail(cmdCreateXSRQ.name, srq.life.name, err)
	}
	defer w.release()
	req := reqOf[abi.IBUverbsCreateXsrq](w)
	req.UserHandle, req.PDHandle, req.SRQType = srq.key, srq.pd.handle, uint32(srq.cfg.Type)
	req.MaxWR, req.MaxSGE, req.SRQLimit = uint32(srq.cfg.MaxWR), uint32(srq.cfg.MaxSGE), uint32(srq.cfg.Limit)
	if srq.cfg.XRCD != nil {
		req.XRCDHandle = srq.cfg.XRCD.handle
	}
	if srq.cfg.CQ != nil {
		req.CQHandle = srq.cfg.CQ.handle
	}
	return srq.createdByWrite(w, uhwOut)
}

func (srq *SRQ) createdByWrite(w *writeCall, uhwOut []byte) error {
	if err := srq.c.write(w, srq.life.name); err != nil {
		return err
	}
	resp := respOf[abi.IBUverbsCreateSRQResp](w)
	srq.handle, srq.number = resp.SRQHandle, resp.Srqn
	srq.maxWR, srq.maxSGE = int(resp.MaxWR), int(resp.MaxSGE)
	copy(uhwOut, w.uhwResp())
	return nil
}

func (srq *SRQ) destroyKernel() error {
	if srq.c.native() {
		i, err := newIoctl(&methodSRQDestroy)
		if err != nil {
			return srq.c.fail(methodSRQDestroy.name, srq.life.name, err)
		}
		defer i.release()
		i.object(uint16(abi.UVERBS_ATTR_DESTROY_SRQ_HANDLE), srq.handle)
		i.outU32(uint16(abi.UVERBS_ATTR_DESTROY_SRQ_RESP)) // an event count that only C needs
		return srq.c.destroyed(srq.c.ioctl(i, srq.life.name))
	}
	w, err := newWrite(&cmdDestroySRQ, nil, 0)
	if err != nil {
		return srq.c.fail(cmdDestroySRQ.name, srq.life.name, err)
	}
	defer w.release()
	reqOf[abi.IBUverbsDestroySRQ](w).SRQHandle = srq.handle
	return srq.c.destroyed(srq.c.write(w, srq.life.name))
}
